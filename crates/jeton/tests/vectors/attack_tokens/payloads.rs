//! Recipes that modify the payload or the text of the whole token.

use super::support::{Key, parts, reference, rejection_of};
use super::{assert_rejected, every, lenient};
use jeton::error::{Claim, ClaimForm, FoundForm, JsonType, Part, Rejection};
use jeton::{FixedClock, Timestamp, jwt::JwtVerifier};
use serde_json::Value;
use std::time::Duration;

pub(crate) fn base64_forms() {
    for key in every() {
        let token = key.sign(b"{}");
        let [header, payload, signature] = parts(&token);
        for spoil in ["=", "==", " ", "\n", "\r\n", "+", "/", "\0"] {
            for forged in [
                format!("{header}{spoil}.{payload}.{signature}"),
                format!("{header}.{payload}{spoil}.{signature}"),
                format!("{header}.{payload}.{signature}{spoil}"),
                format!("{spoil}{token}"),
            ] {
                assert_rejected(key, &forged);
            }
            // The same, with a valid signature of the modified text.
            assert_rejected(
                key,
                &reference::sign(key, &format!("{header}{spoil}"), payload),
            );
            assert_rejected(
                key,
                &reference::sign(key, header, &format!("{payload}{spoil}")),
            );
        }
        // Trailing bits: `e30` is `{}`, and a lenient decoder reads `e31` as the same.
        assert_rejected(key, &reference::sign(key, header, "e31"));
    }
}

pub(crate) fn json_top() {
    let verifier = |key: &Key| JwtVerifier::new(key.keys(), lenient());
    for key in every() {
        let header = format!("{{\"alg\":\"{}\"}}", key.alg());
        let verify =
            |payload: &[u8]| verifier(key).verify::<Value>(&key.sign_under(&header, payload));
        assert!(verify(b"{}").is_ok(), "no control");
        for payload in [
            &b"[]"[..],
            b"\"x\"",
            b"1",
            b"null",
            b"true",
            b"",
            b" ",
            b"{}x",
            b"{}{}",
            b"{",
            b"{}\0",
            b"\xff",
        ] {
            assert_eq!(
                rejection_of(verify(payload)),
                Rejection::Malformed(Part::Payload)
            );
        }
    }
}

pub(crate) fn dots_flood() {
    let flood = ".".repeat(10_000_000);
    for key in every() {
        assert!(matches!(
            rejection_of(key.verifier().verify(&flood)),
            Rejection::TooLarge {
                part: Part::Token,
                ..
            }
        ));
        assert_rejected(key, &".".repeat(1_000_000));
    }
}

const NOW: i64 = 1_800_000_000;

/// Verifies these claims at `NOW`.
fn at_now(key: &Key, claims: &str, leeway: u64) -> jeton::Result<jeton::Verified<Value>> {
    let policy = lenient().leeway(Duration::from_secs(leeway));
    let clock = FixedClock(Timestamp::from_unix_seconds(NOW).unwrap());
    let verifier = JwtVerifier::new(key.keys(), policy).clock(clock);
    let header = format!("{{\"alg\":\"{}\"}}", key.alg());
    verifier.verify(&key.sign_under(&header, claims.as_bytes()))
}

pub(crate) fn exp_forms() {
    let claim = Claim::Expiry;
    let wrong = |found| Rejection::ClaimType {
        claim,
        found: FoundForm::Value(found),
        expected: ClaimForm::Seconds,
    };
    let range = || Rejection::ClaimRange { claim, unit: None };
    for key in every() {
        assert!(at_now(key, &format!("{{\"exp\":{}}}", NOW + 1), 0).is_ok());
        for (exp, expected) in [
            ("\"1900000000\"", wrong(JsonType::String)),
            ("null", wrong(JsonType::Null)),
            ("true", wrong(JsonType::Bool)),
            ("{}", wrong(JsonType::Object)),
            ("[1900000000]", wrong(JsonType::Array)),
            ("\"NaN\"", wrong(JsonType::String)),
            ("NaN", Rejection::Malformed(Part::Payload)),
            ("1.5", Rejection::Expired),
            ("0", Rejection::Expired),
            ("-1", range()),
            ("1e308", range()),
            ("1800000000", Rejection::Expired),
            ("1799999999.999", Rejection::Expired),
        ] {
            let claims = format!("{{\"exp\":{exp}}}");
            assert_eq!(rejection_of(at_now(key, &claims, 0)), expected, "{exp}");
        }
    }
}

pub(crate) fn nbf_iat() {
    for key in every() {
        // `iat` may be a minute ahead, whatever the leeway.
        for (claim, least, expected) in [
            ("nbf", 0_i64, Rejection::NotYetValid),
            ("iat", 60, Rejection::IssuedInTheFuture),
        ] {
            for leeway in [0_i64, 60, 90] {
                let claims = |time: i64| format!("{{\"{claim}\":{time}}}");
                let ahead = NOW + leeway.max(least);
                assert!(at_now(key, &claims(ahead), leeway as u64).is_ok());
                for beyond in [ahead + 1, NOW + 3600] {
                    let beyond = at_now(key, &claims(beyond), leeway as u64);
                    assert_eq!(rejection_of(beyond), expected, "{claim} {leeway}");
                }
            }
        }
    }
}
