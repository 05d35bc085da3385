//! A driver that misbehaves is reported in its row, and the other drivers are measured.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::LazyLock;
use std::time::Duration;

use crate::fake::{Fakes, row};
use jeton_lab_harness::Stop;
use jeton_lab_harness::runner::Event;
use jeton_lab_harness::suite::Choice;
use jeton_lab_model::result::{RunResult, Status};

/// What the drivers do that misbehave in every run.
const MISDEEDS: [&str; 15] = [
    "dies-in-hello",
    "dies-in-run",
    "floods",
    "talks-unasked",
    "answers-nonsense",
    "accepts-tampered",
    "accepts-expired",
    "ignores-audience",
    "empty-key",
    "takes-empty-key",
    "changes-a-claim",
    "signs-wrongly",
    "wrong-checksum",
    "other-version",
    "hangs-in-hello",
];

/// One run of all these drivers and two correct ones, which must not be affected.
static RESULT: LazyLock<RunResult> = LazyLock::new(|| {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let fakes = (MISDEEDS.iter()).fold(fakes, |fakes, misdeed| fakes.with(misdeed, misdeed));
    fakes.run()
});

#[track_caller]
fn assert_measured(result: &RunResult, name: &str) {
    for operation in ["sign", "verify"] {
        let row = row(result, name, operation);
        assert_eq!(
            row.status,
            Status::Ok,
            "{name} {operation}: {:?}",
            row.reason
        );
        assert_eq!(row.ns_per_op.as_ref().unwrap().rounds.len(), 3);
    }
}

#[test]
fn correct_drivers_are_measured_beside_misbehaving_ones() {
    assert_measured(&RESULT, "correct");
    assert_measured(&RESULT, "another");
}

#[track_caller]
fn assert_both(misdeed: &str, status: Status, reason: &str) {
    for operation in ["sign", "verify"] {
        let row = row(&RESULT, misdeed, operation);
        assert_eq!(row.status, status, "{operation}: {:?}", row.reason);
        let said = row.reason.as_deref().unwrap();
        assert!(said.contains(reason), "{operation}: {said}");
        assert!(row.ns_per_op.is_none(), "it must not be timed");
    }
    let named = |id: &str| id.contains(misdeed);
    assert!(
        !RESULT
            .verdicts
            .iter()
            .any(|v| named(&v.subject) || named(&v.baseline))
    );
}

/// A run of the fake driver, from the file that it writes.
#[derive(Debug, Clone)]
struct FakeRun {
    process: u32,
    iterations: u64,
    lead: u64,
}

/// Runs a misbehaving driver between two correct ones, and returns its runs in their order. In three rounds of three
/// batches, each of these operations has at least nine runs. `None` if one of them is not measured: on a busy machine the
/// misdeed may look like another.
fn runs_with(misdeed: &str, operations: &[&str]) -> Option<Vec<FakeRun>> {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let (fakes, file) = fakes.with_file("suspect", misdeed, "FAKE_RUNS");
    // Three times the duration of a lead.
    let result = fakes.run_in_batches_of(Duration::from_millis(6));
    for operation in operations {
        let row = row(&result, "suspect", operation);
        if row.status != Status::Ok {
            println!("{operation}: {:?}", row.reason);
            return None;
        }
    }
    let run = |line: &str| {
        let words: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        FakeRun {
            process: u32::try_from(words[0]).unwrap(),
            iterations: words[1],
            lead: words[2],
        }
    };
    let text = std::fs::read_to_string(file).unwrap();
    Some(text.lines().map(run).collect())
}

/// A shorter run, which is not counted, comes before each batch of a driver whose first run after another driver's is
/// slow. To verify, the driver would be one with a cache: its first run after each preparation is slow.
#[test]
fn driver_slow_first_run_after_another_is_not_counted() {
    let are_led = |_| {
        let Some(runs) = runs_with("falls-asleep", &["sign"]) else {
            return false;
        };
        let mut of_rounds = runs[runs.len() - 18..].to_vec();
        // Nine visits, each with a lead and a batch.
        of_rounds.sort_by_key(|run| run.process);
        println!("{of_rounds:?}");
        let is_led = |visit: &[FakeRun]| match visit {
            [lead, batch] => lead.process == batch.process && lead.iterations < batch.iterations,
            _ => false,
        };
        of_rounds.chunks(2).all(is_led)
    };
    // On a busy machine the number of operations in a batch may be too small for a lead.
    assert!((0..5).any(are_led));
}

