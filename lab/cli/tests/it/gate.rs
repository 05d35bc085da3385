//! Tests `jeton-lab compare` and `gate` with the real binary. The rows come from a committed run, with
//! changed times and a changed environment; nothing is measured.

use std::fs;
use std::process::Output;

use jeton_lab_stats::median::median_interval;
use serde_json::{Value, json};

use crate::fake_lab::{self, Lab, text};

/// Returns the HS256 `sign` rows of one committed run, without conclusions.
fn committed() -> Value {
    let stored = jeton_lab_model::result::read(&crate::stored_result()).unwrap();
    let mut result = serde_json::to_value(stored).unwrap();
    for member in ["verdicts", "claims_answered", "published"] {
        result[member] = json!([]);
    }
    result["recommendation"] = Value::Null;
    // These tests do not depend on disturbances of that run.
    result["environment"]["taint"]["tainted"] = false.into();
    result["environment"]["taint"]["reasons"] = json!([]);
    result["noise_floor"]["floor"] = 0.02.into();
    result["noise_floor"]["managed"] = 0.04.into();
    result["noise_floor"]["threads"] = json!([]);
    let pairs = result["noise_floor"]["pairs"].as_array_mut().unwrap();
    pairs.retain(|pair| pair["threads"] == 1);
    let rows = result["rows"].as_array_mut().unwrap();
    let mut seen = Vec::new();
    rows.retain(|row| {
        let id = row["subject"]["id"].clone();
        let is_kept = row["contract"] == "sign"
            && row["status"] == "ok"
            && row["claims"]["name"] == "standard"
            && row["threads"] == 1
            && row["subject"]["alg"] == "HS256"
            && !seen.contains(&id);
        seen.push(id);
        is_kept
    });
    result
}

/// Multiplies the times of the rows of one language or driver.
fn slow(result: &mut Value, id: &str, by: impl Fn(usize) -> f64) {
    let rows = result["rows"].as_array_mut().unwrap().iter_mut();
    let rows = rows.filter(|row| row["subject"]["id"].as_str().unwrap().starts_with(id));
    let mut found = 0;
    for (index, row) in rows.enumerate() {
        found += 1;
        let timing = &mut row["ns_per_op"];
        let times = |value: &mut Value| *value = (value.as_f64().unwrap() * by(index)).into();
        times(&mut timing["median"]);
        for list in ["interval", "rounds"] {
            timing[list]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(times);
        }
    }
    assert!(found > 0, "no row of {id}");
}

/// Changes the code hash of a driver.
fn rebuilt(result: &mut Value, driver: &str) {
    result["environment"]["drivers"][driver] = "0".repeat(64).into();
}

struct Pair(Lab);

impl Pair {
    /// Writes two results to files.
    fn new(change: impl FnOnce(&mut Value, &mut Value)) -> Self {
        let lab = Lab::new("");
        let (mut before, mut after) = (committed(), committed());
        after["seed"] = 5.into();
        after["environment"]["started"] = "2026-11-25T09:00:00Z".into();
        change(&mut before, &mut after);
        fs::write(lab.path("before.json"), before.to_string()).unwrap();
        fs::write(lab.path("after.json"), after.to_string()).unwrap();
        Self(lab)
    }

    fn gate(&self, more: &[&str]) -> Output {
        let gate = ["gate", "--baseline", "before.json", "after.json"];
        self.0.run(&[&gate, more].concat())
    }

    fn compare(&self, more: &[&str]) -> Output {
        self.0
            .run(&[&["compare", "before.json", "after.json"], more].concat())
    }
}

fn only(result: &mut Value, languages: &[&str]) {
    let rows = result["rows"].as_array_mut().unwrap();
    rows.retain(|row| {
        let id = row["subject"]["id"].as_str().unwrap();
        languages.iter().any(|language| id.starts_with(language))
    });
}

