//! The columns of the table of servers, for all formats.

use maud::html;

use jeton_lab_model::result::{SERVERS, ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::{MACHINE, PublishedRun};

use super::{ScenarioTable, marks, mebibytes, ms, spread, statuses};
use crate::table::{CSV, Column, EVERYWHERE, FILES, Form, TEXT, Value, WIDE};

/// The latencies of a row, and whether those for people are of every format.
const LATENCIES: [(&str, &[Form]); 12] = [
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

/// A line of the table.
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
    /// Returns the lines of the table: the measured servers, then the published ones.
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let measured = self
            .measured
            .iter()
            .map(|(row, _)| Line::Measured(row, false));
        let published = self.published.iter().map(Line::Published);
        measured.chain(published).collect()
    }
}

/// Returns a column that only programs read, about the server and its load.
fn fact<'a>(name: &str, value: fn(&ServerRow) -> String) -> Column<'a, Line<'a>> {
    Column::text(name, move |line: &Line<'_>| match line {
        Line::Measured(row, _) => Value::text(value(row)),
        Line::Published(_) => Value::none(),
    })
    .on(CSV)
}

/// Returns a column that only programs read, about what was measured.
fn detail<'a>(name: &str, value: fn(&ServerRow, &ServerLoad) -> String) -> Column<'a, Line<'a>> {
    Column::number(name, move |line: &Line<'_>| match line.load() {
        Some((row, load)) => Value::number(value(row, load), String::new()),
        None => Value::none(),
    })
    .on(CSV)
}

/// Returns all columns; `repetitions` is the largest number of a row.
pub(crate) fn columns<'a>(repetitions: usize) -> Vec<Column<'a, Line<'a>>> {
    let mut all = vec![
        fact("suite", |_| SERVERS.to_owned()),
        fact("status", |row| row.status.name().to_owned()),
        fact("reason", |row| row.reason.clone().unwrap_or_default()),
        Column::text("server", server).wide(18),
        fact("language", |row| row.subject.language.clone()),
        fact("libraries", |row| row.subject.libraries.clone()),
        fact("as_published", |row| row.subject.as_published.to_string()),
        fact("cores", |row| row.cores.to_string()),
        fact("connections", |row| row.connections.to_string()),
        fact("in_flight", |row| row.in_flight.to_string()),
        fact("call", |row| row.call.name().to_owned()),
        fact("alg", |row| row.alg.name().to_owned()),
        fact("rate", |row| known(row.rate)),
        fact("oversubscribed", |row| row.oversubscribed.to_string()),
        Column::number("tokens_per_s", tokens_per_s)
            .titled("tokens/s")
            .wide(9),
        Column::number("spread", repeated)
            .titled("repetitions")
            .on(WIDE),
        Column::number("cpu_us_per_token", |line: &Line<'_>| {
            us(line, |load| load.cpu_us_per_request)
        })
        .titled("CPU µs per token")
        .short("CPU µs", 8),
        Column::number("client_cpu_us_per_token", |line: &Line<'_>| {
            us(line, |load| load.client_cpu_us_per_request)
        })
        .titled("loader µs")
        .on(FILES),
    ];
    all.extend(LATENCIES.map(|(name, forms)| {
        Column::number(&format!("{name}_ms"), move |line: &Line<'_>| {
            latency(line, name)
        })
        .titled(name)
        .on(forms)
        .wide(8)
    }));
    all.extend([
        Column::number("tokens", tokens).on(TEXT),
        detail("errors", |_, load| load.errors().to_string()),
        Column::text("ended", ended).titled("statuses").on(FILES),
        detail("verified", |_, load| load.verified.to_string()),
        detail("client_bound", |_, load| known(load.client_bound)),
        Column::number("base_rss_bytes", |line: &Line<'_>| {
            memory(line, |load| load.base_rss_bytes, "")
        })
        .titled("MiB idle")
        .on(&[Form::Page, Form::Csv]),
        Column::number("peak_rss_bytes", |line: &Line<'_>| {
            let published = match line {
                Line::Published(run) => run.peak_memory.as_str(),
                Line::Measured(..) => "",
            };
            memory(line, |load| load.peak_rss_bytes, published)
        })
        .titled("MiB")
        .wide(6),
        Column::text("tainted_run", |line: &Line<'_>| match (line, line.load()) {
            (Line::Measured(_, disturbed), Some(_)) => Value::text(disturbed.to_string()),
            _ => Value::none(),
        })
        .on(CSV),
        detail("repetitions", |_, load| load.repetitions.len().to_string()),
        Column::text("remarks", remarks).on(WIDE),
        Column::text("remarks", |line: &Line<'_>| {
            let Some((row, load)) = line.load() else {
                return Value::none();
            };
            let ended = match load.errors() {
                0 => String::new(),
                _ => format!(" {}", statuses(load)),
            };
            Value::text(format!("{}{ended}", marks(row, load).join(", ")).trim())
        })
        .titled("")
        .on(&[Form::Terminal]),
    ]);
    all.extend((0..repetitions).map(|number| {
        let name = format!("repetition_{}", number + 1);
        Column::number(&name, move |line: &Line<'_>| {
            let rate = line
                .load()
                .and_then(|(_, load)| load.repetitions.get(number));
            rate.map_or_else(Value::none, |one| {
                Value::text(one.requests_per_s.to_string())
            })
        })
        .on(CSV)
    }));
    all
}

