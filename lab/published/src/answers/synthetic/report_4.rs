//! cristalhq and pascaldekloe.

use super::Run;
use crate::work;
use jeton_lab_model::result::Answer::{Artefact, DoesNotHold, Holds, NotMeasured};
use jeton_lab_model::result::{RowId, Status};

pub(super) fn r4(driver: &str, alg: &str, operation: &str) -> RowId {
    work(
        &format!("go/{driver}:jwt:{alg}:prepared"),
        operation,
        "report4",
        1,
    )
}

#[test]
fn signing_hmac() {
    let run = |cristalhq: f64| {
        ["HS256", "HS384", "HS512"]
            .iter()
            .fold(Run::default(), |run, alg| {
                run.time(&r4("pascaldekloe", alg, "sign"), 2_000.0)
                    .time(&r4("cristalhq", alg, "sign"), cristalhq)
            })
    };
    assert_eq!(run(1_800.0).answer("4.1"), Holds);
    assert_eq!(run(2_000.0).answer("4.1"), DoesNotHold);
    assert_eq!(run(2_400.0).answer("4.1"), DoesNotHold);
}

#[test]
fn answer_unequal_pair_is_artefact() {
    for (id, algs, slower) in [
        ("4.2", &["HS256", "HS384", "HS512"][..], false),
        ("4.3a", &["ES256"], false),
        ("4.3b", &["EdDSA"], false),
        ("4.3c", &["RS384@1024"], false),
        ("4.3d", &["RS384@4096"], true),
    ] {
        let run = |equal: f64, unequal: f64| {
            algs.iter().fold(Run::default(), |run, alg| {
                run.time(&r4("pascaldekloe", alg, "verify"), 4_000.0)
                    .time(&r4("cristalhq", alg, "verify"), equal)
                    .time(&r4("cristalhq", alg, "verify-parsed"), unequal)
            })
        };
        let (agrees, not) = if slower {
            (4_400.0, 1_000.0)
        } else {
            (1_000.0, 5_000.0)
        };
        assert_eq!(run(agrees, agrees).answer(id), Holds, "{id}");
        assert_eq!(run(not, agrees).answer(id), Artefact, "{id}");
        assert_eq!(run(4_000.0, agrees).answer(id), Artefact, "{id}");
        assert_eq!(run(not, not).answer(id), DoesNotHold, "{id}");
        let absent = run(agrees, agrees).fails(
            &r4("cristalhq", algs[0], "verify"),
            Status::Unavailable,
            "takes only RSA keys of 3072 bits",
        );
        let said = absent.says(id);
        assert_eq!(said.answer, NotMeasured, "{id}");
        assert!(
            said.measured.contains("takes only RSA keys"),
            "{}",
            said.measured
        );
    }
}

#[test]
fn longer_tokens() {
    let run = |cristalhq: u64| {
        ["HS256", "ES256", "EdDSA"]
            .iter()
            .fold(Run::default(), |run, alg| {
                run.size(&r4("pascaldekloe", alg, "sign"), 123)
                    .size(&r4("cristalhq", alg, "sign"), cristalhq)
            })
    };
    assert_eq!(run(129).answer("4.4"), Holds);
    assert_eq!(run(123).answer("4.4"), DoesNotHold);
}
