//! One table: a line per subject, a block of columns per operation.

use std::fmt::{self, Write};

use anstyle::Style;
use jeton_lab_harness::suite::{Suite, suite_named};
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::Row;

use super::section::{Cell, Line, Role, Section};
use super::words::{colour, list, microseconds, plural, significant, wrapped};
use super::{BOLD, DIM};

const TIME: usize = 7;
const TIME_WITH_SPREAD: usize = 11;
const RATIO: usize = 6;
const VERDICT: usize = 10;
const GROUP: usize = 6;
const BYTES: usize = 6;
const ALLOCS: usize = 7;

/// The columns that fit: allocations are dropped first, then sizes, then spreads.
#[derive(Debug, Clone, Copy)]
struct Room {
    name: usize,
    time: usize,
    bytes: bool,
    allocs: bool,
}

impl Room {
    fn spread(self) -> bool {
        self.time == TIME_WITH_SPREAD
    }

    fn of(section: &Section<'_>, columns: usize) -> Self {
        let names = section
            .lines
            .iter()
            .map(|l| section.name(l).chars().count());
        Self::within(columns, names.max().unwrap_or(0), section.operations.len())
    }

    fn within(columns: usize, name: usize, operations: usize) -> Self {
        let taken = |time: usize| 2 + name + operations * (time + RATIO + 1 + VERDICT + GROUP);
        let spread = taken(TIME_WITH_SPREAD) <= columns;
        let time = if spread { TIME_WITH_SPREAD } else { TIME };
        let bytes = spread && taken(time) + BYTES <= columns;
        Self {
            name,
            time,
            bytes,
            allocs: bytes && taken(time) + BYTES + ALLOCS <= columns,
        }
    }
}

/// Reports whether the times have intervals.
pub(super) fn shows_spread(section: &Section<'_>, columns: usize) -> bool {
    Room::of(section, columns).spread()
}

/// Writes one table and its summary.
pub(super) fn write(section: &Section<'_>, columns: usize, out: &mut String) -> fmt::Result {
    if section.opens_suite {
        let question = suite_named(section.suite).map_or("", Suite::question);
        writeln!(out, "\n{BOLD}{}{BOLD:#} {question}", section.suite)?;
    }
    let names: Vec<String> = section.lines.iter().map(|l| section.name(l)).collect();
    let room = Room::of(section, columns);
    heading(section, room, out)?;
    for (line, name) in section.lines.iter().zip(&names) {
        let style = if line.reference { DIM } else { Style::new() };
        let width = room.name;
        write!(out, "  {style}{name:<width$}")?;
        for cell in &line.cells {
            block(cell.as_ref(), room, out)?;
        }
        extras(line, room, out)?;
        end_line(out, style)?;
    }
    for sentence in sentences(section) {
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
        let name = super::words::library(&row.subject);
        let mut what = super::section::kind(row);
        if row.claims.name != STANDARD {
            what = format!("{what} {}", row.claims.name);
        }
        if row.threads > 1 {
            what = format!("{what} ×{}", row.threads);
        }
        writeln!(
            out,
            "  {name:<20} {what:<16} {:<17}{:>12} µs",
            row.operation,
            time(row, true)
        )?;
    }
    Ok(())
}

fn heading(section: &Section<'_>, room: Room, out: &mut String) -> fmt::Result {
    let (title, width) = (section.title, room.name);
    // A title that does not fit the first column gets its own line.
    if title.chars().count() > width {
        writeln!(out, "\n  {BOLD}{title}{BOLD:#}")?;
        write!(out, "  {DIM}{:width$}", "")?;
    } else {
        write!(out, "\n  {BOLD}{title:<width$}{BOLD:#}{DIM}")?;
    }
    for operation in &section.operations {
        // Some names are longer than the column.
        let head = match *operation {
            "verify-signature" => "sig",
            "generate-key" => "make",
            "load-key" => "load",
            "round-trip" => "both",
            other => other,
        };
        let time = room.time;
        write!(out, "{head:>time$}{:>RATIO$} ", "ratio")?;
        write!(out, "{:<VERDICT$}{:<GROUP$}", "verdict", "group")?;
    }
    if room.bytes {
        write!(out, "{:>BYTES$}", "bytes")?;
    }
    if room.allocs {
        write!(out, "{:>ALLOCS$}", "allocs")?;
    }
    end_line(out, DIM)
}

