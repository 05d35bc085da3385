//! Any bytes as claims in a valid PASETO: no panic, and what is accepted is one JSON object.
#![no_main]

use std::sync::LazyLock;

use jeton::paseto::PasetoVerifier;
use jeton::paseto::TokenContext;
use jeton::paseto::v4::LocalKey;
use jeton::{Policy, Verified};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static KEY: LazyLock<LocalKey> = LazyLock::new(|| LocalKey::generate().expect("a key"));
static VERIFIER: LazyLock<PasetoVerifier> = LazyLock::new(|| {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    PasetoVerifier::new(&*KEY, policy.without_expiry())
});

fuzz_target!(
    init: seeds::write(seeds::claims),
    |message: &[u8]| {
        let token = KEY.encrypt(message, TokenContext::new()).expect("encrypts");
        let verified: jeton::Result<Verified<Value>> = VERIFIER.verify(&token);
        if let Ok(verified) = verified {
            assert!(verified.claims().is_object());
            assert_eq!(verified.json().as_bytes(), message);
            assert_eq!(verified.issuer(), verified.claims()["iss"].as_str());
            assert_eq!(verified.subject(), verified.claims()["sub"].as_str());
            assert_eq!(verified.token_id(), verified.claims()["jti"].as_str());
            assert_eq!(verified.expires_at().is_some(), verified.claims()["exp"].is_string());
        }
    }
);
