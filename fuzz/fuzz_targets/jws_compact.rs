//! Compact JWS and JWT for fixed keys of every algorithm, with attached and detached content: only content that
//! the keys signed is accepted.
#![no_main]

use std::sync::LazyLock;

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{Keys, MacAlg};
use jeton::{Policy, jwt::JwtVerifier};
use jeton_fuzz::{bounded, keys, seeds};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// The only payload that the keys have signed.
const SIGNED: &str = "{\"sub\":\"x\"}";

static VERIFIERS: LazyLock<Vec<JwsVerifier>> = LazyLock::new(|| {
    keys::signing()
        .iter()
        .map(keys::Signing::verifier)
        .collect()
});
static JWT: LazyLock<JwtVerifier> = LazyLock::new(|| {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    JwtVerifier::new(
        Keys::from(keys::mac(MacAlg::HS256)),
        policy.without_expiry(),
    )
});

fuzz_target!(
    init: seeds::write(|| {
        let mut all = seeds::from_vectors(|found| found.is_compact(3));
        for key in keys::signing() {
            let signer = || JwsSigner::new(key.as_ref());
            all.push(signer().sign(SIGNED.as_bytes()).expect("signs"));
            all.push(signer().unencoded().sign(SIGNED.as_bytes()).expect("signs"));
            let detached = signer().sign_detached(SIGNED.as_bytes()).expect("signs");
            all.push(format!("{detached}\0{SIGNED}"));
        }
        all
    }),
    |text: &str| {
        let (token, content) = text.split_once('\0').unwrap_or((text, ""));
        for verifier in VERIFIERS.iter() {
            if let Ok(verified) = bounded(text.len(), || verifier.verify(text)) {
                assert_eq!(verified.payload(), SIGNED.as_bytes());
            }
            if verifier.verify_detached(token, content.as_bytes()).is_ok() {
                assert_eq!(content, SIGNED);
            }
        }
        if let Ok(verified) = JWT.verify::<Value>(text) {
            assert_eq!(verified.json(), SIGNED);
        }
        let _ = jeton::danger::peek(text);
    }
);
