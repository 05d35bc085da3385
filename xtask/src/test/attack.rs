//! `lab attack` on whatever drivers are built: jeton must refuse everything, and what is known of
//! other libraries must come out as known.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Outcome, tested_lab};
use crate::command::{Error, Workspace, run as run_command};
use xtask::DISAGREEMENTS;

/// Where the run of this step is left for a look.
const OUT: &str = "target/lab-attack";

/// The same for [`REPORT_2`].
const OUT_REPORT_2: &str = "target/lab-attack-report-2";

/// The library of report 2, which is slow to attack as a whole.
const REPORT_2: &str = "java/json-web-token";

/// The attacks that show what is known of its source.
const ATTACKS_REPORT_2: [&str; 4] = ["alg-sibling", "curve-unbound", "crit-unknown", "exp-text"];

/// What is known of the versions that the drivers pin: library, version, practice, attack, outcome.
const KNOWN: [(&str, &str, &str, &str, &str); 12] = [
    (
        "golang-jwt",
        "5.3.1",
        "documented",
        "secret-empty",
        "accepted",
    ),
    ("golang-jwt", "5.3.1", "defaults", "exp-zero", "accepted"),
    ("golang-jwt", "5.3.1", "documented", "exp-zero", "refused"),
    (
        "golang-jwt",
        "5.3.1",
        "documented",
        "crit-unknown",
        "accepted",
    ),
    (
        "golang-jwt",
        "5.3.1",
        "documented",
        "curve-unbound",
        "accepted",
    ),
    (
        "cristalhq",
        "5.4.0",
        "documented",
        "crit-unknown",
        "accepted",
    ),
    ("go-paseto", "1.6.0", "documented", "dots", "over-limit"),
    (
        "json-web-token",
        "3.0.4",
        "defaults",
        "alg-sibling",
        "accepted",
    ),
    (
        "json-web-token",
        "3.0.4",
        "documented",
        "alg-sibling",
        "refused",
    ),
    (
        "json-web-token",
        "3.0.4",
        "documented",
        "curve-unbound",
        "accepted",
    ),
    (
        "json-web-token",
        "3.0.4",
        "documented",
        "crit-unknown",
        "accepted",
    ),
    (
        "json-web-token",
        "3.0.4",
        "documented",
        "exp-text",
        "accepted",
    ),
];

/// The reason of a row whose driver is not there. The step `interop` builds what this machine can build.
const NOT_BUILT: &str = "is not built";

#[derive(Deserialize)]
struct File {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    attack: String,
    format: String,
    practice: String,
    outcome: Option<String>,
    reason: Option<String>,
    subject: Subject,
}

#[derive(Deserialize)]
struct Subject {
    library: String,
    version: String,
    language: String,
}

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    run_command(tested_lab(workspace)?.args([
        "attack",
        "--built-only",
        "--subject",
        "jeton",
        "--subject",
        "golang-jwt",
        "--subject",
        "cristalhq",
        "--subject",
        "go-paseto:v4",
        "--seed",
        "1",
        "--out",
        OUT,
    ]))?;
    let said = check(&results(workspace, OUT)?).map_err(Error::Failed)?;
    eprintln!("  {said}");
    let mut report_2 = tested_lab(workspace)?;
    report_2.args(["attack", "--built-only", "--subject", REPORT_2]);
    for attack in ATTACKS_REPORT_2 {
        report_2.args(["--attack", attack]);
    }
    run_command(report_2.args(["--seed", "1", "--out", OUT_REPORT_2]))?;
    let file = parsed(&results(workspace, OUT_REPORT_2)?).map_err(Error::Failed)?;
    let seen = known(&file).map_err(Error::Failed)?;
    eprintln!("  {REPORT_2}: {seen} known cases came out as known");
    // What libraries disagreed about once, and how.
    run_command(tested_lab(workspace)?.args([
        "attack",
        "--built-only",
        "--corpus",
        DISAGREEMENTS,
        "--out",
        OUT,
    ]))?;
    Ok(Outcome::Passed)
}

