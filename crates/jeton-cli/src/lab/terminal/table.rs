//! One table: a line per subject, a block of columns per contract.

use std::fmt::{self, Write};

use anstyle::Style;
use jeton_lab::suite::Suite;

use super::group::{Cell, Group, Line, Role};
use super::words::{colour, judgement, list, microseconds, plural, significant, wrapped};
use super::{BOLD, DIM};

/// From here on there is room for sizes and allocations.
const WIDE: usize = 96;

const TIME: usize = 12;
const RATIO: usize = 6;
const VERDICT: usize = 12;

pub(super) fn write(group: &Group<'_>, columns: usize, out: &mut String) -> fmt::Result {
    if group.opens_suite {
        let question = Suite::named(group.suite).map_or("", Suite::question);
        writeln!(
            out,
            "\n{BOLD}{}{BOLD:#} {DIM}{question}{DIM:#}",
            group.suite
        )?;
    }
    let wide = columns >= WIDE;
    let names: Vec<String> = group.lines.iter().map(|l| group.name(l)).collect();
    let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let name_width = longest.max(18);
    heading(group, name_width, wide, out)?;
    for (line, name) in group.lines.iter().zip(&names) {
        let style = if line.reference { DIM } else { Style::new() };
        write!(out, "  {style}{name:<name_width$}{style:#}")?;
        for cell in &line.cells {
            block(cell.as_ref(), out)?;
        }
        if wide {
            write!(out, "{DIM}{}{DIM:#}", extras(line))?;
        }
        while out.ends_with(' ') {
            out.pop();
        }
        writeln!(out)?;
    }
    for sentence in sentences(group) {
        for (i, part) in wrapped(&sentence, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            writeln!(out, "{}{part}", if i == 0 { "  " } else { "    " })?;
        }
    }
    Ok(())
}

fn heading(group: &Group<'_>, name_width: usize, wide: bool, out: &mut String) -> fmt::Result {
    let title = group.title;
    // A title too long for the first column gets a line of its own.
    let own_line = title.chars().count() > name_width;
    if own_line {
        writeln!(out, "\n  {BOLD}{title}{BOLD:#}")?;
        write!(out, "  {:name_width$}", "")?;
    } else {
        write!(out, "\n  {BOLD}{title:<name_width$}{BOLD:#}")?;
    }
    for contract in &group.contracts {
        let head = format!("{contract} µs");
        let versus = format!("{:>RATIO$} {:<VERDICT$}", "ratio", "verdict");
        write!(out, "{DIM}{head:>TIME$}{versus}tier {DIM:#}")?;
    }
    if wide {
        write!(out, "{DIM}{:>7}{:>9}{DIM:#}", "bytes", "allocs")?;
    }
    while out.ends_with(' ') {
        out.pop();
    }
    writeln!(out)
}

fn block(cell: Option<&Cell<'_>>, out: &mut String) -> fmt::Result {
    let blank = RATIO + 1 + VERDICT + 5;
    let Some(cell) = cell else {
        return write!(out, "{:TIME$}{:blank$}", "", "");
    };
    write!(out, "{:>TIME$}", time(cell))?;
    match cell.role {
        Role::Reference => write!(out, "{:blank$}", ""),
        Role::Baseline(tier) => {
            let tier = tier.map_or_else(String::new, |t| t.to_string());
            write!(out, "{:>RATIO$} {:<VERDICT$}{tier:^5}", "1", "baseline")
        }
        Role::Compared(v) => {
            let ratio = significant(v.ratio);
            let (style, word) = (colour(v.verdict), judgement(v.verdict));
            let tier = v.tier.to_string();
            write!(
                out,
                "{ratio:>RATIO$} {style}{word:<VERDICT$}{style:#}{tier:^5}"
            )
        }
    }
}

/// The median with the half-width of its interval.
fn time(cell: &Cell<'_>) -> String {
    let Some(t) = &cell.row.ns_per_op else {
        return String::new();
    };
    let half = (t.interval[1] - t.interval[0]) / 2.0 / t.median * 100.0;
    let mark = if t.unsettled { "~" } else { "" };
    format!("{mark}{} ±{half:.0}%", microseconds(t.median))
}

/// Token bytes, and allocations under each contract.
fn extras(line: &Line<'_>) -> String {
    let rows = || line.cells.iter().flatten().map(|c| c.row);
    let bytes = rows().find_map(|r| r.token_bytes);
    let bytes = bytes.map_or_else(|| "n/a".into(), |b| b.to_string());
    let allocs: Vec<String> = rows()
        .map(|r| {
            r.allocs_per_op
                .map_or_else(|| "n/a".into(), |a| format!("{a:.0}"))
        })
        .collect();
    let unknown = allocs.iter().all(|a| a == "n/a");
    let allocs = if unknown {
        "n/a".into()
    } else {
        allocs.join("/")
    };
    format!("{bytes:>7}{allocs:>9}")
}

/// What the table says, in words.
fn sentences(group: &Group<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(factors) = group.confounded {
        sentences.push(format!(
            "Confounded: {} differ at once, so no cause can be named for the ratio.",
            list(factors)
        ));
    }
    let mut firsts: Vec<(&str, String)> = Vec::new();
    for (column, contract) in group.contracts.iter().enumerate() {
        let first: Vec<String> = group
            .lines
            .iter()
            .filter(|l| l.cells[column].as_ref().and_then(tier) == Some(1))
            .map(|l| group.name(l))
            .collect();
        firsts.push((contract, list(&first)));
    }
    let same = firsts.windows(2).all(|w| w[0].1 == w[1].1);
    let clauses: Vec<String> = match firsts.as_slice() {
        [(_, names), _, ..] if same => vec![format!("{names} for {}", contracts(&firsts))],
        _ => firsts
            .iter()
            .map(|(contract, names)| format!("{names} for {contract}"))
            .collect(),
    };
    if group.confounded.is_none() {
        sentences.push(format!("First tier: {}.", clauses.join("; ")));
    }
    let undecided: Vec<u32> = group
        .lines
        .iter()
        .flat_map(|l| l.cells.iter().flatten())
        .filter_map(|c| match c.role {
            Role::Compared(v) => v.more_rounds,
            Role::Baseline(_) | Role::Reference => None,
        })
        .collect();
    if let Some(most) = undecided.iter().max() {
        let rounds = plural(*most as usize, "more round");
        sentences.push(format!(
            "{rounds} would probably decide what cannot be told."
        ));
    }
    sentences
}

fn contracts(firsts: &[(&str, String)]) -> String {
    let names: Vec<String> = firsts.iter().map(|(c, _)| (*c).to_owned()).collect();
    list(&names)
}

fn tier(cell: &Cell<'_>) -> Option<u32> {
    match cell.role {
        Role::Baseline(tier) => tier,
        Role::Compared(v) => Some(v.tier),
        Role::Reference => None,
    }
}
