//! The columns of a table of timings, for all formats.

use maud::html;

use super::{Comparison, Entry, Role, time};
use crate::table::{CSV, Column, FILES, Form, PEOPLE, TEXT, Value, columns, status};
use crate::words::{microseconds, significant};
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Status, Timing};
use jeton_lab_model::units::{self, Unit};

/// What the rows of one table have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared {
    /// The unit of the times. The terminal shows microseconds, because it has several operations in a line.
    pub(crate) unit: Unit,
    /// The least and the largest number of rounds.
    pub(crate) rounds: [usize; 2],
    pub(crate) has_outliers: bool,
    /// The run was disturbed.
    pub(crate) disturbed: bool,
    /// The terminal has room for intervals.
    pub(crate) has_room: bool,
}

impl Shared {
    /// Returns what the timings of a table have in common.
    pub(crate) fn of<'r>(timings: impl Iterator<Item = &'r Timing> + Clone) -> Self {
        let rounds = timings.clone().map(|timing| timing.rounds.len());
        Self {
            unit: Unit::for_times(timings.clone().map(|timing| timing.median)),
            rounds: [
                rounds.clone().min().unwrap_or_default(),
                rounds.max().unwrap_or_default(),
            ],
            has_outliers: timings.clone().any(|timing| timing.outliers > 0),
            disturbed: false,
            has_room: false,
        }
    }

    /// Returns the number of rounds if it is the same for all rows; it then has no column on the page.
    fn equal_rounds(&self) -> Option<usize> {
        (self.rounds[0] == self.rounds[1]).then_some(self.rounds[0])
    }
}

impl<'a> Comparison<'a> {
    /// Returns what the timings of the comparison have in common.
    pub(crate) fn shared(&self) -> Shared {
        let rows = self.entries.iter().chain(&self.references);
        Shared::of(rows.filter_map(|entry| time(entry.row)))
    }

    /// Returns the lines of the table: subjects, bare primitives, then those without a time.
    pub(crate) fn lines(&self) -> Vec<&Entry<'a>> {
        let timed = self.entries.iter().chain(&self.references);
        let timed = timed.filter(|entry| time(entry.row).is_some());
        timed.chain(&self.missing).collect()
    }

    /// Says what the columns of the page leave out.
    pub(crate) fn caption(&self) -> String {
        let shared = self.shared();
        let mut caption = format!("Time per operation in {}", shared.unit.name);
        if let Some(baseline) = self.baseline() {
            caption.push_str(&format!("; ratios to {}", baseline.name));
        }
        if let Some(rounds) = shared.equal_rounds() {
            let rounds = units::count(rounds, "round", "rounds");
            caption.push_str(&format!("; {rounds}"));
        }
        if !shared.has_outliers {
            caption.push_str(", no outliers");
        }
        caption
    }
}

/// Returns a figure of a row; rows without a time show none.
fn figure(line: &Entry<'_>, value: impl Fn(&Row) -> Option<Value>) -> Value {
    let value = value(line.row).unwrap_or_else(Value::unknown);
    match time(line.row) {
        Some(_) => value,
        None => value.only_exact(),
    }
}

