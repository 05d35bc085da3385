//! JWT and PASETO.

use super::Run;
use crate::work;
use jeton_lab_model::result::Answer::{Artefact, DoesNotHold, Holds, NotMeasured};
use jeton_lab_model::result::{Status, ThreadsFloor};

const JWT: &str = "go/golang-jwt-v4:jwt:ES256:prepared";
const PASETO: &str = "go/go-paseto:v4.public:prepared";
const ONE_JWT: &str = "rust/jeton:jwt:EdDSA:prepared";
const ONE_PASETO: &str = "rust/jeton:v4.public:prepared";

/// The four rows of a conclusion about the pair, with each side's time.
pub(super) fn pair(run: Run, operation: &str, claims: &[&str], times: [f64; 2]) -> Run {
    claims.iter().fold(run, |run, claims| {
        run.time(&work(JWT, operation, claims, 1), times[0])
            .time(&work(PASETO, operation, claims, 1), times[1])
    })
}

fn one(run: Run, operation: &str, claims: &[&str], times: [f64; 2]) -> Run {
    claims.iter().fold(run, |run, claims| {
        run.time(&work(ONE_JWT, operation, claims, 1), times[0])
            .time(&work(ONE_PASETO, operation, claims, 1), times[1])
    })
}

pub(super) const SMALL: [&str; 2] = ["report1-string", "report1-simple"];
const LARGE: [&str; 2] = ["report1-large", "report1-very-large"];

#[test]
fn answer_difference_of_confounded_pair_only_is_artefact() {
    for (id, operation, claims, paseto_wins) in [
        ("1.3c", "sign", &["report1-complex"][..], true),
        ("1.3d", "sign", &LARGE, false),
        ("1.4a", "verify", &SMALL, true),
        ("1.4b", "verify", &LARGE, false),
    ] {
        let (seen, unseen) = if paseto_wins {
            ([200.0, 100.0], [100.0, 200.0])
        } else {
            ([100.0, 200.0], [200.0, 100.0])
        };
        let run = |published, alone| {
            let run = pair(Run::default(), operation, claims, published);
            one(run, operation, claims, alone)
        };
        assert_eq!(run(seen, seen).answer(id), Holds, "{id}");
        assert_eq!(run(seen, [100.0, 100.0]).answer(id), Artefact, "{id}");
        assert_eq!(run(seen, unseen).answer(id), Artefact, "{id}");
        assert_eq!(run(unseen, seen).answer(id), DoesNotHold, "{id}");
        assert_eq!(run([100.0, 100.0], seen).answer(id), DoesNotHold, "{id}");
        let alone = pair(Run::default(), operation, claims, seen).says(id);
        assert_eq!(alone.answer, NotMeasured, "{id}");
        assert!(
            alone.measured.contains("was not planned"),
            "{}",
            alone.measured
        );
        let said = run(seen, seen).says(id).measured;
        assert!(said.contains("200 ns") || said.contains("100 ns"), "{said}");
        let equal = run(seen, [100.0, 100.0]).says(id).why;
        assert!(equal.contains("there is no difference"), "{equal}");
        let opposite = run(seen, unseen).says(id).why;
        assert!(
            opposite.contains("with the format as the only factor it is the other way round"),
            "{opposite}"
        );
    }
}

#[test]
fn answer_as_fast_means_not_slower() {
    let run = |times| {
        let run = pair(Run::default(), "sign", &SMALL, times);
        one(run, "sign", &SMALL, [100.0, 100.0])
    };
    assert_eq!(run([100.0, 100.0]).answer("1.3a"), Holds);
    assert_eq!(run([100.0, 120.0]).answer("1.3a"), DoesNotHold);
}

