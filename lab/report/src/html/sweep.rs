//! The payload sweep section: time by payload size, one chart for each operation and kind of token.

use maud::{Markup, html};

use jeton_lab_model::result::Row;

use super::comparison::time;
use super::lines::{Lines, figure};
use super::panels::{Factor, Panel, panels};
use super::units::{self, Unit};

/// A sweep needs at least this many sizes.
const SIZES_MIN: usize = 3;

const SIZE: Factor = Factor {
    amount: |row| row.claims.bytes,
    least: SIZES_MIN,
    alike: |_, _| true,
};

pub(super) fn section(rows: &[Row]) -> Option<Markup> {
    let sized = |row: &&Row| row.threads == 1 && row.claims.bytes != 0;
    let panels = panels(rows.iter().filter(sized), &SIZE);
    if panels.is_empty() {
        return None;
    }
    Some(html! {
        p {
            "The same operation on claims of different sizes. Both axes are logarithmic: a line that rises with the "
            "grid means a cost per byte, a flat line a cost per token. A line through a mark is its 95 % interval."
        }
        @for (number, panel) in panels.iter().enumerate() { (chart(panel, number)) }
    })
}

fn chart(panel: &Panel<'_>, number: usize) -> Markup {
    let title = format!("{}, {}", units::capitalised(panel.operation), panel.token);
    let id = format!("sweep-{number}-table");
    let names = panel.names();
    let all = panel.subjects.iter().flatten();
    let unit = Unit::for_times(all.filter_map(|row| Some(time(row)?.median)));
    let series = panel.series(&names, |row| {
        let timing = time(row)?;
        Some((row.claims.bytes as f64, timing.median, timing.interval))
    });
    let sizes = panel.amounts(&SIZE);
    html! {
        article.comparison {
            h3 { (title) }
            (figure(&Lines {
                series: &series,
                ticks: powers(&sizes),
                text: &|ns| unit.tick(ns),
                description: format!(
                    "Line chart, {title}: time against the size of the claims for {}. The table below has every figure.",
                    units::count(series.len(), "subject", "subjects")
                ),
                table: &id,
            }))
            div.scroll tabindex="0" role="region" aria-label={ (title) " by size, table" } {
                table.figures #(id) {
                    caption { (title) ": time by the size of the claims, in " (unit.name) }
                    thead { tr {
                        th.text scope="col" { "Subject" }
                        th scope="col" { "Claims, bytes" }
                        th scope="col" { "Token, bytes" }
                        th scope="col" { "Median, " (unit.name) " " small { "95 % interval" } }
                        th scope="col" { "ns per byte" }
                    } }
                    tbody {
                        @for (rows, name) in panel.subjects.iter().zip(&names) {
                            @for row in rows { (line(row, name, unit)) }
                        }
                    }
                }
            }
        }
    }
}

fn line(row: &Row, name: &str, unit: Unit) -> Markup {
    let Some(timing) = time(row) else {
        return html! {};
    };
    let [low, high] = timing.interval;
    html! {
        tr {
            th scope="row" { (name) }
            td { (units::whole(row.claims.bytes)) }
            td { @match row.token_bytes { Some(bytes) => (units::whole(bytes)), None => "n/a" } }
            td { b { (unit.figure(timing.median)) } " " small { (unit.figure(low)) " – " (unit.figure(high)) } }
            td { (units::fixed(timing.median / row.claims.bytes as f64, 2)) }
        }
    }
}

/// Returns the powers of ten within the sizes, with labels such as `10 kB`.
fn powers(sizes: &[u64]) -> Vec<(f64, String)> {
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
        return Vec::new();
    };
    let all = (0..19).map(|power| 10_u64.pow(power));
    all.filter(|tick| (least..=most).contains(&tick))
        .map(|tick| {
            let name = match tick {
                t if t < 1_000 => format!("{t} B"),
                t if t < 1_000_000 => format!("{} kB", t / 1_000),
                t => format!("{} MB", t / 1_000_000),
            };
            (tick as f64, name)
        })
        .collect()
}
