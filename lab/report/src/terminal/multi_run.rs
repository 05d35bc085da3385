//! The output of `lab compare` and `lab gate`.

use std::fmt::{self, Write};

use crate::multi_run::{
    Change, ControlsShow, Difference, Farthest, Gate, Judged, Kind, Outcome, Ruling, RunComparison,
    SetBy, ShiftKept,
};

use super::table::NAME_WIDTH_MAX;
use super::{BOLD, DIM};
use crate::words::{colour, microseconds, percent, plural, significant};
use jeton_terminal::width::wrapped;

/// Formats a comparison of two results as styled text.
#[must_use]
pub fn comparison(compared: &RunComparison, names: &[String; 2], columns: usize) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(compared, names, columns, &mut out);
    let _ = table(compared, columns, &mut out);
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
            let text = format!("DISTURBED RUN: {}", side.disturbed.join("; "));
            paragraph(&text, columns, out)?;
        }
    }
    writeln!(out)?;
    if compared.same_run {
        let text = format!(
            "{BOLD}SAME RUN{BOLD:#}: both files hold the same run. They show nothing about a change."
        );
        paragraph(&text, columns, out)?;
    }
    other_machine(&compared.another_machine, columns, out)?;
    if !compared.settings.is_empty() {
        let list: Vec<String> = compared.settings.iter().map(|d| d.to_string()).collect();
        let text = format!("{BOLD}Also different{BOLD:#}: {}.", list.join("; "));
        paragraph(&text, columns, out)?;
    }
    between_runs(&compared.between_runs, columns, out)?;
    let text = format!(
        "{DIM}Two runs are not interleaved: the intervals are unpaired, and a difference inside ± band does not count. Times in µs; =: control (unchanged code).{DIM:#}"
    );
    paragraph(&text, columns, out)
}

fn other_machine(differences: &[Difference], columns: usize, out: &mut String) -> fmt::Result {
    if differences.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let text = format!(
        "{BOLD}DIFFERENT MACHINES{BOLD:#}: {}. The ratios include the difference between the machines.",
        list.join("; ")
    );
    paragraph(&text, columns, out)
}

/// Writes how far the runs themselves differ, as the controls show.
fn between_runs(shown: &[ControlsShow], columns: usize, out: &mut String) -> fmt::Result {
    if shown.is_empty() {
        let text = "No controls: no subject has unchanged code, so the difference between the runs is unknown.";
        return paragraph(&format!("{DIM}{text}{DIM:#}"), columns, out);
    }
    for one in shown {
        let on = match one.threads {
            1 => String::new(),
            threads => format!(" on {threads} threads"),
        };
        let who = format!("{} ({})", plural(one.controls, "control"), kind(one.of));
        let how = match one.shift {
            shift if shift > 1.0 => format!("{} slower", percent(shift - 1.0)),
            shift => format!("{} faster", percent(1.0 - shift)),
        };
        let shift = match (one.shift_removed, one.shift_kept) {
            (true, _) => format!(" The later run is {how}; this shift is removed from the ratios."),
            (false, Some(why)) => format!(
                " The later run is {how}; this shift is not removed from the ratios ({}).",
                not_removed(why, &on)
            ),
            (false, None) => String::new(),
        };
        let text = format!(
            "{DIM}For {} subjects{on}: {who} differ by up to {}.{shift}{DIM:#}",
            kind(one.judged),
            width(one.spread)
        );
        paragraph(&text, columns, out)?;
    }
    Ok(())
}

fn not_removed(why: ShiftKept, on_threads: &str) -> String {
    match why {
        ShiftKept::TooFewControls => "too few controls: they may agree by chance".to_owned(),
        ShiftKept::TooLarge => "too large for one machine".to_owned(),
        ShiftKept::NoOwnControl => format!("no control of the same kind{on_threads}"),
        ShiftKept::OwnControlDiffers => {
            format!("the control of the same kind{on_threads} does not show it")
        }
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Compiled => "compiled",
        Kind::Managed => "managed",
        Kind::Any => "compiled or managed",
    }
}

/// Formats a band; very wide bands get no digits.
fn width(band: f64) -> String {
    match band {
        wide if wide >= 100.0 => "> 9999 %".to_owned(),
        band => percent(band),
    }
}

/// Letters in a table that refer to the lines below it, which describe each band.
#[derive(Default)]
struct Legend<'a>(Vec<&'a SetBy>);

impl<'a> Legend<'a> {
    fn letter(&mut self, set_by: &'a SetBy) -> char {
        let known = self.0.iter().position(|one| *one == set_by);
        let index = known.unwrap_or_else(|| {
            self.0.push(set_by);
            self.0.len() - 1
        });
        // There may be more bands than letters.
        let letter = u8::try_from(index).ok().filter(|index| *index < 26);
        letter.map_or('?', |index| char::from(b'a' + index))
    }

    fn write(&self, columns: usize, out: &mut String) -> fmt::Result {
        for (index, set_by) in self.0.iter().take(26).enumerate() {
            let letter = char::from(b'a' + u8::try_from(index).unwrap_or_default());
            let line = format!("band {letter}: {}", describe_set_by(set_by));
            indented(&line, columns, out)?;
        }
        Ok(())
    }
}

/// Describes what set a band.
#[must_use]
pub fn describe_set_by(set_by: &SetBy) -> String {
    match set_by {
        SetBy::PracticalDifference => "the smallest difference of interest".to_owned(),
        SetBy::NoNoiseFloor { run, threads } => format!(
            "the {run} run has no noise floor on {}: no A/A pair was measured on as many",
            plural(*threads as usize, "thread")
        ),
        SetBy::NoiseFloor { run, pair } => format!(
            "the noise floor of the {run} run; the widest A/A pair is {}",
            farthest(pair)
        ),
        SetBy::Controls { count, of, control } => format!(
            "{} ({}); the largest difference is {}",
            plural(*count, "control"),
            kind(*of),
            farthest(control)
        ),
    }
}

