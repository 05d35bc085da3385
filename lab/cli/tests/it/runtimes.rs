//! Tests `--runtimes`, and the runtimes in reports.

use std::fs;

use serde_json::{Value, json};

use crate::fake_lab::{Lab, text};

/// Returns a lab with a changed result of a fake run.
fn changed(change: impl FnOnce(&mut Value)) -> Lab {
    let lab = Lab::with_result();
    let mut result = lab.result();
    change(&mut result);
    fs::write(lab.path("changed.json"), result.to_string()).unwrap();
    lab
}

fn shown(lab: &Lab, form: &[&str]) -> String {
    let output = lab.run(&[&["report", "changed.json"], form].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).replace('\n', " ")
}

#[test]
fn report_marks_unsupported_runtime() {
    let used = json!([
        {"language": "node", "name": "Node 20.20.2", "found": "PATH", "support": "ended",
         "support_ends": "2026-04-30"},
        {"language": "java", "name": "JDK 25.0.3", "found": "PATH", "support": "supported",
         "support_ends": "2031-09-30"},
        {"language": "python", "name": "CPython 3.15.0", "found": "PATH", "support": "unknown"}]);
    let lab = changed(|result| result["environment"]["runtimes_used"] = used);
    for form in [&[][..], &["--md"], &["--html"]] {
        let report = shown(&lab, form);
        for said in [
            "Out of support",
            "Node 20.20.2 (since 2026-04-30)",
            "JDK 25.0.3",
            "CPython 3.15.0",
            "support unknown",
        ] {
            assert!(report.contains(said), "{form:?}: {said}: {report}");
        }
        assert!(!report.contains("JDK 25.0.3 (since"), "{form:?}");
    }
}

#[test]
fn report_without_unsupported_runtime_has_no_note() {
    let lab = changed(|_| {});
    for form in [&[][..], &["--md"], &["--html"]] {
        assert!(!shown(&lab, form).contains("Out of support"), "{form:?}");
    }
}

#[test]
fn report_older_version_has_release_day() {
    let lab = changed(|result| {
        for row in result["rows"].as_array_mut().unwrap() {
            if row["subject"]["library"] == "other" {
                row["subject"]["released"] = json!("2021-04-14");
                row["subject"]["superseded_by"] = json!("fake/correct");
            }
        }
    });
    for form in [&[][..], &["--md"], &["--html"]] {
        let report = shown(&lab, form);
        let mark = "older version, released 2021-04-14";
        assert!(report.contains(mark), "{form:?}: {report}");
    }
}

#[test]
fn report_distinguishes_runtimes() {
    let lab = changed(|result| {
        let text = result
            .to_string()
            .replace("fake/other:", "fake/correct@25.0.3:");
        *result = serde_json::from_str(&text).unwrap();
        for row in result["rows"].as_array_mut().unwrap() {
            let is_other = row["subject"]["library"] == "other";
            row["subject"]["library"] = json!("correct");
            row["subject"]["runtime"] = json!(if is_other {
                "JDK 25.0.3"
            } else {
                "JDK 17.0.15"
            });
        }
    });
    for form in [&[][..], &["--md"], &["--html"]] {
        let report = shown(&lab, form);
        assert!(report.contains("JDK 25.0.3"), "{form:?}: {report}");
    }
}

#[test]
fn runtimes_unknown_choice_lists_known_ones() {
    let lab = Lab::new("");
    for verb in ["run", "interop", "attack"] {
        let output = lab.run(&[verb, "--runtimes", "newset"]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("path") && said.contains("newest"), "{said}");
    }
}
