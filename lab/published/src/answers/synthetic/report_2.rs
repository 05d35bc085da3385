//! A Java library.

use super::Run;
use crate::{work, works};
use jeton_lab_model::result::Answer::{DoesNotHold, Holds, NotMeasured};
use jeton_lab_model::result::{RowId, Status};

fn r2(subject: &str, operation: &str) -> RowId {
    work(subject, operation, "report2", 1)
}

fn jwe(alg: &str, enc: &str, operation: &str) -> RowId {
    let bits = if alg.starts_with("RSA") { "@3072" } else { "" };
    r2(
        &format!("rust/jeton:jwe:{alg}+{enc}{bits}:prepared"),
        operation,
    )
}

fn jws(alg: &str, operation: &str) -> RowId {
    r2(&format!("rust/jeton:jwt:{alg}:prepared"), operation)
}

#[test]
fn rsa_encryption() {
    let run = |encrypt: f64, decrypt: f64, bytes: u64| {
        let mut run = Run::default();
        for (operation, rsa) in [("encrypt", encrypt), ("decrypt", decrypt)] {
            for (alg, ns) in [
                ("RSA-OAEP-256", rsa),
                ("dir", 900.0),
                ("A128KW", 950.0),
                ("A256KW", 1000.0),
            ] {
                run = run.time(&jwe(alg, "A256GCM", operation), ns);
            }
        }
        for work in works(2, 1) {
            let is_rsa = work.subject.contains(":jwe:RSA") && work.operation == "decrypt";
            if !run.rows.iter().any(|row| work.names(row)) {
                run = run.time(&work, if is_rsa { 2.0 * decrypt } else { 5_000.0 });
            }
        }
        run.size(&jwe("RSA-OAEP-256", "A256GCM", "encrypt"), bytes)
            .size(&jwe("A256KW", "A256GCM", "encrypt"), 664)
    };
    let as_published = run(20_000.0, 900_000.0, 1130);
    assert_eq!(
        (as_published.answer("2.1"), as_published.answer("2.2")),
        (Holds, Holds)
    );
    assert_eq!(run(20_000.0, 900_000.0, 700).answer("2.1"), DoesNotHold);
    let quick = run(1_100.0, 1_100.0, 1130);
    assert_eq!(
        (quick.answer("2.1"), quick.answer("2.2")),
        (DoesNotHold, DoesNotHold)
    );
    let said = as_published.says("2.2");
    for part in [
        "900 µs to 1.80 ms (15 ms in the report)",
        "measured operations 20.0 µs",
    ] {
        assert!(said.measured.contains(part), "{}", said.measured);
    }
    // Any RSA decryption counts, and any other operation.
    let quick = as_published
        .clone()
        .time(&jwe("RSA1_5", "A256GCM", "decrypt"), 4_000.0);
    assert_eq!(quick.answer("2.2"), DoesNotHold);
    let slow = as_published
        .clone()
        .time(&jwe("A192KW", "A192GCM", "encrypt"), 950_000.0);
    assert_eq!(slow.answer("2.2"), DoesNotHold);
    // Key wrap: 5 to 12 % in addition to dir; and then twice as much.
    assert_eq!(as_published.answer("2.4"), Holds);
    let heavy = as_published.time(&jwe("A256KW", "A256GCM", "decrypt"), 1_800.0);
    assert_eq!(heavy.answer("2.4"), DoesNotHold);
}

#[test]
fn content_encryptions() {
    let run = |gcm: f64, cbc: f64| {
        let mut run = Run::default();
        for operation in ["encrypt", "decrypt"] {
            for enc in ["A128GCM", "A256GCM"] {
                run = run.time(&jwe("dir", enc, operation), gcm);
            }
            for enc in ["A128CBC-HS256", "A256CBC-HS512"] {
                run = run.time(&jwe("dir", enc, operation), cbc);
            }
        }
        run
    };
    assert_eq!(run(100.0, 120.0).answer("2.3a"), Holds);
    assert_eq!(run(100.0, 120.0).answer("2.3b"), Holds);
    assert_eq!(run(100.0, 200.0).answer("2.3a"), DoesNotHold);
    assert_eq!(run(120.0, 100.0).answer("2.3b"), DoesNotHold);
    let more = run(100.0, 200.0).says("2.3b");
    assert_eq!(more.answer, DoesNotHold, "2 × is not a little");
    assert!(more.why.contains("more than a little"), "{}", more.why);
    let sizes = |gcm: u64, short: u64, long: u64| {
        run(100.0, 120.0)
            .size(&jwe("dir", "A128GCM", "encrypt"), gcm)
            .size(&jwe("dir", "A128CBC-HS256", "encrypt"), short)
            .size(&jwe("dir", "A256CBC-HS512", "encrypt"), long)
    };
    assert_eq!(sizes(606, 632, 653).answer("2.3c"), Holds);
    assert_eq!(sizes(640, 632, 653).answer("2.3c"), DoesNotHold);
    assert_eq!(sizes(500, 632, 653).answer("2.3c"), DoesNotHold);
    assert_eq!(sizes(606, 632, 653).answer("2.9"), Holds);
    assert_eq!(sizes(606, 653, 696).answer("2.9"), DoesNotHold, "full tags");
    // A timed library has rejected changed tokens.
    assert_eq!(run(100.0, 120.0).answer("2.7"), Holds);
    let accepts = run(100.0, 120.0).fails(
        &jwe("dir", "A128GCM", "decrypt"),
        Status::FailedPreflight,
        "accepts a token whose tag was changed",
    );
    assert_eq!(accepts.answer("2.7"), DoesNotHold);
}

#[test]
fn signatures() {
    let run = |rsa: [f64; 2], ecdsa: [f64; 2], none: f64| {
        let mut run = Run::default();
        for (place, operation) in ["sign", "verify"].into_iter().enumerate() {
            run = run
                .time(&r2("rust/reference:none:prepared", operation), none)
                .time(&jws("HS256", operation), 1_000.0)
                .time(&jws("RS256", operation), rsa[place]);
            for alg in ["ES256", "ES384", "ES512"] {
                run = run.time(&jws(alg, operation), ecdsa[place]);
            }
        }
        run
    };
    let as_published = run([240_000.0, 7_000.0], [40_000.0, 70_000.0], 900.0);
    for id in ["2.5a", "2.5b", "2.5c", "2.5d", "2.6"] {
        assert_eq!(as_published.answer(id), Holds, "{id}");
    }
    // Printed as 10.0 ×, the largest for "about seven".
    let edge = run([240_000.0, 10_040.0], [40_000.0, 70_000.0], 900.0);
    assert_eq!(edge.answer("2.5b"), Holds);
    let other = run([10_000.0, 15_000.0], [9_000.0, 8_000.0], 500.0);
    for id in ["2.5a", "2.5b", "2.5c", "2.5d", "2.6"] {
        assert_eq!(other.answer(id), DoesNotHold, "{id}");
    }
}

#[test]
fn answer_rsa_encryption_does_not_authenticate() {
    let mut run = Run::default();
    for alg in ["RSA1_5", "RSA-OAEP", "RSA-OAEP-256"] {
        let work = jwe(alg, "A256GCM", "encrypt");
        run = run.time(&work, 1.0).size(&work, 1125);
    }
    assert_eq!(run.answer("2.10"), Holds);
    let failed = run.fails(
        &jwe("RSA-OAEP", "A256GCM", "encrypt"),
        Status::Crashed,
        "died",
    );
    assert_eq!(failed.answer("2.10"), NotMeasured);
}
