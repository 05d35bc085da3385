//! The command, from the outside: exit codes, files, signals and remaining processes.

#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code)]
#[path = "../../../../crates/jeton-cli/tests/it/binary.rs"]
mod binary;
mod commands;
#[cfg(target_os = "linux")]
#[path = "../../../../crates/jeton-cli/tests/it/untrusted/confined.rs"]
mod confined;

mod export;
mod fake_lab;
mod files;
mod gate;
mod help;
#[path = "../../../../crates/jeton-cli/tests/it/help_arguments.rs"]
mod help_arguments;
#[allow(dead_code)]
#[cfg(target_os = "linux")]
#[path = "../../../../crates/jeton-cli/tests/it/untrusted/hostile.rs"]
mod hostile;
mod import;
mod interop;
mod outputs;
mod results;
mod runtimes;
#[cfg(unix)]
mod service;
#[allow(dead_code)]
#[cfg(unix)]
#[path = "../../../../crates/jeton-cli/tests/it/serving.rs"]
mod serving;
#[cfg(target_os = "linux")]
mod untrusted;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fake_lab::{Lab, SHORT, assert_refused, text};

/// The program that is tested.
const PROGRAM: &str = "jeton-lab";

/// A stored result of a full run.
fn stored_result() -> PathBuf {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runs");
    let folders = fs::read_dir(runs).unwrap();
    let paths = folders.map(|folder| folder.unwrap().path());
    let newest = paths
        .filter(|path| path.to_str().unwrap().ends_with("-full"))
        .max();
    newest
        .expect("a full run is stored")
        .join("results.json.gz")
}

