//! A driver that cheats is detected before anything is timed, and its row says how.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::LazyLock;

use crate::fake::{Fakes, row};
use jeton_lab_harness::Stop;
use jeton_lab_harness::suite::{Choice, Extent, Suite};
use jeton_lab_model::Operation;
use jeton_lab_model::result::{RunResult, Status};

/// What the drivers do that cheat.
const MISDEEDS: [&str; 10] = [
    "empty-key",
    "accepts-tampered",
    "accepts-expired",
    "changes-a-claim",
    "caches",
    "never-comes-back",
    "extrapolates",
    "fast-clock",
    "slow-clock",
    "no-clock",
];

/// One run of sign, verify and round trip, of all these drivers and two correct ones.
static RESULT: LazyLock<RunResult> = LazyLock::new(|| {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let fakes = (MISDEEDS.iter()).fold(fakes, |fakes, misdeed| fakes.with(misdeed, misdeed));
    let mut choice = Choice::of(&[Suite::Libraries], Extent::Usual);
    choice.operations = vec![Operation::Sign, Operation::Verify, Operation::RoundTrip];
    fakes.run_of(&choice, &Stop::default(), |_| ())
});

#[test]
fn correct_drivers_are_measured_beside_cheats() {
    for name in ["correct", "another"] {
        for operation in ALL {
            let row = row(&RESULT, name, operation);
            assert_eq!(
                row.status,
                Status::Ok,
                "{name} {operation}: {:?}",
                row.reason
            );
        }
    }
}

#[track_caller]
fn assert_caught(misdeed: &str, operations: &[&str], reason: &str) {
    for operation in operations {
        let row = row(&RESULT, misdeed, operation);
        assert_eq!(
            row.status,
            Status::FailedPreflight,
            "{operation}: {:?}",
            row.reason
        );
        let said = row.reason.as_deref().unwrap();
        assert!(said.contains(reason), "{operation}: {said}");
        assert!(row.ns_per_op.is_none(), "it must not be timed");
    }
}

const ALL: [&str; 3] = ["sign", "verify", "round-trip"];

#[test]
fn cheat_empty_key_is_detected() {
    assert_caught("empty-key", &ALL, "signs with an empty key");
}

#[test]
fn cheat_skipped_verification_is_detected() {
    let reason = "accepts a token whose signature was changed";
    assert_caught("accepts-tampered", &ALL, reason);
}

#[test]
fn cheat_ignored_expiry_is_detected() {
    assert_caught("accepts-expired", &ALL, "an expired token");
}

#[test]
fn cheat_changed_claims_are_detected() {
    assert_caught("changes-a-claim", &ALL, "another `name` than was signed");
}

#[test]
fn cheat_undeclared_cache_is_detected() {
    assert_caught("caches", &["verify"], "the library uses a cache");
}

#[test]
fn cheat_round_trip_without_verification_is_detected() {
    let reason = "a round trip accepts an expired token";
    assert_caught("never-comes-back", &["round-trip"], reason);
}

#[test]
fn cheat_skipped_operations_are_detected() {
    let reason = "misreported time: four times as many operations";
    assert_caught("extrapolates", &ALL, reason);
}

#[test]
fn cheat_fast_clock_is_detected() {
    assert_caught("fast-clock", &ALL, "misreported time");
}

#[test]
fn cheat_slow_clock_is_detected() {
    assert_caught("slow-clock", &ALL, "misreported time");
}

#[test]
fn cheat_stopped_clock_is_detected() {
    assert_caught("no-clock", &ALL, "misreported time");
}

/// A declared cache is not a cheat: it has a row and takes part in no comparison.
#[test]
fn declared_cache_is_a_separate_subject() {
    let fakes = Fakes::new().with("correct", "").with("another", "");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/driver.py");
    let way = format!(
        "caches_tokens = true\nrun = [\"python3\", \"{script}\", \"recalls\", \"caches-openly\"]"
    );
    let result = fakes.with_manifest("recalls", &way).run();
    let recalled = row(&result, "recalls", "verify");
    assert_eq!(recalled.status, Status::Ok, "{:?}", recalled.reason);
    let named = |id: &str| id.contains("recalls");
    let compared = |v: &jeton_lab_model::result::Verdict| named(&v.subject) || named(&v.baseline);
    assert!(!result.verdicts.iter().any(compared));
    assert!(!result.verdicts.is_empty());
}
