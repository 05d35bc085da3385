//! Who verifies whose tokens: a matrix for each kind of token, and why what is not verified is not.

use maud::{Markup, html};

use crate::report::interop::{KeyCounts, Matrix, Trouble, keys_read, matrices, tally, troubles};
use crate::result::{Interop, InteropRow, Party};

use super::units;

/// The whole section; the rows are there.
pub(super) fn section(rows: &[InteropRow]) -> Markup {
    let tally = tally(rows);
    html! {
        p { strong { (tally.sentence()) } }
        p {
            "Each row is a library that made a token, each column one that was given it, under one key. "
            "Verified means: accepted, with the claims that went in, and the same token with one bit changed "
            "was refused. Kinds of token that came out alike share a matrix."
        }
        (legend(rows))
        (reasons(&troubles(rows)))
        @for matrix in matrices(rows) { (one(&matrix)) }
        (keys(rows))
    }
}

fn legend(rows: &[InteropRow]) -> Markup {
    let occurs = |o: &Interop| rows.iter().any(|row| row.outcome == Some(*o));
    html! {
        ul.legend {
            @for outcome in Interop::ALL.into_iter().filter(occurs) {
                li { (tag(outcome)) " " (meaning(outcome)) }
            }
        }
    }
}

/// The letter and the colour of an outcome; who hears the page hears the word.
fn tag(outcome: Interop) -> Markup {
    let (class, letter) = look(outcome);
    html! {
        span.tag.(class) { span aria-hidden="true" { (letter) } span.spoken { (outcome.name()) } }
    }
}

fn look(outcome: Interop) -> (&'static str, &'static str) {
    match outcome {
        Interop::NotOffered => ("plain", "·"),
        Interop::Verified => ("good", "✓"),
        Interop::Refused => ("warn", "R"),
        Interop::IssueFailed => ("warn", "M"),
        Interop::WrongClaims => ("bad", "C"),
        Interop::Crashed => ("bad", "X"),
        Interop::Hung => ("bad", "H"),
        Interop::Void => ("bad", "V"),
    }
}

fn meaning(outcome: Interop) -> &'static str {
    match outcome {
        Interop::NotOffered => "not offered by one of the two",
        Interop::Verified => "verified",
        Interop::Refused => "refused by the verifier",
        Interop::IssueFailed => "the minter made no token",
        Interop::WrongClaims => "the verifier read other claims",
        Interop::Crashed => "the process died",
        Interop::Hung => "no answer in time",
        Interop::Void => "void: the verifier takes changed tokens",
    }
}

fn reasons(troubles: &[Trouble<'_>]) -> Markup {
    html! {
        @if !troubles.is_empty() {
            h3 { "Why not" }
            div.scroll tabindex="0" role="region" aria-label="What was not verified, table" {
                table.figures {
                    caption { "What was not verified, and why, the most frequent first" }
                    thead { tr {
                        th.text scope="col" { "Outcome" } th scope="col" { "Pairs" }
                        th.text scope="col" { "Which" } th.text scope="col" { "Why" }
                    } }
                    tbody {
                        @for trouble in troubles {
                            tr {
                                th scope="row" { (tag(trouble.outcome)) " " (trouble.outcome.name()) }
                                td { (units::whole(trouble.rows.len() as u64)) }
                                td.text { (trouble.place()) }
                                td.text.reason { (trouble.explanation) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn one(matrix: &Matrix<'_>) -> Markup {
    let title = matrix.title();
    html! {
        h3 { (title) }
        div.scroll tabindex="0" role="region" aria-label={ (title) ", matrix" } {
            table.interop {
                caption { "Minters down, verifiers across; the columns have the numbers of the rows" }
                thead { tr {
                    th scope="col" { "Minter" }
                    @for (i, verifier) in matrix.drivers.iter().enumerate() {
                        th scope="col" {
                            abbr title=(named(verifier)) { (i + 1) }
                            span.spoken { " " (verifier.driver) }
                        }
                    }
                } }
                tbody {
                    @for (i, issuer) in matrix.drivers.iter().enumerate() {
                        tr {
                            th scope="row" { (i + 1) " " (issuer.driver) " " span.muted { (issuer.version) } }
                            @for cell in &matrix.cells[i] { td { (cell_of(*cell)) } }
                        }
                    }
                }
            }
        }
        @if !matrix.absent.is_empty() {
            ul {
                @for (party, reason) in &matrix.absent {
                    li { "Not available: " (party.driver) ": " span.reason { (reason) } }
                }
            }
        }
    }
}

/// A cell that went wrong opens what was said.
fn cell_of(cell: Option<&InteropRow>) -> Markup {
    let Some((row, outcome)) = cell.and_then(|row| Some((row, row.outcome?))) else {
        return html! { span.spoken { "not asked" } };
    };
    if !outcome.needs_explaining() {
        return tag(outcome);
    }
    html! {
        details {
            summary { (tag(outcome)) }
            p { (row.issuer.driver) " → " (row.verifier.driver) }
            @if let Some(explanation) = &row.explanation { p.reason { (explanation) } }
            @if let (Some(reason), false) = (&row.reason, row.is_unexplained()) {
                p.reason.muted { "It said: " (reason) }
            }
        }
    }
}

fn named(party: &Party) -> String {
    format!("{} {}", party.driver, party.version)
}

/// In which encodings keys went over.
fn keys(rows: &[InteropRow]) -> Markup {
    let read = keys_read(rows);
    let mut encodings: Vec<&str> = read
        .iter()
        .flat_map(|k| k.encodings.keys().copied())
        .collect();
    encodings.sort_unstable();
    encodings.dedup();
    html! {
        @if !read.is_empty() {
            h3 { "How keys went over" }
            p {
                "The lab made each key once. A verifier was given it in each encoding that such a key has: read by "
                "the library itself, or by its driver, which handed the library what it takes."
            }
            div.scroll tabindex="0" role="region" aria-label="Encodings of keys, table" {
                table {
                    caption { "Tokens verified, by the encoding in which the verifier was given the key" }
                    thead { tr {
                        th scope="col" { "Verifier" }
                        @for encoding in &encodings { th scope="col" { (encoding) } }
                    } }
                    tbody {
                        @for keys in &read {
                            tr {
                                th scope="row" { (keys.verifier.driver) }
                                @for encoding in &encodings { td { (counts(keys.encodings.get(encoding))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn counts(counts: Option<&KeyCounts>) -> String {
    let Some(counts) = counts else {
        return "no such keys".to_owned();
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
