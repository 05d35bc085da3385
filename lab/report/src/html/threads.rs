//! The concurrency section: operations per second by threads, one chart for each operation and kind of
//! token.

use maud::{Markup, html};

use jeton_lab_model::result::Row;

use super::comparison::time;
use super::lines::{Lines, figure};
use super::panels::{Factor, Panel, panels};
use super::units;
use crate::table::{Column, Page, Value};

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
    let lines: Vec<Line<'_>> = (panel.subjects.iter().zip(&names))
        .flat_map(|(rows, name)| rows.iter().map(|row| (*row, rows[0], name.as_str())))
        .filter(|(row, fewest, _)| time(row).is_some() && time(fewest).is_some())
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
            (Page::new(
                format!("{title}: operations per second by threads"),
                format!("{title} by threads, table"),
            )
                .figures()
                .id(id)
                .table(&columns(), &lines))
        }
    }
}

/// A row, that with the fewest threads, and the name of the subject.
type Line<'a> = (&'a Row, &'a Row, &'a str);

fn columns<'a>() -> Vec<Column<'a, Line<'a>>> {
    let median = |row: &Row| time(row).map_or(f64::NAN, |timing| timing.median);
    vec![
        Column::text("subject", |(_, _, name): &Line<'_>| Value::text(*name)),
        Column::number("threads", |(row, ..): &Line<'_>| {
            Value::count(u64::from(row.threads))
        }),
        Column::number("rate", move |(row, ..): &Line<'_>| {
            let shown = units::fixed(rate(median(row)), 0);
            Value::text(&shown).on_page(html! { b { (shown) } })
        })
        .titled("operations per second"),
        Column::number("ratio", move |(row, fewest, _): &Line<'_>| {
            match fewest.threads {
                1 => Value::text(units::ratio(median(fewest) / median(row))),
                _ => Value::unknown(),
            }
        })
        .titled("times one thread"),
    ]
}

/// Formats a rate for an axis: 1.2M, 340k, 12.
fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{}M", units::times(r / 1e6)),
        r if r >= 1e3 => format!("{}k", units::times(r / 1e3)),
        r => units::fixed(r, 0),
    }
}
