//! Attack results on the terminal: counts and findings for each subject.

use std::fmt::Write;

use crate::attack::{self, attacked, extent, subject, tried};
use crate::table;
use anstyle::{AnsiColor, Style};
use jeton_lab_conformance::attack::{Attack, Family};
use jeton_lab_model::result::RunResult;
use jeton_terminal::width::wrapped;

use super::{BOLD, DIM, paragraph};

const BAD: Style = AnsiColor::Red.on_default().bold();

/// Lists every attack and the check that it defeats.
#[must_use]
pub fn attacks(all: &[Attack]) -> String {
    let mut out = String::new();
    for family in Family::ALL {
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", family.name());
        for attack in all.iter().filter(|a| a.family == family) {
            let formats: Vec<&str> = attack.formats.iter().map(|k| k.name()).collect();
            let _ = writeln!(out, "  {:<28} {}", attack.id, attack.title);
            let _ = writeln!(
                out,
                "  {:<28} {DIM}{}; {}{DIM:#}",
                "",
                attack.defeats,
                formats.join(", ")
            );
        }
    }
    let _ = writeln!(out, "\n{} attacks", all.len());
    out
}

/// Writes the outcomes of all attacks; nothing if the result has no attack rows.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let rows = &result.rows.attack;
    if rows.is_empty() {
        return Ok(());
    }
    // In a merged result, time and seed belong to the timed run.
    let is_alone = result.rows.measured.is_empty();
    let (between, took, seed) = if is_alone {
        (
            "",
            format!(" in {:.0} s", result.environment.elapsed_s),
            format!(", seed {}", result.seed),
        )
    } else {
        ("\n", String::new(), String::new())
    };
    writeln!(
        out,
        "{between}{BOLD}{}{BOLD:#}{took}, {} tokens and keys{seed}\n",
        extent(rows),
        tried(rows),
    )?;
    let all = attacked(rows);
    let (head, lines) = table::terminal(&attack::columns(), &all);
    writeln!(out, "{DIM}{head}{DIM:#}")?;
    for (one, (line, _)) in all.iter().zip(lines) {
        if let Some(reason) = one.absent() {
            let text = format!("{}: unavailable: {reason}", subject(one));
            paragraph(&text, columns, out)?;
            continue;
        }
        writeln!(out, "{line}")?;
        for (outcome, attacks) in one.found() {
            let text = format!("{}: {}", outcome.name(), attacks.join(", "));
            for line in wrapped(&text, columns.saturating_sub(2).max(20)) {
                writeln!(out, "  {BAD}{line}{BAD:#}")?;
            }
        }
    }
    Ok(())
}