#[test]
fn driver_that_supports_leads_gets_one() {
    let mut tries = (0..5).filter_map(|_| runs_with("needs-a-lead", &["sign", "verify"]));
    let runs = tries.next().expect("it is measured");
    let leads: Vec<u64> = runs.iter().map(|run| run.lead).collect();
    let (before, of_rounds) = leads.split_at(leads.len() - 18);
    assert!(of_rounds.iter().all(|lead| *lead > 0), "{of_rounds:?}");
    // The control: without rounds there is no lead.
    assert!(before.contains(&0), "{before:?}");
}

#[test]
fn aa_pairs_run_on_each_number_of_threads() {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let choice = Choice {
        threads: vec![1, 2],
        ..fakes.choice()
    };
    let result = fakes.run_of(&choice, &Stop::default(), |_| {});
    let noise = &result.noise_floor;
    let on = |threads| noise.pairs.iter().filter(move |p| p.threads == threads);
    assert_eq!((on(1).count(), on(2).count()), (2, 2), "{noise:?}");
    assert!(noise.floor.unwrap() > 0.0);
    let [of_two] = noise.threads.as_slice() else {
        panic!("{noise:?}")
    };
    assert_eq!(of_two.threads, 2);
    let compared = result.verdicts.iter().filter(|v| v.threads == 2);
    assert!(compared.count() > 0);
}

#[test]
fn driver_correct_is_measured() {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let result = fakes.with("suspect", "").run();
    for name in ["correct", "another", "suspect"] {
        assert_measured(&result, name);
    }
    let row = row(&result, "suspect", "sign");
    assert_eq!(row.status, Status::Ok);
    assert_eq!(row.token_bytes, Some(295));
    assert!(row.peak_rss_bytes.unwrap() > 1 << 20);
    assert_eq!(result.noise_floor.pairs.len(), 2);
    assert!(result.noise_floor.floor.unwrap() > 0.0);
    assert!(result.environment.complete);
    assert_eq!(result.verdicts.len(), 4, "two against one, twice");
    assert!(
        result
            .verdicts
            .iter()
            .all(|v| !v.confounded && v.factors == ["library"])
    );
}

#[test]
fn driver_crash_in_hello_is_reported() {
    assert_both(
        "dies-in-hello",
        Status::Crashed,
        "exited with code 3: panic: no more",
    );
}

#[test]
fn driver_crash_in_run_is_reported() {
    assert_both(
        "dies-in-run",
        Status::Crashed,
        "exited with code 7: fatal error: out of luck",
    );
}

#[test]
fn driver_flooding_its_output_is_ended() {
    assert_both("floods", Status::Crashed, "unexpected output");
}

#[test]
fn driver_unrequested_answer_is_reported() {
    assert_both("talks-unasked", Status::Crashed, "invalid response");
}

#[test]
fn driver_invalid_answer_is_reported() {
    assert_both(
        "answers-nonsense",
        Status::Crashed,
        "invalid response: not JSON",
    );
}

#[test]
fn driver_accepting_a_tampered_token_fails_preflight() {
    let reason = "accepts a token whose signature was changed";
    assert_both("accepts-tampered", Status::FailedPreflight, reason);
}

#[test]
fn driver_accepting_an_expired_token_fails_preflight() {
    assert_both(
        "accepts-expired",
        Status::FailedPreflight,
        "accepts an expired token",
    );
}

#[test]
fn driver_ignoring_the_audience_fails_preflight() {
    let reason = "accepts a token for another audience";
    assert_both("ignores-audience", Status::FailedPreflight, reason);
}

#[test]
fn driver_signing_with_an_empty_key_fails_preflight() {
    assert_both(
        "empty-key",
        Status::FailedPreflight,
        "signs with an empty key",
    );
}

#[test]
fn driver_accepting_an_empty_key_fails_preflight() {
    let reason = "accepts a token signed with an empty key";
    assert_both("takes-empty-key", Status::FailedPreflight, reason);
}

#[test]
fn driver_changing_a_claim_fails_preflight() {
    let reason = "returns another `name` than was signed";
    assert_both("changes-a-claim", Status::FailedPreflight, reason);
}

#[test]
fn driver_with_unverifiable_tokens_fails_preflight() {
    let reason = "9 of 9 verifiers reject its token";
    assert_both("signs-wrongly", Status::FailedPreflight, reason);
}

#[test]
fn driver_with_wrong_checksum_is_reported() {
    assert_both("wrong-checksum", Status::Crashed, "wrong checksum");
}

