//! The payload sweep section: time by payload size, one chart for each operation and kind of token.

use maud::{Markup, html};

use jeton_lab_model::result::Row;

use super::comparison::{self, Entry, Role, Shared, entry, time};
use super::lines::{Lines, figure};
use super::panels::{Factor, Panel, panels};
use super::units;
use crate::table::{Column, Page, Value, picked};

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
    let lines: Vec<Entry<'_>> = (panel.subjects.iter().zip(&names))
        .flat_map(|(rows, name)| rows.iter().map(move |row| named(row, name)))
        .collect();
    let shared = Shared::of(lines.iter().filter_map(|line| time(line.row)));
    let unit = shared.unit;
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
            (Page::new(
                format!("{title}: time by the size of the claims, in {}", shared.unit.name),
                format!("{title} by size, table"),
            )
                .figures()
                .id(id)
                .table(&columns(shared), &lines.iter().filter(|line| time(line.row).is_some()).collect::<Vec<_>>()))
        }
    }
}

fn named<'a>(row: &'a Row, name: &str) -> Entry<'a> {
    Entry {
        name: name.to_owned(),
        ..entry(row, Role::Alone)
    }
}

/// Returns the columns: those of the comparisons, with the sizes.
fn columns<'a>(shared: Shared) -> Vec<Column<'a, &'a Entry<'a>>> {
    let mut columns = vec![
        Column::text("subject", |line: &&Entry<'_>| Value::text(&line.name)),
        Column::number("claims", |line: &&Entry<'_>| {
            Value::count(line.row.claims.bytes)
        })
        .titled("claims, bytes"),
    ];
    columns.extend(picked(
        comparison::columns(shared),
        &["token_bytes", "median_ns"],
    ));
    columns.push(
        Column::number("per_byte", |line: &&Entry<'_>| {
            let median = time(line.row).map_or(f64::NAN, |timing| timing.median);
            let per_byte = median / line.row.claims.bytes as f64;
            Value::number(per_byte, units::fixed(per_byte, 2))
        })
        .named("ns per byte"),
    );
    columns
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
