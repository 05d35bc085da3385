//! cristalhq and pascaldekloe.

use super::Run;
use crate::work;
use jeton_lab_model::result::Answer::{Artefact, DoesNotHold, Holds, NotMeasured};
use jeton_lab_model::result::{RowId, Status};

pub(super) fn r4(driver: &str, alg: &str, operation: &str) -> RowId {
    let driver = match (driver, alg.contains('@')) {
        ("cristalhq", true) => "cristalhq-v3.1",
        _ => driver,
    };
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
    assert_eq!(run(1_640.0).answer("4.1"), Holds, "18 %");
    let more = run(1_600.0).says("4.1");
    assert_eq!(more.answer, DoesNotHold, "20 %");
    assert!(
        more.why.contains("20 % faster, not 9 to 13 %"),
        "{}",
        more.why
    );
    assert_eq!(run(2_000.0).answer("4.1"), DoesNotHold);
    assert_eq!(run(2_400.0).answer("4.1"), DoesNotHold);
}

#[test]
fn answer_unequal_pair_is_artefact() {
    for (id, algs, ratio) in [
        ("4.2", &["HS256", "HS384", "HS512"][..], 0.24),
        ("4.3a", &["ES256"], 0.94),
        ("4.3b", &["EdDSA"], 0.95),
        ("4.3c", &["RS384@1024"], 0.89),
        ("4.3d", &["RS384@4096"], 1.09),
    ] {
        let run = |equal: f64, unequal: f64| {
            algs.iter().fold(Run::default(), |run, alg| {
                run.time(&r4("pascaldekloe", alg, "verify"), 4_000.0)
                    .time(&r4("cristalhq", alg, "verify"), equal * 4_000.0)
                    .time(&r4("cristalhq", alg, "verify-parsed"), unequal * 4_000.0)
            })
        };
        let not = 1.0 / ratio;
        assert_eq!(run(ratio, ratio).answer(id), Holds, "{id}");
        assert_eq!(run(not, ratio).answer(id), Artefact, "{id}");
        assert_eq!(run(1.0, ratio).answer(id), Artefact, "{id}");
        assert_eq!(run(not, not).answer(id), DoesNotHold, "{id}");
        let absent = run(ratio, ratio).fails(
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
fn answer_same_direction_with_another_size_does_not_hold() {
    let run = |equal: f64, unequal: f64| {
        ["HS256", "HS384", "HS512"]
            .iter()
            .fold(Run::default(), |run, alg| {
                run.time(&r4("pascaldekloe", alg, "verify"), 4_000.0)
                    .time(&r4("cristalhq", alg, "verify"), equal * 4_000.0)
                    .time(&r4("cristalhq", alg, "verify-parsed"), unequal * 4_000.0)
            })
    };
    // The unequal work shows at least the published difference.
    for unequal in [0.24, 0.1] {
        let said = run(0.78, unequal).says("4.2");
        assert_eq!(said.answer, Artefact);
        let own = "with the same work cristalhq is 22 % faster, not 76 %";
        assert!(said.why.contains(own), "{}", said.why);
    }
    assert_eq!(run(0.78, 0.7).answer("4.2"), DoesNotHold);
    assert_eq!(run(0.78, 2.0).answer("4.2"), DoesNotHold);
    let opposite = run(1.3, 0.24).says("4.2").why;
    assert!(opposite.contains("the other way round"), "{opposite}");
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
    let more = run(135).says("4.4");
    assert_eq!(more.answer, DoesNotHold, "10 %");
    assert!(more.why.contains("not by 1 to 5 %"), "{}", more.why);
    assert_eq!(run(123).answer("4.4"), DoesNotHold);
}
