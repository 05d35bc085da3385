//! Interoperability as a section: totals, failures with reasons, and a matrix for each kind of token; and its rows for
//! programs.

use std::collections::BTreeSet;
use std::iter::once;

use anstyle::{AnsiColor, Style};
use itertools::Itertools as _;
use jeton_lab_model::result::{
    INTEROP, Interop, InteropRow, KeyExchange, Party, Reader, RunResult,
};
use jeton_lab_model::units;
use maud::{Markup, html};

use crate::grouped::grouped;
use crate::section::{Kind, Section};
use crate::table::{Column, MARKDOWN, PAGE, TERMINAL, Table, Value, WIDE, columns};

/// A matrix with issuers in rows and verifiers in columns, for kinds of token with equal results.
struct Matrix<'a> {
    format: &'a str,
    /// The algorithms, for example `dir+A256GCM` for a JWE; empty if the format decides.
    algs: Vec<String>,
    drivers: Vec<&'a Party>,
    /// The rows by issuer and verifier; `None` if the pair was not tested or one driver is unavailable.
    cells: Vec<Vec<Option<&'a InteropRow>>>,
    /// Unavailable drivers, each with the reason.
    absent: Vec<(&'a Party, &'a str)>,
}

/// Returns the matrices. Kinds of token of one format with the same drivers and outcomes share one.
fn matrices(rows: &[InteropRow]) -> Vec<Matrix<'_>> {
    let kinds = grouped(
        rows.iter()
            .map(|row| ((row.format.as_str(), alg(row)), row)),
    );
    let mut matrices: Vec<Matrix<'_>> = Vec::new();
    for ((format, alg), rows) in kinds {
        let mut matrix = Matrix::of(format, &rows);
        match matrices.iter_mut().find(|known| known.is_like(&matrix)) {
            Some(same) => same.algs.extend(alg),
            None => {
                matrix.algs.extend(alg);
                matrices.push(matrix);
            }
        }
    }
    matrices
}

impl<'a> Matrix<'a> {
    fn of(format: &'a str, rows: &[&'a InteropRow]) -> Self {
        let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
            rows.iter().partition(|row| row.outcome.is_some());
        let absent = absent.into_iter();
        let drivers: Vec<&Party> = parties(&tested).into_iter().collect();
        let cell = |issuer: &Party, verifier: &Party| {
            let mut own = tested.iter().copied();
            own.find(|row| row.issuer == *issuer && row.verifier == *verifier)
        };
        let row = |issuer: &&Party| drivers.iter().map(|one| cell(issuer, one)).collect();
        Self {
            format,
            algs: Vec::new(),
            cells: drivers.iter().map(row).collect(),
            drivers,
            absent: absent
                .map(|row| (&row.issuer, row.reason.as_deref().unwrap_or_default()))
                .collect(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let told = |row: &Option<&'a InteropRow>| {
            let row = (*row)?;
            Some((
                row.outcome,
                row.explanation.as_ref().filter(|_| row.is_unexplained()),
            ))
        };
        let told = |one: &Self| one.cells.iter().flatten().map(told).collect::<Vec<_>>();
        (self.format, &self.drivers, &self.absent) == (other.format, &other.drivers, &other.absent)
            && told(self) == told(other)
    }

    /// Returns the title: `jwt ES256, ES384`, `v4.public`.
    fn title(&self) -> String {
        format!("{} {}", self.format, self.algs.join(", "))
            .trim_end()
            .to_owned()
    }
}

fn parties<'a>(rows: &[&'a InteropRow]) -> BTreeSet<&'a Party> {
    let both = rows.iter().flat_map(|row| [&row.issuer, &row.verifier]);
    both.collect()
}

/// Returns the algorithm: `ES256`, `dir+A256GCM`; none if the format decides.
fn alg(row: &InteropRow) -> Option<String> {
    let enc = row.enc.iter().map(|enc| format!("+{enc}"));
    Some(row.alg.clone()? + &enc.collect::<String>())
}

/// Names the kind of token: `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
fn kind(row: &InteropRow) -> String {
    once(row.format.clone()).chain(alg(row)).join(" ")
}

/// The rows with the same failure and the same reason, or `unexplained`.
type Failure<'a> = ((Interop, &'a str), Vec<&'a InteropRow>);

fn failures(rows: &[InteropRow]) -> Vec<Failure<'_>> {
    let failed = rows.iter().filter_map(|row| {
        let outcome = row.outcome.filter(|o| o.needs_explaining())?;
        let explanation = row.explanation.as_deref().unwrap_or("unexplained");
        Some(((outcome, explanation), row))
    });
    let mut failures = grouped(failed);
    failures.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    failures
}

