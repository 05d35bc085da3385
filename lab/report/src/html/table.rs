//! A table of the page.

use maud::{Markup, html};

use crate::table::{Form, Head, Kind, Rank, Table, Value};
use jeton_lab_model::units;

/// Renders a table. Details without a value in any row are omitted.
pub(crate) fn shown(table: &Table) -> Markup {
    let mut heads = table.printed(Form::Page);
    let has_value = |place: usize| table.rows().iter().any(|row| row[place].is_known());
    heads.retain(|(place, head)| head.rank == Rank::Main || has_value(*place));
    let (label, labelled_by) = (table.label.as_ref().ok(), table.label.as_ref().err());
    let shown = html! {
        div.scroll tabindex="0" role="region" aria-label=[label] aria-labelledby=[labelled_by] {
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
                    td class=[classes([kind(table, head), head.class, value.class])] { (value.markup()) }
                }
            }
            @if let Some((_, value)) = over {
                td class=(if table.is_figures { "text reason" } else { "reason" })
                    colspan=(cells.len() - end - usize::from(header >= end)) { (value.markup()) }
            }
        }
    }
}

/// Returns the class of a column that is not of the table's usual kind.
fn kind(table: &Table, head: &Head) -> Option<&'static str> {
    match (table.is_figures, head.kind) {
        (true, Kind::Text) => Some("text"),
        (false, Kind::Number) => Some("number"),
        (true, Kind::Number) | (false, Kind::Text) | (_, Kind::Mark) => None,
    }
}

fn classes(all: [Option<&'static str>; 3]) -> Option<String> {
    let all: Vec<&str> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn page(columns: &[Column<'_, ()>]) -> String {
        shown(&Table::new("a caption", "a label", columns, &[()])).into_string()
    }

    #[test]
    fn figures_have_their_intervals() {
        let figure = |_: &()| Value::interval(617.25, [308.6, 1234.5], |v| units::fixed(v, 1));
        let html = page(&[
            Column::text("server", |()| Value::text("a|b")),
            Column::number("rate", |()| Value::count(1234)).titled("tokens/s"),
            Column::interval("cpu", ["low", "high"], figure).named("cpu µs"),
        ]);
        for words in [
            "<th class=\"number\" scope=\"col\">Tokens/s</th>",
            "<th class=\"number\" scope=\"col\">cpu µs <small>95 % interval</small></th>",
            "<th scope=\"row\">a|b</th><td class=\"number\">1,234</td>",
            "<td class=\"number\"><b>617.2</b> <small>308.6 – 1,234.5</small></td></tr>",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
    }

    #[test]
    fn page_omits_a_detail_without_values() {
        let has = |value: fn() -> Value| {
            let name = Column::text("name", |()| Value::text("a"));
            let memory = Column::number("memory", move |()| value()).detail();
            page(&[name, memory]).contains("Memory")
        };
        assert!(has(|| Value::count(1)) && !has(Value::unknown));
    }

    #[test]
    fn page_value_over_a_row_begins_at_the_first_missing_value() {
        let page = page(&[
            Column::text("token", |()| Value::text("jwt")),
            Column::text("name", |()| Value::text("a")).header(),
            Column::number("first", |()| Value::none()),
            Column::number("second", |()| Value::none()),
            Column::text("verdict", |()| Value::text("failed").over_row()),
            Column::number("last", |()| Value::count(1)),
        ]);
        let row = "<tr><td>jwt</td><th scope=\"row\">a</th><td class=\"reason\" colspan=\"4\">failed</td></tr>";
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn mark_has_a_heading_and_a_class() {
        let heading = html! { abbr title="b" { "1" } };
        let mark = Column::mark("1", |()| Value::text("rejected").class("bad"));
        let issuer = Column::text("issuer", |()| Value::text("a"));
        let page = page(&[issuer, mark.headed(heading, Some("subject"))]);
        let title = "<th class=\"subject\" scope=\"col\"><abbr title=\"b\">1</abbr></th>";
        assert!(page.contains(title), "{page}");
        assert!(page.contains("<td class=\"bad\">rejected</td>"), "{page}");
    }
}
