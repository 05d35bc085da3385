//! A table of the page.

use itertools::Itertools as _;
use maud::{Markup, html};

use crate::table::{Form, Head, Kind, Rank, Table, Value};
use jeton_lab_model::units;

/// Renders a table. Details without a value in any row are omitted.
pub(crate) fn shown(table: &Table) -> Markup {
    let mut heads = table.printed(Form::Page);
    let has_value = |place: usize| table.rows().iter().any(|row| row[place].is_known());
    heads.retain(|(place, head)| head.rank == Rank::Main || has_value(*place));
    let shown = html! {
        div.scroll tabindex="0" role="region" aria-label=[&table.label] aria-labelledby=[&table.labelled_by] {
            table class=[table.class] id=[&table.id] {
                caption { (table.caption) }
                thead { tr { @for (_, head) in &heads { (title(table, head)) } } }
                tbody { @for values in table.rows() { (row(table, &heads, values)) } }
            }
        }
    };
    match &table.fold {
        Some(words) => html! { details { summary { (words) } (shown) } },
        None => shown,
    }
}

fn title(table: &Table, head: &Head) -> Markup {
    // `p50` is not capitalised.
    let second = head.title.chars().nth(1);
    let is_word = head.is_capitalised && !second.is_some_and(|c| c.is_ascii_digit());
    html! {
        th class=[head.heading_class.or(kind(table, head))] scope="col" {
            @match &head.heading {
                Some(heading) => (heading),
                None if is_word => (units::capitalised(&head.title)),
                None => (head.title),
            }
            @if let Some(subtitle) = head.subtitle { " " small { (subtitle) } }
        }
    }
}

fn row(table: &Table, heads: &[(usize, &Head)], values: &[Value]) -> Markup {
    let header = heads.iter().position(|(_, head)| head.is_header);
    let header = header.unwrap_or_default();
    let cells: Vec<(&Head, &Value)> = heads
        .iter()
        .map(|(at, head)| (*head, &values[*at]))
        .collect();
    let class = cells.iter().find_map(|(_, value)| value.row_class);
    // A value over the row begins at the first cell without a value.
    let over = cells.iter().find(|(_, value)| value.is_over_row);
    let is_free = |(index, (_, value)): (usize, &(&Head, &Value))| {
        index != header && (value.is_over_row || !value.is_known())
    };
    let first = over.and_then(|_| cells.iter().enumerate().position(is_free));
    let end = first.unwrap_or(cells.len());
    html! {
        tr class=[class] {
            @for (index, (head, value)) in cells.iter().enumerate() {
                @if index == header {
                    th class=[head.class] scope="row" { (value.markup()) }
                } @else if index < end {
                    @let classes = [kind(table, head), head.class, value.class].into_iter().flatten().join(" ");
                    td class=[(!classes.is_empty()).then_some(classes)] { (value.markup()) }
                }
            }
            @if let Some((_, value)) = over {
                td class=(if table.is_figures { "text reason" } else { "reason" })
                    colspan=(cells.len() - end - usize::from(header >= end)) { (value.markup()) }
            }
        }
    }
}

fn kind(table: &Table, head: &Head) -> Option<&'static str> {
    match (table.is_figures, head.kind) {
        (true, Kind::Text) => Some("text"),
        (false, Kind::Number) => Some("number"),
        (true, Kind::Number) | (false, Kind::Text) | (_, Kind::Mark) => None,
    }
}