/// Returns the column of the servers' names.
pub(crate) fn name<'a>() -> Column<'a, Line<'a>> {
    Column::text("server", named)
}

fn named(line: &Line<'_>) -> Value {
    match line {
        Line::Measured(row, _) => Value::text(&row.subject.id),
        Line::Published(run) => Value::text(format!("{}, published", run.server)).emphasised(),
    }
}

fn server(line: &Line<'_>) -> Value {
    match line {
        Line::Measured(row, _) => {
            let libraries = &row.subject.libraries;
            named(line).and_on_page(html! { " " span.muted { (libraries) } })
        }
        Line::Published(_) => named(line),
    }
}

fn tokens_per_s(line: &Line<'_>) -> Value {
    let rate = match (line, line.load()) {
        (Line::Published(run), _) => run.requests_per_s,
        (_, load) => load.map(|(_, load)| load.requests_per_s),
    };
    rate.map_or_else(Value::none, |rate| {
        Value::number(rate, units::fixed(rate, 0))
    })
}

/// The lowest and the highest rate of the repetitions.
fn repeated(line: &Line<'_>) -> Value {
    line.load().map_or_else(Value::none, |(_, load)| {
        let (low, high) = spread(load);
        let (low, high) = (units::fixed(low, 0), units::fixed(high, 0));
        Value::text(format!("{low} to {high}"))
    })
}

fn us(line: &Line<'_>, of: fn(&ServerLoad) -> Option<f64>) -> Value {
    match line.load().map(|(_, load)| of(load)) {
        Some(Some(us)) => Value::number(us, units::fixed(us, 1)),
        Some(None) => Value::unknown(),
        None => Value::none(),
    }
}

fn latency(line: &Line<'_>, name: &str) -> Value {
    let value = match line {
        Line::Published(run) => {
            let found = run.latency_ms.iter().find(|(known, _)| *known == name);
            found.and_then(|(_, value)| *value)
        }
        Line::Measured(..) => {
            let load = line.load().map(|(_, load)| load);
            load.and_then(|load| load.latency_ms.get(name).copied())
        }
    };
    value.map_or_else(Value::none, |value| Value::number(value, ms(Some(value))))
}

fn tokens(line: &Line<'_>) -> Value {
    match (line, line.load()) {
        (_, Some((row, _))) => Value::count(row.tokens()),
        (Line::Published(run), _) => run.count.map_or_else(Value::none, |count| {
            Value::number(count, units::fixed(count, 0))
        }),
        _ => Value::none(),
    }
}

fn ended(line: &Line<'_>) -> Value {
    match (line, line.load()) {
        (_, Some((_, load))) => Value::text(statuses(load)),
        (Line::Published(run), _) => {
            let ended = run.statuses.iter().map(|(s, n)| format!("{s} {n}"));
            Value::text(ended.collect::<Vec<_>>().join(", "))
        }
        _ => Value::none(),
    }
}

fn memory(line: &Line<'_>, of: fn(&ServerLoad) -> Option<u64>, published: &str) -> Value {
    match line.load() {
        Some((_, load)) => {
            let bytes = of(load);
            Value::number(known(bytes), mebibytes(bytes))
        }
        None => Value::text(published),
    }
}

fn remarks(line: &Line<'_>) -> Value {
    match (line, line.load()) {
        (_, Some((row, load))) => {
            let marks = marks(row, load);
            Value::text(marks.join(", ")).on_page(html! {
                @for mark in marks { span.tag.warn { (mark) } " " }
                @if let Some(reason) = &row.reason { span.reason { (reason) } }
            })
        }
        (Line::Published(_), _) => Value::text(MACHINE),
        _ => Value::none(),
    }
}

/// Formats a value; an unmeasured value is an empty field.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