fn block(cell: Option<&Cell<'_>>, room: Room, out: &mut String) -> fmt::Result {
    let blank = RATIO + 1 + VERDICT + GROUP;
    let width = room.time;
    let Some(cell) = cell else {
        return write!(out, "{:width$}{:blank$}", "", "");
    };
    let spread = room.spread();
    write!(out, "{:>width$}", time(cell.row, spread))?;
    match cell.role {
        Role::Reference => write!(out, "{:blank$}", ""),
        Role::Baseline(group) => {
            let group = group.map_or_else(String::new, |t| t.to_string());
            write!(out, "{:>RATIO$} {:<VERDICT$}{group:>5} ", "1", "baseline")
        }
        Role::Compared(v) => {
            let (ratio, group) = (significant(v.ratio), v.group);
            let (style, word) = (colour(v.verdict), v.verdict.label());
            write!(
                out,
                "{ratio:>RATIO$} {style}{word:<VERDICT$}{style:#}{group:>5} "
            )
        }
    }
}

/// Formats the median, with the half-width of its interval if there is room.
fn time(row: &Row, spread: bool) -> String {
    let Some(t) = &row.ns_per_op else {
        return String::new();
    };
    let mark = if t.unsettled { "~" } else { "" };
    let median = microseconds(t.median);
    if spread {
        let half = (t.interval[1] - t.interval[0]) / 2.0 / t.median * 100.0;
        format!("{mark}{median} ±{half:.0}%")
    } else {
        format!("{mark}{median}")
    }
}

/// Writes token bytes, and the allocations of each operation.
fn extras(line: &Line<'_>, room: Room, out: &mut String) -> fmt::Result {
    let rows = || line.cells.iter().flatten().map(|c| c.row);
    if room.bytes {
        let bytes = rows().find_map(|r| r.token_bytes);
        let bytes = bytes.map_or_else(|| "n/a".into(), |b| b.to_string());
        write!(out, "{bytes:>BYTES$}")?;
    }
    if room.allocs {
        let count = |r: &Row| {
            r.allocs_per_op
                .map_or_else(|| "n/a".into(), |a| format!("{a:.0}"))
        };
        let allocs: Vec<String> = rows().map(count).collect();
        let unknown = allocs.iter().all(|a| a == "n/a");
        let allocs = if unknown {
            "n/a".into()
        } else {
            allocs.join("/")
        };
        write!(out, "{allocs:>ALLOCS$}")?;
    }
    Ok(())
}

fn end_line(out: &mut String, style: Style) -> fmt::Result {
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    writeln!(out, "{style:#}")
}

/// Summarises the table in sentences.
fn sentences(section: &Section<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    match section.confounded {
        Some(factors) => sentences.push(format!(
            "Confounded: {} differ together, so the ratio has no single cause.",
            list(factors)
        )),
        None => sentences.push(first_groups(section)),
    }
    let cells = section.lines.iter().flat_map(|l| l.cells.iter().flatten());
    let most = cells
        .filter_map(|c| match c.role {
            Role::Compared(v) => v.more_rounds,
            Role::Baseline(_) | Role::Reference => None,
        })
        .max();
    if let Some(most) = most {
        let rounds = plural(most as usize, "more round");
        sentences.push(format!("{rounds} would probably decide the undecided."));
    }
    sentences
}

/// Names the fastest group of each operation.
fn first_groups(section: &Section<'_>) -> String {
    let subjects = section.lines.iter().filter(|l| !l.reference).count();
    let leaders = |column: usize| {
        let first = section
            .lines
            .iter()
            .filter(|l| l.cells[column].as_ref().and_then(group) == Some(1));
        let names: Vec<String> = first.map(|l| section.short_name(l)).collect();
        if names.len() == subjects {
            match subjects {
                2 => "both".into(),
                _ => format!("all {subjects}"),
            }
        } else {
            list(&names)
        }
    };
    let firsts: Vec<String> = (0..section.operations.len()).map(leaders).collect();
    let operations: Vec<String> = section.operations.iter().map(|c| (*c).to_owned()).collect();
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

fn group(cell: &Cell<'_>) -> Option<u32> {
    match cell.role {
        Role::Baseline(group) => group,
        Role::Compared(v) => Some(v.group),
        Role::Reference => None,
    }
}