/// Returns all columns.
pub(crate) fn columns<'a>(shared: Shared) -> Vec<Column<'a, &'a Entry<'a>>> {
    let Shared {
        unit,
        disturbed,
        has_room,
        has_outliers,
        ..
    } = shared;
    let mut all = columns![&Entry<'_>:
        text("suite") |line| Value::text(&line.row.suite), .on(CSV);
        text("contract") |line| Value::text(&line.row.operation), .on(CSV);
        text("status") |line| Value::text(line.row.status.name()), .on(CSV);
        text("reason") |line| Value::text(line.row.reason.clone().unwrap_or_default()), .on(CSV);
        text("subject") |line| subject(line), .titled("subject, version"), .on(FILES);
        text("library") |line| Value::text(&line.row.subject.library), .on(CSV);
        text("version") |line| Value::text(&line.row.subject.version), .on(CSV);
        text("language") |line| Value::text(&line.row.subject.language), .on(CSV);
        text("format") |line| Value::text(&line.row.subject.format), .on(CSV);
        text("alg") |line| Value::text(line.row.subject.alg.clone().unwrap_or_default()), .on(CSV);
        text("enc") |line| Value::text(line.row.subject.enc.clone().unwrap_or_default()), .on(CSV);
        text("key_handling") |line| Value::text(&line.row.subject.key_handling), .on(CSV);
        text("reference") |line| Value::text(line.row.reference.to_string()), .on(CSV);
        text("claims") |line| Value::text(&line.row.claims.name), .on(CSV);
        text("claims_bytes") |line| Value::text(line.row.claims.bytes.to_string()), .on(CSV);
        text("threads") |line| Value::text(line.row.threads.to_string()), .on(CSV);
        number("token_bytes") |line| figure(line, |row| Some(Value::count(row.token_bytes?))),
            .detail(), .titled("token, bytes"), .on(TEXT);
    ];
    let shown = move |line: &&Entry<'_>| median(line.row, unit, has_room);
    all.push(
        Column::interval("median_ns", ["low_ns", "high_ns"], shown)
            .titled(format!("median, {}", unit.name))
            .wide(if has_room { 11 } else { 7 }),
    );
    all.push(
        Column::interval("ratio", ["ratio_low", "ratio_high"], |line: &&Entry<'_>| {
            ratio(line)
        })
        .titled("ratio to baseline")
        .short("ratio", 6)
        .on(PEOPLE),
    );
    all.extend(columns![&Entry<'_>:
        text("verdict") |line| verdict(line), .wide(10), .on(PEOPLE);
        number("group") |line| {
            let group = line.role.group();
            group.map_or_else(Value::none, |group| Value::number(group, group.to_string()))
        }, .wide(5), .on(PEOPLE);
        number("outliers") |line| figure(line, |row| Some(Value::count(u64::from(row.ns_per_op.as_ref()?.outliers)))),
            .last(), .on(if has_outliers { &[Form::Page, Form::Csv] } else { CSV });
        text("unsettled") |line| {
            let timing = line.row.ns_per_op.as_ref();
            timing.map_or_else(Value::none, |timing| Value::text(timing.unsettled.to_string()))
        }, .on(CSV);
        text("loads_wrong_keys") |line| Value::text(line.row.loads_wrong_keys.join("; ")), .on(CSV);
        number("bytes_per_op") |line| figure(line, |row| rounded(row.bytes_per_op, 0)), .detail(), .named("B/op"), .on(FILES);
        number("allocs_per_op") |line| figure(line, |row| rounded(row.allocs_per_op, 1)), .detail(), .named("allocs/op"), .on(FILES);
        number("peak_rss_bytes") |line| figure(line, |row| {
            let bytes = row.peak_rss_bytes?;
            Some(Value::number(bytes, units::fixed(bytes as f64 / 1_048_576.0, 1)))
        }), .detail(), .named("RSS, MiB"), .on(&[Form::Page, Form::Csv]);
    ]);
    let of_run = move |_: &&Entry<'_>| Value::text(disturbed.to_string());
    all.push(Column::text("tainted_run", of_run).on(CSV));
    all.extend(columns![&Entry<'_>:
        number("rounds") |line| figure(line, |row| Some(Value::count(row.ns_per_op.as_ref()?.rounds.len() as u64))),
            .last(), .on(if shared.equal_rounds().is_some() { CSV } else { &[Form::Page, Form::Csv] });
    ]);
    all.extend((0..shared.rounds[1]).map(|round| {
        let shown = move |line: &&Entry<'_>| {
            let own = line.row.ns_per_op.as_ref();
            let own = own.and_then(|timing| timing.rounds.get(round));
            own.map_or_else(Value::none, |ns| Value::number(ns, String::new()))
        };
        Column::number(&format!("round_{}", round + 1), shown).on(CSV)
    }));
    all
}