#[test]
fn gate_slow_with_noisy_controls_is_undecided() {
    let pair = Pair::new(|before, after| {
        for result in [&mut *before, &mut *after] {
            only(result, &["rust/jeton:", "node/"]);
        }
        slow(
            after,
            "node/",
            |index| if index % 2 == 0 { 2.5 } else { 0.4 },
        );
        slow(after, "rust/jeton:", |_| 2.0);
        rebuilt(after, "rust/jeton");
    });
    let judged = pair.gate(&[]);
    let (shown, said) = (text(&judged.stdout), text(&judged.stderr));
    assert_eq!(judged.status.code(), Some(2), "{shown}{said}");
    assert!(!shown.contains("no regression"), "{shown}");
    assert!(
        shown.contains("sign rust/jeton:jwt:HS256:prepared"),
        "{shown}"
    );
    let why = "undecided: sign rust/jeton:jwt:HS256:prepared takes 2.0";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("the noise band reaches"), "{said}");
    assert!(
        said.contains("the largest difference is sign node/"),
        "{said}"
    );
    let judged: Value = serde_json::from_slice(&pair.gate(&["--json"]).stdout).unwrap();
    assert_eq!(judged["outcome"], "undecided");
    let row = &judged["rows"][0];
    assert_eq!(
        (&row["ruling"], &row["exceeds_threshold"]),
        (&json!("undecided"), &json!(true))
    );
    assert!(row["band"].as_f64().unwrap() > 1.0, "{row}");
    assert_eq!(row["band_set_by"]["kind"], "controls");
    let control = row["band_set_by"]["control"]["what"].as_str().unwrap();
    assert!(control.starts_with("sign node/"), "{control}");
    let shown = pair.compare(&[]);
    let shown = text(&shown.stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("band a: ") && shown.contains("the largest difference is sign node/"),
        "{shown}"
    );
    let compared: Value = serde_json::from_slice(&pair.compare(&["--json"]).stdout).unwrap();
    assert_eq!(compared["changes"][0]["band_set_by"]["kind"], "controls");
    assert_eq!(compared["changes"][0]["verdict"], "cannot-tell");
}

#[test]
fn gate_common_shift_is_removed_and_reported() {
    let pair = Pair::new(|_, after| {
        slow(after, "", |_| 1.12);
        rebuilt(after, "rust/jeton");
    });
    let judged = pair.gate(&[]);
    let (shown, said) = (text(&judged.stdout), text(&judged.stderr));
    assert_eq!(judged.status.code(), Some(0), "{shown}{said}");
    let flowing: Vec<&str> = shown.split_whitespace().collect();
    let shift = "The later run is 12 % slower; this shift is removed from the ratios";
    assert!(flowing.join(" ").contains(shift), "{shown}");
    assert!(shown.contains("no regression"), "{shown}");
}

#[test]
fn gate_slow_unchanged_code_is_undecided() {
    let pair = Pair::new(|_, after| slow(after, "rust/jeton:", |_| 2.0));
    let judged = pair.gate(&[]);
    let said = text(&judged.stderr);
    assert_eq!(judged.status.code(), Some(2), "{said}");
    assert!(
        said.contains("the code is the same in both results"),
        "{said}"
    );
}

/// Returns what a gate says on standard error, which must end with this code.
fn said(pair: &Pair, code: i32) -> String {
    let judged = pair.gate(&[]);
    let said = text(&judged.stderr).to_owned();
    let shown = text(&judged.stdout);
    assert_eq!(judged.status.code(), Some(code), "{shown}{said}");
    said
}