#[test]
fn answer_names_other_work_of_one_factor() {
    let times = [100.0, 200.0];
    let run = pair(Run::default(), "sign", &["text-10000"], times);
    let run = pair(run, "verify", &["text-10000"], times);
    let run = one(run, "sign", &LARGE, times);
    let mut run = one(run, "verify", &LARGE, times);
    for (subject, claims, bytes) in [
        (JWT, "text-10000", 13_540),
        (PASETO, "text-10000", 13_560),
        (ONE_JWT, LARGE[0], 8_446),
        (ONE_PASETO, LARGE[0], 8_465),
        (ONE_JWT, LARGE[1], 110_579),
        (ONE_PASETO, LARGE[1], 110_598),
    ] {
        run = run.size(&work(subject, "sign", claims, 1), bytes);
    }
    let said = run.says("1.9c");
    assert_eq!(said.answer, Holds, "{}", said.measured);
    for part in [
        "one library and one algorithm (report1-large and report1-very-large claims): ",
        "the original tokens have 13540 and 13560 bytes, those with one factor 8446 and 8465, 110579 and 110598",
    ] {
        assert!(said.measured.contains(part), "{}", said.measured);
    }
    // Both must agree: one is just below, the other just above.
    let run = one(run, "sign", &LARGE[..1], [200.0, 100.0]);
    let run = one(run, "verify", &LARGE[..1], [200.0, 100.0]);
    let said = run.says("1.9c");
    assert_eq!(said.answer, Artefact);
    assert!(said.why.contains("not every pair shows it"), "{}", said.why);
}

#[test]
fn answer_omits_medians_that_contradict_ratio() {
    let of = |subject: &str| work(subject, "sign", "report1-complex", 1);
    let run = pair(Run::default(), "sign", &["report1-complex"], [200.0, 100.0]);
    let mut run = one(run, "sign", &["report1-complex"], [100.0, 50.0]);
    let agreeing = run.says("1.3c").measured;
    assert!(agreeing.contains("(50.0 ns against 100 ns)"), "{agreeing}");
    for subject in [ONE_JWT, ONE_PASETO] {
        run.row(&of(subject)).ns_per_op.as_mut().unwrap().median = 90.0;
    }
    let said = run.says("1.3c").measured;
    assert!(!said.contains("90.0 ns"), "{said}");
    assert!(said.contains("by the mean of the rounds"), "{said}");
}

#[test]
fn answer_round_trips_add_times() {
    let run = |times| {
        let run = pair(Run::default(), "round-trip", &SMALL, times);
        one(run, "round-trip", &["standard"], [200.0, 100.0])
    };
    assert_eq!(run([200.0, 100.0]).answer("1.5"), Holds);
    assert_eq!(run([100.0, 200.0]).answer("1.5"), DoesNotHold);

    for (id, claims, alone, paseto) in [
        ("1.9a", "text-100", "report1-string", true),
        ("1.9b", "text-1000", "report1-large", true),
        ("1.9c", "text-10000", "report1-very-large", false),
        ("1.9d", "text-100000", "text-100000", false),
    ] {
        let run = |sign: [f64; 2], verify: [f64; 2]| {
            let run = pair(Run::default(), "sign", &[claims], sign);
            let run = pair(run, "verify", &[claims], verify);
            let run = one(run, "sign", &[alone], sign);
            one(run, "verify", &[alone], verify)
        };
        // The sum decides: one of the two may differ.
        let (quick, slow) = ([100.0, 900.0], [500.0, 100.0]);
        let run = if paseto {
            run(slow, [100.0, 100.0])
        } else {
            run(quick, slow)
        };
        let run = match id {
            "1.9c" => one(
                one(run, "sign", &LARGE[..1], quick),
                "verify",
                &LARGE[..1],
                slow,
            ),
            _ => run,
        };
        assert_eq!(run.answer(id), Holds, "{id}");
        let sized = run
            .size(&work(JWT, "sign", claims, 1), 340)
            .size(&work(PASETO, "sign", claims, 1), 360);
        let said = sized.says(id).measured;
        assert!(
            said.contains("the original tokens have 340 and 360 bytes"),
            "{said}"
        );
    }
}

