//! Attacks on the terminal: what was found, subject by subject, and then how much was refused.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use jeton_lab::attack::{Attack, Family};
use jeton_lab::result::{AttackOutcome, AttackRow, Practice, RunResult, Status};

use super::{BOLD, DIM};

const BAD: Style = AnsiColor::Red.on_default().bold();

/// Every attack, and the check that it defeats.
pub(crate) fn attacks(all: &[Attack]) -> String {
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

/// What an attack run found.
pub(crate) fn attack_summary(result: &RunResult, columns: usize) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(result, columns, &mut out);
    out
}

type Subject<'a> = (&'a str, &'a str, &'a str, &'a str, Practice);

fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let rows = &result.rows.attack;
    let mut subjects: BTreeMap<Subject<'_>, Vec<&AttackRow>> = BTreeMap::new();
    for row in rows {
        let s = &row.subject;
        let key = (
            s.language.as_str(),
            s.library.as_str(),
            s.version.as_str(),
            row.format.as_str(),
            row.practice,
        );
        subjects.entry(key).or_default().push(row);
    }
    let mut attacks: Vec<&str> = rows.iter().map(|r| r.attack.as_str()).collect();
    attacks.sort_unstable();
    attacks.dedup();
    let mut libraries: Vec<&str> = rows.iter().map(|r| r.subject.driver.as_str()).collect();
    libraries.sort_unstable();
    libraries.dedup();
    writeln!(
        out,
        "{BOLD}{} attacks on {} libraries{BOLD:#} in {:.0} s, {} tokens and keys, seed {}\n",
        attacks.len(),
        libraries.len(),
        result.environment.elapsed_s,
        rows.iter().map(|r| u64::from(r.tried)).sum::<u64>(),
        result.seed
    )?;
    writeln!(
        out,
        "{DIM}{:<44} {:>7} {:>8} {:>7} {:>4} {:>10} {:>4}{DIM:#}",
        "", "refused", "accepted", "crashed", "hung", "over-limit", "void"
    )?;
    for ((language, library, version, format, practice), rows) in &subjects {
        let count = |outcome| rows.iter().filter(|r| r.outcome == Some(outcome)).count();
        let void = rows
            .iter()
            .filter(|r| r.status == Status::FailedPreflight)
            .count();
        let name = format!(
            "{library} {version} {language} {format} {}",
            practice.name()
        );
        writeln!(
            out,
            "{name:<44} {:>7} {:>8} {:>7} {:>4} {:>10} {void:>4}",
            count(AttackOutcome::Refused),
            count(AttackOutcome::Accepted),
            count(AttackOutcome::Crashed),
            count(AttackOutcome::Hung),
            count(AttackOutcome::OverLimit),
        )?;
        for outcome in [
            AttackOutcome::Accepted,
            AttackOutcome::Crashed,
            AttackOutcome::Hung,
            AttackOutcome::OverLimit,
        ] {
            let found: Vec<&str> = rows
                .iter()
                .filter(|r| r.outcome == Some(outcome))
                .map(|r| r.attack.as_str())
                .collect();
            if !found.is_empty() {
                let text = format!("{}: {}", outcome.name(), found.join(", "));
                for line in super::wrapped(&text, columns.saturating_sub(2).max(20)) {
                    writeln!(out, "  {BAD}{line}{BAD:#}")?;
                }
            }
        }
    }
    Ok(())
}
