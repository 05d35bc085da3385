//! Tests the `jeton-lab` commands that show results, drivers and the machine, with the real binary.

use std::fs;

use serde_json::Value;

use crate::fake_lab::{Lab, assert_refused, text};

#[test]
fn list_and_doctor_print_json() {
    let lab = Lab::new("");
    lab.add("absent", "");
    let manifest = lab.path("drivers/fake/absent/driver.toml");
    let written = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        written.replace(
            "\"python3\"]\nrun",
            "\"no-such-tool\"]\nreleased = \"2026-01-28\"\nrun",
        ),
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
    let [dated, undated] = [0, 2].map(|index| &found["libraries"][index]);
    assert_eq!(dated["driver"], "fake/absent");
    assert_eq!(
        (&dated["version"], &dated["released"]),
        (&Value::from("1.0.0"), &Value::from("2026-01-28"))
    );
    assert_eq!(undated["released"], Value::Null);
    let settings = found["machine"].as_array().unwrap();
    for name in [
        "cores",
        "CPU",
        "CPU flags",
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
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("fake/absent  1.0.0, released 2026-01-28\n"),
        "{shown}"
    );
    assert!(
        shown.contains("skipped in every run: fake/absent"),
        "{shown}"
    );
    // Without drivers the command still reports the machine.
    let alone = lab.run(&["doctor", "--drivers", "nowhere"]);
    assert!(alone.status.success());
    assert!(text(&alone.stdout).contains("drivers' folder nowhere"));
}

/// Changes a copy of the result and writes it.
fn changed_copy(lab: &Lab, name: &str, change: impl FnOnce(&mut Value)) {
    let mut result = lab.result();
    // The reader rejects a recommendation that contradicts the edited figures.
    result["recommendation"] = Value::Null;
    change(&mut result);
    fs::write(lab.path(name), result.to_string()).unwrap();
}

/// Multiplies the figures of one library's rows.
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
fn results_compare_gate_and_merge() {
    let lab = Lab::new("");
    lab.add("third", "");
    assert!(
        lab.run(&["run", "libraries", "--quick", "--rounds=4"])
            .status
            .success()
    );
    lab.undisturb();
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
        r["seed"] = 7.into();
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
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(text(&elsewhere.stderr).contains("/ another"));
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
    assert!(!named.contains("fake/correct"), "{named}");
    let only = gate("slow.json", &["--threshold", "900%", "--subject", "nobody"]);
    assert_refused(&only, "no subject of the two results matches `nobody`");
    let refused = gate("elsewhere.json", &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("/ another"));
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
        (["before.json", "slow.json"], "differ ("),
        (
            ["before.json", "elsewhere.json"],
            "come from different machines",
        ),
        (["before.json", "wrong.json"], "rows[0].status"),
    ] {
        let output = lab.run(&["merge", files[0], files[1], "-o", "refused.json"]);
        assert_refused(&output, why);
        assert!(!lab.path("refused.json").exists());
    }
}

/// A result of a real run passes; an edited one does not, until its figures are written again.
#[test]
fn check_rejects_edits_and_rewrites_them() {
    let lab = Lab::with_result();
    let sound = lab.run(&["check", "jeton-lab/results.json"]);
    assert!(sound.status.success(), "{}", text(&sound.stdout));
    let mut edited = lab.result();
    edited["claims_answered"][0]["answer"] = "holds".into();
    fs::write(lab.path("edited.json"), edited.to_string()).unwrap();
    let found = lab.run(&["check", "edited.json"]);
    assert_eq!(found.status.code(), Some(1));
    let said = text(&found.stdout);
    assert!(said.contains("the answer is \"holds\""), "{said}");
    let rewrite = ["check", "edited.json", "--rewrite", "-o", "again.json"];
    assert!(lab.run(&rewrite).status.success());
    assert!(lab.run(&["check", "again.json"]).status.success());
    let two = lab.run(&["check", "edited.json", "again.json", "--rewrite"]);
    assert_refused(&two, "--rewrite needs exactly one file");
}

/// A wrong median is a figure that does not follow, with both values, and every file gets its lines.
#[test]
fn check_reports_every_file_and_the_worst_exit_code() {
    let lab = Lab::with_result();
    let mut edited = lab.result();
    edited["rows"][0]["ns_per_op"]["median"] = 1.0.into();
    edited["noise_floor"]["floor"] = (-0.5).into();
    fs::write(lab.path("edited.json"), edited.to_string()).unwrap();
    fs::write(lab.path("none.json"), "{}").unwrap();
    let found = lab.run(&["check", "edited.json", "jeton-lab/results.json"]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    let (said, notes) = (text(&found.stdout), text(&found.stderr));
    assert!(said.contains("the median is 1.0;"), "{said}");
    assert!(said.contains("results.json: all figures follow"), "{said}");
    assert!(
        notes.contains("invented") && notes.contains("1 of 2 files"),
        "{notes}"
    );
    // The result that does not read comes first and stops nothing.
    let all = lab.run(&["check", "none.json", "edited.json", "missing.json"]);
    assert_eq!(all.status.code(), Some(2));
    let (said, notes) = (text(&all.stdout), text(&all.stderr));
    assert!(said.contains("the median is 1.0;"), "{said}");
    for name in ["none.json", "missing.json", "1 of 3 files"] {
        assert!(notes.contains(name), "{name}: {notes}");
    }
    let rewrite = ["check", "edited.json", "--rewrite", "-o", "again.json"];
    let written = lab.run(&rewrite);
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert!(lab.run(&["check", "again.json"]).status.success());
    // Every other command refuses what contradicts itself.
    assert_refused(&lab.run(&["report", "edited.json"]), "noise_floor.floor");
}

#[test]
fn report_does_not_overwrite_its_input() {
    let lab = Lab::with_result();
    let file = "jeton-lab/results.json";
    let before = fs::read(lab.path(file)).unwrap();
    for (flag, begins) in [
        ("--html", "<!DOCTYPE html>"),
        ("--md", "# jeton-lab"),
        ("--bench", "# jeton-lab run"),
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
    assert_refused(&onto_itself, "would overwrite an input file");
    assert_refused(
        &lab.run(&["report", file, "--md", "-o", "no/such/folder"]),
        "cannot write",
    );
    // An invalid input does not change the output.
    fs::write(lab.path("bad.json"), "{\"schema\":1,").unwrap();
    assert_refused(
        &lab.run(&["report", "bad.json", "--md", "-o", "report"]),
        "is incomplete",
    );
    assert!(
        fs::read_to_string(lab.path("report"))
            .unwrap()
            .starts_with("suite,")
    );
    assert_eq!(fs::read(lab.path(file)).unwrap(), before);
    // A device stays a device.
    assert!(
        lab.run(&["report", file, "--csv", "-o", "/dev/null"])
            .status
            .success()
    );
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
