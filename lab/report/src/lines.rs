//! Rows that differ in one factor, as lines: time by payload size, and operations per second by threads. There is one
//! chart for each operation and kind of token.

use itertools::Itertools as _;
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Timing};
use jeton_lab_model::units::{self, Unit};

use crate::chart::{Axis, Chart, Point, SERIES};
use crate::comparison::time;
use crate::grouped::grouped;
use crate::section::Section;
use crate::table::{Table, Value, columns};

/// A sweep needs at least this many sizes, and a line of threads so many counts.
const SIZES_MIN: usize = 3;
const THREADS_MIN: usize = 2;

pub(crate) type Timed<'a> = (&'a Row, &'a Timing);

/// The rows of one operation and kind of token, each line with its name and the smallest amount first.
struct Panel<'a> {
    title: String,
    lines: Vec<(String, Vec<Timed<'a>>)>,
}

/// Builds the panels from rows with a time. A line has the rows of one subject, and of one kind of claims. Of two rows
/// with the same amount, the first counts.
fn panels<'a>(
    rows: impl Iterator<Item = &'a Row>,
    amount: fn(&Row) -> u64,
    claims: fn(&Row) -> &str,
    least: usize,
) -> Vec<Panel<'a>> {
    let rows = rows.filter(|row| !row.reference);
    let timed = rows.filter_map(|row| Some((row, time(row)?)));
    let titled = timed.map(|one: Timed<'a>| {
        let (row, token) = (one.0, names::token(&one.0.subject));
        (
            format!("{}, {token}", units::capitalised(&row.operation)),
            one,
        )
    });
    let panel = |(title, rows): (String, Vec<Timed<'a>>)| {
        let own = rows.into_iter();
        let mut lines = grouped(own.map(|one| ((&one.0.subject.id, claims(one.0)), one)));
        for (_, line) in &mut lines {
            line.sort_by_key(|(row, _)| amount(row));
            line.dedup_by_key(|(row, _)| amount(row));
        }
        lines.retain(|(_, line)| line.len() >= least);
        let subjects: Vec<_> = lines.iter().map(|(_, line)| &line[0].0.subject).collect();
        let names = names::distinct(&subjects);
        let has_kinds = !lines.iter().map(|((_, kind), _)| kind).all_equal();
        let named = lines.into_iter().zip(names);
        let named = named.map(|(((_, kind), line), name)| {
            let kind = format!(", {kind} claims");
            (name + if has_kinds { &kind } else { "" }, line)
        });
        let lines: Vec<_> = named.collect();
        (!lines.is_empty()).then_some(Panel { title, lines })
    };
    grouped(titled).into_iter().filter_map(panel).collect()
}

impl<'a> Panel<'a> {
    fn section(
        &self,
        what: &str,
        chart: Chart,
        point: impl Fn(&Timed<'a>) -> Point,
        table: Table,
    ) -> Section {
        let line = |(name, rows): &(String, Vec<Timed<'a>>)| {
            (name.clone(), rows.iter().map(&point).collect())
        };
        let series: Vec<(String, Vec<Point>)> = self.lines.iter().map(line).collect();
        let label = format!(
            "Line chart, {}: {what} for {}. The table below has every figure.",
            self.title,
            units::count(series.len(), "line", "lines")
        );
        let marks = SERIES.into_iter().cycle().zip(&series);
        let legend = marks.map(|(mark, (name, _))| (mark, name.clone()));
        let chart = Chart {
            label,
            legend: legend.collect(),
            series,
            ..chart
        };
        Section::new(&self.title).charted(chart, table)
    }

    fn amounts(&self, amount: fn(&Row) -> u64) -> Vec<u64> {
        let all = self.lines.iter().flat_map(|(_, rows)| rows);
        let amounts = all.map(|(row, _)| amount(row));
        amounts.sorted_unstable().dedup().collect()
    }
}

fn sizes(rows: &[Row]) -> Vec<Panel<'_>> {
    let rows = rows.iter();
    let sized = rows.filter(|row| row.threads == 1 && row.claims.bytes != 0);
    panels(sized, |row| row.claims.bytes, kind, SIZES_MIN)
}

/// Returns the kind of the claims: `text-1000` and `text-10000` are of one.
fn kind(row: &Row) -> &str {
    row.claims.name.split('-').next().unwrap_or_default()
}

