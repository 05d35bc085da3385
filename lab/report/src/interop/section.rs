//! Interoperability as a section: totals, failures with reasons, and a matrix for each kind of token.

use itertools::Itertools as _;
use maud::html;

use jeton_lab_model::result::{Interop, InteropRow, RunResult};

use super::columns::{failure_columns, key_columns, look, tag};
use super::{Failure, Matrix, failures, keys_read, matrices, place, totals};
use crate::section::{Kind, Section};
use crate::table::{MARKDOWN, PAGE, TERMINAL, Table, WIDE};

/// Returns the section; `None` without interop rows.
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

/// Adds the meaning of the outcomes that occur.
fn legend(section: Section, rows: &[InteropRow]) -> Section {
    let occurs = |o: &Interop| rows.iter().any(|row| row.outcome == Some(*o));
    let occurring: Vec<Interop> = Interop::ALL.into_iter().filter(occurs).collect();
    let mut letters = occurring
        .iter()
        .map(|outcome| format!("{} {}", look(*outcome).on_terminal, outcome.label()));
    let text = format!("Rows: issuer; columns: verifier. {}", letters.join(", "));
    let list = html! { ul.legend { @for outcome in &occurring { li { (tag(*outcome)) " " (look(*outcome).meaning) } } } };
    section.note_on(TERMINAL, text).markup(Kind::Block, list)
}

fn in_table(failures: &[Failure<'_>]) -> Section {
    let caption = "Failures with reasons, the most frequent first";
    let table = Table::new(caption, "Failures, table", &failure_columns(), failures);
    Section::new("Failures").on(WIDE).table(table.figures())
}

/// The failures in lines, for the terminal.
fn in_lines(failures: &[Failure<'_>]) -> Section {
    let lines = failures.iter().map(|((outcome, reason), rows)| {
        let (pairs, label, place) = (rows.len(), outcome.label(), place(rows));
        format!("{pairs} {label}, {place}: {reason}")
    });
    Section::new("Failures").on(TERMINAL).items(lines)
}

fn keys(rows: &[InteropRow]) -> Option<Section> {
    let read = keys_read(rows);
    let about = "The lab created each key once. A verifier got the key in each encoding that exists for it. Either the \
                 library read the encoding, or the driver converted it.";
    let (caption, label) = (
        "Verified tokens by key encoding",
        "Encodings of keys, table",
    );
    let table = Table::new(caption, label, &key_columns(&read), &read);
    let section = Section::new("Key encodings").on(PAGE).say(about);
    (!read.is_empty()).then(|| section.table(table))
}

impl Matrix<'_> {
    fn section(&self) -> Section {
        let drivers: Vec<usize> = (0..self.drivers.len()).collect();
        let (caption, label) = (
            "Rows: issuers; columns: verifiers, with the numbers of the rows",
            format!("{}, matrix", self.title()),
        );
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