fn results(workspace: &Workspace, out: &str) -> Result<String, Error> {
    std::fs::read_to_string(workspace.path(out).join("results.json"))
        .map_err(|error| Error::Failed(format!("{out}/results.json: {error}")))
}

fn parsed(text: &str) -> Result<File, String> {
    serde_json::from_str(text).map_err(|error| format!("results.json: {error}"))
}

/// What was seen, or the first thing that is not as it must be.
fn check(text: &str) -> Result<String, String> {
    let file = parsed(text)?;
    let jeton: Vec<&Row> = file
        .rows
        .iter()
        .filter(|r| r.subject.library == "jeton")
        .collect();
    let harmless = ["refused", "not-offered", "not-applicable"];
    let bad = jeton.iter().find(|r| match &r.outcome {
        Some(outcome) => !harmless.contains(&outcome.as_str()),
        // A positive control that is rejected fails the row: jeton has no compression by default.
        None => r.attack != "zip-bomb" && r.reason.as_deref() != Some(NOT_BUILT),
    });
    if let Some(row) = bad {
        let (outcome, why) = (&row.outcome, row.reason.as_deref().unwrap_or_default());
        return Err(format!(
            "jeton, {} of {}: {outcome:?} {why}",
            row.attack, row.format
        ));
    }
    let refused = jeton
        .iter()
        .filter(|r| r.outcome.as_deref() == Some("refused"));
    let mut by_language: BTreeMap<&str, usize> = BTreeMap::new();
    for row in refused {
        *by_language.entry(&row.subject.language).or_default() += 1;
    }
    if !by_language.contains_key("rust") {
        return Err("jeton refused nothing, which cannot be".into());
    }
    let refused: Vec<String> = by_language
        .iter()
        .map(|(language, rows)| format!("{rows} ({language})"))
        .collect();
    let seen = known(&file)?;
    Ok(format!(
        "rows that jeton refused: {}; {seen} known cases came out as known",
        refused.join(", ")
    ))
}

/// How many known cases came out as known, or the first that did not.
fn known(file: &File) -> Result<usize, String> {
    let mut seen = 0;
    for (library, version, practice, attack, outcome) in KNOWN {
        let rows = file.rows.iter().filter(|r| {
            (r.subject.library.as_str(), r.subject.version.as_str()) == (library, version)
                && (r.practice.as_str(), r.attack.as_str()) == (practice, attack)
                && r.outcome.is_some()
        });
        for row in rows {
            if row.outcome.as_deref() != Some(outcome) {
                return Err(format!(
                    "{library} {version}, {attack} ({practice}): known as {outcome}, came out as {:?}",
                    row.outcome
                ));
            }
            seen += 1;
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn row(library: &str, attack: &str, outcome: &str) -> String {
        format!(
            r#"{{"attack":"{attack}","format":"jwt","practice":"documented","outcome":{outcome},
               "subject":{{"library":"{library}","version":"5.3.1","language":"rust"}}}}"#
        )
    }

    #[test]
    fn jeton_must_refuse_and_the_known_must_be_as_known() {
        let good = row("jeton", "alg-none", "\"refused\"");
        let known = row("golang-jwt", "secret-empty", "\"accepted\"");
        let said = check(&format!("{{\"rows\":[{good},{known}]}}"));
        assert_eq!(
            said.as_deref(),
            Ok("rows that jeton refused: 1 (rust); 1 known cases came out as known")
        );
        let fixed = row("golang-jwt", "secret-empty", "\"refused\"");
        assert!(check(&format!("{{\"rows\":[{good},{fixed}]}}")).is_err());
        let absent = row("jeton", "alg-none", "null")
            .replace(r#""practice""#, r#""reason":"is not built","practice""#);
        assert!(check(&format!("{{\"rows\":[{good},{absent}]}}")).is_ok());
        assert!(check(&format!("{{\"rows\":[{absent}]}}")).is_err());
        let bad = row("jeton", "alg-none", "\"accepted\"");
        assert!(check(&format!("{{\"rows\":[{bad},{good}]}}")).is_err());
        assert!(check(&format!("{{\"rows\":[{known}]}}")).is_err());
    }
}
