//! The interop section: a matrix for each kind of token, and the reasons of failures.

use maud::{Markup, html};

use crate::interop::{FailureGroup, KeyCounts, Matrix, failure_groups, keys_read, matrices, tally};
use jeton_lab_model::result::{Interop, InteropRow, Party};

use super::units;

/// Renders the section.
pub(super) fn section(rows: &[InteropRow]) -> Markup {
    let tally = tally(rows);
    html! {
        p { strong { (tally.sentence()) } }
        p {
            "Each row is a library that issued a token; each column is a library that verified it, with the same key. "
            "Verified means: the token was accepted, its claims equal the signed claims, and the same token with one bit "
            "changed was rejected. Kinds of token with equal results share a matrix."
        }
        (legend(rows))
        (reasons(&failure_groups(rows)))
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

/// Renders an outcome as a coloured letter; screen readers get the word.
fn tag(outcome: Interop) -> Markup {
    let (class, letter) = look(outcome);
    html! {
        span.tag.(class) { span aria-hidden="true" { (letter) } span.spoken { (outcome.label()) } }
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
        Interop::Refused => "rejected by the verifier",
        Interop::IssueFailed => "the issuer made no token",
        Interop::WrongClaims => "the verifier returned other claims",
        Interop::Crashed => "the process exited",
        Interop::Hung => "no answer in time",
        Interop::Void => "void: the verifier accepts changed tokens",
    }
}

fn reasons(failure_groups: &[FailureGroup<'_>]) -> Markup {
    html! {
        @if !failure_groups.is_empty() {
            h3 { "Failures" }
            div.scroll tabindex="0" role="region" aria-label="Failures, table" {
                table.figures {
                    caption { "Failures with reasons, the most frequent first" }
                    thead { tr {
                        th.text scope="col" { "Outcome" } th scope="col" { "Pairs" }
                        th.text scope="col" { "Tokens" } th.text scope="col" { "Reason" }
                    } }
                    tbody {
                        @for group in failure_groups {
                            tr {
                                th scope="row" { (tag(group.outcome)) " " (group.outcome.label()) }
                                td { (units::whole(group.rows.len() as u64)) }
                                td.text { (group.place()) }
                                td.text.reason { (group.explanation) }
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
                caption { "Rows: issuers; columns: verifiers, with the numbers of the rows" }
                thead { tr {
                    th scope="col" { "Issuer" }
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
                    li { "Unavailable: " (party.driver) ": " span.reason { (reason) } }
                }
            }
        }
    }
}

/// Renders a cell; a failure opens its explanation.
fn cell_of(cell: Option<&InteropRow>) -> Markup {
    let Some((row, outcome)) = cell.and_then(|row| Some((row, row.outcome?))) else {
        return html! { span.spoken { "not tested" } };
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
                p.reason.muted { "Library's message: " (reason) }
            }
        }
    }
}

fn named(party: &Party) -> String {
    format!("{} {}", party.driver, party.version)
}

/// Renders the key encodings that verifiers read.
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
            h3 { "Key encodings" }
            p {
                "The lab created each key once. A verifier got the key in each encoding that exists for it. Either the "
                "library read the encoding, or the driver converted it."
            }
            div.scroll tabindex="0" role="region" aria-label="Encodings of keys, table" {
                table {
                    caption { "Verified tokens by key encoding" }
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
