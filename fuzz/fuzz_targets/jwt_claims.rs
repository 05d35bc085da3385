//! Any bytes as claims with a valid MAC: no panic, accepted claims are one JSON object, and they deserialize as
//! with serde_json.
#![no_main]

use std::borrow::Cow;
use std::sync::LazyLock;

use jeton::jws::JwsSigner;
use jeton::key::{MacAlg, MacKey};
use jeton::{Policy, Scratch, Verified, jwt::JwtVerifier};
use jeton_fuzz::{bounded, keys, seeds};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde_json::Value;

static MAC: LazyLock<MacKey> = LazyLock::new(|| keys::mac(MacAlg::HS256));
static VERIFIER: LazyLock<JwtVerifier> = LazyLock::new(|| {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    JwtVerifier::new(&*MAC, policy.without_expiry())
});

/// The type of the claims in the seeds.
#[derive(Debug, PartialEq, Deserialize)]
struct Own<'t> {
    #[serde(borrow)]
    name: Option<Cow<'t, str>>,
    admin: Option<bool>,
    sub: Option<String>,
    iat: Option<f64>,
    aud: Option<Value>,
    data: Option<Value>,
}

fuzz_target!(
    init: seeds::write(seeds::claims),
    |payload: &[u8]| {
        let token = JwsSigner::new(&*MAC).sign(payload).expect("signs anything");
        let verified: jeton::Result<Verified<Value>> =
            bounded(token.len(), || VERIFIER.verify(&token));
        if let Ok(verified) = verified {
            assert!(verified.claims().is_object());
            let mut scratch = Scratch::new();
            let own = VERIFIER.verify_in::<Own<'_>>(&token, &mut scratch).ok();
            let reference = serde_json::from_slice::<Own<'_>>(payload);
            assert_eq!(own.as_ref().map(Verified::claims), reference.as_ref().ok());
            assert_eq!(verified.json().as_bytes(), payload);
            // The strict scanner and serde_json agree on the registered claims.
            assert_eq!(verified.issuer(), verified.claims()["iss"].as_str());
            assert_eq!(verified.subject(), verified.claims()["sub"].as_str());
            assert_eq!(verified.token_id(), verified.claims()["jti"].as_str());
            match &verified.claims()["aud"] {
                Value::String(one) => assert!(verified.audiences().eq([one.as_str()])),
                Value::Array(list) => {
                    let list = list.iter().map(|one| one.as_str().expect("checked"));
                    assert!(verified.audiences().eq(list));
                }
                _ => assert_eq!(verified.audiences().count(), 0),
            }
        }
    }
);
