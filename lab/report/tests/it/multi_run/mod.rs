//! Results of several runs: compared, gated, merged.

#![allow(clippy::unwrap_used, clippy::panic)]

mod check;
mod check_members;
mod check_servers;
mod check_subjects;
mod controls;
mod decided;
mod machine;
mod matched;
mod merge;

use crate::sample;
use jeton_lab_model::result::{AaPair, Row, RunResult, Status, Verdict, VerdictKind};
use jeton_lab_report::multi_run::{
    Gate, Outcome, Question, Regression, RunComparison, Unjudgeable,
};
use jeton_lab_report::multi_run::{compare as compare_across, gate};
use jeton_lab_stats::median::median_interval;

const SUBJECTS: [&str; 6] = ["jeton", "a", "b", "c", "d", "e"];

/// Returns six libraries with one operation and a spread of about half a per cent; `seed` varies
/// the rounds.
fn run(seed: u64) -> RunResult {
    let mut result = sample::empty();
    result.seed = seed;
    result.environment.started = format!("2026-11-20T09:{:02}:00Z", seed % 60);
    result.noise_floor.managed = None;
    for (index, library) in SUBJECTS.iter().enumerate() {
        let subject = sample::subject("go", library, "1.0.0", "jwt", Some("HS256"));
        let (driver, hash) = (subject.driver().to_owned(), "41d7".repeat(16));
        result.environment.drivers.insert(driver, hash);
        let mut row = sample::row("libraries", "sign", subject);
        row.ns_per_op = Some(sample::timing(1_000.0 * (index + 1) as f64, 0.005));
        row.token_bytes = Some(313);
        row.allocs_per_op = Some(2.0);
        result.rows.measured.push(row);
        // Every run and every subject has different noise.
        scale_rounds(&mut result.rows.measured[index], |round| {
            1.0 + 0.002 * ((seed as usize * 7 + index * 3 + round * 5) % 11) as f64 / 11.0
        });
    }
    let aa_pair = |library: usize, by: f64| {
        let rounds = result.rows.measured[library]
            .ns_per_op
            .as_ref()
            .unwrap()
            .rounds
            .clone();
        let second = rounds.iter().rev().map(|t| t * by).collect();
        AaPair {
            subject: result.rows.measured[library].subject.id.clone(),
            operation: "sign".into(),
            threads: 1,
            ratio: by,
            interval: [by * 0.99, by * 1.01],
            verdict: VerdictKind::Equivalent,
            rounds: [rounds, second],
        }
    };
    result.noise_floor.pairs = (0..4).map(|i| aa_pair(i, 1.0 + 0.001 * i as f64)).collect();
    let ids: Vec<String> = result
        .rows
        .measured
        .iter()
        .map(|r| r.subject.id.clone())
        .collect();
    result.verdicts = ids[1..]
        .iter()
        .map(|id| Verdict {
            suite: "libraries".into(),
            operation: "sign".into(),
            claims: "standard".into(),
            threads: 1,
            comparison: "HS256, sign".into(),
            factors: vec!["library".into()],
            confounded: false,
            baseline: ids[0].clone(),
            subject: id.clone(),
            ratio: 2.0,
            interval: [1.9, 2.1],
            verdict: VerdictKind::Slower,
            group: 2,
            baseline_group: Some(1),
            more_rounds: None,
            p_value: 0.001,
        })
        .collect();
    result
}

fn scale_rounds(row: &mut Row, by: impl Fn(usize) -> f64) {
    let timing = row.ns_per_op.as_mut().unwrap();
    for (round, time) in timing.rounds.iter_mut().enumerate() {
        *time *= by(round);
    }
    let median = median_interval(&timing.rounds).unwrap();
    (timing.median, timing.interval) = (median.median, median.interval);
}

/// Changes the library's code, and multiplies its time by this factor.
fn change(result: &mut RunResult, library: &str, by: f64) {
    let mut rows = result.rows.measured.iter_mut();
    let row = rows.find(|r| r.subject.library == library).unwrap();
    scale_rounds(row, |_| by);
    let driver = row.subject.driver().to_owned();
    result.environment.drivers.insert(driver, "0000".repeat(16));
}

fn verdict_on(before: &RunResult, after: &RunResult, library: &str) -> Option<VerdictKind> {
    let compared = compare(before, after);
    let mut changes = compared.changes.iter();
    let id = format!("/{library}:");
    changes.find(|c| c.subject.contains(&id)).unwrap().verdict
}

