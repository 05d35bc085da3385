//! Groups the rows and verdicts of a result by comparison, for a chart and its table; and the columns of that table, for all
//! formats.

use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Status, Timing, Verdict};
use jeton_lab_model::units::{self, Unit};
use maud::html;

use crate::grouped::{distinct, grouped};
use crate::section::Section;
use crate::table::{CSV, Column, FILES, Form, PEOPLE, TEXT, Value, columns, status};
use crate::words::{microseconds, significant};

/// The data of one chart and its table: one suite, one operation, one comparison.
#[derive(Default)]
pub(crate) struct Comparison<'a> {
    pub(crate) anchor: String,
    pub(crate) title: String,
    pub(crate) suite: &'a str,
    pub(crate) operation: &'a str,
    /// The factors that differ: one, or several if confounded.
    pub(crate) factors: Vec<&'a str>,
    pub(crate) confounded: bool,
    pub(crate) entries: Vec<Entry<'a>>,
    /// Bare primitives: drawn, not compared.
    pub(crate) references: Vec<Entry<'a>>,
    pub(crate) missing: Vec<Entry<'a>>,
}

pub(crate) struct Entry<'a> {
    pub(crate) row: &'a Row,
    pub(crate) name: String,
    pub(crate) role: Role<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Role<'a> {
    /// With its group.
    Baseline(Option<u32>),
    Compared(&'a Verdict),
    Reference,
    /// Without a verdict, measured or not.
    Alone,
}

impl<'a> Comparison<'a> {
    pub(crate) fn baseline(&self) -> Option<&Entry<'a>> {
        let mut entries = self.entries.iter();
        entries.find(|entry| matches!(entry.role, Role::Baseline(_)))
    }
}

/// The comparisons of one suite and operation, which are neighbours.
pub(crate) fn sets<'c, 'a>(
    comparisons: &'c [Comparison<'a>],
) -> impl Iterator<Item = &'c [Comparison<'a>]> {
    comparisons.chunk_by(|a, b| (a.suite, a.operation) == (b.suite, b.operation))
}

/// Returns the section of a set, for example "Libraries: sign", with the number of its comparisons.
pub(crate) fn of_set(set: &[Comparison<'_>]) -> Section {
    let count = units::count(set.len(), "comparison", "comparisons");
    Section::new(set_heading(&set[0])).beside(html! { small { (count) } })
}

pub(crate) fn set_heading(first: &Comparison<'_>) -> String {
    format!("{}: {}", units::capitalised(first.suite), first.operation)
}

impl Role<'_> {
    pub(crate) fn group(self) -> Option<u32> {
        match self {
            Self::Compared(verdict) => Some(verdict.group),
            Self::Baseline(group) => group,
            Self::Reference | Self::Alone => None,
        }
    }
}

/// Returns the time of a row, if it was measured and can be drawn.
pub(crate) fn time(row: &Row) -> Option<&Timing> {
    row.ns_per_op.as_ref().filter(|t| {
        matches!(row.status, Status::Ok | Status::Disturbed)
            && t.median.is_finite()
            && t.median > 0.0
    })
}

/// Returns every comparison of the result, ordered by suite and operation as they first appear.
/// Measured rows without a verdict are included.
pub(crate) fn comparisons(result: &RunResult) -> Vec<Comparison<'_>> {
    let mut taken = vec![false; result.rows.measured.len()];
    let mut found = judged(result, &mut taken);
    add_unjudged(result, &taken, &mut found);
    found.retain(|comparison| !comparison.entries.is_empty());
    for comparison in &mut found {
        add_references_and_missing(result, comparison);
        let median = |entry: &Entry<'_>| time(entry.row).map_or(f64::MAX, |time| time.median);
        let entries = &mut comparison.entries;
        entries.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let measured: Vec<_> = entries.iter().map(|e| &e.row.subject).collect();
        for (entry, name) in entries.iter_mut().zip(names::distinct(&measured)) {
            entry.name = name;
        }
    }
    order(result, &mut found);
    for (number, comparison) in found.iter_mut().enumerate() {
        comparison.anchor = names::anchor(number + 1, &comparison.title);
    }
    found
}

fn judged<'a>(result: &'a RunResult, taken: &mut [bool]) -> Vec<Comparison<'a>> {
    let titled = result.verdicts.iter();
    let titled = titled.map(|verdict| (&verdict.comparison, verdict));
    let comparison = |(title, verdicts): (&String, Vec<&'a Verdict>)| {
        let factors = verdicts.iter().flat_map(|verdict| &verdict.factors);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for verdict in &verdicts {
            let (baseline, group) = (&verdict.baseline, verdict.baseline_group);
            let compared = (&verdict.subject, Role::Compared(verdict));
            for (id, role) in [(baseline, Role::Baseline(group)), compared] {
                let is_known = entries.iter().any(|entry| entry.row.subject.id == *id);
                if let (false, Some(row)) = (is_known, place_of(result, verdict, id)) {
                    taken[row] = true;
                    entries.push(entry(&result.rows.measured[row], role));
                }
            }
        }
        Comparison {
            title: title.clone(),
            suite: &verdicts[0].suite,
            operation: &verdicts[0].operation,
            confounded: verdicts.iter().any(|verdict| verdict.confounded),
            factors: distinct(factors.map(String::as_str)),
            entries,
            ..Comparison::default()
        }
    };
    grouped(titled).into_iter().map(comparison).collect()
}

