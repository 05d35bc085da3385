//! The concurrency section: operations per second by threads, one chart for each operation and kind of
//! token.

use maud::{Markup, html};

use jeton_lab_model::result::Row;

use super::comparison::time;
use super::lines::{Lines, figure};
use super::panels::{Factor, Panel, panels};
use super::units;

const THREADS: Factor = Factor {
    amount: |row| u64::from(row.threads),
    least: 2,
    alike: |a, b| a.claims.name == b.claims.name,
};

pub(super) fn section(rows: &[Row], cores: usize) -> Option<Markup> {
    let panels = panels(rows.iter(), &THREADS);
    if panels.is_empty() {
        return None;
    }
    Some(html! {
        p {
            "Operations per second of all threads together, on " (units::count(cores, "core", "cores"))
            ". More threads than cores add no throughput; a loss there is the cost of switching between threads."
        }
        @for (number, panel) in panels.iter().enumerate() { (chart(panel, number)) }
    })
}

/// Returns operations per second.
fn rate(ns: f64) -> f64 {
    1e9 / ns
}

fn chart(panel: &Panel<'_>, number: usize) -> Markup {
    let title = format!("{}, {}", units::capitalised(panel.operation), panel.token);
    let id = format!("threads-{number}-table");
    let names = panel.names();
    let series = panel.series(&names, |row| {
        let timing = time(row)?;
        let [low, high] = timing.interval;
        let ends = [rate(high), rate(low)];
        Some((f64::from(row.threads), rate(timing.median), ends))
    });
    let ticks = (panel.amounts(&THREADS).into_iter())
        .map(|n| (n as f64, units::count(n as usize, "thread", "threads")))
        .collect();
    html! {
        article.comparison {
            h3 { (title) }
            (figure(&Lines {
                series: &series,
                ticks,
                text: &|rate| format!("{}/s", short(rate)),
                description: format!(
                    "Line chart, {title}: operations per second against threads for {}. The table below has every figure.",
                    units::count(series.len(), "subject", "subjects")
                ),
                table: &id,
            }))
            div.scroll tabindex="0" role="region" aria-label={ (title) " by threads, table" } {
                table.figures #(id) {
                    caption { (title) ": operations per second by threads" }
                    thead { tr {
                        th.text scope="col" { "Subject" }
                        th scope="col" { "Threads" }
                        th scope="col" { "Operations per second" }
                        th scope="col" { "Times one thread" }
                    } }
                    tbody {
                        @for (rows, name) in panel.subjects.iter().zip(&names) {
                            @for row in rows { (line(row, rows[0], name)) }
                        }
                    }
                }
            }
        }
    }
}

fn line(row: &Row, fewest: &Row, name: &str) -> Markup {
    let (Some(timing), Some(base)) = (time(row), time(fewest)) else {
        return html! {};
    };
    html! {
        tr {
            th scope="row" { (name) }
            td { (row.threads) }
            td { b { (units::fixed(rate(timing.median), 0)) } }
            td { @if fewest.threads == 1 { (units::ratio(base.median / timing.median)) } @else { "n/a" } }
        }
    }
}

/// Formats a rate for an axis: 1.2M, 340k, 12.
fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{}M", units::times(r / 1e6)),
        r if r >= 1e3 => format!("{}k", units::times(r / 1e3)),
        r => units::fixed(r, 0),
    }
}