fn compare(before: &RunResult, after: &RunResult) -> RunComparison {
    compare_across(before, after, false)
}

fn question(threshold: f64) -> Question {
    Question {
        threshold,
        allow_noisy: false,
        across_cpus: false,
        subjects: Vec::new(),
    }
}

fn judged(before: &RunResult, after: &RunResult, threshold: f64) -> Result<Gate, Unjudgeable> {
    gate(before, after, &question(threshold))
}

#[test]
fn compare_separates_changed_from_unchanged() {
    let (before, mut after) = (run(1), run(2));
    change(&mut after, "jeton", 1.20);
    change(&mut after, "a", 0.80);
    change(&mut after, "b", 1.0);
    let compared = compare(&before, &after);
    assert_eq!(compared.unchanged, 3);
    assert_eq!(compared.between_runs[0].controls, 3);
    assert_eq!(compared.changes.len(), SUBJECTS.len());
    assert_eq!(
        compared.changes[0].subject, before.rows.measured[1].subject.id,
        "the largest first"
    );
    assert_eq!(
        verdict_on(&before, &after, "jeton"),
        Some(VerdictKind::Slower)
    );
    assert_eq!(verdict_on(&before, &after, "a"), Some(VerdictKind::Faster));
    assert_eq!(
        verdict_on(&before, &after, "b"),
        Some(VerdictKind::Equivalent)
    );
    assert_eq!(verdict_on(&before, &after, "c"), None, "the same code");
}

#[test]
fn compare_removes_the_shift_between_runs() {
    let (before, mut after) = (run(1), run(2));
    // The whole machine was 12 % slower, which only the unchanged subjects show.
    for row in &mut after.rows.measured {
        scale_rounds(row, |_| 1.12);
    }
    change(&mut after, "jeton", 1.0);
    let compared = compare(&before, &after);
    let jeton = &compared.changes[0];
    assert!((jeton.measured_ratio - 1.12).abs() < 0.005, "{jeton:?}");
    assert!((jeton.ratio - 1.0).abs() < 0.005, "{jeton:?}");
    assert_eq!(jeton.verdict, Some(VerdictKind::Equivalent));
    let shown = &compared.between_runs[0];
    assert!(shown.shift_removed && (shown.shift - 1.12).abs() < 0.005);
    // Without them it would look like a change of the subject.
    let alone = |mut result: RunResult| {
        result.rows.measured.truncate(1);
        result
    };
    let (before, after) = (alone(before), alone(after));
    assert_eq!(compare(&before, &after).between_runs, []);
    assert_eq!(
        verdict_on(&before, &after, "jeton"),
        Some(VerdictKind::Slower)
    );
}

#[test]
fn compare_uses_both_noise_floors() {
    for noisy in [0, 1] {
        let mut runs = [run(1), run(2)];
        change(&mut runs[1], "jeton", 1.10);
        runs[noisy].noise_floor.floor = Some(0.15);
        let verdict = verdict_on(&runs[0], &runs[1], "jeton");
        assert_eq!(verdict, Some(VerdictKind::Undecided));
    }
}

#[test]
fn compare_of_another_machine_has_no_verdict() {
    let (before, mut after) = (run(1), run(2));
    after.environment.cpu = "another CPU".into();
    let compared = compare(&before, &after);
    assert_eq!(compared.another_machine[0].what, "CPU");
    assert!(compared.changes.iter().all(|c| c.verdict.is_none()));
    let refused = judged(&before, &after, 0.05).unwrap_err();
    assert!(refused.to_string().contains("another CPU"), "{refused}");
}

#[test]
fn compare_with_other_settings_reports_and_judges() {
    let (before, mut after) = (run(1), run(2));
    after.environment.kernel = "Linux 7.0".into();
    after
        .environment
        .runtimes
        .insert("go".into(), "go1.27".into());
    let compared = compare(&before, &after);
    let whats: Vec<&str> = compared.settings.iter().map(|d| d.what.as_str()).collect();
    assert_eq!(whats, ["kernel", "go"]);
    assert_eq!(compared.unchanged, 0, "another runtime is other code");
    assert!(compared.changes.iter().all(|c| c.verdict.is_some()));
}