/// Describes where a failure occurs, for example `issued by rust/josekit, verified by python/pyjwt (jwt ES256)`.
fn place(rows: &[&InteropRow]) -> String {
    let each = |party: fn(&InteropRow) -> &Party| {
        let names: BTreeSet<&str> = rows.iter().map(|row| party(row).driver.as_str()).collect();
        match names.len() {
            0..=3 => units::list(names),
            many => format!("{many} drivers"),
        }
    };
    let kinds: BTreeSet<String> = rows.iter().map(|row| kind(row)).collect();
    let kinds = match kinds.len() {
        0..=4 => kinds.iter().join(", "),
        many => format!("{} and {} more", kinds.iter().take(3).join(", "), many - 3),
    };
    let (issuers, verifiers) = (each(|row| &row.issuer), each(|row| &row.verifier));
    format!("issued by {issuers}, verified by {verifiers} ({kinds})")
}

fn totals(rows: &[InteropRow]) -> String {
    let whole = |n: usize| units::whole(n as u64);
    let count = |is_it: &dyn Fn(&&InteropRow) -> bool| rows.iter().filter(is_it).count();
    let of = |outcome| count(&|row| row.outcome == Some(outcome));
    let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
        rows.iter().partition(|row| row.outcome.is_some());
    let present = parties(&tested);
    let absent: BTreeSet<&Party> = absent.iter().map(|row| &row.issuer).collect();
    let kinds: BTreeSet<String> = rows.iter().map(kind).collect();
    let tried = tested.len() - of(Interop::NotOffered);
    let verified = of(Interop::Verified);
    let pairs = units::count(tried, "pair", "pairs");
    let failed = Interop::ALL.into_iter().filter(|o| o.needs_explaining());
    let failed = failed.filter_map(|one| match of(one) {
        0 => None,
        some => Some(format!(", {} {}", whole(some), one.label())),
    });
    let explained = match (tried - verified, count(&|row| row.is_unexplained())) {
        (0, _) => String::new(),
        (_, 0) => "; all failures are explained".to_owned(),
        (_, n) => format!("; {} unexplained", whole(n)),
    };
    let absent = match absent.difference(&present).count() {
        0 => String::new(),
        n => format!(
            "; {} unavailable",
            units::count(n, "driver is", "drivers are")
        ),
    };
    format!(
        "{} of {pairs} verified{}{explained}. {}, {} of token{absent}.",
        whole(verified),
        failed.collect::<String>(),
        units::count(present.len(), "driver", "drivers"),
        units::count(kinds.len(), "kind", "kinds")
    )
}

type KeysRead<'a> = (&'a Party, Vec<&'a KeyExchange>);

const NAME_COLUMNS_MAX: usize = 26;

const CELL_COLUMNS: usize = 3;

impl Matrix<'_> {
    /// Returns the columns of the matrix. A row is the number of an issuer, which the terminal shows as
    /// ` 12 go/golang-jwt`.
    fn columns(&self) -> Vec<Column<'_, usize>> {
        let names = self.drivers.iter().map(|d| d.driver.chars().count());
        let name = names.max().unwrap_or(0).min(NAME_COLUMNS_MAX);
        let issuer = Column::text("issuer", move |row: &usize| {
            let (number, party) = (row + 1, self.drivers[*row]);
            let (driver, version) = (&party.driver, &party.version);
            let short: String = driver.chars().take(name).collect();
            Value::text(format!("{number} {driver} {version}"))
                .on_page(html! { (number) " " (driver) " " span.muted { (version) } })
                .on_terminal(format!("{number:>3} {short}"))
        });
        let verifier = |column: usize| {
            let (number, party) = (column + 1, self.drivers[column]);
            let heading = html! {
                abbr title={ (party.driver) " " (party.version) } { (number) }
                span.spoken { " " (party.driver) }
            };
            let cell = move |row: &usize| cell(self.cells[*row][column]);
            let column = Column::mark(&number.to_string(), cell).wide(CELL_COLUMNS);
            column.headed(heading, None)
        };
        let verifiers = (0..self.drivers.len()).map(verifier);
        once(issuer.short("", name + 4)).chain(verifiers).collect()
    }
}

/// Returns the cell of a pair; a failure opens its explanation on the page.
fn cell(cell: Option<&InteropRow>) -> Value {
    let Some((row, outcome)) = cell.and_then(|row| Some((row, row.outcome?))) else {
        return Value::none().on_page(html! { span.spoken { "not tested" } });
    };
    let (class, on_page, on_terminal, _) = look(outcome);
    let word = if outcome.needs_explaining() {
        outcome.label()
    } else {
        on_page
    };
    // The colour only repeats the letter.
    let colour = match class {
        "plain" => Style::new().dimmed(),
        "good" => AnsiColor::Green.on_default(),
        "warn" => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default().bold(),
    };
    let value = Value::text(word).on_terminal(on_terminal).coloured(colour);
    if !outcome.needs_explaining() {
        return value.on_page(tag(outcome));
    }
    value.on_page(html! {
        details {
            summary { (tag(outcome)) }
            p { (row.issuer.driver) " → " (row.verifier.driver) }
            @if let Some(explanation) = &row.explanation { p.reason { (explanation) } }
            @if let (Some(reason), false) = (&row.reason, row.is_unexplained()) {
                p.reason.muted { "Library's message: " (reason) }
            }
        }
    })
}

