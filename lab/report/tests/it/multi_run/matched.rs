//! Which rows of two results are compared, and what a gate makes of the others.

use jeton_lab_model::result::{MergedRun, RunResult, Status};
use jeton_lab_report::multi_run::{Outcome, Question, Regression, gate};

use super::{change, compare, judged, question, run};
use crate::sample;

fn outcome(before: &RunResult, after: &RunResult) -> Outcome {
    judged(before, after, 0.05).unwrap().outcome
}

#[test]
fn gate_of_the_baseline_itself_is_refused() {
    let run_of = |result: &RunResult, rounds: u32| MergedRun {
        started: result.environment.started.clone(),
        command: result.command.clone(),
        seed: result.seed,
        rounds,
    };
    let before = run(1);
    let mut merged = run(2);
    merged.runs = [&before, &run(2)]
        .map(|one| run_of(one, one.environment.rounds_finished))
        .to_vec();
    for after in [&before, &merged] {
        let refused = judged(&before, after, 0.05).unwrap_err().to_string();
        assert!(refused.contains("hold the same run"), "{refused}");
    }
    // The same attacks are no times.
    let (mut before, mut after) = (run(1), run(2));
    let attacks = run_of(&run(3), 0);
    for result in [&mut before, &mut after] {
        let own = run_of(result, result.environment.rounds_finished);
        result.runs = vec![own, attacks.clone()];
    }
    assert_eq!(outcome(&before, &after), Outcome::NoRegression);
}

/// Makes jeton unavailable, as a driver that was not built: it has no code in the environment.
fn unavailable(result: &mut RunResult, reason: &str) {
    let row = &mut result.rows.measured[0];
    let driver = row.subject.driver().to_owned();
    sample::fail(row, Status::Unavailable, reason);
    row.subject.version.clear();
    result.environment.drivers.remove(&driver);
}

#[test]
fn gate_failed_build_is_a_regression() {
    let reason = "build failed (exit status: 101): error[E0308]: mismatched types";
    // A merged result says in which run.
    for reason in [reason, &format!("in run 2 of 3: {reason}")] {
        let (mut before, mut after) = (run(1), run(2));
        unavailable(&mut after, reason);
        let found = judged(&before, &after, 0.05).unwrap();
        let [Regression::Broken { what, reason: said }] = found.regressions.as_slice() else {
            panic!("one is broken: {found:?}")
        };
        assert!(
            what.contains("go/jeton") && said.ends_with(reason),
            "{said}"
        );
        // It never built.
        unavailable(&mut before, reason);
        assert_eq!(outcome(&before, &after), Outcome::NoRegression);
    }
}

#[test]
fn gate_changed_row_that_is_not_compared_is_undecided() {
    type Edit = fn(&mut RunResult);
    let edits: [(&str, Edit); 4] = [
        ("unavailable", |after| unavailable(after, "needs `go`")),
        ("claims", |after| {
            after.rows.measured[0].claims.bytes = 200;
            change(after, "jeton", 1.0);
        }),
        ("one round", |after| {
            let timing = after.rows.measured[0].ns_per_op.as_mut().unwrap();
            timing.rounds.truncate(1);
            change(after, "jeton", 1.0);
        }),
        ("absent", |after| {
            change(after, "jeton", 1.0);
            after.rows.measured.remove(0);
        }),
    ];
    for (what, edit) in edits {
        let (before, mut after) = (run(1), run(2));
        edit(&mut after);
        let found = judged(&before, &after, 0.05).unwrap();
        assert_eq!(found.outcome, Outcome::Undecided, "{what}: {found:?}");
        assert_eq!((found.passed, found.unjudged.len()), (0, 1), "{what}");
        // What decides is another changed row.
        change(&mut after, "a", 1.0);
        assert_eq!(outcome(&before, &after), Outcome::NoRegression, "{what}");
    }
    // Unchanged code decides nothing.
    let (before, mut after) = (run(1), run(2));
    after.rows.measured[0].claims.bytes = 200;
    after.rows.measured.remove(5);
    assert_eq!(outcome(&before, &after), Outcome::NoRegression);
}

