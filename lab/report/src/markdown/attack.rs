//! Attack results in Markdown.

use std::fmt::{self, Write};

use crate::attack::{Found, attacked, columns, extent, found_columns, tried};
use crate::table;
use jeton_lab_model::result::AttackRow;
use jeton_lab_model::units;

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
    table::markdown(&columns(), &all, out)?;
    let found = all.into_iter().flat_map(|one| {
        let found = one.found().into_iter();
        found.map(move |(outcome, attacks)| (one.clone(), outcome, attacks))
    });
    let found: Vec<Found<'_>> = found.collect();
    if found.is_empty() {
        return writeln!(
            out,
            "\nEvery token that must be rejected was rejected, and nothing crashed."
        );
    }
    writeln!(out)?;
    table::markdown(&found_columns(), &found, out)
}
