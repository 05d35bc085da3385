//! Two results side by side, and what a gate found.

use std::fmt::{self, Write};

use jeton_lab::across::{Change, Gate, RunComparison};

use super::words::{colour, microseconds, percent, plural, significant, wrapped};
use super::{BOLD, DIM};

/// Two results as text with styles.
pub(in crate::lab) fn comparison(
    compared: &RunComparison,
    names: &[String; 2],
    columns: usize,
) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(compared, names, columns, &mut out);
    let _ = table(compared, &mut out);
    let _ = unjudged(compared, columns, &mut out);
    out
}

fn head(
    compared: &RunComparison,
    names: &[String; 2],
    columns: usize,
    out: &mut String,
) -> fmt::Result {
    let sides = [("before", &compared.before), ("after", &compared.after)];
    for ((word, side), name) in sides.into_iter().zip(names) {
        let floor = side.noise_floor.map_or("not measured".into(), percent);
        let rounds = plural(side.rounds as usize, "round");
        writeln!(
            out,
            "{BOLD}{word:<7}{BOLD:#} {name}: {}, {rounds}, noise floor {floor}",
            side.started
        )?;
        if !side.disturbed.is_empty() {
            let text = format!("DISTURBED: {}", side.disturbed.join("; "));
            paragraph(&text, columns, out)?;
        }
    }
    writeln!(out)?;
    if !compared.another_machine.is_empty() {
        let list: Vec<String> = compared
            .another_machine
            .iter()
            .map(|d| d.to_string())
            .collect();
        let text = format!(
            "{BOLD}ANOTHER MACHINE{BOLD:#}: {}. The ratios are the machines' as much as the subjects': no verdict is drawn.",
            list.join("; ")
        );
        paragraph(&text, columns, out)?;
    }
    if !compared.settings.is_empty() {
        let list: Vec<String> = compared.settings.iter().map(|d| d.to_string()).collect();
        let text = format!("{BOLD}Also different{BOLD:#}: {}.", list.join("; "));
        paragraph(&text, columns, out)?;
    }
    let between = match compared.between_runs {
        Some(floor) => format!(
            "{} that did not change come to lie up to {} apart from run to run, and so far the others are not believed.",
            plural(compared.unchanged, "subject"),
            percent(floor)
        ),
        None => "No subject is the same code in both, so nothing shows what the runs themselves differ by."
            .into(),
    };
    let text = format!(
        "{DIM}Two runs are not interleaved: the intervals are unpaired, and nothing inside ± band is believed. {between} Times in µs; =: the same code in both, a control.{DIM:#}"
    );
    paragraph(&text, columns, out)
}

fn table(compared: &RunComparison, out: &mut String) -> fmt::Result {
    if compared.changes.is_empty() {
        return writeln!(out, "\nNo subject was measured in both.");
    }
    let whats: Vec<String> = compared.changes.iter().map(Change::what).collect();
    let width = whats.iter().map(|w| w.chars().count()).max().unwrap_or(0);
    writeln!(
        out,
        "\n  {DIM}{:<width$}  {:>7} {:>7} {:>6}  {:<13} {:>6}  verdict{DIM:#}",
        "", "before", "after", "ratio", "interval", "band"
    )?;
    for (change, what) in compared.changes.iter().zip(&whats) {
        let [before, after] = change.median_ns.map(microseconds);
        let [low, high] = change.interval.map(significant);
        let mark = if change.unchanged { '=' } else { ' ' };
        let (style, word) = match change.verdict {
            Some(verdict) => (colour(verdict), verdict.words()),
            None if change.unchanged => (DIM, "control"),
            None => (DIM, "another machine"),
        };
        write!(
            out,
            "{mark} {what:<width$}  {before:>7} {after:>7} {:>6}  {:<13} {:>6}  {style}{word}{style:#}",
            significant(change.ratio),
            format!("{low} – {high}"),
            percent(change.band),
        )?;
        notes(change, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// What else is not as it was.
fn notes(change: &Change, out: &mut String) -> fmt::Result {
    let [before, after] = &change.versions;
    if before != after {
        write!(out, ", {before} → {after}")?;
    }
    if let [Some(before), Some(after)] = change.allocs_per_op
        && (before - after).abs() >= 0.05
    {
        write!(out, ", {before:.1} → {after:.1} allocations")?;
    }
    Ok(())
}

fn unjudged(compared: &RunComparison, columns: usize, out: &mut String) -> fmt::Result {
    if compared.unjudged.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Not compared{BOLD:#}")?;
    for one in &compared.unjudged {
        let line = format!("{}: {}", one.what, one.reason);
        for (i, part) in wrapped(&line, columns.saturating_sub(4)).iter().enumerate() {
            writeln!(out, "{}{part}", if i == 0 { "  " } else { "    " })?;
        }
    }
    Ok(())
}

/// What a gate found, apart from the regressions.
pub(in crate::lab) fn gate_summary(gate: &Gate, columns: usize) -> String {
    let mut out = String::new();
    for one in &gate.unjudged {
        let _ = paragraph(&format!("not judged: {one}"), columns, &mut out);
    }
    let undecided = match gate.undecided {
        0 => String::new(),
        some => {
            format!("; {some} of them may be slower than that all the same: more rounds would tell")
        }
    };
    let regressions = match gate.regressions.len() {
        0 => "no regression".into(),
        some => plural(some, "regression"),
    };
    let text = format!(
        "{regressions}; {} no slower beyond {} and the noise{undecided}",
        plural(gate.passed, "subject"),
        percent(gate.threshold)
    );
    let _ = paragraph(&text, columns, &mut out);
    out
}

fn paragraph(text: &str, columns: usize, out: &mut String) -> fmt::Result {
    for line in wrapped(text, columns) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
