//! The columns of the table of servers, for all formats.

use maud::html;

use jeton_lab_model::result::{SERVERS, ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::{MACHINE, PublishedRun};

use super::{Compared, ScenarioTable, marks, ms, statuses};
use crate::table::{CSV, Column, EVERYWHERE, FILES, Form, TEXT, Value, WIDE, columns};

/// The latencies of a row, and whether those for people are of every format.
pub(super) const LATENCIES: [(&str, &[Form]); 12] = [
    ("average", FILES),
    ("fastest", TEXT),
    ("p10", TEXT),
    ("p25", TEXT),
    ("p50", EVERYWHERE),
    ("p75", TEXT),
    ("p90", EVERYWHERE),
    ("p95", TEXT),
    ("p99", EVERYWHERE),
    ("p99.9", EVERYWHERE),
    ("p99.99", EVERYWHERE),
    ("slowest", EVERYWHERE),
];

#[derive(Clone, Copy)]
pub(crate) enum Line<'a> {
    /// A server of this run, and whether the run was disturbed.
    Measured(&'a ServerRow, bool),
    /// A server of the gRPC report.
    Published(&'a PublishedRun),
}

impl<'a> Line<'a> {
    pub(crate) fn load(&self) -> Option<(&'a ServerRow, &'a ServerLoad)> {
        match self {
            Self::Measured(row, _) => Some((*row, row.load.as_ref()?)),
            Self::Published(_) => None,
        }
    }
}

impl ScenarioTable<'_> {
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let measured = self.measured.iter();
        let measured = measured.map(|(row, _)| Line::Measured(row, false));
        let published = self.published.iter().map(Line::Published);
        measured.chain(published).collect()
    }
}

fn fact(line: &Line<'_>, value: impl Fn(&ServerRow) -> String) -> Value {
    match line {
        Line::Measured(row, _) => Value::text(value(row)),
        Line::Published(_) => Value::none(),
    }
}

fn value(
    line: &Line<'_>,
    measured: impl Fn(&ServerRow, &ServerLoad) -> Value,
    published: impl Fn(&PublishedRun) -> Option<Value>,
) -> Value {
    match (line, line.load()) {
        (Line::Published(run), _) => published(run).unwrap_or_default(),
        (_, Some((row, load))) => measured(row, load),
        _ => Value::none(),
    }
}

/// Returns the value of a load, which published figures do not have.
fn of_load(line: &Line<'_>, measured: impl Fn(&ServerLoad) -> Value) -> Value {
    value(line, |_, load| measured(load), |_| None)
}

fn detail(line: &Line<'_>, number: impl Fn(&ServerLoad) -> String) -> Value {
    of_load(line, |load| Value::number(number(load), String::new()))
}

fn rounded(value: f64) -> Value {
    Value::number(value, units::fixed(value, 0))
}

fn us(line: &Line<'_>, of: impl Fn(&ServerLoad) -> Option<f64>) -> Value {
    let shown = |us: f64| Value::number(us, units::fixed(us, 1));
    of_load(line, |load| of(load).map_or_else(Value::unknown, shown))
}

fn latency(line: &Line<'_>, name: &str) -> Value {
    let shown = |value: f64| Value::number(value, ms(value));
    let of_load = |load: &ServerLoad| load.latency_ms.get(name).copied().map(shown);
    let of_run = |run: &PublishedRun| {
        let found = run.latency_ms.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| *value).map(shown)
    };
    value(line, |_, load| of_load(load).unwrap_or_default(), of_run)
}

/// Returns bytes, for people in mebibytes.
fn memory(bytes: Option<u64>) -> Value {
    let shown = |bytes: u64| units::fixed(bytes as f64 / f64::from(1 << 20), 0);
    Value::number(known(bytes), bytes.map_or_else(String::new, shown))
}

