//! Attack results in Markdown.

use std::fmt::{self, Write};

use super::cell;
use crate::attack::{Attacked, COUNTED, attacked, extent, tried};
use jeton_lab_model::result::AttackRow;
use jeton_lab_model::{names, units};

/// Writes the counts for each library and then the findings by name; nothing without attack rows.
pub(super) fn write(rows: &[AttackRow], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let all = attacked(rows);
    writeln!(out, "\n## Attacks\n")?;
    writeln!(
        out,
        "{}, {} tokens and keys.\n",
        extent(rows),
        units::whole(tried(rows))
    )?;
    let outcomes = COUNTED.map(|outcome| outcome.label()).join(" | ");
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
        writeln!(
            out,
            "| {} | {} | {void} |",
            library_cells(one),
            counts.join(" | ")
        )?;
    }
    let found: Vec<_> = all.iter().filter(|one| !one.found().is_empty()).collect();
    if found.is_empty() {
        return writeln!(
            out,
            "\nEvery token that must be rejected was rejected, and nothing crashed."
        );
    }
    writeln!(out, "\n| library | token | called | outcome | attacks |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for one in found {
        for (outcome, attacks) in one.found() {
            let attacks = cell(&attacks.join(", "));
            writeln!(
                out,
                "| {} | {} | {attacks} |",
                library_cells(one),
                outcome.name()
            )?;
        }
    }
    Ok(())
}

fn library_cells(one: &Attacked<'_>) -> String {
    format!(
        "{} {} ({}) | {} | {}",
        cell(&one.library.library),
        cell(&one.library.version),
        cell(names::language_of(&one.library.language)),
        cell(one.format),
        one.practice.name()
    )
}
