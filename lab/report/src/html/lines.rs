//! Rows that differ in one factor, as lines: time by payload size, and operations per second by threads. There is one
//! chart for each operation and kind of token.

use jeton_lab_model::names;
use jeton_lab_model::result::Row;
use jeton_lab_model::units;
use maud::html;

use super::marks::SERIES;
use crate::chart::{Axis, Chart, Drawing, Point};
use crate::comparison::{self, Entry, Role, Shared, entry, time};
use crate::section::Section;
use crate::table::{Column, Table, Value, picked};

/// A sweep needs at least this many sizes, and a line of threads so many counts.
const SIZES_MIN: usize = 3;
const THREADS_MIN: usize = 2;

/// The rows of one operation and kind of token, each line with its name and the smallest amount first.
struct Panel<'a> {
    title: String,
    lines: Vec<(String, Vec<&'a Row>)>,
}

/// Builds the panels from rows with a time. A line has the rows of one subject, and of one kind of claims. Of two rows
/// with the same amount, the first counts.
fn panels<'a>(
    rows: impl Iterator<Item = &'a Row>,
    amount: fn(&Row) -> u64,
    claims: fn(&Row) -> &str,
    least: usize,
) -> Vec<Panel<'a>> {
    let mut found: Vec<(String, Vec<Vec<&'a Row>>)> = Vec::new();
    for row in rows.filter(|row| !row.reference && time(row).is_some()) {
        let title = format!(
            "{}, {}",
            units::capitalised(&row.operation),
            names::token(&row.subject)
        );
        let index = found
            .iter()
            .position(|(known, _)| *known == title)
            .unwrap_or_else(|| {
                found.push((title, Vec::new()));
                found.len() - 1
            });
        let lines = &mut found[index].1;
        let same = |line: &&mut Vec<&Row>| {
            line[0].subject.id == row.subject.id && claims(line[0]) == claims(row)
        };
        match lines.iter_mut().find(same) {
            Some(line) => line.push(row),
            None => lines.push(vec![row]),
        }
    }
    let panel = |(title, mut lines): (String, Vec<Vec<&'a Row>>)| {
        for line in &mut lines {
            line.sort_by_key(|row| amount(row));
            line.dedup_by_key(|row| amount(row));
        }
        lines.retain(|line| line.len() >= least);
        let subjects: Vec<_> = lines.iter().map(|line| &line[0].subject).collect();
        let distinct = names::distinct(&subjects);
        let kinds: Vec<&str> = lines.iter().map(|line| claims(line[0])).collect();
        let has_kinds = kinds.iter().any(|kind| *kind != kinds[0]);
        let named = distinct.into_iter().zip(&kinds).map(|(name, kind)| {
            if has_kinds {
                format!("{name}, {kind} claims")
            } else {
                name
            }
        });
        Panel {
            title,
            lines: named.zip(lines.clone()).collect(),
        }
    };
    let panels = found.into_iter().map(panel);
    panels.filter(|panel| !panel.lines.is_empty()).collect()
}

impl<'a> Panel<'a> {
    fn section(
        &self,
        id: &str,
        axis: Axis,
        what: &str,
        ticks: Vec<(f64, String)>,
        point: impl Fn(&Row) -> Option<Point>,
        table: Table,
    ) -> Section {
        let line = |(name, rows): &(String, Vec<&'a Row>)| {
            (
                name.clone(),
                rows.iter().filter_map(|row| point(row)).collect(),
            )
        };
        let series: Vec<(String, Vec<Point>)> = self.lines.iter().map(line).collect();
        let label = format!(
            "Line chart, {}: {what} for {}. The table below has every figure.",
            self.title,
            units::count(series.len(), "line", "lines")
        );
        let legend = series
            .iter()
            .enumerate()
            .map(|(number, (name, _))| (SERIES[number % SERIES.len()], name.clone()));
        let legend = legend.collect();
        let drawing = Drawing::Lines { series, ticks };
        let chart = Chart {
            legend,
            ..Chart::new(label, id.to_owned(), axis, drawing)
        };
        Section::new(&self.title)
            .chart(chart)
            .table(table.figures().id(id))
    }

    fn amounts(&self, amount: fn(&Row) -> u64) -> Vec<u64> {
        let all = self.lines.iter().flat_map(|(_, rows)| rows);
        let mut amounts: Vec<u64> = all.map(|row| amount(row)).collect();
        amounts.sort_unstable();
        amounts.dedup();
        amounts
    }
}

fn sizes(rows: &[Row]) -> Vec<Panel<'_>> {
    let sized = rows
        .iter()
        .filter(|row| row.threads == 1 && row.claims.bytes != 0);
    panels(sized, |row| row.claims.bytes, kind, SIZES_MIN)
}

/// Returns the kind of the claims: `text-1000` and `text-10000` are of one.
fn kind(row: &Row) -> &str {
    row.claims.name.split('-').next().unwrap_or_default()
}

/// Reports whether the rows have a sweep.
pub(super) fn has_sizes(rows: &[Row]) -> bool {
    !sizes(rows).is_empty()
}