/// Finds the index of a verdict's row. A row of several suites is in the file once, under the first
/// suite. If each suite has its own row, the suite decides.
fn place_of(result: &RunResult, verdict: &Verdict, id: &str) -> Option<usize> {
    let rows = result.rows.measured.iter().enumerate();
    let about = rows.filter(|(_, row)| verdict.is_about(row, id) && time(row).is_some());
    let nearest = about.min_by_key(|(_, row)| row.suite != verdict.suite)?;
    Some(nearest.0)
}

/// Adds measured rows without a verdict to the chart of the same work, or to a new chart.
fn add_unjudged<'a>(result: &'a RunResult, taken: &[bool], found: &mut Vec<Comparison<'a>>) {
    let rows = result.rows.measured.iter().zip(taken);
    let rows = rows.filter(|(row, taken)| !*taken && !row.reference && time(row).is_some());
    for (row, _) in rows {
        let is_same = |e: &Entry<'_>| same_work(e.row, row) && same_token(e.row, row);
        let is_home = |c: &Comparison<'_>| {
            !c.confounded && c.suite == row.suite && c.entries.iter().any(is_same)
        };
        let home = found.iter().position(is_home).unwrap_or_else(|| {
            let (suite, operation, claims) = (&row.suite, &row.operation, &row.claims.name);
            let threads = match row.threads {
                0 | 1 => String::new(),
                several => format!(", {several} threads"),
            };
            let token = names::token(&row.subject);
            found.push(Comparison {
                title: format!("{suite}: {operation}, {token}, {claims} claims{threads}"),
                suite,
                operation,
                ..Comparison::default()
            });
            found.len() - 1
        });
        found[home].entries.push(entry(row, Role::Alone));
    }
}

/// Adds the bare primitives of the compared subjects, and the subjects without a time. Bare primitives may
/// belong to any suite; subjects without a time belong to the comparison's suite.
fn add_references_and_missing<'a>(result: &'a RunResult, comparison: &mut Comparison<'a>) {
    for row in &result.rows.measured {
        let belongs = comparison.entries.iter().any(|entry| {
            let is_same = if row.reference {
                names::primitive(&entry.row.subject) == names::primitive(&row.subject)
            } else {
                row.suite == comparison.suite && same_token(entry.row, row)
            };
            is_same && same_work(entry.row, row)
        });
        let role = if row.reference {
            Role::Reference
        } else {
            Role::Alone
        };
        match time(row) {
            _ if !belongs => {}
            None => comparison.missing.push(entry(row, role)),
            Some(_) if row.reference => comparison.references.push(entry(row, role)),
            Some(_) => {}
        }
    }
}

fn order<'a>(result: &RunResult, found: &mut [Comparison<'a>]) {
    let first = |is_it: &dyn Fn(&Row) -> bool| result.rows.measured.iter().position(is_it);
    let last = usize::MAX;
    let place = |wanted: &Comparison<'a>| {
        let of_suite = |row: &Row| row.suite == wanted.suite;
        let of_operation = |row: &Row| row.operation == wanted.operation;
        // All rows of a comparison may belong to another suite.
        let operation = first(&|row| of_suite(row) && of_operation(row));
        let operation = operation.or_else(|| first(&of_operation));
        (
            first(&of_suite).unwrap_or(last),
            wanted.suite,
            operation.unwrap_or(last),
            wanted.confounded,
        )
    };
    found.sort_by_key(place);
}

fn same_work(a: &Row, b: &Row) -> bool {
    a.operation == b.operation && a.claims.name == b.claims.name && a.threads == b.threads
}

fn same_token(a: &Row, b: &Row) -> bool {
    names::token(&a.subject) == names::token(&b.subject)
}

pub(crate) fn entry<'a>(row: &'a Row, role: Role<'a>) -> Entry<'a> {
    Entry {
        row,
        name: row.subject.library.clone(),
        role,
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared {
    /// The unit of the times. The terminal shows microseconds, because it has several operations in a line.
    pub(crate) unit: Unit,
    pub(crate) rounds: [usize; 2],
    pub(crate) has_outliers: bool,
    pub(crate) disturbed: bool,
    pub(crate) has_room: bool,
}

impl Shared {
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

    fn equal_rounds(&self) -> Option<usize> {
        (self.rounds[0] == self.rounds[1]).then_some(self.rounds[0])
    }
}

impl<'a> Comparison<'a> {
    pub(crate) fn shared(&self) -> Shared {
        let rows = self.entries.iter().chain(&self.references);
        Shared::of(rows.filter_map(|entry| time(entry.row)))
    }

    pub(crate) fn lines(&self) -> Vec<&Entry<'a>> {
        let timed = self.entries.iter().chain(&self.references);
        let timed = timed.filter(|entry| time(entry.row).is_some());
        timed.chain(&self.missing).collect()
    }

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

pub(crate) fn reason(row: &Row) -> &str {
    match (&row.reason, row.status) {
        (Some(reason), _) => reason,
        (None, Status::Ok) => "no usable time was recorded",
        (None, _) => "no reason recorded",
    }
}
