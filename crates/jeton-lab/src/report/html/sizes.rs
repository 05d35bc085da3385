//! Token sizes: exact, from tokens really made.

use maud::{Markup, html};

use crate::result::{ClaimsSet, Row};

use super::chart::cut;
use super::{names, units};

const ROW: f64 = 38.0;
/// Longer labels are cut in the chart; the table has them in full.
const LABEL_CHARS_MAX: usize = 34;

pub(super) fn section(rows: &[Row]) -> Markup {
    let sets = sets(rows);
    html! {
        @if sets.is_empty() {
            p { "No token was made, so there are no sizes." }
        } @else {
            p {
                "Exact bytes of tokens that the subjects made in this run. One algorithm has several sizes where "
                "libraries write other headers, or the claims in another order or form."
            }
            @for (number, set) in sets.iter().enumerate() { (figure(set, number)) }
        }
    }
}

struct Set<'a> {
    claims: &'a ClaimsSet,
    /// Smallest first.
    sizes: Vec<Size>,
}

/// Tokens of one kind and one length, and who made them.
struct Size {
    token: String,
    bytes: u64,
    makers: Vec<String>,
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
    let title = format!(
        "Claims set {}, {} bytes of JSON",
        set.claims.name,
        units::whole(set.claims.bytes)
    );
    html! {
        article.comparison {
            h3 { (title) }
            figure { (bars(set, &title, &id)) }
            div.scroll tabindex="0" role="region" aria-label={ "Token sizes, " (title) ", table" } {
                table #(id) {
                    caption { "Token sizes. " (title) }
                    thead { tr {
                        th scope="col" { "Token" }
                        th.number scope="col" { "Bytes" }
                        th.number scope="col" { "Over the claims" }
                        th scope="col" { "Made by" }
                    } }
                    tbody {
                        @for size in &set.sizes {
                            tr {
                                th scope="row" { (size.token) }
                                td.number { strong { (units::whole(size.bytes)) } }
                                td.number { (over(size.bytes, set.claims.bytes)) }
                                td { (units::list(&size.makers)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bars(set: &Set<'_>, title: &str, table_id: &str) -> Markup {
    let longest = set
        .sizes
        .iter()
        .map(|size| size.bytes)
        .max()
        .unwrap_or(0)
        .max(1);
    let share = |bytes: u64| format!("{:.2}%", bytes as f64 / longest as f64 * 100.0);
    html! {
        svg.chart role="img" width="100%" height=(set.sizes.len() as f64 * ROW + 4.0)
            aria-label={ "Bar chart of token sizes. " (title) ". The table below has every figure." }
            aria-details=(table_id) {
            @for (index, size) in set.sizes.iter().enumerate() {
                @let y = index as f64 * ROW;
                g.row {
                    text.name x="0" y=(y + 16.0) {
                        (cut(&size.token, LABEL_CHARS_MAX)) tspan.aside dx="5" { " " (cut(&makers(size), LABEL_CHARS_MAX)) }
                    }
                    text.value x="100%" y=(y + 16.0) text-anchor="end" { (units::whole(size.bytes)) " B" }
                    rect.bar-track x="0" y=(y + 22.0) width="100%" height="9" rx="2" {}
                    // The part that the claims themselves would take.
                    rect.bar x="0" y=(y + 22.0) width=(share(size.bytes)) height="9" rx="2" {}
                }
            }
            line.claims x1=(share(set.claims.bytes.min(longest))) x2=(share(set.claims.bytes.min(longest)))
                y1="0" y2=(set.sizes.len() as f64 * ROW) {}
        }
        figcaption { "The dashed line is the JSON of the claims alone, " (units::whole(set.claims.bytes)) " B." }
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
