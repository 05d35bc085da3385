//! The catalogue as a Markdown table, for docs/reference/attacks.md.

use std::fmt::Write;

use super::{Attack, Family};

/// Returns every attack by family, with the check that it defeats.
#[must_use]
pub fn listing() -> String {
    let all = Attack::all();
    let mut out = String::new();
    for family in Family::ALL {
        // Writing to a string cannot fail.
        let _ = write!(out, "## {}\n\n", titled(family.name()));
        out.push_str(
            "| attack | token or key | the check that it defeats | formats | reference |\n",
        );
        out.push_str("|---|---|---|---|---|\n");
        for attack in all.iter().filter(|a| a.family == family) {
            let formats: Vec<&str> = attack.formats.iter().map(|k| k.name()).collect();
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} | {} |",
                attack.id,
                attack.title,
                attack.defeats,
                formats.join(", "),
                attack.reference
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{} attacks.", all.len());
    out
}

fn titled(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