#[test]
fn compare_lists_rows_of_only_one_run() {
    let (mut before, mut after) = (run(1), run(2));
    before.rows.measured.remove(5);
    after.rows.measured.remove(4);
    after.rows.measured[3].claims.bytes = 200;
    sample::fail(
        &mut after.rows.measured[2],
        Status::Crashed,
        "exit status 2",
    );
    let compared = compare(&before, &after);
    let listed: Vec<String> = compared
        .unjudged
        .iter()
        .map(|u| format!("{}: {}", u.subject.split(':').next().unwrap(), u.reason))
        .collect();
    assert_eq!(
        listed,
        [
            "go/b: crashed in the later result: exit status 2",
            "go/c: the claims had 160 bytes and have 200 now",
            "go/d: only in the earlier result",
            "go/e: only in the later result",
        ]
    );
    assert_eq!(compared.changes.len(), 2);
}

#[test]
fn gate_passes_unchanged_and_names_regressions() {
    let (before, mut after) = (run(1), run(2));
    let passed = judged(&before, &after, 0.05).unwrap();
    assert_eq!(passed.outcome, Outcome::NoRegression);
    assert_eq!(
        (passed.passed, passed.undecided, passed.controls),
        (0, 0, 6)
    );
    assert!(passed.regressions.is_empty());

    change(&mut after, "jeton", 1.12);
    let found = judged(&before, &after, 0.05).unwrap();
    let [Regression::Slower { what, ratio, .. }] = found.regressions.as_slice() else {
        panic!("one is slower: {found:?}")
    };
    assert!(what.starts_with("sign go/jeton:jwt:HS256"), "{what}");
    assert!((ratio - 1.12).abs() < 0.01);
    // Faster is not a regression, and less than the threshold passes.
    assert!(
        judged(&after, &before, 0.05)
            .unwrap()
            .regressions
            .is_empty()
    );
    assert!(
        judged(&before, &after, 0.20)
            .unwrap()
            .regressions
            .is_empty()
    );
}

#[test]
fn gate_failure_is_a_regression_absence_is_not() {
    let (before, mut after) = (run(1), run(2));
    sample::fail(
        &mut after.rows.measured[0],
        Status::FailedPreflight,
        "accepts an expired token",
    );
    sample::fail(
        &mut after.rows.measured[1],
        Status::Unavailable,
        "needs `go`",
    );
    let found = judged(&before, &after, 0.05).unwrap();
    let [Regression::Broken { what, reason }] = found.regressions.as_slice() else {
        panic!("one is broken: {found:?}")
    };
    assert!(what.contains("go/jeton") && reason.contains("accepts an expired token"));
    assert_eq!(found.unjudged.len(), 1);
}

#[test]
fn gate_unjudgeable_runs_are_neither_pass_nor_fail() {
    let (before, after) = (run(1), run(2));
    let mut disturbed = after.clone();
    disturbed.environment.disturbance.disturbed = true;
    disturbed.environment.disturbance.reasons = vec!["other work kept 1.5 cores busy".into()];
    let refused = judged(&before, &disturbed, 0.05).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("the result is a disturbed run")
    );
    let refused = judged(&disturbed, &before, 0.05).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("the baseline is a disturbed run")
    );
    let allowed = Question {
        allow_noisy: true,
        ..question(0.05)
    };
    assert!(gate(&before, &disturbed, &allowed).is_ok());

    let mut other = after.clone();
    other
        .rows
        .measured
        .iter_mut()
        .for_each(|row| row.operation = "verify".into());
    let refused = judged(&before, &other, 0.05).unwrap_err();
    let why = "the results have no subject in common";
    assert!(refused.to_string().starts_with(why), "{refused}");

    let wild = |mut result: RunResult| {
        for row in &mut result.rows.measured {
            scale_rounds(row, |round| if round % 2 == 0 { 0.6 } else { 1.6 });
        }
        result
    };
    let (before, mut after) = (wild(before), wild(after));
    let unchanged = judged(&before, &after, 0.05).unwrap();
    assert_eq!(
        (unchanged.outcome, unchanged.controls),
        (Outcome::NoRegression, 6)
    );
    after.environment.kernel = "Linux 7.0".into();
    let nothing = judged(&before, &after, 0.05).unwrap();
    assert_eq!(
        (nothing.outcome, nothing.undecided),
        (Outcome::Undecided, 6)
    );
}

/// A file without pairs must not have a narrower band than with them.
#[test]
fn gate_without_noise_floor_decides_no_small_ratio() {
    let (mut before, mut after) = (run(1), run(2));
    change(&mut after, "b", 1.5);
    assert_eq!(verdict_on(&before, &after, "b"), Some(VerdictKind::Slower));
    before.noise_floor = jeton_lab_model::result::NoiseFloor::default();
    assert_eq!(
        verdict_on(&before, &after, "b"),
        Some(VerdictKind::Undecided)
    );
}
