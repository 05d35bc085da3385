//! The columns of the tables of interoperability, for all formats.

use std::iter::once;

use anstyle::{AnsiColor, Style};
use maud::{Markup, html};

use super::{FailureGroup, KeyCounts, KeysRead, Matrix};
use crate::table::{Column, PAGE, Value, WIDE, columns};
use jeton_lab_model::result::{INTEROP, Interop, InteropRow};
use jeton_lab_model::units;

/// Longest driver name that the terminal prints in full.
const NAME_COLUMNS_MAX: usize = 26;

/// The number of characters of a cell on the terminal.
pub(crate) const CELL_COLUMNS: usize = 3;

impl Matrix<'_> {
    /// Returns the number of characters of an issuer on the terminal: ` 12 go/golang-jwt`.
    pub(crate) fn issuer_columns(&self) -> usize {
        let names = self.drivers.iter().map(|d| d.driver.chars().count());
        4 + names.max().unwrap_or(0).min(NAME_COLUMNS_MAX)
    }

    /// Returns the columns of a matrix, with one for each of these verifiers. A row is the number of an
    /// issuer.
    pub(crate) fn columns(
        &self,
        verifiers: impl IntoIterator<Item = usize>,
    ) -> Vec<Column<'_, usize>> {
        let width = self.issuer_columns();
        let issuer = Column::text("issuer", move |row: &usize| {
            let (number, party) = (row + 1, self.drivers[*row]);
            let (driver, version) = (&party.driver, &party.version);
            let short: String = driver.chars().take(width - 4).collect();
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
            Column::mark(&number.to_string(), cell)
                .wide(CELL_COLUMNS)
                .headed(heading, None)
        };
        once(issuer.short("", width))
            .chain(verifiers.into_iter().map(verifier))
            .collect()
    }
}

/// Returns the cell of a pair; a failure opens its explanation on the page.
fn cell(cell: Option<&InteropRow>) -> Value {
    let Some((row, outcome)) = cell.and_then(|row| Some((row, row.outcome?))) else {
        return Value::none().on_page(html! { span.spoken { "not tested" } });
    };
    let word = match outcome {
        Interop::Verified | Interop::NotOffered => look(outcome).on_page,
        other => other.label(),
    };
    let value = Value::text(word)
        .on_terminal(look(outcome).on_terminal)
        .coloured(colour(outcome))
        .on_page(tag(outcome));
    if !outcome.needs_explaining() {
        return value;
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
pub(crate) fn tag(outcome: Interop) -> Markup {
    let Look { class, on_page, .. } = look(outcome);
    html! {
        span.tag.(class) { span aria-hidden="true" { (on_page) } span.spoken { (outcome.label()) } }
    }
}

/// Returns the letter of an outcome on the terminal.
pub(crate) fn letter(outcome: Interop) -> &'static str {
    look(outcome).on_terminal
}

/// The class of an outcome on the page, and its letters on the page and on the terminal.
struct Look {
    class: &'static str,
    on_page: &'static str,
    on_terminal: &'static str,
}

fn look(outcome: Interop) -> Look {
    let (class, on_page, on_terminal) = match outcome {
        Interop::NotOffered => ("plain", "·", "."),
        Interop::Verified => ("good", "✓", "+"),
        Interop::Refused => ("warn", "R", "R"),
        Interop::IssueFailed => ("warn", "M", "M"),
        Interop::WrongClaims => ("bad", "C", "C"),
        Interop::Crashed => ("bad", "X", "X"),
        Interop::Hung => ("bad", "H", "H"),
        Interop::Void => ("bad", "V", "V"),
    };
    Look {
        class,
        on_page,
        on_terminal,
    }
}

/// Returns the colour of an outcome on the terminal; it only repeats the letter.
fn colour(outcome: Interop) -> Style {
    match look(outcome).class {
        "plain" => Style::new().dimmed(),
        "good" => AnsiColor::Green.on_default(),
        "warn" => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default().bold(),
    }
}

/// Returns the columns of the failures.
pub(crate) fn failure_columns<'a>() -> Vec<Column<'static, FailureGroup<'a>>> {
    columns![FailureGroup<'_>:
        text("outcome") |group| {
            let label = group.outcome.label();
            Value::text(label).on_page(html! { (tag(group.outcome)) " " (label) })
        }, .on(WIDE);
        number("pairs") |group| Value::count(group.rows.len() as u64), .on(WIDE);
        text("tokens") |group| Value::text(group.place()), .on(WIDE);
        text("reason") |group| Value::text(group.explanation), .class("reason"), .on(WIDE);
    ]
}

/// Returns the columns of the key encodings that each verifier read.
pub(crate) fn key_columns<'a>(read: &[KeysRead<'a>]) -> Vec<Column<'a, KeysRead<'a>>> {
    let encodings = read.iter().flat_map(|keys| keys.encodings.keys().copied());
    let mut encodings: Vec<&'a str> = encodings.collect();
    encodings.sort_unstable();
    encodings.dedup();
    let verifier = Column::text("verifier", |keys: &KeysRead<'_>| {
        Value::text(&keys.verifier.driver)
    });
    let encoding = |encoding: &'a str| {
        Column::text(encoding, move |keys: &KeysRead<'_>| {
            Value::text(counts(keys.encodings.get(encoding)))
        })
        .named(encoding)
    };
    let columns = once(verifier).chain(encodings.into_iter().map(encoding));
    columns.map(|column| column.on(PAGE)).collect()
}

fn counts(counts: Option<&KeyCounts>) -> String {
    let Some(counts) = counts else {
        return "no such key".to_owned();
    };
    let parts: Vec<String> = [
        (counts.by_library, "read by the library"),
        (counts.by_driver, "read by the driver"),
        (counts.otherwise, "not verified"),
        (counts.not_offered, "not offered"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", units::whole(count as u64)))
    .collect();
    parts.join(", ")
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
            let read_by = row.keys.iter().filter_map(|key| Some(format!("{} {}", key.encoding, key.read_by?.name())));
            Value::text(read_by.collect::<Vec<_>>().join("; "))
        };
    ]
}

fn key(row: &InteropRow, encoding: &str) -> Value {
    let key = row.keys.iter().find(|key| key.encoding == encoding);
    key.map_or_else(Value::none, |key| Value::text(key.outcome.name()))
}