#[test]
fn answer_concurrency_uses_measured_threads() {
    let run = |threads, times: [f64; 2]| {
        let claims = "report1-concurrency";
        let mut run = Run::default();
        for operation in ["sign", "verify", "round-trip"] {
            for (jwt, paseto) in [(JWT, PASETO), (ONE_JWT, ONE_PASETO)] {
                run = run
                    .time(&work(jwt, operation, claims, threads), times[0])
                    .time(&work(paseto, operation, claims, threads), times[1]);
            }
        }
        run.noise.threads = vec![ThreadsFloor {
            threads,
            floor: 0.01,
        }];
        one(run, "round-trip", &["standard"], times)
    };
    for id in ["1.8a", "1.8b", "1.8c"] {
        assert_eq!(run(8, [200.0, 100.0]).answer(id), Holds, "{id}");
        assert_eq!(run(2, [100.0, 100.0]).answer(id), DoesNotHold, "{id}");
        // The noise of one thread says nothing about eight.
        let mut unknown = run(8, [200.0, 100.0]);
        unknown.noise.threads.clear();
        let said = unknown.says(id);
        assert_eq!(said.answer, NotMeasured, "{id}");
        assert_eq!(said.measured, "A/A pairs with 8 threads");
    }
    let said = run(8, [200.0, 100.0]).says("1.8c").measured;
    let other = "one library and one algorithm (standard claims, 1 thread): ";
    assert!(said.contains(other), "{said}");
}

#[test]
fn keys() {
    let made = work(
        "go/crypto:bare:ES256:prepared",
        "generate-key",
        "standard",
        1,
    );
    let paseto = work(PASETO, "generate-key", "standard", 1);
    let run = Run::default().time(&made, 9_000.0);
    let both = run.clone().time(&paseto, 14_000.0);
    assert_eq!(both.answer("1.1"), DoesNotHold);
    let none = run
        .clone()
        .fails(&paseto, Status::Unavailable, "does not offer it: none");
    assert_eq!(none.answer("1.1"), Holds);
    let died = run.fails(&paseto, Status::Crashed, "died");
    assert_eq!(died.answer("1.1"), NotMeasured);

    let load = |subject: &str| work(subject, "load-key", "standard", 1);
    let run = |published: [f64; 2], alone: [f64; 2]| {
        Run::default()
            .time(&load("go/golang-jwt-v4:jwt:ES256:pem"), published[0])
            .time(&load("go/go-paseto:v4.public:hex"), published[1])
            .time(&load("rust/jeton:jwt:EdDSA:jwk"), alone[0])
            .time(&load("rust/jeton:v4.public:paserk"), alone[1])
    };
    assert_eq!(run([100.0, 200.0], [100.0, 200.0]).answer("1.2"), Holds);
    assert_eq!(run([100.0, 200.0], [200.0, 100.0]).answer("1.2"), Artefact);
    assert_eq!(
        run([200.0, 100.0], [100.0, 200.0]).answer("1.2"),
        DoesNotHold
    );
}

