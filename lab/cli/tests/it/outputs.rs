//! Tests the files that a lab command writes, what happens to existing files, and results from a pipe.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::fake_lab::{Lab, SHORT, assert_refused, text};

/// Returns the files of the output folder whose names begin with `start`.
fn named(lab: &Lab, start: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(lab.path("jeton-lab")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let begins = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(start)
    };
    files.filter(begins).collect()
}

fn change(lab: &Lab, change: impl FnOnce(&mut Value)) {
    let mut result = lab.result();
    change(&mut result);
    fs::write(lab.path("jeton-lab/results.json"), result.to_string()).unwrap();
}

fn piped(lab: &Lab, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = lab.command(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn result_of_another_command_is_renamed() {
    let lab = Lab::with_result();
    let again = lab.run(&SHORT);
    assert!(!text(&again.stderr).contains("note:"), "the same command");
    assert_eq!(named(&lab, "results").len(), 1);

    change(&lab, |result| {
        result["command"] = "jeton-lab attack --seed 7".into()
    });
    let attacks = lab.result();
    let output = lab.run(&SHORT);
    assert!(output.status.success());
    let aside = named(&lab, "results-of-attack-");
    assert_eq!(aside.len(), 1);
    assert!(text(&output.stderr).contains("jeton-lab/results-of-attack-"));
    let kept: Value = serde_json::from_slice(&fs::read(&aside[0]).unwrap()).unwrap();
    assert_eq!(kept, attacks);
    assert_eq!(named(&lab, "report-of-attack-").len(), 1, "and its page");
    assert!(
        lab.result()["command"]
            .as_str()
            .unwrap()
            .starts_with("jeton-lab run")
    );

    // A newer jeton may be able to read this file.
    fs::write(lab.path("jeton-lab/results.json"), r#"{"schema":99}"#).unwrap();
    lab.run(&SHORT);
    assert_eq!(named(&lab, "results-unread-").len(), 1);
}

#[test]
fn result_unwritable_goes_to_temporary_folder() {
    let lab = Lab::new("");
    let temporary = lab.path("temporary");
    fs::create_dir_all(&temporary).unwrap();
    // A folder cannot be overwritten with a file.
    fs::create_dir_all(lab.path("jeton-lab/results.json")).unwrap();
    let mut command = lab.command(&SHORT);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("Noise floor"), "the tables");
    let said = text(&output.stderr).trim_end().lines().last().unwrap();
    assert!(
        said.contains("cannot write jeton-lab/results.json"),
        "{said}"
    );
    let place = said.rsplit(' ').next().unwrap();
    assert!(place.starts_with(temporary.to_str().unwrap()), "{said}");
    let report = lab.run(&["report", place]);
    assert!(text(&output.stdout).starts_with(text(&report.stdout)));
}

#[test]
fn command_is_quoted_for_a_shell() {
    let lab = Lab::new("");
    lab.run(
        &[
            &SHORT[..],
            &["--subject", "fake/*", "--claims", r#"{"sub":"o'neill"}"#],
        ]
        .concat(),
    );
    let command = lab.result()["command"].as_str().unwrap().to_owned();
    assert!(
        command.contains(r#"--subject 'fake/*' --claims '{"sub":"o'\''neill"}' --seed"#),
        "{command}"
    );
}

#[test]
fn report_reads_result_from_pipe() {
    let lab = Lab::with_result();
    let file = fs::read(lab.path("jeton-lab/results.json")).unwrap();
    let shown = lab.run(&["report", "jeton-lab/results.json"]).stdout;
    assert_eq!(piped(&lab, &["report", "-"], &file).stdout, shown);
    let compared = piped(&lab, &["compare", "-", "jeton-lab/results.json"], &file);
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    assert_refused(&piped(&lab, &["compare", "-", "-"], &file), "pass - once");
    assert_refused(
        &piped(&lab, &["report", "-"], b"{"),
        "standard input is incomplete",
    );
}

#[test]
fn report_attack_rows_are_shown_or_noted() {
    let lab = Lab::with_result();
    let attack = json!({"suite": "attack", "status": "ok", "attack": "alg-none", "family": "header",
        "subject": {"driver": "fake/other", "library": "ev\u{1b}[2Jil", "version": "1.0.0", "language": "fake"},
        "format": "jwt", "practice": "documented", "outcome": "accepted", "tried": 3, "found": 1, "void": 0, "algs": ["HS256"],
        "evidence": [{"spelling": "<none>", "outcome": "accepted"}]});
    change(&lab, |result| {
        result["rows"].as_array_mut().unwrap().push(attack.clone());
    });
    let report = |more: &[&str]| lab.run(&[&["report", "jeton-lab/results.json"], more].concat());
    let beside = report(&[]);
    assert!(text(&beside.stdout).contains("Noise floor"));
    let finding = "accepted: alg-none";
    assert!(text(&beside.stdout).contains(finding));
    assert!(!text(&beside.stdout).contains('\u{1b}'), "raw");
    let rows = report(&["--csv"]);
    assert!(text(&rows.stderr).contains("attack rows: 1 (--csv --table attacks)"));
    assert_eq!(text(&rows.stdout).lines().count(), 5);
    let attacks = report(&["--csv", "--table", "attacks"]);
    assert!(text(&attacks.stdout).contains("attack,ok,accepted,,alg-none,header,fake/other,"));

    change(&lab, |result| {
        result["rows"] = json!([attack]);
        result["verdicts"] = json!([]);
        // It refers to rows that are gone.
        result["recommendation"] = Value::Null;
        result["noise_floor"] = json!({"floor": null, "pairs": []});
    });
    let alone = report(&[]);
    let shown = text(&alone.stdout);
    let said = text(&alone.stderr);
    assert!(
        shown.starts_with("1 attack on 1 library in "),
        "{shown}{said}"
    );
    assert!(text(&alone.stdout).contains(finding));
    assert_eq!(report(&["--csv"]).stdout, attacks.stdout);
    let markdown = report(&["--md"]);
    assert!(text(&markdown.stdout).contains("## Attacks"));
    assert!(text(&markdown.stdout).contains("| jwt | documented | accepted | alg-none |"));
    assert!(!text(&markdown.stdout).contains("issuer"));
}
