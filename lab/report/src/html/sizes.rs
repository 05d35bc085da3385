//! The token sizes section: exact sizes of tokens that the subjects made.

use maud::{Markup, html};

use jeton_lab_model::result::Row;

use super::budgets::{Set, Size};
use super::chart::{cut, name_class, upright};
use super::scale::per_cent;
use super::{budgets, names, units};
use crate::table::{Column, Page, Value};

const ROW: f64 = 38.0;
/// Longer labels are shortened in the chart; the table has them in full.
const LABEL_CHARS_MAX: usize = 34;
/// With more claims sets than this, all except the first are folded.
const UNFOLDED_MAX: usize = 3;

pub(super) fn section(rows: &[Row]) -> Markup {
    let sets = sets(rows);
    html! {
        @if sets.is_empty() {
            p { "No token was made." }
        } @else {
            p {
                "Exact sizes of tokens that the subjects made in this run. One algorithm has several sizes if libraries "
                "write different headers, or encode claims differently."
            }
            @for (number, set) in sets.iter().enumerate() {
                @if number > 0 && sets.len() > UNFOLDED_MAX {
                    details.fold { summary { h3 { (title(set)) } } (figure(set, number)) }
                } @else {
                    h3 { (title(set)) }
                    (figure(set, number))
                }
            }
            (budgets::section(&sets))
        }
    }
}

fn sets(rows: &[Row]) -> Vec<Set<'_>> {
    let mut sets: Vec<Set<'_>> = Vec::new();
    for row in rows.iter().filter(|row| !row.reference) {
        let Some(bytes) = row.token_bytes else {
            continue;
        };
        let index = sets
            .iter()
            .position(|set| *set.claims == row.claims)
            .unwrap_or_else(|| {
                sets.push(Set {
                    claims: &row.claims,
                    sizes: Vec::new(),
                });
                sets.len() - 1
            });
        let token = names::token(&row.subject);
        let maker = format!(
            "{} ({})",
            row.subject.library,
            names::language(&row.subject)
        );
        let sizes = &mut sets[index].sizes;
        match sizes
            .iter_mut()
            .find(|size| size.token == token && size.bytes == bytes)
        {
            Some(size) if size.makers.contains(&maker) => {}
            Some(size) => size.makers.push(maker),
            None => sizes.push(Size {
                token,
                bytes,
                makers: vec![maker],
            }),
        }
    }
    for set in &mut sets {
        set.sizes
            .sort_by(|a, b| (a.bytes, &a.token).cmp(&(b.bytes, &b.token)));
    }
    sets
}

fn figure(set: &Set<'_>, number: usize) -> Markup {
    let id = format!("sizes-{number}-table");
    let title = title(set);
    html! {
        article.comparison {
            figure { (bars(set, &title, &id)) }
            (Page::new(format!("Token sizes. {title}"), format!("Token sizes, {title}, table"))
                .figures()
                .id(id)
                .table(&columns(set.claims.bytes), &set.sizes.iter().collect::<Vec<_>>()))
        }
    }
}

fn columns<'a>(claims: u64) -> Vec<Column<'a, &'a Size>> {
    vec![
        Column::text("token", |size: &&Size| Value::text(&size.token)),
        Column::number("bytes", |size: &&Size| {
            Value::count(size.bytes).on_page(html! { b { (units::whole(size.bytes)) } })
        }),
        Column::number("over", move |size: &&Size| {
            Value::text(over(size.bytes, claims))
        })
        .titled("more than the claims"),
        Column::text("makers", |size: &&Size| {
            Value::text(units::list(&size.makers))
        })
        .titled("made by"),
    ]
}

fn title(set: &Set<'_>) -> String {
    format!(
        "Claims set {}, {} bytes of JSON",
        set.claims.name,
        units::whole(set.claims.bytes)
    )
}

fn bars(set: &Set<'_>, title: &str, table_id: &str) -> Markup {
    let longest = set
        .sizes
        .iter()
        .map(|size| size.bytes)
        .max()
        .unwrap_or(0)
        .max(1);
    let share = |bytes: u64| per_cent(bytes as f64 / longest as f64 * 100.0);
    html! {
        svg.chart role="img" height=(set.sizes.len() as f64 * ROW + 4.0)
            aria-label={ "Bar chart of token sizes. " (title) ". The table below has every figure." }
            aria-details=(table_id) {
            @for (index, size) in set.sizes.iter().enumerate() {
                svg y=(index as f64 * ROW) {
                    text class=(name_class(&size.token)) y="16" {
                        (cut(&size.token, LABEL_CHARS_MAX)) tspan.aside.wide { " " (cut(&makers(size), LABEL_CHARS_MAX)) }
                    }
                    text.value x="100%" y="16" { (units::whole(size.bytes)) " B" }
                    rect.bar-track y="22" {}
                    rect.bar y="22" width=(share(size.bytes)) {}
                }
            }
            // The size of the claims alone.
            (upright("claims", set.claims.bytes.min(longest) as f64 / longest as f64 * 100.0, [0.0, set.sizes.len() as f64 * ROW]))
        }
        figcaption { "The dashed line marks the size of the claims as JSON, " (units::whole(set.claims.bytes)) " B." }
    }
}

fn makers(size: &Size) -> String {
    match size.makers.as_slice() {
        [one] => one.clone(),
        several => units::count(several.len(), "library", "libraries"),
    }
}

fn over(bytes: u64, claims: u64) -> String {
    if bytes >= claims {
        format!("+{}", units::whole(bytes - claims))
    } else {
        format!("-{}", units::whole(claims - bytes))
    }
}
