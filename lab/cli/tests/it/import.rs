//! Tests `jeton-lab import` with the real binary: imported reports are shown, errors have a reason.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const LAB: &str = env!("CARGO_BIN_EXE_jeton-lab");

/// Returns a report of four calls in half a second. One call failed.
fn report() -> Value {
    let call = |status: &str, ms: u64| {
        json!({"timestamp": "2026-11-22T09:00:00Z", "latency": ms * 1_000_000, "status": status,
            "error": if status == "OK" { "" } else { "rpc error" }})
    };
    json!({
        "endReason": "timeout", "date": "2026-11-22T09:00:01Z",
        "options": {"call": "jwt.services.JwtService.GenerateJwt", "host": "127.0.0.1:8420",
            "concurrency": 4, "connections": 2, "data": {"algorithm": "HS256"}},
        "count": 4, "total": 500_000_000, "average": 2_000_000, "fastest": 1_000_000,
        "slowest": 3_000_000, "rps": 8.0,
        "errorDistribution": {"rpc error": 1},
        "statusCodeDistribution": {"OK": 3, "Unavailable": 1},
        "latencyDistribution": [{"percentage": 50, "latency": 2_000_000}], "histogram": [],
        "details": [call("OK", 1), call("OK", 2), call("Unavailable", 9), call("OK", 3)]})
}

fn import(folder: &Path, content: &str) -> Output {
    fs::write(folder.join("ghz.json"), content).unwrap();
    lab(
        folder,
        &["import", "ghz.json", "--name", "go/mine", "--cores", "1"],
    )
}

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(LAB);
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn import_ghz_report_is_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let imported = import(folder.path(), &report().to_string());
    let result: Value = serde_json::from_slice(&imported.stdout).unwrap();
    let row = &result["rows"][0];
    assert_eq!(
        (&row["loader"], &row["status"]),
        (&"ghz".into(), &"ok".into())
    );
    assert_eq!(row["requests_per_s"], 6.0, "the failed call does not count");
    assert_eq!(row["cpu_us_per_request"], Value::Null);
    fs::write(folder.path().join("imported.json"), &imported.stdout).unwrap();
    for form in [&[][..], &["--md"], &["--html"]] {
        let shown = lab(
            folder.path(),
            &[&["report", "imported.json"][..], form].concat(),
        );
        let said = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.status.success(), "{form:?}");
        for words in ["go/mine", "imported"] {
            assert!(said.contains(words), "{form:?}: {words}: {said}");
        }
    }
}

#[test]
fn import_invalid_report_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut summary = report();
    summary["details"] = Value::Null;
    let old = json!({"count": 4, "total": 500_000_000, "average": 2_000_000, "details": []});
    for (content, what) in [
        (
            "Summary:\n  Count: 4\n".to_owned(),
            "not a current ghz report",
        ),
        (String::new(), "not a current ghz report"),
        (summary.to_string(), "0 latencies for 3 calls"),
        (old.to_string(), "missing field `date`"),
    ] {
        let out = import(folder.path(), &content);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(out.stdout.is_empty() && said.contains(what), "{said}");
        assert!(
            said.contains("ghz.json") && said.contains("jeton-lab export ghz"),
            "{said}"
        );
    }
    let large = File::create(folder.path().join("large.json")).unwrap();
    large.set_len(50_000_000).unwrap();
    let all = ["import", "large.json", "--name", "x", "--cores", "1"];
    let out = lab(folder.path(), &all);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("more than 32 MB"), "{said}");
}