#[test]
fn gate_row_without_noise_floor_gets_a_hint_for_it() {
    let pair = Pair::new(|before, after| {
        for result in [before, &mut *after] {
            for row in result["rows"].as_array_mut().unwrap() {
                if row["subject"]["id"].as_str().unwrap().starts_with("rust/") {
                    row["threads"] = 2.into();
                }
            }
        }
        slow(after, "rust/jeton:", |_| 1.5);
        rebuilt(after, "rust/jeton");
    });
    let said = said(&pair, 2);
    let why = ": the noise band reaches 3.000: the before run has no noise floor on 2 threads: no A/A pair was measured on as many\n";
    assert!(said.contains(why), "{said}");
    assert!(
        said.contains(
            "hint: measure both again with this version of the lab: it measures A/A pairs"
        ),
        "{said}"
    );
}

#[test]
fn gate_wide_interval_is_named_by_the_end_that_decides() {
    // In both cases a spread of 16 % from round to round.
    let pair = |by: f64, shift: f64| {
        Pair::new(|_, after| {
            slow(after, "", |_| shift);
            rounds(after, "rust/jeton:", |round| {
                by / shift * if round % 2 == 0 { 1.16 } else { 0.84 }
            });
            rebuilt(after, "rust/jeton");
        })
    };
    let above = said(&pair(1.08, 1.0), 2);
    assert!(
        above.contains(": the interval begins below 1.000\n"),
        "{above}"
    );
    // Its ratio is below the threshold, and it is open because it took longer as measured.
    let shifted = said(&pair(1.12, 1.12), 2);
    assert!(
        shifted.contains(": the interval ends above 1.050\n"),
        "{shifted}"
    );
}

/// Multiplies the times of the rounds of one driver.
fn rounds(result: &mut Value, id: &str, by: impl Fn(usize) -> f64) {
    let rows = result["rows"].as_array_mut().unwrap().iter_mut();
    for row in rows.filter(|row| row["subject"]["id"].as_str().unwrap().starts_with(id)) {
        let timing = &mut row["ns_per_op"];
        let rounds = timing["rounds"].as_array().unwrap().iter().enumerate();
        let rounds: Vec<f64> = rounds
            .map(|(round, time)| time.as_f64().unwrap() * by(round))
            .collect();
        let median = median_interval(&rounds).unwrap();
        timing["median"] = median.median.into();
        timing["interval"] = json!(median.interval);
        timing["rounds"] = json!(rounds);
    }
}

