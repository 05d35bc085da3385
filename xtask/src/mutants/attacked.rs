//! `cargo xtask mutants --with attack`: removes one check at a time and looks which row of jeton fails.
//!
//! Builds the lab's driver with the weakened copy and attacks it. Each check names one attack. That attack's
//! row must fail. All rows that any check names are run each time.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use serde::Deserialize;

use super::table::{MUTANTS, Mutant};
use super::{Choice, LibraryCopy, cannot, copy_over};
use crate::command::{CHECKED_DRIVERS, Error, Workspace};

/// The attack whose row must fail for each mutant. A check that no token of the lab can reach is not here:
/// the library's own tests cover it. So it is where a second check of the library or of AWS-LC exists
/// (an even exponent, a duplicate name in the headers of a JWE), and where a library may ignore an
/// extension that it does not know (`b64` that is not critical).
const NOTICED_BY: [(&str, &str); 23] = [
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

/// Removes one check after another and attacks the library.
pub(super) fn run(workspace: &Workspace, choice: &Choice) -> Result<(), Error> {
    let copy = LibraryCopy::make(workspace)?;
    let drivers = copy.root.join("drivers/rust");
    for part in ["harness", "jeton"] {
        copy_over(
            &workspace.path("drivers/rust").join(part),
            &drivers.join(part),
        )?;
    }
    // Nothing is timed, so the build of the tests is enough.
    let built = workspace
        .cargo(&["build", "--locked", "-p", "jeton-lab"])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(Error::Failed("the lab does not build".into()));
    }
    eprintln!("== mutants --with attack: the library as it is");
    if let Some(row) = failed_row(&attack(workspace, &copy)?) {
        return Err(Error::Failed(format!("{row} fails without a mutant")));
    }
    let mut wrong = Vec::new();
    let chosen: Vec<(&Mutant, &str)> = NOTICED_BY
        .iter()
        .filter_map(|(name, attack)| {
            let mutant = MUTANTS.iter().find(|m| m.name == *name)?;
            choice.has(mutant).then_some((mutant, *attack))
        })
        .collect();
    for (index, (mutant, noticed_by)) in chosen.iter().enumerate() {
        let started = Instant::now();
        let rows = weakened(workspace, &copy, mutant)?;
        let failing: Vec<&Row> = rows.iter().filter(|r| fails(r)).collect();
        let named = failing.iter().any(|r| r.attack == *noticed_by);
        let mut others: Vec<String> = failing
            .iter()
            .map(|r| format!("{} ({})", r.attack, r.format))
            .collect();
        others.truncate(6);
        let result = if named {
            "noticed by"
        } else {
            "NOT NOTICED BY"
        };
        eprintln!(
            "  {}/{} {:<26}{result} {noticed_by}; {} rows fail: {} ({} s)",
            index + 1,
            chosen.len(),
            mutant.name,
            failing.len(),
            others.join(", "),
            started.elapsed().as_secs()
        );
        if !named {
            wrong.push(mutant.name);
        }
    }
    if wrong.is_empty() {
        eprintln!(
            "== mutants --with attack: {} of {0} noticed by the row of the check",
            chosen.len()
        );
        return Ok(());
    }
    Err(Error::Failed(format!(
        "no row noticed: {}",
        wrong.join(", ")
    )))
}

/// The rows of a library with one check less.
fn weakened(workspace: &Workspace, copy: &LibraryCopy, mutant: &Mutant) -> Result<Vec<Row>, Error> {
    let path = copy.root.join("crates/jeton/src").join(mutant.file);
    let text = fs::read_to_string(&path).map_err(|error| cannot(&path, &error))?;
    if text.matches(mutant.find).count() != 1 {
        return Err(Error::Failed(format!(
            "{}: its text is not in the file exactly once",
            mutant.name
        )));
    }
    let write = |text: &str| fs::write(&path, text).map_err(|error| cannot(&path, &error));
    write(&text.replacen(mutant.find, mutant.put, 1))?;
    let rows = attack(workspace, copy);
    write(&text)?;
    rows
}

/// Attacks the copy's driver.
fn attack(workspace: &Workspace, copy: &LibraryCopy) -> Result<Vec<Row>, Error> {
    let out = copy.root.join("attacked");
    let lab = workspace.target().join("debug/jeton-lab");
    let mut command = workspace.command(lab);
    // The copy's driver is attacked and never timed: it need not be optimised.
    command.envs(CHECKED_DRIVERS);
    command
        .args(["attack", "--subject", "rust/jeton", "--seed", "1", "--out"])
        .arg(&out)
        .args(named().iter().flat_map(|attack| ["--attack", attack]))
        .arg("--drivers")
        .arg(copy.root.join("drivers"))
        .env("CARGO_TARGET_DIR", copy.root.join("target-drivers"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let status = command.status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Error::Failed("the attack did not run to its end".into()));
    }
    let path = out.join("results.json");
    let text = fs::read_to_string(&path).map_err(|error| cannot(&path, &error))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| Error::Failed(format!("{}: {error}", path.display())))?;
    if file.rows.iter().all(|row| row.outcome.is_none()) {
        return Err(Error::Failed(
            "the driver of the copy does not build".into(),
        ));
    }
    Ok(file.rows)
}

/// The attacks that any mutant names.
fn named() -> BTreeSet<&'static str> {
    NOTICED_BY.iter().map(|(_, attack)| *attack).collect()
}

fn failed_row(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| fails(row))?;
    Some(format!("{} of {}", row.attack, row.format))
}

fn fails(row: &Row) -> bool {
    let harmless = ["refused", "not-offered", "not-applicable"];
    row.outcome
        .as_deref()
        .is_some_and(|outcome| !harmless.contains(&outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_is_named_is_named_for_a_mutant() {
        for (name, _) in NOTICED_BY {
            assert!(MUTANTS.iter().any(|m| m.name == name), "{name}");
        }
    }
}