#[test]
fn answer_memory_needs_no_time() {
    let sign = |subject: &str| work(subject, "sign", "report1-string", 1);
    let run = |pair: [f64; 2], alone: [f64; 2]| {
        Run::default()
            .memory(&sign(JWT), pair[0], 10.0)
            .memory(&sign(PASETO), pair[1], 10.0)
            .memory(&sign(ONE_JWT), alone[0], 1.0)
            .memory(&sign(ONE_PASETO), alone[1], 1.0)
    };
    assert_eq!(run([8824.0, 3205.0], [260.0, 200.0]).answer("1.3b"), Holds);
    assert_eq!(
        run([8824.0, 3205.0], [250.0, 255.0]).answer("1.3b"),
        Artefact
    );
    assert_eq!(
        run([3205.0, 8824.0], [260.0, 200.0]).answer("1.3b"),
        DoesNotHold
    );

    let every = |share: f64| {
        let mut run = Run::default();
        for operation in ["sign", "verify"] {
            for claims in SMALL.iter().chain(&["report1-complex"]).chain(&LARGE) {
                run = run
                    .memory(&work(JWT, operation, claims, 1), 100.0, 100.0)
                    .memory(
                        &work(PASETO, operation, claims, 1),
                        90.0,
                        100.0 * (1.0 - share),
                    );
            }
        }
        run
    };
    assert_eq!(every(0.5).answer("1.6"), Holds);
    // Printed as 60 %.
    assert_eq!(every(0.600_008).answer("1.6"), Holds);
    assert_eq!(every(0.606).answer("1.6"), DoesNotHold);
    assert_eq!(every(0.05).answer("1.6"), DoesNotHold);
    assert_eq!(
        every(0.5).answer("1.7"),
        DoesNotHold,
        "PASETO allocates fewer bytes"
    );
    let mut other = every(0.5);
    for operation in ["sign", "verify"] {
        other = other.memory(&work(JWT, operation, LARGE[1], 1), 80.0, 100.0);
    }
    assert_eq!(other.answer("1.7"), Holds);
}

#[test]
fn answer_rejected_in_preflight_holds() {
    let verify = |subject: &str| work(subject, "verify", SMALL[0], 1);
    let run = Run::default()
        .time(&verify(JWT), 1.0)
        .time(&verify(PASETO), 1.0);
    let accepts = run.clone().fails(
        &verify(PASETO),
        Status::FailedPreflight,
        "accepts an expired token",
    );
    for id in ["1.10a", "1.10b", "1.10d", "1.11d"] {
        assert_eq!(run.answer(id), Holds, "{id}");
        assert_eq!(accepts.answer(id), DoesNotHold, "{id}");
    }
    // Both reject expired tokens, so expiry is no reason to choose.
    assert_eq!(run.answer("1.12b"), DoesNotHold);
    assert_eq!(accepts.answer("1.12b"), NotMeasured);
    let own = run
        .time(&verify(ONE_JWT), 1.0)
        .time(&verify(ONE_PASETO), 1.0);
    assert_eq!(own.answer("1.11c"), Artefact);
}

#[test]
fn equal_speed_is_equivalent_with_small_and_large_claims() {
    let run = |small: [f64; 2], large: [f64; 2]| {
        ["sign", "verify"]
            .iter()
            .fold(Run::default(), |run, operation| {
                let run = pair(run, operation, &SMALL, small);
                let run = pair(run, operation, &LARGE, large);
                // The format as the only factor does not matter here.
                one(run, operation, &LARGE, [100.0, 200.0])
            })
    };
    let (equal, jwt) = ([100.0, 100.0], [100.0, 200.0]);
    assert_eq!(run(equal, equal).answer("1.13a"), Holds);
    assert_eq!(run(equal, jwt).answer("1.13a"), DoesNotHold);
    assert_eq!(run([200.0, 100.0], jwt).answer("1.13a"), DoesNotHold);
    assert_eq!(Run::default().answer("1.13a"), NotMeasured);
}

#[test]
fn answer_follows_underlying_conclusions() {
    let run = |published, alone| {
        let run = pair(Run::default(), "sign", &LARGE, published);
        let run = pair(run, "verify", &LARGE, published);
        let run = one(run, "sign", &LARGE, alone);
        one(run, "verify", &LARGE, alone)
    };
    let (jwt, paseto) = ([100.0, 200.0], [200.0, 100.0]);
    for id in ["1.12a", "1.13d"] {
        assert_eq!(run(jwt, jwt).answer(id), Holds, "{id}");
        assert_eq!(run(jwt, paseto).answer(id), Artefact, "{id}");
        assert_eq!(run(paseto, jwt).answer(id), DoesNotHold, "{id}");
        assert_eq!(Run::default().answer(id), NotMeasured, "{id}");
    }
}