fn rounded(value: Option<f64>, decimals: usize) -> Option<Value> {
    value.map(|value| Value::number(value, units::fixed(value, decimals)))
}

fn subject(line: &Entry<'_>) -> Value {
    let row = line.row;
    let subject = &row.subject;
    let timing = time(row);
    let mut aside = vec![names::language(subject).to_owned()];
    aside.extend(subject.remarks());
    aside.extend(row.loads_wrong_keys.iter().cloned());
    let is_unsettled = timing.is_some_and(|timing| timing.unsettled);
    let settled = if is_unsettled {
        " (did not settle)"
    } else {
        ""
    };
    let (name, version, asides) = (&line.name, &subject.version, aside.join("; "));
    let text = format!("{name} {version} ({asides}){settled}");
    let value = Value::text(text).exactly(&subject.id).on_page(html! {
        (line.name) " "
        small { (subject.version) @for part in &aside { " · " (part) } }
        @if timing.is_some() && row.status == Status::Disturbed { " " (status(row.status)) }
        @if is_unsettled { " " span.tag.warn { "did not settle" } }
    });
    match (timing, line.role) {
        (None, _) => value.row_class("missing"),
        (_, Role::Reference) => value.row_class("reference"),
        _ => value,
    }
}

fn median(row: &Row, unit: Unit, has_room: bool) -> Value {
    let Some(timing) = &row.ns_per_op else {
        return Value::none();
    };
    let value = Value::interval(timing.median, timing.interval, |ns| unit.figure(ns))
        .on_terminal(terminal_time(row, has_room));
    match time(row) {
        Some(_) => value,
        None => value.only_exact(),
    }
}

/// Formats the median for the terminal, with half of its interval in per cent if there is room.
pub(crate) fn terminal_time(row: &Row, has_room: bool) -> String {
    let Some(timing) = &row.ns_per_op else {
        return String::new();
    };
    let mark = if timing.unsettled { "~" } else { "" };
    let (median, [low, high]) = (microseconds(timing.median), timing.interval);
    let half = (high - low) / 2.0 / timing.median * 100.0;
    let spread = if has_room {
        format!(" ±{half:.0}%")
    } else {
        String::new()
    };
    format!("{mark}{median}{spread}")
}

fn ratio(line: &Entry<'_>) -> Value {
    match line.role {
        Role::Compared(verdict) => Value::interval(verdict.ratio, verdict.interval, units::ratio)
            .on_terminal(significant(verdict.ratio)),
        Role::Baseline(_) => Value::number(1, "1".to_owned()),
        Role::Reference | Role::Alone => Value::none(),
    }
}

/// Returns the verdict, or the reason of a row without a time.
fn verdict(line: &Entry<'_>) -> Value {
    let row = line.row;
    let role = match line.role {
        Role::Compared(verdict) => {
            let more = verdict.more_rounds;
            Value::verdict(verdict.verdict).and_on_page(html! {
                @if let Some(more) = more {
                    " " small { "≈ " (units::count(more as usize, "more round", "more rounds")) }
                }
            })
        }
        Role::Baseline(_) => Value::marked("baseline", "baseline"),
        // The terminal says it in the name.
        Role::Reference => Value::marked("primitive", "bare primitive").on_terminal(""),
        Role::Alone => Value::marked("alone", "not compared"),
    };
    if time(row).is_some() {
        return role;
    }
    role.only_exact()
        .shown(format!("{}: {}", row.status.name(), reason(row)))
        .on_page(html! { (status(row.status)) " " (reason(row)) })
        .over_row()
}

/// Returns the reason of a row.
pub(crate) fn reason(row: &Row) -> &str {
    match (&row.reason, row.status) {
        (Some(reason), _) => reason,
        (None, Status::Ok) => "no usable time was recorded",
        (None, _) => "no reason recorded",
    }
}
