//! Rows that are not `ok`, each with its reason, so that no gap is silent.

use maud::{Markup, html};

use jeton_lab_model::result::{Row, RunResult, Status};

use super::comparison::reason;
use super::{names, units};
use crate::table::{self, Column, Page, Value};

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
            "jeton-lab run --sweep",
        ),
        (
            threads,
            "how time changes with several threads",
            "jeton-lab run --threads 1,2",
        ),
        (
            !result.rows.interop.is_empty(),
            "which libraries verify each other's tokens",
            "jeton-lab interop",
        ),
        (
            !result.rows.servers.is_empty(),
            "the cost of issuing tokens over gRPC",
            "jeton-lab servers",
        ),
        (
            !result.rows.attack.is_empty(),
            "which libraries accept tokens that must be rejected",
            "jeton-lab attack",
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
            (Page::new("Rows that are not ok, with reasons", "Rows that are not ok, table")
                .class("gaps")
                .table(&columns(), &gaps))
        }
    }
}

fn columns<'a>() -> Vec<Column<'a, Gap<'a>>> {
    vec![
        Column::text("subject", |gap: &Gap<'_>| {
            let subject = &gap.first.subject;
            let language = names::language(subject);
            Value::text(&subject.library).on_page(html! {
                (subject.library) " " span.muted { (subject.version) " · " (language) }
            })
        }),
        Column::text("status", |gap: &Gap<'_>| {
            let status = gap.first.status;
            Value::text(status.name()).on_page(table::status(status))
        }),
        Column::text("reason", |gap: &Gap<'_>| Value::text(reason(gap.first))).class("reason"),
        Column::text("affected", |gap: &Gap<'_>| {
            let lines = affected(&gap.rows);
            let markup = html! { @for line in &lines { div { (line) } } };
            Value::text(lines.join("; ")).on_page(markup)
        })
        .titled("no conclusion about")
        .class("affected"),
    ]
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