#[test]
fn gate_of_one_run_with_itself_is_refused() {
    let pair = Pair::new(|_, _| {});
    let refused = pair
        .0
        .run(&["gate", "--baseline", "after.json", "after.json"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("both files hold the same run"), "{said}");
    let shown = pair.0.run(&["compare", "after.json", "after.json"]);
    assert!(text(&shown.stdout).contains("SAME RUN"));
}

/// Makes a driver unavailable, with this reason.
fn unavailable(result: &mut Value, driver: &str, reason: &str) {
    for row in result["rows"].as_array_mut().unwrap() {
        let id = row["subject"]["id"].as_str().unwrap();
        if id.starts_with(&format!("{driver}:")) {
            row["status"] = "unavailable".into();
            row["reason"] = reason.into();
            row.as_object_mut().unwrap().remove("ns_per_op");
        }
    }
    result["environment"]["drivers"]
        .as_object_mut()
        .unwrap()
        .remove(driver);
}

#[test]
fn gate_changed_subject_that_is_not_measured_is_no_pass() {
    let with =
        |reason: &'static str| Pair::new(move |_, after| unavailable(after, "rust/jeton", reason));
    let broken = said(&with("build failed (exit status: 101): error[E0308]"), 1);
    assert!(
        broken.contains("regression: sign rust/jeton:jwt:HS256:prepared is unavailable in the later result: build failed"),
        "{broken}"
    );
    let absent = with("needs `cargo`, which is not on PATH");
    let said = said(&absent, 2);
    assert!(
        said.contains("undecided: a regression can be excluded for 0 of 1 changed subjects\n"),
        "{said}"
    );
    assert!(
        said.contains("hint: ") && said.contains("--subject"),
        "{said}"
    );
    // What the hint says.
    let others = absent.gate(&["--subject", "go/"]);
    assert_eq!(others.status.code(), Some(0), "{}", text(&others.stderr));
}

/// The reason of a failed build is as the lab writes it.
#[test]
fn gate_driver_that_no_longer_builds_is_a_regression() {
    let lab = Lab::new("");
    assert!(lab.run(&fake_lab::SHORT).status.success());
    fs::copy(lab.path("jeton-lab/results.json"), lab.path("before.json")).unwrap();
    let manifest = lab.path("drivers/fake/other/driver.toml");
    let text_of = fs::read_to_string(&manifest).unwrap();
    let broken = text_of.replace("\nrun = ", "\nbuild = [[\"false\"]]\nrun = ");
    fs::write(&manifest, broken).unwrap();
    lab.run(&fake_lab::SHORT);
    let judged = lab.run(&["gate", "--baseline", "before.json", "--allow-noisy"]);
    let said = text(&judged.stderr);
    assert_eq!(judged.status.code(), Some(1), "{said}");
    let line = "regression: sign fake/other:jwt:HS256:prepared is unavailable in the later result: build failed (";
    assert!(said.contains(line), "{said}");
}

#[test]
fn gate_duplicate_subject_is_undecided() {
    let pair = Pair::new(|_, after| {
        let rows = after["rows"].as_array_mut().unwrap();
        let mut copy = rows[0].clone();
        copy["suite"] = "algorithms".into();
        copy["status"] = "crashed".into();
        copy["reason"] = "exit status 2".into();
        rows.push(copy);
    });
    let said = said(&pair, 2);
    assert!(
        said.contains("undecided: sign ") && said.contains("is a duplicate in the later result"),
        "{said}"
    );
}

#[test]
fn compare_and_gate_across_cpus_follow_hint() {
    let pair = Pair::new(|before, after| {
        let cpu = |model: &str| json!({"family": "25", "model": model, "flags_looked_for": []});
        before["environment"]["processor"] = cpu("17");
        after["environment"]["processor"] = cpu("1");
    });
    for refused in [pair.gate(&[]), pair.compare(&[]), pair.gate(&["--json"])] {
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(refused.stdout.is_empty());
        assert!(
            said.starts_with("error: ") && said.contains("CPU model: 17 / 1"),
            "{said}"
        );
        assert!(
            said.contains("\nhint: ") && said.contains("pass --across-cpus"),
            "{said}"
        );
    }
    for allowed in [
        pair.gate(&["--across-cpus"]),
        pair.compare(&["--across-cpus"]),
    ] {
        let (shown, said) = (text(&allowed.stdout), text(&allowed.stderr));
        assert_eq!(allowed.status.code(), Some(0), "{said}");
        assert!(
            shown.contains("DIFFERENT MACHINES: CPU model: 17 / 1"),
            "{shown}"
        );
    }
}

#[test]
fn compare_and_gate_invalid_files_are_errors() {
    let pair = Pair::new(|_, _| {});
    let lab = &pair.0;
    fs::write(lab.path("empty.json"), "").unwrap();
    fs::write(
        lab.path("binary.json"),
        [0x7f, b'E', b'L', b'F', 0xff, 0, 0x80],
    )
    .unwrap();
    fs::write(lab.path("packed.json"), [0x1f, 0x8b, 8, 0, 0]).unwrap();
    fs::create_dir(lab.path("folder.json")).unwrap();
    for bad in [
        "empty.json",
        "binary.json",
        "packed.json",
        "folder.json",
        "absent.json",
    ] {
        for arguments in [
            ["compare", bad, "after.json"].as_slice(),
            &["compare", "before.json", bad],
            &["gate", "--baseline", bad, "after.json"],
            &["gate", "--baseline", "before.json", bad],
        ] {
            let refused = lab.run(arguments);
            fake_lab::assert_refused(&refused, bad);
        }
    }
}
