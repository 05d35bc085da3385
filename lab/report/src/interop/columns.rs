//! The columns of the tables of interoperability, for all formats.

use std::iter::once;

use anstyle::{AnsiColor, Style};
use itertools::Itertools as _;
use maud::{Markup, html};

use super::{Failure, KeysRead, Matrix, place};
use crate::table::{Column, PAGE, Value, WIDE, columns};
use jeton_lab_model::result::{INTEROP, Interop, InteropRow, KeyExchange, Reader};
use jeton_lab_model::units;

/// Longest driver name that the terminal prints in full.
const NAME_COLUMNS_MAX: usize = 26;

/// The number of characters of a cell on the terminal.
const CELL_COLUMNS: usize = 3;

impl Matrix<'_> {
    /// Returns the columns of the matrix. A row is the number of an issuer, which the terminal shows as
    /// ` 12 go/golang-jwt`.
    pub(super) fn columns(&self) -> Vec<Column<'_, usize>> {
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
    let look = look(outcome);
    let word = if outcome.needs_explaining() {
        outcome.label()
    } else {
        look.on_page
    };
    // The colour only repeats the letter.
    let colour = match look.class {
        "plain" => Style::new().dimmed(),
        "good" => AnsiColor::Green.on_default(),
        "warn" => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default().bold(),
    };
    let value = Value::text(word)
        .on_terminal(look.on_terminal)
        .coloured(colour);
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

/// Renders an outcome as a coloured letter; screen readers get the word.
pub(super) fn tag(outcome: Interop) -> Markup {
    let Look { class, on_page, .. } = look(outcome);
    html! {
        span.tag.(class) { span aria-hidden="true" { (on_page) } span.spoken { (outcome.label()) } }
    }
}

/// How an outcome looks: its class on the page, its letters, and its meaning.
pub(super) struct Look {
    class: &'static str,
    on_page: &'static str,
    pub(super) on_terminal: &'static str,
    pub(super) meaning: &'static str,
}

#[rustfmt::skip]
pub(super) fn look(outcome: Interop) -> Look {
    let (class, on_page, on_terminal, meaning) = match outcome {
        Interop::NotOffered => ("plain", "·", ".", "not offered by one of the two"),
        Interop::Verified => ("good", "✓", "+", "verified"),
        Interop::Refused => ("warn", "R", "R", "rejected by the verifier"),
        Interop::IssueFailed => ("warn", "M", "M", "the issuer made no token"),
        Interop::WrongClaims => ("bad", "C", "C", "the verifier returned other claims"),
        Interop::Crashed => ("bad", "X", "X", "the process exited"),
        Interop::Hung => ("bad", "H", "H", "no answer in time"),
        Interop::Void => ("bad", "V", "V", "void: the verifier accepts changed tokens"),
    };
    Look { class, on_page, on_terminal, meaning }
}

/// Returns the columns of the failures.
pub(super) fn failure_columns<'a>() -> Vec<Column<'static, Failure<'a>>> {
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

/// Returns the columns of the key encodings that each verifier read.
pub(super) fn key_columns<'a>(read: &[KeysRead<'a>]) -> Vec<Column<'a, KeysRead<'a>>> {
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

/// Returns the columns of one line for each pair of libraries.
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