#[test]
fn gate_duplicate_row_is_undecided() {
    let twice = |edit: &dyn Fn(&mut RunResult)| {
        let (before, mut after) = (run(1), run(2));
        change(&mut after, "a", 1.0);
        let copy = after.rows.measured[0].clone();
        after.rows.measured.push(copy);
        edit(&mut after);
        [
            judged(&before, &after, 0.05).unwrap(),
            judged(&after, &before, 0.05).unwrap(),
        ]
    };
    // The same measurement in two suites.
    for equal in twice(&|after| after.rows.measured[6].suite = "algorithms".into()) {
        assert_eq!(equal.outcome, Outcome::NoRegression);
        assert_eq!((equal.rows.len(), equal.unjudged.len()), (6, 0));
    }
    type Edit = fn(&mut RunResult);
    let edits: [Edit; 4] = [
        |after| after.rows.measured[6].subject.version = "2.0.0".into(),
        |after| super::scale_rounds(&mut after.rows.measured[6], |_| 1.5),
        |after| after.rows.measured[6].claims.bytes = 200,
        |after| {
            sample::fail(
                &mut after.rows.measured[6],
                Status::Crashed,
                "exit status 2",
            )
        },
    ];
    // Nothing was measured, so nothing is open.
    let [_, found] = twice(&|after| {
        sample::fail(
            &mut after.rows.measured[0],
            Status::Crashed,
            "exit status 2",
        );
        sample::fail(&mut after.rows.measured[6], Status::TimedOut, "20 s");
    });
    assert_eq!(found.outcome, Outcome::NoRegression, "{found:?}");
    for edit in edits {
        for (found, side) in twice(&edit).into_iter().zip(["later", "earlier"]) {
            assert_eq!(found.outcome, Outcome::Undecided, "{found:?}");
            let [line] = found.unjudged.as_slice() else {
                panic!("one is not compared: {found:?}")
            };
            let said = format!("is a duplicate in the {side} result");
            assert!(line.contains("go/jeton") && line.contains(&said), "{line}");
        }
    }
}

#[test]
fn compare_failed_rows_are_listed_with_their_status() {
    let (mut before, mut after) = (run(1), run(2));
    // jeton is new and fails; a failed in both; b failed only in the earlier.
    sample::fail(
        &mut before.rows.measured[1],
        Status::Crashed,
        "exit status 1",
    );
    sample::fail(&mut before.rows.measured[2], Status::TimedOut, "20 s");
    before.rows.measured.remove(0);
    sample::fail(
        &mut after.rows.measured[0],
        Status::FailedPreflight,
        "accepts an expired token",
    );
    sample::fail(
        &mut after.rows.measured[1],
        Status::Crashed,
        "exit status 2",
    );
    let listed: Vec<String> = (compare(&before, &after).unjudged.iter())
        .map(|u| format!("{}: {}", u.subject.split(':').next().unwrap(), u.reason))
        .collect();
    assert_eq!(
        listed,
        [
            "go/a: crashed in the later result: exit status 2; crashed in the earlier result",
            "go/b: timed-out in the earlier result: 20 s",
            "go/jeton: failed-preflight in the later result: accepts an expired token; not in the earlier result",
        ]
    );
    let asked = Question {
        subjects: vec!["go/jeton".into()],
        ..question(0.05)
    };
    let refused = gate(&before, &after, &asked).unwrap_err().to_string();
    assert!(
        !refused.contains("no subject of the two results"),
        "{refused}"
    );
    assert!(refused.contains("accepts an expired token"), "{refused}");
}

#[test]
fn gate_disturbed_row_is_refused() {
    for (side, name) in ["baseline", "result"].into_iter().enumerate() {
        let mut runs = [run(1), run(2)];
        let row = &mut runs[side].rows.measured[0];
        row.status = Status::Disturbed;
        row.reason = Some("the hypervisor took 7 % of the CPU".into());
        let [before, after] = &runs;
        let refused = judged(before, after, 0.05).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("the {name} is a disturbed run"))
                && refused.contains("the hypervisor took 7 % of the CPU"),
            "{refused}"
        );
        let allowed = Question {
            allow_noisy: true,
            ..question(0.05)
        };
        assert!(gate(before, after, &allowed).is_ok());
    }
    // A run that says it was disturbed, but not why.
    let (before, mut after) = (run(1), run(2));
    after.environment.disturbance.disturbed = true;
    assert!(judged(&before, &after, 0.05).is_err());
}

#[test]
fn gate_without_common_subject_says_why() {
    let (before, mut after) = (run(1), run(2));
    for row in &mut after.rows.measured {
        row.claims.bytes = 200;
    }
    let refused = judged(&before, &after, 0.05).unwrap_err().to_string();
    assert!(
        refused.contains("the claims had 160 bytes and have 200 now")
            && refused.contains("and 3 more"),
        "{refused}"
    );
}