fn tag(outcome: Interop) -> Markup {
    let (class, on_page, ..) = look(outcome);
    html! {
        span.tag.(class) { span aria-hidden="true" { (on_page) } span.spoken { (outcome.label()) } }
    }
}

/// How an outcome looks: its class and letter on the page, its letter on the terminal, and its meaning.
type Look = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
fn look(outcome: Interop) -> Look {
    match outcome {
        Interop::NotOffered => ("plain", "·", ".", "not offered by one of the two"),
        Interop::Verified => ("good", "✓", "+", "verified"),
        Interop::Refused => ("warn", "R", "R", "rejected by the verifier"),
        Interop::IssueFailed => ("warn", "M", "M", "the issuer made no token"),
        Interop::WrongClaims => ("bad", "C", "C", "the verifier returned other claims"),
        Interop::Crashed => ("bad", "X", "X", "the process exited"),
        Interop::Hung => ("bad", "H", "H", "no answer in time"),
        Interop::Void => ("bad", "V", "V", "void: the verifier accepts changed tokens"),
    }
}

fn failure_columns<'a>() -> Vec<Column<'static, Failure<'a>>> {
    columns![Failure<'_>:
        text("outcome") |((outcome, _), _)| {
            let label = outcome.label();
            Value::text(label).on_page(html! { (tag(*outcome)) " " (label) })
        }, .on(WIDE);
        number("pairs") |(_, rows)| Value::count(rows.len() as u64), .on(WIDE);
        text("tokens") |(_, rows)| Value::text(place(rows)), .on(WIDE);
        text("reason") |((_, reason), _)| Value::text(*reason), .class("reason"), .on(WIDE);
    ]
}

fn key_columns<'a>(read: &[KeysRead<'a>]) -> Vec<Column<'a, KeysRead<'a>>> {
    let keys = read.iter().flat_map(|(_, keys)| keys);
    let encodings = keys
        .map(|key| key.encoding.as_str())
        .sorted_unstable()
        .dedup();
    let verifier = Column::text("verifier", |(verifier, _): &KeysRead<'a>| {
        Value::text(&verifier.driver)
    });
    let encoding = |encoding: &'a str| {
        let counts = move |(_, keys): &KeysRead<'a>| Value::text(counts(keys, encoding));
        Column::text(encoding, counts).named(encoding)
    };
    let columns = once(verifier).chain(encodings.map(encoding));
    columns.map(|column| column.on(PAGE)).collect()
}

fn counts(keys: &[&KeyExchange], encoding: &str) -> String {
    let what = |key: &KeyExchange| match (key.outcome, key.read_by) {
        (Interop::Verified, Some(Reader::Library)) => "read by the library",
        (Interop::Verified, _) => "read by the driver",
        (Interop::NotOffered, _) => "not offered",
        _ => "not verified",
    };
    let own = keys.iter().filter(|key| key.encoding == encoding);
    let own: Vec<&str> = own.map(|key| what(key)).collect();
    let all = [
        "read by the library",
        "read by the driver",
        "not verified",
        "not offered",
    ];
    let said = all.into_iter().filter_map(|what| {
        let count = own.iter().filter(|one| **one == what).count();
        (count > 0).then(|| format!("{} {what}", units::whole(count as u64)))
    });
    if own.is_empty() {
        return "no such key".to_owned();
    }
    said.collect::<Vec<_>>().join(", ")
}

pub(crate) fn row_columns<'a>() -> Vec<Column<'a, &'a InteropRow>> {
    columns![&InteropRow:
        text("suite") |_| Value::text(INTEROP);
        text("status") |row| Value::text(row.status.name());
        text("outcome") |row| Value::text(row.outcome.map_or("", |o| o.name()));
        text("reason") |row| Value::text(row.reason.as_deref().unwrap_or_default());
        text("explanation") |row| Value::text(row.explanation.as_deref().unwrap_or_default());
        text("minter") |row| Value::text(&row.issuer.driver);
        text("minter_library") |row| Value::text(&row.issuer.library);
        text("minter_version") |row| Value::text(&row.issuer.version);
        text("verifier") |row| Value::text(&row.verifier.driver);
        text("verifier_library") |row| Value::text(&row.verifier.library);
        text("verifier_version") |row| Value::text(&row.verifier.version);
        text("format") |row| Value::text(&row.format);
        text("alg") |row| Value::text(row.alg.as_deref().unwrap_or_default());
        text("enc") |row| Value::text(row.enc.as_deref().unwrap_or_default());
        text("key_jwk") |row| key(row, "jwk");
        text("key_pem") |row| key(row, "pem");
        text("key_paserk") |row| key(row, "paserk");
        text("key_read_by") |row| {
            let mut read_by = row.keys.iter().filter_map(|key| Some(format!("{} {}", key.encoding, key.read_by?.name())));
            Value::text(read_by.join("; "))
        };
    ]
}