#[test]
fn run_writes_result_and_page() {
    let lab = Lab::new("");
    let output = lab.run(&SHORT);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.starts_with("about "),
        "the estimate is not first: {stderr}"
    );
    assert!(stdout.contains("Noise floor"), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "no colour into a pipe");
    let named: Vec<&str> = stdout.lines().rev().take(2).collect();
    assert_eq!(named, ["jeton-lab/report.html", "jeton-lab/results.json"]);
    let page = fs::read_to_string(lab.path("jeton-lab/report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    let result = lab.result();
    assert_eq!(result["environment"]["complete"], true);
    assert_eq!(result["rows"].as_array().unwrap().len(), 4);
    assert!(result["command"].as_str().unwrap().contains("--seed"));
}

#[test]
fn json_prints_the_result() {
    let lab = Lab::new("");
    let output = lab.run(&[&SHORT[..], &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, lab.result());
}

#[test]
fn report_shows_result_again() {
    let lab = Lab::new("accepts-expired");
    let first = lab.run(&SHORT);
    let again = lab.run(&["report", "jeton-lab/results.json"]);
    assert!(again.status.success());
    let shown = text(&again.stdout);
    assert!(text(&first.stdout).starts_with(shown));
    assert!(shown.contains("accepts an expired token"), "{shown}");
    let page = lab.run(&["report", "jeton-lab/results.json", "--html"]);
    let written = fs::read(lab.path("jeton-lab/report.html")).unwrap();
    assert!(
        page.stdout == written,
        "the page differs from the one written"
    );
}

#[test]
fn report_invalid_file_is_an_error() {
    let lab = Lab::new("");
    for (content, reason) in [
        ("", "is incomplete"),
        ("{\"schema\":1,\"rows\":[", "is incomplete"),
        ("hello", "is not a result of the lab"),
        ("{}", "member `schema` is missing"),
        ("{\"schema\":99}", "the version that wrote it"),
        ("{\"schema\":1}", "is not a result of the lab"),
        (
            r#"{"schema":1,"rows":[{"suite":"x","contract":"y","status":"\u001b[2J"}]}"#,
            "[U+001B][2J",
        ),
    ] {
        fs::write(lab.path("bad.json"), content).unwrap();
        assert_refused(&lab.run(&["report", "bad.json"]), reason);
    }
    assert_refused(
        &lab.run(&["report", "absent.json"]),
        "cannot read absent.json",
    );
}

#[test]
fn run_unwritable_folder_fails_before_measuring() {
    let lab = Lab::new("");
    fs::write(lab.path("taken"), "a file").unwrap();
    let output = lab.run(&["run", "--quick", "--out", "taken/below"]);
    assert_refused(&output, "cannot write to taken/below");
    assert_refused(
        &lab.run(&["run", "--quick", "--out", "/dev/null"]),
        "cannot write to /dev/null",
    );
    // No user can create files in this folder, not even root.
    assert_refused(
        &lab.run(&["run", "--quick", "--out", "/proc"]),
        "cannot write to /proc",
    );
}

#[test]
fn unknown_names_suggest_the_nearest() {
    let lab = Lab::new("");
    assert_refused(&lab.run(&["run", "library"]), "did you mean `libraries`?");
    assert_refused(
        &lab.run(&["run", "--subject", "corect"]),
        "did you mean `correct`?",
    );
    assert_refused(
        &lab.run(&["run", "--operation", "verfy"]),
        "did you mean `verify`?",
    );
    assert_refused(
        &lab.run(&["run", "--drivers", "nowhere"]),
        "drivers' folder nowhere",
    );
    let broken = lab.path("drivers/fake/broken");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("driver.toml"), "protocol = 1\n").unwrap();
    let output = lab.run(&["run"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("broken/driver.toml"));
}

#[test]
fn run_invalid_claims_fail_before_building() {
    let lab = Lab::new("");
    fs::write(lab.path("text"), "hello").unwrap();
    fs::write(lab.path("list.json"), "[1]").unwrap();
    // The lab rejects these 50 MB by their length, without reading them.
    let large = fs::File::create(lab.path("large.json")).unwrap();
    large.set_len(50_000_000).unwrap();
    for (claims, reason) in [
        ("text", "text: not JSON: "),
        ("list.json", "list.json: not a JSON object"),
        ("[1]", "--claims: not a JSON object"),
        (
            "large.json",
            "large.json: larger than 1 MiB, the limit for claims",
        ),
        ("{\"exp\":1}", "`exp` is in the past"),
        ("report1-larg", "did you mean `report1-large`?"),
    ] {
        let began = Instant::now();
        assert_refused(&lab.run(&["run", "--claims", claims]), reason);
        assert!(began.elapsed() < Duration::from_secs(60), "{claims}");
    }
    assert!(!lab.path("cache").exists() && !lab.path("jeton-lab").exists());
}

#[test]
fn run_own_claims_and_threads_are_in_every_row() {
    let lab = Lab::new("");
    let own = r#"{"iss":"me","jti":"a1","roles":["x","y"]}"#;
    let claims = ["--claims", own, "--threads", "1", "--operation", "verify"];
    let output = lab.run(&[&SHORT[..], &claims].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = lab.result()["rows"].clone();
    for row in rows.as_array().unwrap() {
        assert_eq!(row["claims"]["name"], "own");
        assert_eq!(row["claims"]["bytes"], own.len());
        assert_eq!(
            (&row["contract"], &row["threads"]),
            (&"verify".into(), &1.into())
        );
    }
    let verdict = &lab.result()["verdicts"][0];
    assert_eq!(
        (&verdict["claims"], &verdict["threads"]),
        (&"own".into(), &1.into())
    );
}

#[test]
fn list_does_not_build() {
    let lab = Lab::new("");
    let output = lab.run(&["list"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("fake/correct") && shown.contains("libraries"),
        "{shown}"
    );
    assert!(!lab.path("cache").exists());
}

#[test]
fn run_budget_reduces_rounds() {
    let lab = Lab::new("");
    let output = lab.run(&["run", "libraries", "--quick", "--rounds=500", "--budget=6s"]);
    assert!(output.status.success());
    let environment = lab.result()["environment"].clone();
    assert_eq!(environment["complete"], true, "nobody ended it");
    let rounds = environment["rounds_finished"].as_u64().unwrap();
    assert!((4..500).contains(&rounds), "{rounds}");
    assert!(text(&output.stderr).contains("the time limit allows"));
    // The result has the planned and the finished rounds.
    assert_eq!(environment["rounds_planned"], 500);
    let told = format!("{rounds} of 500 rounds (time limit reached)");
    assert!(text(&output.stdout).contains(&told), "{told}");
}

/// Ctrl-C during the rounds keeps a valid file of the finished rounds. No process remains, not even one
/// that a driver started.
#[test]
fn run_ctrl_c_keeps_finished_rounds() {
    let lab = Lab::new("has-a-child");
    let (code, result, _) = interrupted(&lab, "round 3 of");
    assert_eq!(code, Some(130));
    assert_eq!(result["environment"]["complete"], false);
    let finished = result["environment"]["rounds_finished"].as_u64().unwrap();
    assert!(finished >= 2, "{finished}");
    for row in result["rows"].as_array().unwrap() {
        let rounds = row["ns_per_op"]["rounds"].as_array().unwrap();
        assert_eq!(rounds.len() as u64, finished);
    }
    assert!(lab.path("jeton-lab/report.html").exists());
}

#[test]
fn run_ctrl_c_with_hanging_driver_ends() {
    let took = [(); 5].iter().map(|()| {
        let lab = Lab::new("hangs-in-hello");
        fs::create_dir(lab.path("jeton-lab")).unwrap();
        fs::write(
            lab.path("jeton-lab/results.json"),
            "[\"of an earlier run\"]",
        )
        .unwrap();
        let (code, result, took) = interrupted(&lab, "preflight");
        assert_eq!(code, Some(130));
        assert_eq!(
            result[0], "of an earlier run",
            "the file must not change before the first round is finished"
        );
        took
    });
    // The time limit of the driver is 20 s. A busy machine may need longer, and not each time.
    let mut soon = took.filter(|took| *took < Duration::from_secs(15));
    assert!(soon.next().is_some(), "it waits for the driver");
}

/// Runs until standard error contains `moment`, sends SIGINT, and waits for the end. Returns how long that took, too.
fn interrupted(lab: &Lab, moment: &str) -> (Option<i32>, Value, Duration) {
    let talk = fs::File::create(lab.path("talk")).unwrap();
    let mut child = lab
        .command(&["run", "libraries", "--quick", "--rounds=200"])
        .stdout(Stdio::null())
        .stderr(talk)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !fs::read_to_string(lab.path("talk"))
        .unwrap()
        .contains(moment)
    {
        assert!(Instant::now() < deadline, "{moment:?} did not appear");
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let status = child.wait().unwrap();
    let took = began.elapsed();
    // The kernel needs a moment to remove killed processes.
    let mut left = survivors(lab.0.path());
    while !left.is_empty() {
        assert!(
            began.elapsed() < took + Duration::from_secs(60),
            "left behind: {left:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
        left = survivors(lab.0.path());
    }
    (status.code(), lab.result(), took)
}

/// Returns the running processes of this lab: in its folder, or noted by the fake driver.
fn survivors(folder: &Path) -> Vec<String> {
    let noted = fs::read_to_string(folder.join("children")).unwrap_or_default();
    let mut left = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().into_string() else {
            continue;
        };
        if !id.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        let noted = noted.lines().any(|n| n == id);
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let zombie = stat.rsplit(") ").next().is_some_and(|s| s.starts_with('Z'));
        if (here || noted) && !zombie {
            left.push(format!("{id}: {stat}"));
        }
    }
    left
}
