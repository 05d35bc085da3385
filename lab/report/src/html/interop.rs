//! The interop section: a matrix for each kind of token, and the reasons of failures.

use maud::{Markup, html};

use crate::interop::{
    Matrix, failure_columns, failure_groups, key_columns, keys_read, matrices, tag, tally,
};
use crate::table::Page;
use jeton_lab_model::result::{Interop, InteropRow};

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
        (failures(rows))
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

fn failures(rows: &[InteropRow]) -> Markup {
    let groups = failure_groups(rows);
    html! {
        @if !groups.is_empty() {
            h3 { "Failures" }
            (Page::new("Failures with reasons, the most frequent first", "Failures, table")
                .figures()
                .table(&failure_columns(), &groups))
        }
    }
}

fn one(matrix: &Matrix<'_>) -> Markup {
    let title = matrix.title();
    let caption = "Rows: issuers; columns: verifiers, with the numbers of the rows";
    let drivers: Vec<usize> = (0..matrix.drivers.len()).collect();
    html! {
        h3 { (title) }
        (Page::new(caption, format!("{title}, matrix"))
            .class("interop")
            .table(&matrix.columns(drivers.iter().copied()), &drivers))
        @if !matrix.absent.is_empty() {
            ul {
                @for (party, reason) in &matrix.absent {
                    li { "Unavailable: " (party.driver) ": " span.reason { (reason) } }
                }
            }
        }
    }
}

/// Renders the key encodings that verifiers read.
fn keys(rows: &[InteropRow]) -> Markup {
    let read = keys_read(rows);
    html! {
        @if !read.is_empty() {
            h3 { "Key encodings" }
            p {
                "The lab created each key once. A verifier got the key in each encoding that exists for it. Either the "
                "library read the encoding, or the driver converted it."
            }
            (Page::new("Verified tokens by key encoding", "Encodings of keys, table").table(&key_columns(&read), &read))
        }
    }
}
