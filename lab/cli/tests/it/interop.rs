//! `jeton-lab interop` through the real binary.

use std::fs;

use serde_json::Value;

use crate::fake_lab::{Lab, assert_refused, text};

#[test]
fn interop_shows_matrix_and_writes_files() {
    let lab = Lab::new("changes-a-claim");
    lab.add("wrong", "signs-wrongly");
    let output = lab.run(&["interop", "--seed", "5"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "it ran: {stderr}");
    assert!(
        stderr.starts_with("about "),
        "the estimate comes first: {stderr}"
    );
    // The time differs in each run.
    let (first, rest) = stdout.split_once('\n').unwrap();
    assert!(first.starts_with("Interoperability in "), "{first}");
    let expected = "\
4 of 9 pairs verified, 3 rejected, 2 wrong-claims; 5 unexplained. 3 drivers, 1 kind of token.
Rows: issuer; columns: verifier. + verified, R rejected, C wrong-claims

jwt HS256
                  1  2  3
  1 fake/correct  +  C  +
  2 fake/other    +  C  +
  3 fake/wrong    R  R  R

Failures
  3 rejected, issued by fake/wrong, verified by fake/correct, fake/other and fake/wrong (jwt
    HS256): unexplained: signature is wrong
  2 wrong-claims, issued by fake/correct and fake/other, verified by fake/other (jwt HS256):
    unexplained: returns a different `name` than was signed

jeton-lab/results.json
jeton-lab/report.html
";
    assert_eq!(rest, expected);
    let result = lab.result();
    assert_eq!(result["rows"].as_array().unwrap().len(), 9);
    assert_eq!(result["rows"][0]["suite"], "interop");
    assert_eq!(result["seed"], 5);
    let page = fs::read_to_string(lab.path("jeton-lab/report.html")).unwrap();
    assert!(page.contains("Interoperability"));

    let again = lab.run(&["report", "jeton-lab/results.json"]);
    assert!(
        stdout.starts_with(text(&again.stdout)),
        "the report differs"
    );
}

#[test]
fn json_prints_the_result() {
    let lab = Lab::new("");
    let output = lab.run(&["interop", "--subject", "other", "--alg", "hs256", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, lab.result());
    // Only pairs with this driver.
    assert_eq!(printed["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn unknown_names_suggest_the_nearest() {
    let lab = Lab::new("");
    assert_refused(
        &lab.run(&["interop", "--subject", "corect"]),
        "did you mean `correct`?",
    );
    assert_refused(
        &lab.run(&["interop", "--alg", "HS265"]),
        "did you mean `HS256`?",
    );
    assert_refused(
        &lab.run(&["interop", "--out", "/dev/null"]),
        "cannot write to /dev/null",
    );
    assert_refused(
        &lab.run(&["interop", "--drivers", "nowhere"]),
        "drivers' folder nowhere",
    );
    for wrong in [
        &["--budget", "0s"][..],
        &["--seed", "x"],
        &["--rounds", "0"],
    ] {
        let output = lab.run(&[&["interop"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty());
    }
    assert!(!lab.path("jeton-lab").exists(), "nothing was written");
}