/// Time by payload size.
pub(super) fn sweep(rows: &[Row]) -> Option<Section> {
    let panels = sizes(rows);
    let section = |(number, panel): (usize, &Panel<'_>)| {
        let lines = panel.lines.iter().flat_map(|(name, rows)| {
            rows.iter().map(|row| Entry {
                name: name.clone(),
                ..entry(row, Role::Alone)
            })
        });
        let lines: Vec<Entry<'_>> = lines.collect();
        let shared = Shared::of(lines.iter().filter_map(|line| time(line.row)));
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
        let (title, unit) = (&panel.title, shared.unit);
        let caption = format!("{title}: time by the size of the claims, in {}", unit.name);
        let table = Table::new(
            caption,
            format!("{title} by size, table"),
            &columns,
            &lines.iter().collect::<Vec<_>>(),
        );
        let point = |row: &Row| {
            let timing = time(row)?;
            Some(Point {
                at: row.claims.bytes as f64,
                ..Point::new("", timing.median, timing.interval)
            })
        };
        let ticks = powers(&panel.amounts(|row| row.claims.bytes));
        let id = format!("sweep-{number}-table");
        panel.section(
            &id,
            Axis::Time(unit),
            "time against the size of the claims",
            ticks,
            point,
            table,
        )
    };
    let parts: Vec<Section> = panels.iter().enumerate().map(section).collect();
    (!parts.is_empty()).then(|| {
        Section::new("Payload sweep")
            .id("sweep")
            .say(
                "The same operation on claims of different sizes, with one line for each kind of claims. Both axes are \
                 logarithmic: a line that rises with the grid means a cost per byte, a flat line a cost per token. A line \
                 through a mark is its 95 % interval.",
            )
            .parts(parts)
    })
}

/// Returns the powers of ten within the sizes, with labels such as `10 kB`.
fn powers(sizes: &[u64]) -> Vec<(f64, String)> {
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
        return Vec::new();
    };
    let all = (0..19).map(|power| 10_u64.pow(power));
    let name = |tick: u64| match tick {
        t if t < 1_000 => format!("{t} B"),
        t if t < 1_000_000 => format!("{} kB", t / 1_000),
        t => format!("{} MB", t / 1_000_000),
    };
    let inside = all.filter(|tick| (least..=most).contains(&tick));
    inside.map(|tick| (tick as f64, name(tick))).collect()
}

/// Operations per second by threads.
pub(super) fn threads(rows: &[Row], cores: usize) -> Option<Section> {
    let panels = panels(
        rows.iter(),
        |row| u64::from(row.threads),
        |row| &row.claims.name,
        THREADS_MIN,
    );
    let rate = |ns: f64| 1e9 / ns;
    let median = |row: &Row| time(row).map_or(f64::NAN, |timing| timing.median);
    let section = |(number, panel): (usize, &Panel<'_>)| {
        type Line<'a> = (&'a Row, &'a Row, &'a str);
        let lines = panel
            .lines
            .iter()
            .flat_map(|(name, rows)| rows.iter().map(|row| (*row, rows[0], name.as_str())));
        let columns = [
            Column::text("subject", |(_, _, name): &Line<'_>| Value::text(*name)),
            Column::number("threads", |(row, ..): &Line<'_>| {
                Value::count(u64::from(row.threads))
            }),
            Column::number("rate", |(row, ..): &Line<'_>| {
                let shown = units::fixed(rate(median(row)), 0);
                Value::text(&shown).on_page(html! { b { (shown) } })
            })
            .titled("operations per second"),
            Column::number("ratio", |(row, fewest, _): &Line<'_>| {
                match fewest.threads {
                    1 => Value::text(units::ratio(median(fewest) / median(row))),
                    _ => Value::unknown(),
                }
            })
            .titled("times one thread"),
        ];
        let title = &panel.title;
        let caption = format!("{title}: operations per second by threads");
        let table = Table::new(
            caption,
            format!("{title} by threads, table"),
            &columns,
            &lines.collect::<Vec<_>>(),
        );
        let point = |row: &Row| {
            let timing = time(row)?;
            let [low, high] = timing.interval;
            Some(Point {
                at: f64::from(row.threads),
                ..Point::new("", rate(timing.median), [rate(high), rate(low)])
            })
        };
        let amounts = panel.amounts(|row| u64::from(row.threads)).into_iter();
        let ticks = amounts
            .map(|n| (n as f64, units::count(n as usize, "thread", "threads")))
            .collect();
        let id = format!("threads-{number}-table");
        panel.section(
            &id,
            Axis::Rate,
            "operations per second against threads",
            ticks,
            point,
            table,
        )
    };
    let parts: Vec<Section> = panels.iter().enumerate().map(section).collect();
    (!parts.is_empty()).then(|| {
        Section::new("Concurrency")
            .id("threads")
            .say(format!(
                "Operations per second of all threads together, on {}. More threads than cores add no throughput; a loss \
                 there is the cost of switching between threads.",
                units::count(cores, "core", "cores")
            ))
            .parts(parts)
    })
}
