//! `lab attack --seconds` over all drivers: is there a disagreement in which jeton is the one that is
//! wrong? What is new goes to the corpus.

use std::fmt::Write as _;

use serde::Deserialize;
use xtask::DISAGREEMENTS;
use xtask::command::{Error, Workspace};

use super::log::Log;
use super::{OUT, Plan};

/// A class of disagreement, as far as the log shows it.
#[derive(Debug, Deserialize)]
struct Case {
    format: String,
    alg: String,
    changed: String,
    changes: Vec<String>,
    accepted: Vec<String>,
    refused: Vec<String>,
    jeton_alone: bool,
}

pub(super) fn run(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    let seconds = (plan.minutes * 60).to_string();
    eprintln!("== soak: all libraries at once, {seconds} s");
    let mut lab = workspace.cargo(&[
        "run",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "jeton-lab",
        "--",
        "attack",
    ]);
    lab.args([
        "--seconds",
        &seconds,
        "--seed",
        "1",
        "--corpus",
        DISAGREEMENTS,
        "--out",
        OUT,
    ]);
    let done = lab
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| Error::Usage(format!("cargo did not start: {error}")))?;
    let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    println!("{said}");
    let path = workspace.path(OUT).join("disagreements.json");
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Failed(format!("{OUT}/disagreements.json: {error}")))?;
    let table = alone(&text).map_err(Error::Failed)?;
    log.section(
        "All libraries at once",
        &format!("```\n{said}\n```\n\n{table}"),
    );
    match done.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(Error::Failed("jeton took a token that was changed".into())),
        _ => Err(Error::Failed("the fuzzing did not run to its end".into())),
    }
}

/// Rows in which only jeton decides so: a person reviews these.
fn alone(cases: &str) -> Result<String, String> {
    let cases: Vec<Case> =
        serde_json::from_str(cases).map_err(|error| format!("disagreements.json: {error}"))?;
    let mut text = format!(
        "Classes in which jeton is alone, of {}:\n\n\
         | format | changed | how | jeton | the others |\n|---|---|---|---|---|\n",
        cases.len()
    );
    for case in cases.iter().filter(|case| case.jeton_alone) {
        let accepts = case
            .accepted
            .iter()
            .any(|who| who.starts_with("rust/jeton "));
        let (word, others) = if accepts {
            ("accepts", case.refused.len())
        } else {
            ("refuses", case.accepted.len())
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {word} | {others} |",
            case.format,
            case.alg,
            case.changed,
            case.changes.join(", ")
        );
    }
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::alone;

    #[test]
    fn only_classes_where_jeton_differs_are_shown() {
        let case = |jeton_alone: bool| {
            format!(
                r#"{{"format":"jwt","alg":"HS256","changed":"claims","changes":["Insert"],
                    "accepted":["go/jwx 3.3.0","node/jose 6"],"refused":["rust/jeton 0.1.0"],
                    "jeton_alone":{jeton_alone}}}"#
            )
        };
        let table = alone(&format!("[{},{}]", case(true), case(false)));
        let table = table.unwrap_or_default();
        assert!(
            table.starts_with("Classes in which jeton is alone, of 2"),
            "{table}"
        );
        assert_eq!(table.matches("| refuses | 2 |").count(), 1, "{table}");
        assert!(alone("{}").is_err());
    }
}