pub(crate) fn columns<'a>(repetitions: usize) -> Vec<Column<'a, Line<'a>>> {
    let mut all = columns![Line<'_>:
        text("suite") |line| fact(line, |_| SERVERS.to_owned()), .on(CSV);
        text("status") |line| fact(line, |row| row.status.name().to_owned()), .on(CSV);
        text("reason") |line| fact(line, |row| row.reason.clone().unwrap_or_default()), .on(CSV);
        text("server") |line| match line {
            Line::Measured(row, _) => named(line).and_on_page(html! { " " span.muted { (row.subject.libraries) } }),
            Line::Published(_) => named(line),
        }, .wide(18);
        text("language") |line| fact(line, |row| row.subject.language.clone()), .on(CSV);
        text("libraries") |line| fact(line, |row| row.subject.libraries.clone()), .on(CSV);
        text("as_published") |line| fact(line, |row| row.subject.as_published.to_string()), .on(CSV);
        text("cores") |line| fact(line, |row| row.cores.to_string()), .on(CSV);
        text("connections") |line| fact(line, |row| row.connections.to_string()), .on(CSV);
        text("in_flight") |line| fact(line, |row| row.in_flight.to_string()), .on(CSV);
        text("call") |line| fact(line, |row| row.call.name().to_owned()), .on(CSV);
        text("alg") |line| fact(line, |row| row.alg.name().to_owned()), .on(CSV);
        text("rate") |line| fact(line, |row| known(row.rate)), .on(CSV);
        text("oversubscribed") |line| fact(line, |row| row.oversubscribed.to_string()), .on(CSV);
        number("tokens_per_s") |line| value(line, |_, load| rounded(load.requests_per_s), |run| run.requests_per_s.map(rounded)),
            .titled("tokens/s"), .wide(9);
        // The lowest and the highest rate of the repetitions.
        number("spread") |line| of_load(line, |load| {
            let (_, ends) = Compared::Tokens.figure(load).unwrap_or_default();
            let [low, high] = ends.map(|rate| units::fixed(rate, 0));
            Value::text(format!("{low} to {high}"))
        }), .titled("repetitions"), .on(WIDE);
        number("cpu_us_per_token") |line| us(line, |load| load.cpu_us_per_request), .titled("CPU µs per token"), .short("CPU µs", 8);
        number("client_cpu_us_per_token") |line| us(line, |load| load.client_cpu_us_per_request), .titled("loader µs"), .on(FILES);
    ];
    all.extend(LATENCIES.map(|(name, forms)| {
        let column = Column::number(&format!("{name}_ms"), move |line: &Line<'_>| {
            latency(line, name)
        });
        column.titled(name).on(forms).wide(8)
    }));
    all.extend(columns![Line<'_>:
        number("tokens") |line| value(line, |row, _| Value::count(row.tokens()), |run| run.count.map(rounded)), .on(TEXT);
        number("errors") |line| detail(line, |load| load.errors().to_string()), .on(CSV);
        text("ended") |line| value(line, |_, load| Value::text(statuses(load)), |run| {
            let ended = run.statuses.iter().map(|(s, n)| format!("{s} {n}"));
            Some(Value::text(ended.collect::<Vec<_>>().join(", ")))
        }), .titled("statuses"), .on(FILES);
        number("verified") |line| detail(line, |load| load.verified.to_string()), .on(CSV);
        number("client_bound") |line| detail(line, |load| known(load.client_bound)), .on(CSV);
        number("base_rss_bytes") |line| value(line, |_, load| memory(load.base_rss_bytes), |_| Some(Value::text(""))),
            .titled("MiB idle"), .on(&[Form::Page, Form::Csv]);
        number("peak_rss_bytes") |line| value(line, |_, load| memory(load.peak_rss_bytes), |run| Some(Value::text(run.peak_memory.as_str()))),
            .titled("MiB"), .wide(6);
        text("tainted_run") |line| match (line, line.load()) {
            (Line::Measured(_, disturbed), Some(_)) => Value::text(disturbed.to_string()),
            _ => Value::none(),
        }, .on(CSV);
        number("repetitions") |line| detail(line, |load| load.repetitions.len().to_string()), .on(CSV);
        text("remarks") |line| value(line, |row, load| {
            let marks = marks(row, load);
            Value::text(marks.join(", ")).on_page(html! {
                @for mark in marks { span.tag.warn { (mark) } " " }
                @if let Some(reason) = &row.reason { span.reason { (reason) } }
            })
        }, |_| Some(Value::text(MACHINE))), .on(WIDE);
        text("remarks") |line| value(line, |row, load| {
            let ended = if load.errors() == 0 { String::new() } else { format!(" {}", statuses(load)) };
            Value::text(format!("{}{ended}", marks(row, load).join(", ")).trim())
        }, |_| None), .titled(""), .on(&[Form::Terminal]);
    ]);
    all.extend((0..repetitions).map(|number| {
        let rate = move |load: &ServerLoad| {
            let rate = load.repetitions.get(number)?.requests_per_s;
            Some(Value::text(rate.to_string()))
        };
        let shown = move |line: &Line<'_>| of_load(line, |load| rate(load).unwrap_or_default());
        Column::number(&format!("repetition_{}", number + 1), shown).on(CSV)
    }));
    all
}

pub(super) fn name<'a>() -> Column<'a, Line<'a>> {
    Column::text("server", named)
}

fn named(line: &Line<'_>) -> Value {
    match line {
        Line::Measured(row, _) => Value::text(&row.subject.id),
        Line::Published(run) => Value::text(format!("{}, published", run.server)).emphasised(),
    }
}

/// Formats a value; an unmeasured value is an empty field.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