fn key(row: &InteropRow, encoding: &str) -> Value {
    let key = row.keys.iter().find(|key| key.encoding == encoding);
    key.map_or_else(Value::none, |key| Value::text(key.outcome.name()))
}

pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let (rows, e) = (&result.rows.interop, &result.environment);
    if rows.is_empty() {
        return None;
    }
    let tally = totals(rows);
    let mut section = Section::new("Interoperability")
        .id("interop")
        .shown(Kind::Plain, &tally, html! { strong { (tally) } })
        .say_on(
            PAGE,
            "Each row is a library that issued a token; each column is a library that verified it, with the same key. Verified \
             means: the token was accepted, its claims equal the signed claims, and the same token with one bit changed was \
             rejected. Kinds of token with equal results share a matrix.",
        );
    section.on_terminal.1 = format!(" in {:.0} s, seed {}", e.elapsed_s, result.seed);
    if !e.complete {
        let ended = "Ended early: some kinds of token were not tested.";
        section = section.say_on(TERMINAL, ended);
    }
    let failures = failures(rows);
    let has_failures = !failures.is_empty();
    let numbers =
        Section::default().say("Rows: issuers; columns: verifiers, with the numbers of the rows.");
    Some(
        legend(section, rows)
            .parts(has_failures.then(|| in_table(&failures)))
            .parts([numbers.on(MARKDOWN)])
            .parts(matrices(rows).iter().map(Matrix::section))
            .parts(keys(rows))
            .parts(has_failures.then(|| in_lines(&failures))),
    )
}

fn legend(section: Section, rows: &[InteropRow]) -> Section {
    let occurs = |o: &Interop| rows.iter().any(|row| row.outcome == Some(*o));
    let occurring: Vec<Interop> = Interop::ALL.into_iter().filter(occurs).collect();
    let mut letters = occurring
        .iter()
        .map(|outcome| format!("{} {}", look(*outcome).2, outcome.label()));
    let text = format!("Rows: issuer; columns: verifier. {}", letters.join(", "));
    let list = html! { ul.legend { @for outcome in &occurring { li { (tag(*outcome)) " " (look(*outcome).3) } } } };
    section.note_on(TERMINAL, text).markup(Kind::Block, list)
}

fn in_table(failures: &[Failure<'_>]) -> Section {
    let caption = "Failures with reasons, the most frequent first";
    let table = Table::new(caption, "Failures, table", &failure_columns(), failures);
    Section::new("Failures").on(WIDE).table(table.figures())
}

fn in_lines(failures: &[Failure<'_>]) -> Section {
    let lines = failures.iter().map(|((outcome, reason), rows)| {
        let (pairs, label, place) = (rows.len(), outcome.label(), place(rows));
        format!("{pairs} {label}, {place}: {reason}")
    });
    Section::new("Failures").on(TERMINAL).items(lines)
}

fn keys(rows: &[InteropRow]) -> Option<Section> {
    let keys = rows.iter();
    let keys = keys.flat_map(|row| row.keys.iter().map(move |key| (&row.verifier, key)));
    let mut read: Vec<KeysRead<'_>> = grouped(keys);
    read.sort_by_key(|(verifier, _)| *verifier);
    let about = "The lab created each key once. A verifier got the key in each encoding that exists for it. Either the \
                 library read the encoding, or the driver converted it.";
    let caption = "Verified tokens by key encoding";
    let label = "Encodings of keys, table";
    let table = Table::new(caption, label, &key_columns(&read), &read);
    let section = Section::new("Key encodings").on(PAGE).say(about);
    (!read.is_empty()).then(|| section.table(table))
}

impl Matrix<'_> {
    fn section(&self) -> Section {
        let drivers: Vec<usize> = (0..self.drivers.len()).collect();
        let caption = "Rows: issuers; columns: verifiers, with the numbers of the rows";
        let label = format!("{}, matrix", self.title());
        let table = Table::new(caption, label, &self.columns(), &drivers).class("interop");
        let mut section = Section::new(self.title());
        if !drivers.is_empty() {
            section = section.table(table);
        }
        for (party, reason) in &self.absent {
            let driver = &party.driver;
            let text = format!("Unavailable: {driver}: {reason}");
            let markup = html! { "Unavailable: " (driver) ": " span.reason { (reason) } };
            section = section.shown(Kind::Item, text, markup);
        }
        section
    }
}
