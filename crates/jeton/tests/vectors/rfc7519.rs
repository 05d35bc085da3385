//! RFC 7519: the tokens of sections 3.1 and 6.1 and of appendix A. They have no audience and have expired, so the
//! policy and the clock are set accordingly.

use jeton::error::Rejection;
use jeton::jwe::Decrypter;
use jeton::key::Keys;
use jeton::{
    Error, FixedClock, Policy, Timestamp, Verified,
    jwt::{self, JwtVerifier},
};
use libtest_mimic::Failed;
use serde_json::Value;

use crate::decryption::decryption_keys;
use crate::support::{Trial, check, json, text, trial, verification_keys};

const EXPIRY: i64 = 1_300_819_380;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("3.1_signed_jwt_verifies", || {
            claims_are_right(&verifier("A.1", "HS256", EXPIRY - 1)?.verify(&token("3.1"))?)
        }),
        trial("3.1_expired_jwt_is_rejected", || {
            let verified = verifier("A.1", "HS256", EXPIRY)?.verify::<Value>(&token("3.1"));
            rejected(verified, &Rejection::Expired)
        }),
        trial("6.1_unsecured_jwt_is_rejected", || {
            for (section, alg) in [("A.1", "HS256"), ("A.2", "RS256")] {
                let verifier = verifier(section, alg, EXPIRY - 1)?;
                let verified = verifier.verify::<Value>(&token("6.1"));
                check(verified.is_err(), "it was accepted")?;
            }
            Ok(())
        }),
        trial("A.1_encrypted_jwt_decrypts", || {
            let decrypted = decrypter()?.decrypt(&token("A.1"))?;
            let claims: Value = serde_json::from_slice(decrypted.plaintext())?;
            check(claims == tokens()["claims"], "other claims")
        }),
        trial("A.1_unsigned_jwt_is_rejected", || {
            let nested = jwt::NestedVerifier::new(decrypter()?, verifier("A.2", "RS256", 0)?);
            rejected(
                nested.verify::<Value>(&token("A.1")),
                &Rejection::TypeMismatch,
            )
        }),
        trial("A.2_nested_jwt_verifies", || {
            claims_are_right(&nested(EXPIRY - 1)?.verify(&token("A.2"))?)
        }),
        trial("A.2_expired_nested_jwt_is_rejected", || {
            rejected(
                nested(EXPIRY)?.verify::<Value>(&token("A.2")),
                &Rejection::Expired,
            )
        }),
        trial("A.2_signed_jwt_as_nested_is_rejected", || {
            check(
                nested(0)?.verify::<Value>(&token("3.1")).is_err(),
                "it was accepted",
            )
        }),
    ]
}

fn tokens() -> Value {
    json("rfc7519/tokens.json")
}

fn token(section: &str) -> String {
    tokens()[section].as_str().unwrap().to_owned()
}

/// A verifier with the key of this appendix of RFC 7515.
fn verifier(section: &str, alg: &str, now: i64) -> Result<JwtVerifier, Failed> {
    let jwk = text(&format!("rfc7515/rfc7515_{section}.jwk"));
    let keys: Keys = verification_keys(&serde_json::from_str(&jwk)?, alg)?;
    let policy = Policy::new("joe", "nobody").any_audience();
    Ok(
        JwtVerifier::new(keys, policy)
            .clock(FixedClock(Timestamp::from_unix_seconds(now).unwrap())),
    )
}

/// A decrypter with the key of RFC 7516, appendix A.2.
fn decrypter() -> Result<Decrypter, Failed> {
    let file = json("rfc7516/appendix-a.json");
    let tests = file["tests"].as_array().unwrap();
    let vector = tests.iter().find(|t| t["name"] == "RFC7516 A.2").unwrap();
    Ok(Decrypter::new(decryption_keys(
        &vector["jwk"],
        "RSA1_5",
        "",
    )?))
}

fn nested(now: i64) -> Result<jwt::NestedVerifier, Failed> {
    Ok(jwt::NestedVerifier::new(
        decrypter()?,
        verifier("A.2", "RS256", now)?,
    ))
}

fn claims_are_right(verified: &Verified<Value>) -> Result<(), Failed> {
    check(verified.issuer() == Some("joe"), "another issuer")?;
    let is_root = &verified.claims()["http://example.com/is_root"];
    check(*is_root == Value::Bool(true), "another claim of its own")
}

fn rejected<T>(result: jeton::Result<T>, expected: &Rejection) -> Result<(), Failed> {
    match result {
        Err(Error::Rejected(rejection)) if rejection == *expected => Ok(()),
        Err(other) => Err(format!("rejected for another reason: {other}").into()),
        Ok(_) => Err("it was accepted".into()),
    }
}
