//! Interoperability as a section: totals, failures with reasons, and a matrix for each kind of token.

use maud::html;

use jeton_lab_model::result::{Interop, InteropRow, RunResult};

use super::{
    FailureGroup, Matrix, failure_columns, failure_groups, key_columns, keys_read, letter,
    matrices, tag, totals,
};
use crate::section::{Kind, Section, Sentence};
use crate::table::{MARKDOWN, PAGE, TERMINAL, Table, WIDE};

/// Returns the section; `None` without interop rows.
pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let (rows, e) = (&result.rows.interop, &result.environment);
    if rows.is_empty() {
        return None;
    }
    let tally = totals(rows);
    let mut section = Section::new("Interoperability").id("interop");
    section.on_terminal.1 = format!(" in {:.0} s, seed {}", e.elapsed_s, result.seed);
    section = section
        .with(Sentence::new(Kind::Plain, tally.as_str()).markup(html! { strong { (tally) } }))
        .with(Sentence::new(
            Kind::Plain,
            "Each row is a library that issued a token; each column is a library that verified it, with the same key. Verified \
             means: the token was accepted, its claims equal the signed claims, and the same token with one bit changed was \
             rejected. Kinds of token with equal results share a matrix.",
        ).on(PAGE));
    if !e.complete {
        let ended = "Ended early: some kinds of token were not tested.";
        section = section.with(Sentence::new(Kind::Plain, ended).on(TERMINAL));
    }
    section = legend(section, rows);
    let groups = failure_groups(rows);
    let failures = (!groups.is_empty()).then(|| failures(&groups));
    let numbers =
        Section::default().say("Rows: issuers; columns: verifiers, with the numbers of the rows.");
    let read = keys_read(rows);
    let keys = (!read.is_empty()).then(|| {
        let about = "The lab created each key once. A verifier got the key in each encoding that exists for it. Either the \
                     library read the encoding, or the driver converted it.";
        let table = Table::new("Verified tokens by key encoding", "Encodings of keys, table", &key_columns(&read), &read);
        Section::new("Key encodings").on(PAGE).say(about).table(table)
    });
    Some(
        section
            .parts(failures)
            .parts([numbers.on(MARKDOWN)])
            .parts(matrices(rows).iter().map(Matrix::section))
            .parts(keys)
            .parts((!groups.is_empty()).then(|| in_lines(&groups))),
    )
}

/// Adds the meaning of the outcomes that occur.
fn legend(section: Section, rows: &[InteropRow]) -> Section {
    let occurs = |o: &Interop| rows.iter().any(|row| row.outcome == Some(*o));
    let occurring: Vec<Interop> = Interop::ALL.into_iter().filter(occurs).collect();
    let letters = occurring
        .iter()
        .map(|outcome| format!("{} {}", letter(*outcome), outcome.label()));
    let text = format!(
        "Rows: issuer; columns: verifier. {}",
        letters.collect::<Vec<_>>().join(", ")
    );
    let list = html! { ul.legend { @for outcome in &occurring { li { (tag(*outcome)) " " (meaning(*outcome)) } } } };
    section
        .with(Sentence::new(Kind::Note, text).on(TERMINAL))
        .markup(Kind::Block, list)
}

fn meaning(outcome: Interop) -> &'static str {
    match outcome {
        Interop::NotOffered => "not offered by one of the two",
        Interop::Verified => "verified",
        Interop::Refused => "rejected by the verifier",
        Interop::IssueFailed => "the issuer made no token",
        Interop::WrongClaims => "the verifier returned other claims",
        Interop::Crashed => "the process exited",
        Interop::Hung => "no answer in time",
        Interop::Void => "void: the verifier accepts changed tokens",
    }
}

fn failures(groups: &[FailureGroup<'_>]) -> Section {
    let caption = "Failures with reasons, the most frequent first";
    let table = Table::new(caption, "Failures, table", &failure_columns(), groups);
    Section::new("Failures").on(WIDE).table(table.figures())
}

/// The failures in lines, for the terminal.
fn in_lines(groups: &[FailureGroup<'_>]) -> Section {
    let line = |group: &FailureGroup<'_>| {
        format!(
            "{} {}, {}: {}",
            group.rows.len(),
            group.outcome.label(),
            group.place(),
            group.explanation
        )
    };
    Section::new("Failures")
        .on(TERMINAL)
        .items(groups.iter().map(line))
}

impl Matrix<'_> {
    fn section(&self) -> Section {
        let (title, drivers): (String, Vec<usize>) =
            (self.title(), (0..self.drivers.len()).collect());
        let caption = "Rows: issuers; columns: verifiers, with the numbers of the rows";
        let columns = self.columns(drivers.iter().copied());
        let table =
            Table::new(caption, format!("{title}, matrix"), &columns, &drivers).class("interop");
        let mut section = Section::new(&title);
        if !drivers.is_empty() {
            section = section.table(table);
        }
        for (party, reason) in &self.absent {
            let driver = &party.driver;
            let text = format!("Unavailable: {driver}: {reason}");
            let markup = html! { "Unavailable: " (driver) ": " span.reason { (reason) } };
            section = section.with(Sentence::new(Kind::Item, text).markup(markup));
        }
        section
    }
}