#[test]
fn driver_version_other_than_manifest_fails_preflight() {
    let reason =
        "the driver reports other-version 9.9.9 (fake), its manifest other-version 1.0.0 (fake)";
    assert_both("other-version", Status::FailedPreflight, reason);
}

#[test]
fn driver_build_failure_is_reported() {
    let fakes = Fakes::new().with("correct", "").with_manifest(
        "broken",
        r#"build = [["sh", "-c", "echo compiling; echo 'error: a semicolon is missing' >&2; exit 4"]]
run = ["true"]"#,
    );
    let result = fakes.run();
    assert_eq!(row(&result, "correct", "verify").status, Status::Ok);
    let row = row(&result, "broken", "verify");
    assert_eq!(row.status, Status::Unavailable);
    let reason = row.reason.as_deref().unwrap();
    assert!(reason.contains("error: a semicolon is missing"), "{reason}");
    assert!(reason.contains("build.log"), "{reason}");
}

#[test]
fn driver_with_missing_toolchain_is_unavailable() {
    let fakes = Fakes::new().with("correct", "").with_manifest(
        "foreign",
        r#"needs = ["no-such-compiler"]
run = ["true"]"#,
    );
    let result = fakes.run();
    assert_eq!(row(&result, "correct", "sign").status, Status::Ok);
    let row = row(&result, "foreign", "sign");
    assert_eq!(row.status, Status::Unavailable);
    let reason = row.reason.as_deref().unwrap();
    assert_eq!(reason, "needs `no-such-compiler`, which is not on PATH");
}

#[test]
fn driver_that_cannot_be_started_is_unavailable() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with_manifest("absent", r#"run = ["/no/such/driver"]"#);
    let result = fakes.run();
    let row = row(&result, "absent", "sign");
    assert_eq!(row.status, Status::Unavailable);
    assert!(
        row.reason
            .as_deref()
            .unwrap()
            .contains("cannot start /no/such/driver")
    );
}

/// The limit for `hello` is 20 s; this test waits for it.
#[test]
fn driver_hanging_in_hello_times_out() {
    assert_both(
        "hangs-in-hello",
        Status::TimedOut,
        "no response within 20 s",
    );
}

#[test]
fn driver_is_rebuilt_only_after_source_changes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/driver.py");
    let fakes = Fakes::new().with_manifest(
        "counted",
        &format!(
            r#"build = [["sh", "-c", "echo built | tee -a {{out}}/builds > native.a"]]
run = ["python3", "{script}", "counted"]"#
        ),
    );
    let builds = || {
        let file = fakes
            .folder()
            .join("../cache/jeton-drivers/fake-counted/builds");
        std::fs::read_to_string(file).unwrap().lines().count()
    };
    fakes.run();
    fakes.run();
    assert_eq!(builds(), 1);
    std::fs::write(fakes.folder().join("fake/counted/new.py"), "changed").unwrap();
    fakes.run();
    assert_eq!(builds(), 2);
}

/// A build can write beside the sources, which a copied cache does not contain.
#[test]
fn driver_with_copied_cache_is_rebuilt() {
    let way = r#"build = [["touch", "beside"]]
run = ["python3", "driver.py", "copied"]"#;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/driver.py");
    let [here, there] = [(); 2].map(|()| {
        let fakes = Fakes::new().with_manifest("copied", way);
        std::fs::copy(script, fakes.folder().join("fake/copied/driver.py")).unwrap();
        fakes
    });
    let beside = |fakes: &Fakes| fakes.folder().join("fake/copied/beside").exists();
    here.run();
    assert!(beside(&here));
    let cache = "jeton-drivers/fake-copied";
    let [from, to] = [&here, &there].map(|fakes| fakes.folder().join("../cache").join(cache));
    std::fs::create_dir_all(&to).unwrap();
    std::fs::copy(from.join("stamp"), to.join("stamp")).unwrap();
    there.run();
    assert!(beside(&there));
}

#[test]
fn run_stopped_keeps_finished_rounds() {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let stop = Stop::default();
    let result = fakes.run_until(&stop, |event| {
        if matches!(event, Event::Round { number: 3, .. }) {
            stop.request();
        }
    });
    assert!(!result.environment.complete);
    assert_eq!(result.environment.rounds_finished, 2);
    for row in &result.rows.measured {
        assert_eq!(row.status, Status::Ok);
        assert_eq!(row.ns_per_op.as_ref().unwrap().rounds.len(), 2);
    }
    assert!(!result.verdicts.is_empty());
}
