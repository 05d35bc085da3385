//! `cargo xtask mutants --with attack`: with one check less, does jeton's row turn red?
//!
//! The lab's driver is built of the weakened copy and attacked. What is asked is whether the row that
//! is named for the check is the one, or among those, that tells; every row that is named for any check
//! is looked at.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use serde::Deserialize;

use super::table::{MUTANTS, Mutant};
use super::{Choice, Workshop, cannot, copy_over};
use crate::command::{House, Stop};

/// The row that must tell of each mutant: its attack. A check that no token of the lab's can reach
/// has none, and is held by the library's own tests alone: so it is where a second check of the library or
/// of AWS-LC stands behind it (an even exponent, a name twice in the headers of a JWE), or where those who
/// do not know an extension may ignore it (`b64` that is not critical).
const TOLD_BY: [(&str, &str); 23] = [
    ("duplicate-members", "header-duplicate-member"),
    ("array-depth", "deep-claims"),
    ("trailing-data", "header-trailing-data"),
    ("base64-space", "base64-blank"),
    ("signature-ignored", "other-key"),
    ("alg-ignored", "alg-case"),
    ("crit-ignored", "crit-unknown"),
    ("jwt-unencoded", "b64-in-jwt"),
    ("short-secret", "secret-short"),
    ("key-text-as-secret", "secret-is-public-key"),
    ("rsa-short", "rsa-short"),
    ("ed25519-small-order", "ed25519-small-order"),
    ("issuer", "issuer-other"),
    ("audience", "audience-other"),
    ("expired-now", "expiry-border"),
    ("expiry-missing", "exp-missing"),
    ("not-before", "not-before-future"),
    ("claim-type", "exp-text"),
    ("jwe-crit", "crit-unknown"),
    ("direct-with-encrypted-key", "jwe-encrypted-key-unused"),
    ("agreed-with-encrypted-key", "jwe-encrypted-key-unused"),
    ("cbc-tag", "every-byte-changed"),
    ("paseto-v4-mac", "every-byte-changed"),
];

#[derive(Deserialize)]
struct File {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    attack: String,
    format: String,
    outcome: Option<String>,
}

/// Weakens the library, check by check, and attacks it.
pub(super) fn run(house: &House, choice: &Choice) -> Result<(), Stop> {
    let workshop = Workshop::make(house)?;
    let drivers = workshop.root.join("drivers/rust");
    for part in ["harness", "jeton"] {
        copy_over(&house.path("drivers/rust").join(part), &drivers.join(part))?;
    }
    quick_to_build(&drivers.join("jeton/driver.toml"))?;
    // Nothing is timed: the build that the tests use will do.
    let built = house
        .cargo(&["build", "--locked", "-p", "jeton-cli"])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(Stop::Failed("the lab does not build".into()));
    }
    eprintln!("== mutants --with attack: the library as it is");
    if let Some(row) = red(&attack(house, &workshop)?) {
        return Err(Stop::Failed(format!("{row} is red without a mutant")));
    }
    let mut wrong = Vec::new();
    let chosen: Vec<(&Mutant, &str)> = TOLD_BY
        .iter()
        .filter_map(|(name, attack)| {
            let mutant = MUTANTS.iter().find(|m| m.name == *name)?;
            choice.has(mutant).then_some((mutant, *attack))
        })
        .collect();
    for (index, (mutant, told_by)) in chosen.iter().enumerate() {
        let started = Instant::now();
        let rows = weakened(house, &workshop, mutant)?;
        let told: Vec<&Row> = rows.iter().filter(|r| is_red(r)).collect();
        let named = told.iter().any(|r| r.attack == *told_by);
        let mut others: Vec<String> = told
            .iter()
            .map(|r| format!("{} ({})", r.attack, r.format))
            .collect();
        others.truncate(6);
        let words = if named { "told by" } else { "NOT TOLD BY" };
        eprintln!(
            "  {}/{} {:<26}{words} {told_by}; {} rows are red: {} ({} s)",
            index + 1,
            chosen.len(),
            mutant.name,
            told.len(),
            others.join(", "),
            started.elapsed().as_secs()
        );
        if !named {
            wrong.push(mutant.name);
        }
    }
    if wrong.is_empty() {
        eprintln!(
            "== mutants --with attack: {} of {0} told by the row that is named",
            chosen.len()
        );
        return Ok(());
    }
    Err(Stop::Failed(format!(
        "no row told of: {}",
        wrong.join(", ")
    )))
}

/// The rows of a library with one check less.
fn weakened(house: &House, workshop: &Workshop, mutant: &Mutant) -> Result<Vec<Row>, Stop> {
    let path = workshop.root.join("crates/jeton/src").join(mutant.file);
    let text = fs::read_to_string(&path).map_err(|error| cannot(&path, &error))?;
    if text.matches(mutant.find).count() != 1 {
        return Err(Stop::Failed(format!(
            "{}: its place is not there once",
            mutant.name
        )));
    }
    let write = |text: &str| fs::write(&path, text).map_err(|error| cannot(&path, &error));
    write(&text.replacen(mutant.find, mutant.put, 1))?;
    let rows = attack(house, workshop);
    write(&text)?;
    rows
}

/// Attacks the copy's driver.
fn attack(house: &House, workshop: &Workshop) -> Result<Vec<Row>, Stop> {
    let out = workshop.root.join("attacked");
    let lab = house.target().join("debug/jeton");
    let mut command = house.command(lab);
    command
        .args([
            "lab",
            "attack",
            "--subject",
            "rust/jeton",
            "--seed",
            "1",
            "--out",
        ])
        .arg(&out)
        .args(named().iter().flat_map(|attack| ["--attack", attack]))
        .arg("--drivers")
        .arg(workshop.root.join("drivers"))
        .env("CARGO_TARGET_DIR", workshop.root.join("target-drivers"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let status = command.status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Stop::Failed("the attack did not run to its end".into()));
    }
    let path = out.join("results.json");
    let text = fs::read_to_string(&path).map_err(|error| cannot(&path, &error))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))?;
    if file.rows.iter().all(|row| row.outcome.is_none()) {
        return Err(Stop::Failed("the driver of the copy does not build".into()));
    }
    Ok(file.rows)
}

/// The rows that are looked at: those that are named for a mutant.
fn named() -> BTreeSet<&'static str> {
    TOLD_BY.iter().map(|(_, attack)| *attack).collect()
}

fn red(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| is_red(row))?;
    Some(format!("{} of {}", row.attack, row.format))
}

fn is_red(row: &Row) -> bool {
    let harmless = ["refused", "not-offered", "not-applicable"];
    row.outcome
        .as_deref()
        .is_some_and(|outcome| !harmless.contains(&outcome))
}

/// The copy's driver is attacked and never timed: it need not be optimised.
fn quick_to_build(manifest: &std::path::Path) -> Result<(), Stop> {
    let text = fs::read_to_string(manifest).map_err(|error| cannot(manifest, &error))?;
    let text = text
        .replace("\"--release\", ", "")
        .replace("{target}/release/", "{target}/debug/");
    fs::write(manifest, text).map_err(|error| cannot(manifest, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_is_named_is_named_for_a_mutant() {
        for (name, _) in TOLD_BY {
            assert!(MUTANTS.iter().any(|m| m.name == name), "{name}");
        }
    }
}