pub(crate) fn sweep(rows: &[Row]) -> Option<Section> {
    type Line<'a> = (&'a str, &'a Timed<'a>);
    let section = |(number, panel): (usize, &Panel<'_>)| {
        let lines = panel.lines.iter();
        let lines = lines.flat_map(|(name, rows)| rows.iter().map(|one| (name.as_str(), one)));
        let lines: Vec<Line<'_>> = lines.collect();
        let unit = Unit::for_times(lines.iter().map(|(_, (_, timing))| timing.median));
        let per_byte = |(row, timing): &Timed<'_>| timing.median / row.claims.bytes as f64;
        let columns = columns![Line<'_>:
            text("subject") |(name, _)| Value::text(*name);
            number("claims, bytes") |(_, (row, _))| Value::count(row.claims.bytes);
            number("token, bytes") |(_, (row, _))| row.token_bytes.map_or_else(Value::unknown, Value::count);
            range(format!("median, {}", unit.name)) |(_, (_, own))| Value::interval(own.median, own.interval, |ns| unit.figure(ns));
            number("ns per byte") |(_, one)| Value::text(units::fixed(per_byte(one), 2)), .named("ns per byte");
        ];
        let caption = format!(
            "{}: time by the size of the claims, in {}",
            panel.title, unit.name
        );
        let table = Table::named(caption, &columns, &lines);
        let chart = Chart {
            table: format!("sweep-{number}-table"),
            axis: Axis::Time(unit),
            ticks: powers(&panel.amounts(|row| row.claims.bytes)),
            ..Chart::default()
        };
        let point = |(row, timing): &Timed<'_>| Point {
            at: row.claims.bytes as f64,
            ..Point::new("", timing.median, timing.interval)
        };
        panel.section("time against the size of the claims", chart, point, table)
    };
    let parts: Vec<Section> = sizes(rows).iter().enumerate().map(section).collect();
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
    let inside = all.filter(|tick| (least..=most).contains(&tick));
    let named = inside.map(|tick| match tick {
        ..1_000 => (tick as f64, format!("{tick} B")),
        1_000..1_000_000 => (tick as f64, format!("{} kB", tick / 1_000)),
        _ => (tick as f64, format!("{} MB", tick / 1_000_000)),
    });
    named.collect()
}

pub(crate) fn threads(rows: &[Row], cores: usize) -> Option<Section> {
    type Line<'a> = (&'a str, Timed<'a>, Timed<'a>);
    let panels = panels(
        rows.iter(),
        |row| u64::from(row.threads),
        |row| &row.claims.name,
        THREADS_MIN,
    );
    let rate = |ns: f64| 1e9 / ns;
    let section = |(number, panel): (usize, &Panel<'_>)| {
        let lines = panel.lines.iter().flat_map(|(name, rows)| {
            let fewest = rows[0];
            rows.iter().map(move |one| (name.as_str(), *one, fewest))
        });
        let lines: Vec<Line<'_>> = lines.collect();
        let columns = columns![Line<'_>:
            text("subject") |(name, ..)| Value::text(*name);
            number("threads") |(_, (row, _), _)| Value::count(u64::from(row.threads));
            number("operations per second") |(_, (_, own), _)| Value::bold(units::fixed(rate(own.median), 0));
            number("times one thread") |(_, (_, own), (row, fewest))| match row.threads {
                1 => Value::text(units::ratio(fewest.median / own.median)),
                _ => Value::unknown(),
            };
        ];
        let caption = format!("{}: operations per second by threads", panel.title);
        let table = Table::named(caption, &columns, &lines);
        let amounts = panel.amounts(|row| u64::from(row.threads)).into_iter();
        let ticks = amounts.map(|n| (n as f64, units::count(n as usize, "thread", "threads")));
        let chart = Chart {
            table: format!("threads-{number}-table"),
            axis: Axis::Rate,
            ticks: ticks.collect(),
            ..Chart::default()
        };
        let point = |(row, timing): &Timed<'_>| {
            let [low, high] = timing.interval;
            Point {
                at: f64::from(row.threads),
                ..Point::new("", rate(timing.median), [rate(high), rate(low)])
            }
        };
        panel.section("operations per second against threads", chart, point, table)
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
