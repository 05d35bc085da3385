//! The main job, run as a stranger would run it, and its page in a browser.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::{Outcome, tested_lab};
use crate::command::{Error, Workspace, on_path, run as run_command};
use crate::counted;
use crate::setup::{self, BROWSER_TEST};

/// Where the run of this step is left for a look.
const OUT: &str = "target/lab-smoke";

/// The same for the second run of what was not measured.
const OUT_AGAIN: &str = "target/lab-smoke-again";

/// jeton, and a library of each language that is built within seconds.
const SAMPLE: [&str; 4] = ["rust/jeton", "go/golang-jwt", "node/jose", "python/pyjwt"];

/// Where the run of a sample is left for a look.
const SAMPLE_OUT: &str = "target/lab-sample";

/// Runs the lab in its quick form with a library of each language. `--rest` runs it with all.
pub(super) fn sample(workspace: &Workspace) -> Result<Outcome, Error> {
    let subjects = SAMPLE.map(str::to_owned);
    measured_twice(workspace, [SAMPLE_OUT, OUT_AGAIN], &subjects)?;
    say_missing();
    counted::sampled("lab run --quick: 4 libraries, all of them in the step `lab-all`");
    Ok(Outcome::Passed)
}

/// Says which libraries were not measured.
fn say_missing() {
    for (language, program) in TOOLCHAINS {
        if on_path(program).is_none() {
            counted::skipped(&format!(
                "libraries for {language}: {program} is not installed"
            ));
        }
    }
}

/// Runs the lab in its quick form and looks at the result file: whatever this machine can build
/// must have been measured.
pub(super) fn smoke(workspace: &Workspace) -> Result<Outcome, Error> {
    measured_twice(workspace, [OUT, OUT_AGAIN], &[])?;
    published_sizes(workspace)?;
    say_missing();
    Ok(Outcome::Passed)
}

/// Runs the lab and checks the result. Subjects with a defect are measured again: a machine that stalls causes one once.
fn measured_twice(
    workspace: &Workspace,
    [out, out_again]: [&str; 2],
    subjects: &[String],
) -> Result<(), Error> {
    match measured(workspace, out, subjects)? {
        Ok(statuses) => eprintln!("  rows: {statuses}"),
        Err(first) if first.subjects.is_empty() => return Err(Error::Failed(first.text)),
        Err(first) => {
            eprintln!("{}\n  these subjects are measured again", first.text);
            let again = measured(workspace, out_again, &first.subjects)?;
            let statuses = again.map_err(|second| Error::Failed(second.text))?;
            eprintln!("  rows again: {statuses}");
        }
    }
    Ok(())
}

/// Runs the lab in its quick form with these subjects, or all, and checks the result.
fn measured(
    workspace: &Workspace,
    out: &str,
    subjects: &[String],
) -> Result<Result<String, Defects>, Error> {
    let mut run = tested_lab(workspace)?;
    // What a user runs has eight rounds; a test needs no narrow intervals.
    run.args(["run", "--quick", "--rounds", "2", "--out", out]);
    for subject in subjects {
        run.args(["--subject", subject]);
    }
    run_command(&mut run)?;
    let file = format!("{out}/results.json");
    let text = std::fs::read_to_string(workspace.path(&file))
        .map_err(|error| Error::Failed(format!("{file}: {error}")))?;
    Ok(check(&text, |program| on_path(program).is_some()))
}

/// The sizes that report 2 published, of tokens that the binary makes and go-jose opens. Its own tests
/// hold the same sizes without Go.
fn published_sizes(workspace: &Workspace) -> Result<(), Error> {
    if on_path("go").is_none() {
        eprintln!(
            "  go is not installed: no other library opens the tokens of the published sizes"
        );
        return Ok(());
    }
    run_command(
        workspace
            .command("go")
            .args(["test", "-count=1", "-run", "PublishedSizes", "./..."])
            .current_dir(workspace.path("drivers/go/go-jose"))
            .env("JETON", workspace.tested_binary()?),
    )
}