fn farthest(one: &Farthest) -> String {
    let [low, high] = one.interval.map(significant);
    let ratio = significant(one.ratio);
    format!("{}, ratio {ratio} ({low} – {high})", one.what)
}

fn table(compared: &RunComparison, columns: usize, out: &mut String) -> fmt::Result {
    if compared.changes.is_empty() {
        return writeln!(out, "\nThe results have no subject in common.");
    }
    let whats: Vec<String> = compared.changes.iter().map(Change::what).collect();
    let widths = whats.iter().map(|w| w.chars().count());
    let width = widths.max().unwrap_or(0).min(NAME_WIDTH_MAX);
    writeln!(
        out,
        "\n  {DIM}{:<width$}  {:>7} {:>7} {:>6}  {:<13} {:>8}    verdict{DIM:#}",
        "", "before", "after", "ratio", "interval", "band"
    )?;
    let mut legend = Legend::default();
    for (change, what) in compared.changes.iter().zip(&whats) {
        let [before, after] = change.median_ns.map(microseconds);
        let [low, high] = change.interval.map(significant);
        let mark = if change.unchanged { '=' } else { ' ' };
        let (style, word) = match change.verdict {
            Some(verdict) => (colour(verdict), verdict.label()),
            None if change.unchanged => (DIM, "control"),
            None => (DIM, "different machines"),
        };
        write!(
            out,
            "{mark} {what:<width$}  {before:>7} {after:>7} {:>6}  {:<13} {:>8} {}  {style}{word}{style:#}",
            significant(change.ratio),
            format!("{low} – {high}"),
            self::width(change.band),
            // Controls have no verdict, so their band needs no letter.
            if change.unchanged {
                ' '
            } else {
                legend.letter(&change.band_set_by)
            },
        )?;
        notes(change, out)?;
        writeln!(out)?;
    }
    legend.write(columns, out)
}

/// Writes other differences: versions and allocations.
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
        indented(&format!("{}: {}", one.what, one.reason), columns, out)?;
    }
    Ok(())
}

fn indented(line: &str, columns: usize, out: &mut String) -> fmt::Result {
    for (i, part) in wrapped(line, columns.saturating_sub(4)).iter().enumerate() {
        writeln!(out, "{}{part}", if i == 0 { "  " } else { "    " })?;
    }
    Ok(())
}

/// Formats the findings of a gate: every row with its ruling, and the summary.
#[must_use]
pub fn gate_summary(gate: &Gate, columns: usize) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = other_machine(&gate.another_machine, columns, &mut out);
    if gate.rows.len() > gate.controls {
        let _ = between_runs(&gate.between_runs, columns, &mut out);
    }
    let _ = judged(gate, columns, &mut out);
    for one in &gate.unjudged {
        let _ = paragraph(&format!("not compared: {one}"), columns, &mut out);
    }
    let answer = match gate.outcome {
        Outcome::NoRegression => "no regression".into(),
        Outcome::Regression => plural(gate.regressions.len(), "regression"),
        Outcome::Undecided => "undecided".into(),
    };
    let is_slow_control = |row: &&Judged| row.is_control && row.ruling == Ruling::Undecided;
    let slow_controls = gate.rows.iter().filter(is_slow_control).count();
    let mut undecided = match gate.undecided - slow_controls {
        0 => String::new(),
        some => format!("; {some} undecided: noise band or interval wider than the threshold"),
    };
    if slow_controls > 0 {
        undecided.push_str(&format!(
            "; {} undecided: unchanged code takes 50 % longer or more",
            plural(slow_controls, "control")
        ));
    }
    let text = format!(
        "{answer}; {} not slower by more than {}{undecided}; {}",
        plural(gate.passed, "subject"),
        percent(gate.threshold),
        plural(gate.controls, "control")
    );
    let _ = paragraph(&text, columns, &mut out);
    out
}

/// Writes the rows that a gate checked, without controls that did not change.
fn judged(gate: &Gate, columns: usize, out: &mut String) -> fmt::Result {
    let is_shown = |row: &&Judged| row.ruling != Ruling::SameCode;
    let shown: Vec<&Judged> = gate.rows.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let widths = shown.iter().map(|row| row.what.chars().count());
    let width = widths.max().unwrap_or(0).min(NAME_WIDTH_MAX);
    writeln!(
        out,
        "  {DIM}{:<width$}  {:>6}  {:<13} {:>8}    ruling{DIM:#}",
        "", "ratio", "interval", "band"
    )?;
    let mut legend = Legend::default();
    for row in shown {
        let [low, high] = row.interval.map(significant);
        writeln!(
            out,
            "  {:<width$}  {:>6}  {:<13} {:>8} {}  {}",
            row.what,
            significant(row.ratio),
            format!("{low} – {high}"),
            self::width(row.band),
            if row.is_control {
                ' '
            } else {
                legend.letter(&row.band_set_by)
            },
            match row.ruling {
                Ruling::Slower => "regression",
                Ruling::NotSlower => "not slower",
                Ruling::Undecided => "undecided",
                Ruling::SameCode => "control",
            }
        )?;
    }
    legend.write(columns, out)
}

fn paragraph(text: &str, columns: usize, out: &mut String) -> fmt::Result {
    for line in wrapped(text, columns) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
