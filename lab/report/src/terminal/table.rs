//! One table: a line per subject, a block of columns per operation.

use std::fmt::{self, Write};

use anstyle::Style;
use jeton_lab_harness::suite::{Suite, suite_named};
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::names;
use jeton_lab_model::result::Row;
use jeton_terminal::width::wrapped;

use super::block::{Block, Line};
use super::{BOLD, DIM};
use crate::comparison::{self, Entry, Role, Shared, terminal_time};
use crate::table::{Column, of_terminal};
use crate::words::{self, plural};
use jeton_lab_model::units::list;

/// The columns that fit: details are dropped first, from the last one, then intervals.
struct Room<'a> {
    /// The number of characters of the longest name.
    name: usize,
    has_intervals: bool,
    /// The columns of each operation.
    block: Vec<Column<'a, &'a Entry<'a>>>,
    /// The columns of the subject.
    details: Vec<Column<'a, &'a Entry<'a>>>,
}

impl Room<'_> {
    fn of(shown: &Block<'_>, columns: usize) -> Self {
        let names = (shown.lines.iter()).map(|l| shown.name(l).chars().count());
        let name = names.max().unwrap_or(0).min(NAME_WIDTH_MAX);
        let taken = |has_intervals: bool| {
            let shared = Shared {
                has_room: has_intervals,
                ..Shared::of(std::iter::empty())
            };
            let (block, details) = of_terminal(comparison::columns(shared));
            let width = head(&block, "").chars().count();
            let taken = 2 + name + shown.operations.len() * width;
            (taken, block, details)
        };
        let (mut taken_with, block, mut details) = taken(true);
        if taken_with > columns {
            let (_, block, _) = taken(false);
            return Self {
                name,
                has_intervals: false,
                block,
                details: Vec::new(),
            };
        }
        let fitting = details.iter().take_while(|column| {
            taken_with += column.terminal_text("").chars().count();
            taken_with <= columns
        });
        let fitting = fitting.count();
        details.truncate(fitting);
        Self {
            name,
            has_intervals: true,
            block,
            details,
        }
    }
}

/// The widest column of names; a longer name moves the rest of its line.
pub(super) const NAME_WIDTH_MAX: usize = 200;

/// Reports whether the times have intervals.
pub(super) fn shows_spread(shown: &Block<'_>, columns: usize) -> bool {
    Room::of(shown, columns).has_intervals
}

/// Writes one table and its summary.
pub(super) fn write(shown: &Block<'_>, columns: usize, out: &mut String) -> fmt::Result {
    if shown.opens_suite {
        let question = suite_named(shown.suite).map_or("", Suite::question);
        writeln!(out, "\n{BOLD}{}{BOLD:#} {question}", shown.suite)?;
    }
    let room = Room::of(shown, columns);
    heading(shown, &room, out)?;
    for line in &shown.lines {
        let style = if line.reference { DIM } else { Style::new() };
        let (name, width) = (shown.name(line), room.name);
        write!(out, "  {style}{name:<width$}")?;
        for cell in &line.cells {
            match cell {
                Some(cell) => {
                    let cells = room.block.iter().map(|column| column.terminal_cell(&cell));
                    out.extend(cells.chain([" ".to_owned()]));
                }
                None => out.push_str(&" ".repeat(head(&room.block, "").chars().count())),
            }
        }
        for column in &room.details {
            out.push_str(&column.terminal_text(&detail(column, line)));
        }
        end_line(out, style)?;
    }
    for sentence in sentences(shown) {
        for (i, part) in wrapped(&sentence, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            writeln!(out, "{}{part}", if i == 0 { "  " } else { "    " })?;
        }
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

fn heading(shown: &Block<'_>, room: &Room<'_>, out: &mut String) -> fmt::Result {
    let (title, width) = (shown.title, room.name);
    // A title that does not fit the first column gets its own line.
    if title.chars().count() > width {
        writeln!(out, "\n  {BOLD}{title}{BOLD:#}")?;
        write!(out, "  {DIM}{:width$}", "")?;
    } else {
        write!(out, "\n  {BOLD}{title:<width$}{BOLD:#}{DIM}")?;
    }
    for operation in &shown.operations {
        // Some names are longer than the column.
        let head = match *operation {
            "verify-signature" => "sig",
            "generate-key" => "make",
            "load-key" => "load",
            "round-trip" => "both",
            other => other,
        };
        out.push_str(&self::head(&room.block, head));
    }
    for column in &room.details {
        out.push_str(&column.terminal_head(None));
    }
    end_line(out, DIM)
}

/// Formats the titles of a block; the operation is that of the time.
fn head(block: &[Column<'_, &Entry<'_>>], operation: &str) -> String {
    let titles = block.iter().enumerate().map(|(index, column)| {
        let other = (index == 0).then_some(operation);
        column.terminal_head(other)
    });
    titles.chain([" ".to_owned()]).collect()
}

/// Joins the values of the operations. They have one token.
fn detail<'a>(column: &Column<'_, &'a Entry<'a>>, line: &'a Line<'a>) -> String {
    const UNKNOWN: &str = "n/a";
    let cells = line.cells.iter().flatten();
    let values: Vec<String> = cells.map(|cell| column.brief(&cell)).collect();
    match values.iter().find(|value| *value != UNKNOWN) {
        None => UNKNOWN.to_owned(),
        Some(known) if column.name() == "token_bytes" => known.clone(),
        Some(_) => values.join("/"),
    }
}

fn end_line(out: &mut String, style: Style) -> fmt::Result {
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    writeln!(out, "{style:#}")
}

/// Summarises the table in sentences.
fn sentences(shown: &Block<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    match shown.confounded {
        Some(factors) => sentences.push(format!(
            "Confounded: {} differ together, so the ratio has no single cause.",
            list(factors)
        )),
        None => sentences.push(first_groups(shown)),
    }
    let cells = shown.lines.iter().flat_map(|l| l.cells.iter().flatten());
    let most = cells
        .filter_map(|c| match c.role {
            Role::Compared(v) => v.more_rounds,
            Role::Baseline(_) | Role::Reference | Role::Alone => None,
        })
        .max();
    if let Some(most) = most {
        let rounds = plural(most as usize, "more round");
        sentences.push(format!("{rounds} would probably decide the undecided."));
    }
    sentences
}

/// Names the fastest group of each operation.
fn first_groups(shown: &Block<'_>) -> String {
    let subjects = shown.lines.iter().filter(|l| !l.reference).count();
    let leaders = |column: usize| {
        let first = shown
            .lines
            .iter()
            .filter(|l| l.cells[column].as_ref().and_then(|c| c.role.group()) == Some(1));
        let names: Vec<String> = first.map(|l| shown.short_name(l)).collect();
        if names.len() == subjects {
            match subjects {
                2 => "both".into(),
                _ => format!("all {subjects}"),
            }
        } else {
            list(&names)
        }
    };
    let firsts: Vec<String> = (0..shown.operations.len()).map(leaders).collect();
    let operations: Vec<String> = shown.operations.iter().map(|c| (*c).to_owned()).collect();
    let one = firsts.windows(2).all(|w| w[0] == w[1]);
    let clauses = if one {
        format!("{} ({})", firsts[0], list(&operations))
    } else {
        let pairs = firsts.iter().zip(&operations);
        let clauses: Vec<String> = pairs.map(|(f, c)| format!("{f} ({c})")).collect();
        clauses.join("; ")
    };
    format!("Fastest group: {clauses}.")
}
