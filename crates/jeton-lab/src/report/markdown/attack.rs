//! Who accepts what must be refused, in Markdown.

use std::fmt::{self, Write};

use super::cell;
use crate::report::attack::{Attacked, COUNTED, attacked, extent, tried};
use crate::report::{names, units};
use crate::result::AttackRow;

/// A line for each library with what became of the attacks on it, and then what was found by name;
/// nothing without such rows.
pub(super) fn write(rows: &[AttackRow], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let all = attacked(rows);
    writeln!(out, "\n## Who accepts what must be refused\n")?;
    writeln!(
        out,
        "{}, {} tokens and keys.\n",
        extent(rows),
        units::whole(tried(rows))
    )?;
    let outcomes = COUNTED.map(|outcome| outcome.name()).join(" | ");
    writeln!(out, "| library | token | called | {outcomes} | void |")?;
    writeln!(out, "|---|---|---|{}--:|", "--:|".repeat(COUNTED.len()))?;
    for one in &all {
        let counts = match one.absent() {
            Some(_) => COUNTED.map(|_| String::new()),
            None => COUNTED.map(|outcome| one.count(outcome).to_string()),
        };
        let void = match one.absent() {
            Some(reason) => format!("unavailable: {}", cell(reason)),
            None => one.void().to_string(),
        };
        writeln!(out, "| {} | {} | {void} |", who(one), counts.join(" | "))?;
    }
    let found: Vec<_> = all.iter().filter(|one| !one.found().is_empty()).collect();
    if found.is_empty() {
        return writeln!(
            out,
            "\nNothing was accepted that must be refused, and nothing broke."
        );
    }
    writeln!(
        out,
        "\n| library | token | called | what happened | attacks |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for one in found {
        for (outcome, attacks) in one.found() {
            let attacks = cell(&attacks.join(", "));
            writeln!(out, "| {} | {} | {attacks} |", who(one), outcome.name())?;
        }
    }
    Ok(())
}

fn who(one: &Attacked<'_>) -> String {
    format!(
        "{} {} ({}) | {} | {}",
        cell(&one.library.library),
        cell(&one.library.version),
        cell(names::language_of(&one.library.language)),
        cell(one.format),
        one.practice.name()
    )
}
