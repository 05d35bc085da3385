//! `jeton lab` through the real binary: exit codes, files, signals, and what is left behind.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

struct Lab(tempfile::TempDir);

impl Lab {
    /// Two honest fake drivers, or with `misdeed` one that has it.
    fn new(misdeed: &str) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        lab.add("honest", "");
        lab.add("other", misdeed);
        lab
    }

    fn add(&self, name: &str, misdeed: &str) {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../jeton-lab/tests/fake/driver.py"
        );
        let folder = self.path("drivers/fake").join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            r#"protocol = 1
library = "{name}"
language = "fake"
version = "1.0.0"
needs = ["python3"]
run = ["python3", "{script}", "{name}", "{misdeed}"]

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "verify"]
key_handling = ["prepared"]
"#
        );
        fs::write(folder.join("driver.toml"), manifest).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jeton"));
        command
            .arg("lab")
            .args(arguments)
            .env("JETON_DRIVERS", self.path("drivers"))
            .env("CARGO_TARGET_DIR", self.path("cache"))
            .env("FAKE_CHILDREN", self.path("children"))
            .env_remove("COLUMNS")
            .current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn result(&self) -> Value {
        let text = fs::read(self.path("jeton-lab/results.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// One clear line on standard error, nothing on standard output, exit 2.
#[track_caller]
fn assert_refused(output: &Output, reason: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.contains(reason), "{said}");
}

const SHORT: [&str; 4] = ["run", "libraries", "--quick", "--rounds=2"];

#[test]
fn a_run_writes_both_files_and_names_them_last() {
    let lab = Lab::new("");
    let output = lab.run(&SHORT);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.starts_with("about "),
        "the estimate comes first: {stderr}"
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
fn json_prints_the_result_itself() {
    let lab = Lab::new("");
    let output = lab.run(&[&SHORT[..], &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, lab.result());
}

#[test]
fn a_result_is_shown_again() {
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
fn a_file_that_is_no_result_is_refused_in_a_line() {
    let lab = Lab::new("");
    for (content, reason) in [
        ("", "is cut short"),
        ("{\"schema\":1,\"rows\":[", "is cut short"),
        ("hello", "is not a result of the lab"),
        ("{}", "it has no `schema`"),
        ("{\"schema\":99}", "a newer jeton wrote it"),
        ("{\"schema\":0}", "an older jeton wrote it"),
        ("{\"schema\":1}", "is not a result of the lab"),
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
fn a_folder_that_cannot_be_written_is_refused_before_measuring() {
    let lab = Lab::new("");
    fs::write(lab.path("taken"), "a file").unwrap();
    let output = lab.run(&["run", "--quick", "--out", "taken/below"]);
    assert_refused(&output, "cannot write to taken/below");
    assert_refused(
        &lab.run(&["run", "--quick", "--out", "/dev/null"]),
        "cannot write to /dev/null",
    );
    // A folder that is there, and takes no files: from nobody, root included.
    assert_refused(
        &lab.run(&["run", "--quick", "--out", "/proc"]),
        "cannot write to /proc",
    );
}

#[test]
fn what_does_not_exist_is_refused_with_its_neighbour() {
    let lab = Lab::new("");
    assert_refused(&lab.run(&["run", "library"]), "did you mean `libraries`?");
    assert_refused(
        &lab.run(&["run", "--subject", "honset"]),
        "did you mean `honest`?",
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
fn list_and_doctor_answer_machines() {
    let lab = Lab::new("");
    lab.add("absent", "");
    let manifest = lab.path("drivers/fake/absent/driver.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        text.replace("\"python3\"]\nrun", "\"no-such-tool\"]\nrun"),
    )
    .unwrap();

    let listed: Value = serde_json::from_slice(&lab.run(&["list", "--json"]).stdout).unwrap();
    let driver = &listed["drivers"][0];
    assert_eq!(driver["id"], "fake/absent");
    assert!(
        driver["unavailable"]
            .as_str()
            .unwrap()
            .contains("no-such-tool")
    );
    assert_eq!(listed["drivers"][1]["unavailable"], Value::Null);
    assert_eq!(driver["offers"][0]["contracts"][0], "sign");

    let doctor = lab.run(&["doctor", "--json"]);
    assert!(doctor.status.success());
    let found: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let tool = |command: &str| {
        let tools = found["toolchains"].as_array().unwrap();
        tools
            .iter()
            .find(|t| t["command"] == command)
            .unwrap()
            .clone()
    };
    assert_eq!(tool("no-such-tool")["version"], Value::Null);
    assert_eq!(tool("no-such-tool")["needed_by"][0], "fake/absent");
    assert!(
        tool("python3")["version"]
            .as_str()
            .unwrap()
            .starts_with("Python 3")
    );
    let settings = found["machine"].as_array().unwrap();
    for name in [
        "cores",
        "SMT siblings",
        "governor",
        "turbo",
        "steal",
        "swap",
        "SHA instructions",
    ] {
        assert!(settings.iter().any(|s| s["name"] == name), "{name}");
    }

    let shown = lab.run(&["doctor"]);
    let shown = self::text(&shown.stdout);
    assert!(
        shown.contains("left out of every run: fake/absent"),
        "{shown}"
    );
    // A folder without drivers is one of the things to be told, not a reason to stop.
    let alone = lab.run(&["doctor", "--drivers", "nowhere"]);
    assert!(alone.status.success());
    assert!(self::text(&alone.stdout).contains("drivers' folder nowhere"));
}

/// Runs, changes what `change` says in a copy of the result, and writes the copy.
fn changed_copy(lab: &Lab, name: &str, change: impl FnOnce(&mut Value)) {
    let mut result = lab.result();
    // A machine that builds and tests is never quiet: what is judged here is not its noise.
    result["environment"]["taint"]["tainted"] = false.into();
    result["environment"]["taint"]["reasons"] = Value::Array(Vec::new());
    change(&mut result);
    fs::write(lab.path(name), result.to_string()).unwrap();
}

/// Every figure of one library's rows, multiplied.
fn scale(result: &mut Value, library: &str, by: f64) {
    let times = |value: &mut Value| *value = (value.as_f64().unwrap() * by).into();
    for row in result["rows"].as_array_mut().unwrap() {
        if row["subject"]["library"] == library {
            let timing = &mut row["ns_per_op"];
            times(&mut timing["median"]);
            for list in ["interval", "rounds"] {
                timing[list]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(times);
            }
        }
    }
    let hash = "0".repeat(64);
    result["environment"]["drivers"][format!("fake/{library}")] = hash.into();
}

#[test]
fn two_results_are_compared_gated_and_merged() {
    let lab = Lab::new("");
    lab.add("third", "");
    assert!(
        lab.run(&["run", "libraries", "--quick", "--rounds=4"])
            .status
            .success()
    );
    changed_copy(&lab, "before.json", |_| {});
    changed_copy(&lab, "same.json", |r| r["seed"] = 4.into());
    changed_copy(&lab, "slow.json", |r| {
        r["seed"] = 5.into();
        scale(r, "other", 50.0);
    });
    changed_copy(&lab, "elsewhere.json", |r| {
        r["seed"] = 6.into();
        r["environment"]["cpu"] = "another".into();
    });
    changed_copy(&lab, "noisy.json", |r| {
        r["environment"]["taint"]["tainted"] = true.into();
        r["environment"]["taint"]["reasons"] = serde_json::json!(["somebody else was busy"]);
    });
    changed_copy(&lab, "wrong.json", |r| {
        r["rows"][0]["status"] = "okay".into()
    });

    let compared = lab.run(&["compare", "before.json", "slow.json"]);
    let shown = text(&compared.stdout);
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    assert!(
        shown.contains("not interleaved") && shown.contains("slower"),
        "{shown}"
    );
    let elsewhere = lab.run(&["compare", "before.json", "elsewhere.json"]);
    let shown = text(&elsewhere.stdout);
    assert!(shown.contains("ANOTHER MACHINE: CPU"), "{shown}");
    assert!(
        !shown.contains("slower") && !shown.contains("faster"),
        "{shown}"
    );
    let json = lab.run(&["compare", "before.json", "slow.json", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["changes"][0]["verdict"], "slower");

    let gate = |result: &str, more: &[&str]| {
        lab.run(&[&["gate", "--baseline", "before.json", result][..], more].concat())
    };
    let passed = gate("same.json", &["--threshold", "900%"]);
    assert_eq!(passed.status.code(), Some(0), "{}", text(&passed.stderr));
    assert!(text(&passed.stdout).contains("no regression"));
    let stopped = gate("slow.json", &["--threshold", "900%"]);
    assert_eq!(stopped.status.code(), Some(1), "{}", text(&stopped.stdout));
    let named = text(&stopped.stderr);
    assert!(
        named.contains("regression: sign fake/other:jwt:HS256:prepared takes"),
        "{named}"
    );
    assert!(!named.contains("fake/honest"), "{named}");
    assert_refused(&gate("elsewhere.json", &[]), "cannot be judged");
    assert_refused(&gate("noisy.json", &[]), "somebody else was busy");
    assert_eq!(
        gate("noisy.json", &["--allow-noisy", "--threshold=900%"])
            .status
            .code(),
        Some(0)
    );
    assert_refused(
        &gate("wrong.json", &[]),
        "rows[0].status: unknown variant `okay`",
    );
    for threshold in ["5", "1%", "-5%", "NaN%", "five%"] {
        let flag = format!("--threshold={threshold}");
        assert_eq!(
            gate("same.json", &[&flag]).status.code(),
            Some(2),
            "{threshold}"
        );
    }

    let merged = lab.run(&["merge", "before.json", "same.json", "-o", "merged.json"]);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let merged: Value =
        serde_json::from_slice(&fs::read(lab.path("merged.json")).unwrap()).unwrap();
    assert_eq!(merged["environment"]["rounds_finished"], 8);
    assert_eq!(merged["runs"][1]["seed"], 4);
    assert!(lab.run(&["report", "merged.json"]).status.success());
    for (files, why) in [
        (["before.json", "before.json"], "are the same run"),
        (["before.json", "slow.json"], "did not measure the same"),
        (
            ["before.json", "elsewhere.json"],
            "not measured on the same machine",
        ),
        (["before.json", "wrong.json"], "rows[0].status"),
    ] {
        let output = lab.run(&["merge", files[0], files[1], "-o", "refused.json"]);
        assert_refused(&output, why);
        assert!(!lab.path("refused.json").exists());
    }
}

#[test]
fn a_result_is_exported_and_never_overwritten() {
    let lab = Lab::new("");
    assert!(lab.run(&SHORT).status.success());
    let file = "jeton-lab/results.json";
    let before = fs::read(lab.path(file)).unwrap();
    for (flag, begins) in [
        ("--html", "<!DOCTYPE html>"),
        ("--md", "# jeton lab"),
        ("--bench", "# jeton lab run"),
        ("--csv", "suite,contract,status"),
    ] {
        let printed = lab.run(&["report", file, flag]);
        assert!(text(&printed.stdout).starts_with(begins), "{flag}");
        let written = lab.run(&["report", file, flag, "-o", "report"]);
        assert!(written.status.success() && written.stdout.is_empty());
        assert_eq!(fs::read(lab.path("report")).unwrap(), printed.stdout);
    }
    assert_eq!(
        lab.run(&["report", file, "--md", "--csv"]).status.code(),
        Some(2)
    );
    let onto_itself = lab.run(&["report", file, "--md", "-o", file]);
    assert_refused(&onto_itself, "would overwrite the result");
    assert_refused(
        &lab.run(&["report", file, "--md", "-o", "no/such/folder"]),
        "cannot write",
    );
    // What is wrong with the input is known before the output is touched.
    fs::write(lab.path("bad.json"), "{\"schema\":1,").unwrap();
    assert_refused(
        &lab.run(&["report", "bad.json", "--md", "-o", "report"]),
        "is cut short",
    );
    assert!(
        fs::read_to_string(lab.path("report"))
            .unwrap()
            .starts_with("suite,")
    );
    assert_eq!(fs::read(lab.path(file)).unwrap(), before);
    // A device is written to, and stays what it is.
    assert!(
        lab.run(&["report", file, "--csv", "-o", "/dev/null"])
            .status
            .success()
    );
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn list_builds_nothing() {
    let lab = Lab::new("");
    let output = lab.run(&["list"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("fake/honest") && shown.contains("libraries"),
        "{shown}"
    );
    assert!(!lab.path("cache").exists());
}

#[test]
fn a_budget_makes_fewer_rounds() {
    let lab = Lab::new("");
    let output = lab.run(&["run", "libraries", "--quick", "--rounds=500", "--budget=6s"]);
    assert!(output.status.success());
    let environment = lab.result()["environment"].clone();
    assert_eq!(environment["complete"], true);
    let rounds = environment["rounds_finished"].as_u64().unwrap();
    assert!((4..500).contains(&rounds), "{rounds}");
    assert!(text(&output.stderr).contains("the budget has time for"));
}

/// Ctrl-C in the middle of the rounds: a valid file of what was finished, and nobody left, not
/// even what a driver started.
#[test]
fn ctrl_c_keeps_the_finished_rounds_and_leaves_no_process() {
    let lab = Lab::new("has-a-child");
    let (code, result) = interrupted(&lab, "round 3 of");
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
fn ctrl_c_while_a_driver_hangs_ends_at_once() {
    let lab = Lab::new("hangs-in-hello");
    let began = Instant::now();
    fs::create_dir(lab.path("jeton-lab")).unwrap();
    fs::write(
        lab.path("jeton-lab/results.json"),
        "[\"of an earlier run\"]",
    )
    .unwrap();
    let (code, result) = interrupted(&lab, "checking");
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(code, Some(130));
    assert_eq!(
        result[0], "of an earlier run",
        "no round was finished: nothing is written"
    );
}

/// Runs until standard error says `moment`, sends SIGINT, and waits for the end.
fn interrupted(lab: &Lab, moment: &str) -> (Option<i32>, Value) {
    let talk = fs::File::create(lab.path("talk")).unwrap();
    let mut child = lab
        .command(&["run", "libraries", "--quick", "--rounds=200"])
        .stdout(Stdio::null())
        .stderr(talk)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(lab.path("talk"))
        .unwrap()
        .contains(moment)
    {
        assert!(Instant::now() < deadline, "it never came to {moment:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let status = child.wait().unwrap();
    // Whoever was killed is gone when the kernel has said so.
    std::thread::sleep(Duration::from_millis(300));
    let left = survivors(lab.0.path());
    assert!(left.is_empty(), "left behind: {left:?}");
    (status.code(), lab.result())
}

/// Processes that were started for this lab: by their folder, or noted by the fake driver.
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
