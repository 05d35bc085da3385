//! Rows that are not `ok`, each with its reason, so that no gap is silent.

use maud::{Markup, html};

use jeton_lab_model::result::{Row, RunResult, Status};

use super::table::{reason, status};
use super::{names, units};

/// Renders the failed rows, what cannot be concluded without them, and what the run did not measure.
pub(super) fn section(result: &RunResult) -> Markup {
    html! {
        (failed(&result.rows.measured))
        (not_requested(result))
    }
}

/// Renders what the run did not measure, with the commands that do.
fn not_requested(result: &RunResult) -> Markup {
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
            "how time changes with several threads",
            "jeton lab run --threads 1,2",
        ),
        (
            !result.rows.interop.is_empty(),
            "which libraries verify each other's tokens",
            "jeton lab interop",
        ),
        (
            !result.rows.servers.is_empty(),
            "the cost of issuing tokens over gRPC",
            "jeton lab servers",
        ),
        (
            !result.rows.attack.is_empty(),
            "which libraries accept tokens that must be rejected",
            "jeton lab attack",
        ),
    ];
    let missing = missing.into_iter().filter(|(asked, ..)| !asked);
    html! {
        h3 { "Not measured" }
        p { "This run did not measure:" }
        ul { @for (_, what, command) in missing { li { (what) " (" code { (command) } ")" } } }
    }
}

fn failed(rows: &[Row]) -> Markup {
    let gaps = grouped(rows);
    let total: usize = gaps.iter().map(|gap| gap.rows.len()).sum();
    html! {
        @if gaps.is_empty() {
            p { "Every row was measured." }
        } @else {
            p {
                (units::count(total, "row is", "rows are")) " not ok. Failed rows are not compared. Disturbed rows were "
                "measured while something disturbed the machine. Rows of one library with the same reason are combined. "
                "A library without a time has no group; groups then cover the other libraries."
            }
            div.scroll tabindex="0" role="region" aria-label="Rows that are not ok, table" {
                table.gaps {
                    caption { "Rows that are not ok, with reasons" }
                    thead { tr {
                        th scope="col" { "Subject" } th scope="col" { "Status" }
                        th scope="col" { "Reason" } th scope="col" { "No conclusion about" }
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

struct Gap<'a> {
    first: &'a Row,
    rows: Vec<&'a Row>,
}

fn grouped(rows: &[Row]) -> Vec<Gap<'_>> {
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

/// Returns a line such as "libraries, sign: HS256, ES256" for each suite and operation.
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
