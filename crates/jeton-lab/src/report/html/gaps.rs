//! Rows that are not `ok`, each with its reason: never a silent gap.

use maud::{Markup, html};

use crate::result::{Row, RunResult, Status};

use super::{names, units};

/// What is missing, what cannot be concluded without it, and what the run did not ask.
pub(super) fn section(result: &RunResult) -> Markup {
    html! {
        (failed(&result.rows.measured))
        (unasked(result))
    }
}

/// What a run can be asked beside: what for, and with which command.
fn unasked(result: &RunResult) -> Markup {
    let rows = &result.rows.measured;
    let sizes = super::sweep::section(rows).is_some();
    let threads = rows.iter().any(|row| row.threads > 1);
    let missing = [
        (
            sizes,
            "how time grows with the payload",
            "jeton lab run --sweep",
        ),
        (
            threads,
            "what several threads do",
            "jeton lab run --threads 1,2",
        ),
        (
            !result.rows.interop.is_empty(),
            "whose tokens each library verifies",
            "jeton lab interop",
        ),
        (
            !result.rows.servers.is_empty(),
            "what issuing tokens costs behind gRPC",
            "jeton lab servers",
        ),
        (
            !result.rows.attack.is_empty(),
            "who accepts what must be refused",
            "jeton lab attack",
        ),
    ];
    let missing = missing.into_iter().filter(|(asked, ..)| !asked);
    html! {
        h3 { "Not asked" }
        p { "This run has no rows about the following, so nothing on this page answers it:" }
        ul { @for (_, what, command) in missing { li { (what) " (" code { (command) } ")" } } }
    }
}

fn failed(rows: &[Row]) -> Markup {
    let gaps = gathered(rows);
    let total: usize = gaps.iter().map(|gap| gap.rows.len()).sum();
    html! {
        @if gaps.is_empty() {
            p { "Every row was measured without trouble." }
        } @else {
            p {
                (units::count(total, "row is", "rows are")) " not ok. Nothing failed is compared; what is tainted was "
                "measured while something disturbed the machine. Rows of one library with the same reason stand together. "
                "Where a library has no time it has no tier, and a first tier without it is the first tier of the others."
            }
            div.scroll tabindex="0" role="region" aria-label="Rows that are not ok, table" {
                table.gaps {
                    caption { "Rows that are not ok, and why" }
                    thead { tr {
                        th scope="col" { "Subject" } th scope="col" { "Status" }
                        th scope="col" { "Why" } th scope="col" { "So nothing can be concluded about" }
                    } }
                    tbody {
                        @for gap in &gaps {
                            tr {
                                th scope="row" {
                                    (gap.first.subject.library) " " span.muted { (gap.first.subject.version) " · " (names::language(&gap.first.subject)) }
                                }
                                td { (status(gap.first.status)) }
                                td.reason { (reason(gap.first)) }
                                td.affected { @for line in affected(&gap.rows) { div { (line) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What became of a row, as a tag with a word in it.
pub(super) fn status(status: Status) -> Markup {
    let (class, word) = match status {
        Status::Ok => ("good", "measured"),
        Status::Unavailable => ("plain", "unavailable"),
        Status::FailedPreflight => ("bad", "failed preflight"),
        Status::Crashed => ("bad", "crashed"),
        Status::TimedOut => ("bad", "timed out"),
        Status::Disturbed => ("warn", "tainted"),
    };
    html! { span.tag.(class) { (word) } }
}

/// The reason of a row, or that it has none.
pub(super) fn reason(row: &Row) -> &str {
    match (&row.reason, row.status) {
        (Some(reason), _) => reason,
        (None, Status::Ok) => "no usable time was recorded",
        (None, _) => "no reason was given",
    }
}

struct Gap<'a> {
    first: &'a Row,
    rows: Vec<&'a Row>,
}

fn gathered(rows: &[Row]) -> Vec<Gap<'_>> {
    let mut gaps: Vec<Gap<'_>> = Vec::new();
    let silent = |row: &&Row| row.status == Status::Ok && super::comparison::time(row).is_none();
    for row in rows
        .iter()
        .filter(|row| row.status != Status::Ok || silent(row))
    {
        let same = gaps.iter_mut().find(|gap| {
            let (a, b) = (&gap.first.subject, &row.subject);
            (&a.language, &a.library, &a.version) == (&b.language, &b.library, &b.version)
                && gap.first.status == row.status
                && gap.first.reason == row.reason
        });
        match same {
            Some(gap) => gap.rows.push(row),
            None => gaps.push(Gap {
                first: row,
                rows: vec![row],
            }),
        }
    }
    gaps
}

/// "libraries, sign: HS256, ES256", a line for each suite and contract.
fn affected(rows: &[&Row]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let place = format!("{}, {}", row.suite, row.operation);
        let algorithm = names::algorithm(&row.subject);
        match lines.iter_mut().find(|(known, _)| *known == place) {
            Some((_, algorithms)) => algorithms.push(algorithm),
            None => lines.push((place, vec![algorithm])),
        }
    }
    lines
        .into_iter()
        .map(|(place, algorithms)| format!("{place}: {}", algorithms.join(", ")))
        .collect()
}
