//! The catalogue of attacks on the terminal.

use std::fmt::Write;

use jeton_lab_conformance::attack::{Attack, Family};

use super::{BOLD, DIM};

/// Lists every attack and the check that it defeats.
#[must_use]
pub fn attacks(all: &[Attack]) -> String {
    let mut out = String::new();
    for family in Family::ALL {
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", family.name());
        for attack in all.iter().filter(|a| a.family == family) {
            let formats: Vec<&str> = attack.formats.iter().map(|k| k.name()).collect();
            let _ = writeln!(out, "  {:<28} {}", attack.id, attack.title);
            let (defeats, formats) = (attack.defeats, formats.join(", "));
            let _ = writeln!(out, "  {:<28} {DIM}{defeats}; {formats}{DIM:#}", "");
        }
    }
    let _ = writeln!(out, "\n{} attacks", all.len());
    out
}
