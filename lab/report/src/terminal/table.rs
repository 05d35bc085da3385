//! One table: a line per subject, a block of columns per operation.

use std::fmt::{self, Write};

use itertools::Itertools as _;
use jeton_lab_harness::suite::{Suite, suite_named};
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::names;
use jeton_lab_model::result::Row;

use super::block::{Block, Line};
use super::{BOLD, hanging, lines};
use crate::comparison::{self, Role, Shared, terminal_time};
use crate::sentences;
use crate::table::{Column, Table, Value, columns, of_terminal};
use crate::words::{self, plural};
use jeton_lab_model::units::list;

/// The widest column of names; a longer name moves the rest of its line.
pub(super) const NAME_WIDTH_MAX: usize = 200;

/// The number of columns about the subject.
const DETAILS: usize = 2;

/// Reports whether the times have intervals.
pub(super) fn shows_spread(shown: &Block<'_>, columns: usize) -> bool {
    fitting(shown, columns).1
}

/// Returns the table with what fits, and whether it has intervals: details are dropped first, then intervals.
fn fitting(shown: &Block<'_>, columns: usize) -> (Table, bool) {
    let with_intervals = (0..=DETAILS)
        .rev()
        .map(|details| table(shown, true, details));
    let is_fitting = |table: &Table| {
        let (head, _) = &table.terminal(columns)[0];
        head.chars().count() <= columns
    };
    match with_intervals.into_iter().find(is_fitting) {
        Some(table) => (table, true),
        None => (table(shown, false, 0), false),
    }
}

/// Returns the number of characters of the longest name.
fn name_width(shown: &Block<'_>) -> usize {
    let names = shown
        .lines
        .iter()
        .map(|line| shown.name(line).chars().count());
    names.max().unwrap_or(0).min(NAME_WIDTH_MAX)
}

/// Returns a line for each subject, with the columns of each operation, and as many details of the subject.
fn table<'a>(shown: &'a Block<'a>, has_room: bool, details: usize) -> Table {
    let width = name_width(shown);
    // A title that does not fit the first column has its own line.
    let title = if shown.title.chars().count() > width {
        ""
    } else {
        shown.title
    };
    let name = |line: &&Line<'a>| {
        let name = Value::text(format!("  {}", shown.name(line)));
        if line.reference {
            name.emphasised()
        } else {
            name
        }
    };
    let mut all = vec![Column::text(&format!("  {title}"), name).wide(width + 2)];
    for (index, comparison) in shown.comparisons.iter().enumerate() {
        // Some names are longer than the column.
        let head = match comparison.operation {
            "verify-signature" => "sig",
            "generate-key" => "make",
            "load-key" => "load",
            "round-trip" => "both",
            other => other,
        };
        let shared = Shared {
            has_room,
            ..Shared::of(std::iter::empty())
        };
        let mut block = of_terminal(comparison::columns(shared)).into_iter();
        let time = block.next().map(|column| column.titled(head));
        let block = time.into_iter().chain(block);
        all.extend(block.map(|column| column.of(move |line: &&'a Line<'a>| line.cells[index])));
        all.push(Column::number("", |_: &&Line<'a>| Value::none()).wide(1));
    }
    let of_subject = columns![&Line<'a>:
        number("bytes") |line| known(line.rows().find_map(|row| row.token_bytes).map(|bytes| bytes.to_string())), .wide(6);
        number("allocs") |line| {
            let allocs: Vec<Option<f64>> = line.rows().map(|row| row.allocs_per_op).collect();
            let joined = || allocs.iter().map(|allocs| allocs.map_or(UNKNOWN.to_owned(), |allocs| format!("{allocs:.0}")));
            known(allocs.iter().any(Option::is_some).then(|| joined().collect::<Vec<_>>().join("/")))
        }, .wide(7);
    ];
    all.extend(of_subject.into_iter().take(details));
    Table::new("", "", &all, &shown.lines.iter().collect::<Vec<_>>())
}

const UNKNOWN: &str = "n/a";

fn known(text: Option<String>) -> Value {
    Value::text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}

/// Writes one table and its summary.
pub(super) fn write(shown: &Block<'_>, columns: usize, out: &mut String) -> fmt::Result {
    if shown.opens_suite {
        let question = suite_named(shown.suite).map_or("", Suite::question);
        writeln!(out, "\n{BOLD}{}{BOLD:#} {question}", shown.suite)?;
    }
    writeln!(out)?;
    if shown.title.chars().count() > name_width(shown) {
        writeln!(out, "  {BOLD}{}{BOLD:#}", shown.title)?;
    }
    lines(&fitting(shown, columns).0, columns, out)?;
    for sentence in said(shown) {
        hanging(&sentence, columns, out)?;
    }
    Ok(())
}

/// Writes the rows that are in no comparison.
pub(super) fn write_alone(rows: &[&Row], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Measured without a comparison{BOLD:#}")?;
    for row in rows {
        let (library, language) = (words::library(&row.subject), names::language(&row.subject));
        let name = format!("{library} ({language})");
        let mut what = super::block::kind(row);
        if row.claims.name != STANDARD {
            what = format!("{what} {}", row.claims.name);
        }
        if row.threads > 1 {
            what = format!("{what} ×{}", row.threads);
        }
        writeln!(
            out,
            "  {name:<29} {what:<16} {:<17}{:>12} µs",
            row.operation,
            terminal_time(row, true)
        )?;
    }
    Ok(())
}

/// Summarises the table in sentences.
fn said(shown: &Block<'_>) -> Vec<String> {
    let mut confounded = shown.comparisons.clone();
    confounded.retain(|one| one.confounded);
    let first = sentences::factors(&confounded);
    let mut said = vec![first.unwrap_or_else(|| first_groups(shown))];
    let cells = shown.lines.iter().flat_map(|l| l.cells.iter().flatten());
    let most = cells.filter_map(|cell| match cell.role {
        Role::Compared(verdict) => verdict.more_rounds,
        _ => None,
    });
    if let Some(most) = most.max() {
        let rounds = plural(most as usize, "more round");
        said.push(format!("{rounds} would probably decide the undecided."));
    }
    said
}

/// Names the fastest group of each operation.
fn first_groups(shown: &Block<'_>) -> String {
    let subjects = shown.lines.iter().filter(|l| !l.reference).count();
    let leaders = |column: usize| {
        let group = |line: &Line<'_>| line.cells[column].and_then(|cell| cell.role.group());
        let firsts = shown.lines.iter().filter(|line| group(line) == Some(1));
        let names: Vec<String> = firsts.map(|line| shown.short_name(line)).collect();
        match names.len() {
            2 if subjects == 2 => "both".to_owned(),
            all if all == subjects => format!("all {subjects}"),
            _ => list(&names),
        }
    };
    let operations: Vec<&str> = shown.comparisons.iter().map(|one| one.operation).collect();
    let firsts: Vec<String> = (0..operations.len()).map(leaders).collect();
    let clauses = if firsts.iter().all_equal() {
        format!("{} ({})", firsts[0], list(&operations))
    } else {
        let pairs = firsts.iter().zip(&operations);
        pairs
            .map(|(names, operation)| format!("{names} ({operation})"))
            .join("; ")
    };
    format!("Fastest group: {clauses}.")
}