/// Where the exchange of tokens is left for a look.
const INTEROP_OUT: &str = "target/lab-interop";

/// The driver whose tokens must be verified, and that must verify the others'.
const OWN: &str = "rust/jeton";

/// Lets jeton and every library that this machine can build verify each other's tokens. Each pair
/// must come to a verified token, or to an explanation by a limit of the other side.
pub(super) fn interop(workspace: &Workspace) -> Result<Outcome, Error> {
    run_command(tested_lab(workspace)?.args(["interop", "--subject", OWN, "--out", INTEROP_OUT]))?;
    let path = workspace.path(INTEROP_OUT).join("results.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::Failed(format!("{INTEROP_OUT}/results.json: {error}")))?;
    let outcomes = check_interop(&text, |program| on_path(program).is_some());
    eprintln!("  pairs: {}", outcomes.map_err(Error::Failed)?);
    Ok(Outcome::Passed)
}

#[derive(Deserialize)]
struct Exchanges {
    rows: Vec<Exchange>,
}

#[derive(Deserialize)]
struct Exchange {
    #[serde(rename = "minter")]
    issuer: Party,
    verifier: Party,
    format: String,
    alg: Option<String>,
    enc: Option<String>,
    outcome: Option<String>,
    reason: Option<String>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct Party {
    driver: String,
    library: String,
    language: String,
}

impl Exchange {
    /// Whether a limit of the other side, and not of jeton's, is why it was not verified.
    fn is_explained_by_the_other_side(&self) -> bool {
        let own = |party: &Party| party.driver == OWN;
        let other = if own(&self.issuer) {
            &self.verifier
        } else {
            &self.issuer
        };
        // An explanation begins with the library whose limit it is.
        let explained = self.explanation.as_deref();
        other.library != "jeton"
            && explained.is_some_and(|e| e.starts_with(&format!("{} ", other.library)))
    }
}

/// Counts the pairs by outcome. A driver whose toolchain is missing does not count.
fn check_interop(results: &str, has: impl Fn(&str) -> bool) -> Result<String, String> {
    let results: Exchanges = serde_json::from_str(results)
        .map_err(|error| format!("{INTEROP_OUT}/results.json cannot be read: {error}"))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut defects = Vec::new();
    for row in &results.rows {
        let outcome = row.outcome.as_deref().unwrap_or("unavailable");
        *counts.entry(outcome).or_default() += 1;
        let excused = match outcome {
            "verified" | "not-offered" => true,
            "unavailable" => is_missing(&row.issuer.language, row.reason.as_deref(), &has),
            _ => row.is_explained_by_the_other_side(),
        };
        if !excused {
            defects.push(format!(
                "{} to {}, {} {} {}, is {outcome}: {}",
                row.issuer.driver,
                row.verifier.driver,
                row.format,
                row.alg.as_deref().unwrap_or_default(),
                row.enc.as_deref().unwrap_or_default(),
                row.explanation
                    .as_deref()
                    .or(row.reason.as_deref())
                    .unwrap_or("no reason given")
            ));
        }
    }
    if !defects.is_empty() {
        return Err(defects.join("\n"));
    }
    if !counts.contains_key("verified") {
        return Err("no token was verified".into());
    }
    let shown: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    Ok(shown.join(", "))
}

/// The pages that the report's tests leave among what cargo builds: of a made-up run of full size, of several runs, and
/// of a stored run of servers.
const REPORTS: [&str; 3] = [
    "report-full.html",
    "report-side-by-side.html",
    "report-servers.html",
];

/// The pages that the command line's tests leave there, of tokens and of keys.
const INSPECTED: [&str; 10] = [
    "inspect-jwt.html",
    "inspect-verified.html",
    "inspect-rejected.html",
    "inspect-invisible.html",
    "inspect-es256-duplicate.html",
    "inspect-jws-general.html",
    "inspect-jwe.html",
    "inspect-jwe-general.html",
    "inspect-v4-s-2.html",
    "inspect-keys.html",
];

/// The pages of servers that the command line's tests leave there.
const SERVED: [&str; 3] = [
    "serve-ready.html",
    "serve-servers.html",
    "serve-store-gone.html",
];

/// Opens the page of that run in Chromium, those of other runs, of `inspect --web`, and of servers.
pub(super) fn browser(workspace: &Workspace) -> Result<Outcome, Error> {
    let script = format!("{BROWSER_TEST}/page.mjs");
    if on_path("node").is_none() {
        return Ok(Outcome::Skipped("node is not installed".into()));
    }
    if !workspace.path(BROWSER_TEST).join("node_modules").is_dir() {
        return Err(Error::Usage(
            "the node packages are not installed: run `cargo xtask setup`".into(),
        ));
    }
    let left = REPORTS.into_iter().chain(INSPECTED).chain(SERVED);
    let left = left.map(|name| workspace.target().join(name));
    let run = workspace.path(OUT).join("report.html");
    let pages = [run].into_iter().chain(left);
    let (there, absent): (Vec<PathBuf>, Vec<PathBuf>) = pages.partition(|page| page.is_file());
    if there.is_empty() {
        return Err(Error::Usage(format!(
            "there is no page: {OUT}/report.html is made by the step `lab`, {} and {} by `test`",
            REPORTS[0], INSPECTED[0]
        )));
    }
    for page in absent {
        eprintln!("  {} is not there, and not looked at", page.display());
    }
    let Some(chromium) = setup::chromium() else {
        return Ok(Outcome::Skipped("Chromium is not installed".into()));
    };
    let mut node = workspace.command("node");
    node.arg(script).args(there).env("CHROMIUM", chromium);
    run_command(&mut node)?;
    Ok(Outcome::Passed)
}

#[derive(Deserialize)]
struct Results {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    status: String,
    reason: Option<String>,
    subject: Subject,
}

#[derive(Deserialize)]
struct Subject {
    /// Rows of attacks have the driver.
    #[serde(alias = "driver")]
    id: String,
    language: String,
}

/// The program without which a language's drivers cannot be built. A language that is not listed
/// may be missing.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("rust", "cargo"),
    ("go", "go"),
    ("java", "mvn"),
    ("node", "node"),
    ("python", "python3"),
];

/// Whether the machine has no toolchain of the language, or none that is new enough for the library.
fn is_missing(language: &str, reason: Option<&str>, has: impl Fn(&str) -> bool) -> bool {
    let mut toolchains = TOOLCHAINS.iter();
    !toolchains.any(|(of, program)| *of == language && has(program))
        || reason.is_some_and(|reason| reason.starts_with("needs version "))
}

/// What is wrong with a result.
#[derive(Debug, PartialEq, Eq)]
struct Defects {
    /// The subjects that were not measured; none if the whole result is wrong.
    subjects: Vec<String>,
    text: String,
}

impl Defects {
    fn of_all(text: String) -> Self {
        let subjects = Vec::new();
        Self { subjects, text }
    }
}

/// Counts the rows by status. A row that is `unavailable` because its toolchain is not here is a
/// fact about the machine; anything else that is not measured is a defect.
fn check(results: &str, has: impl Fn(&str) -> bool) -> Result<String, Defects> {
    let results: Results = serde_json::from_str(results)
        .map_err(|error| Defects::of_all(format!("results.json cannot be read: {error}")))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut subjects, mut defects) = (Vec::new(), Vec::new());
    for row in &results.rows {
        *counts.entry(&row.status).or_default() += 1;
        let excused = match row.status.as_str() {
            "ok" | "tainted" => true,
            "unavailable" => is_missing(&row.subject.language, row.reason.as_deref(), &has),
            _ => false,
        };
        if !excused {
            subjects.push(row.subject.id.clone());
            defects.push(format!(
                "{} is {}: {}",
                row.subject.id,
                row.status,
                row.reason.as_deref().unwrap_or("no reason given")
            ));
        }
    }
    if !defects.is_empty() {
        let text = defects.join("\n");
        return Err(Defects { subjects, text });
    }
    let measured =
        counts.get("ok").copied().unwrap_or(0) + counts.get("tainted").copied().unwrap_or(0);
    if measured == 0 {
        return Err(Defects::of_all("the run measured nothing".into()));
    }
    let shown: Vec<String> = counts
        .iter()
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    Ok(shown.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rows(rows: &[(&str, &str)]) -> String {
        let rows: Vec<_> = rows
            .iter()
            .map(|(language, status)| {
                serde_json::json!({
                    "status": status, "reason": "because",
                    "subject": { "id": "s", "language": language },
                })
            })
            .collect();
        serde_json::json!({ "rows": rows }).to_string()
    }

    /// A machine that has Rust alone.
    fn only_rust(program: &str) -> bool {
        program == "cargo"
    }

    #[test]
    fn measured_rows_and_missing_toolchains_pass() {
        assert_eq!(
            check(
                &rows(&[("rust", "ok"), ("go", "unavailable"), ("rust", "tainted")]),
                only_rust
            ),
            Ok("1 ok, 1 tainted, 1 unavailable".into())
        );
    }

    #[test]
    fn library_for_newer_runtime_passes() {
        let unavailable = rows(&[("rust", "ok"), ("python", "unavailable")]);
        let reason = "needs version 3.12 or newer, not CPython 3.11.7";
        let newer = unavailable.replace("because", reason);
        assert!(check(&unavailable, |_| true).is_err());
        assert!(check(&newer, |_| true).is_ok());
    }

    #[test]
    fn broken_row_fails_with_its_reason() {
        for status in ["failed-preflight", "crashed", "timed-out"] {
            assert_eq!(
                check(&rows(&[("rust", "ok"), ("rust", status)]), only_rust),
                Err(Defects {
                    subjects: vec!["s".into()],
                    text: format!("s is {status}: because"),
                })
            );
        }
    }

    #[test]
    fn driver_not_built_with_toolchain_present_fails() {
        assert_eq!(
            check(&rows(&[("rust", "ok"), ("rust", "unavailable")]), only_rust),
            Err(Defects {
                subjects: vec!["s".into()],
                text: "s is unavailable: because".into(),
            })
        );
    }

    #[test]
    fn run_that_measured_nothing_fails() {
        assert!(check(&rows(&[("go", "unavailable")]), only_rust).is_err());
        assert!(check(&rows(&[]), only_rust).is_err());
    }

    fn exchange(issuer: &str, verifier: &str, outcome: Option<&str>, explanation: &str) -> String {
        let party = |driver: &str| {
            let (language, library) = driver.split_once('/').unwrap();
            serde_json::json!({"driver": driver, "library": library, "language": language})
        };
        let explanation = (!explanation.is_empty()).then_some(explanation);
        serde_json::json!({"rows": [
            {"minter": party(issuer), "verifier": party(verifier), "format": "jwt", "alg": "ES256",
             "enc": null, "outcome": outcome, "explanation": explanation},
            {"minter": party(OWN), "verifier": party(OWN), "format": "jwt", "alg": "ES256",
             "enc": null, "outcome": "verified"},
        ]})
        .to_string()
    }

    #[test]
    fn unverified_token_fails_unless_the_other_side_explains() {
        let all = |_: &str| true;
        let refused = |explanation| {
            let text = exchange("go/old", OWN, Some("refused"), explanation);
            check_interop(&text, all)
        };
        assert_eq!(
            refused("old 1.2: makes no `typ`").unwrap(),
            "1 refused, 1 verified"
        );
        assert!(refused("unexplained: no").is_err());
        assert!(refused("jeton 0.1.0: does not read it").is_err());
        assert!(refused("").unwrap_err().contains("go/old to rust/jeton"));
        let absent = exchange("go/old", "go/old", None, "");
        assert!(check_interop(&absent, |program| program != "go").is_ok());
        assert!(check_interop(&absent, all).is_err());
    }
}
