//! Compact JWS and JWT under fixed keys, whole and detached: nothing is accepted but the one token
//! that the key has made.
#![no_main]

use std::sync::LazyLock;

use jeton::jws::{Signer, Verifier};
use jeton::key::{MacAlg, MacKey, VerifyingKey};
use jeton::{Policy, jwt};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static MAC: LazyLock<MacKey> =
    LazyLock::new(|| MacKey::new(MacAlg::HS256, &[7; 32]).expect("a key"));
static TOKEN: LazyLock<String> =
    LazyLock::new(|| Signer::new(&*MAC).sign(b"{\"sub\":\"x\"}").expect("signs"));
static VERIFIERS: LazyLock<[Verifier; 2]> = LazyLock::new(|| {
    let ed25519 =
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    [
        Verifier::new(&*MAC),
        Verifier::new(VerifyingKey::from_jwk(ed25519).expect("a key")),
    ]
});
static JWT: LazyLock<jwt::Verifier> = LazyLock::new(|| {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    jwt::Verifier::new(&*MAC, policy.without_expiry())
});

fuzz_target!(|text: &str| {
    for verifier in &*VERIFIERS {
        if verifier.verify(text).is_ok() {
            assert_eq!(text, *TOKEN);
        }
        let (token, content) = text.split_once('\0').unwrap_or((text, ""));
        assert!(verifier.verify_detached(token, content.as_bytes()).is_err());
    }
    if JWT.verify::<Value>(text).is_ok() {
        assert_eq!(text, *TOKEN);
    }
    let _ = jeton::danger::peek(text);
});
