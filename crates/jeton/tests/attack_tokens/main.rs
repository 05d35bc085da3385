//! `vectors/attack-tokens`: every literal token is refused, and every recipe of the catalogue that
//! can be made a JWS, a JWT or a JWK is cooked with keys of every algorithm and refused.
//!
//! Recipes for JWE and PASETO are named below with the tests that hold them. An id that no list has
//! is a failure.

#![allow(clippy::unwrap_used, clippy::panic)]

mod headers;
mod keys;
mod payloads;
mod signatures;
#[path = "../jws_attacks/support.rs"]
#[allow(dead_code)]
mod support;
#[path = "../vectors/mod.rs"]
mod vectors;

use std::sync::LazyLock;

use jeton::jws::Verifier;
use jeton::key::{Alg, MacAlg, MacKey};
use jeton::{Policy, jwt};
use serde_json::Value;
use support::Key;
use vectors::{check, json, trial};

/// A recipe, cooked and refused.
type Recipe = fn();

const JOSE: [(&str, Recipe); 23] = [
    ("none-lower", headers::none_lower),
    ("none-case", headers::none_case),
    ("rs-to-hs-pem", keys::rs_to_hs_pem),
    ("rs-to-hs-der", keys::rs_to_hs_der),
    ("embedded-jwk", headers::embedded_jwk),
    ("jku-x5u", headers::jku_x5u),
    ("kid-injection", headers::kid_injection),
    ("null-signature", signatures::null_signature),
    ("blank-secret", keys::blank_secret),
    ("short-secret", keys::short_secret),
    ("psychic-zero", signatures::psychic_zero),
    ("ecdsa-der", signatures::ecdsa_der),
    ("alg-curve-mismatch", keys::alg_curve_mismatch),
    ("crit-unknown", headers::crit_unknown),
    ("b64-false-uncrit", headers::b64_false_uncrit),
    ("dup-header", headers::dup_header),
    ("base64-forms", payloads::base64_forms),
    ("json-top", payloads::json_top),
    ("dots-flood", payloads::dots_flood),
    ("exp-forms", payloads::exp_forms),
    ("nbf-iat", payloads::nbf_iat),
    ("jws-for-jwe", headers::jws_for_jwe),
    ("jwk-forms", keys::jwk_forms),
];

/// Cooked by the tests of JWE.
const JWE: [&str; 6] = [
    "pbes2-count",
    "zip-bomb",
    "rsa15-mma",
    "oaep-key-with-rsa15",
    "ecdh-invalid-curve",
    "gcm-tag",
];

/// Cooked by `paseto_attacks`.
const PASETO: [&str; 3] = ["paseto-cross-purpose", "paseto-footer", "paseto-time"];

fn main() {
    let mut trials = Vec::new();
    let literal = json("attack-tokens/literal.json");
    for (index, test) in literal["tests"].as_array().unwrap().iter().enumerate() {
        assert_eq!(test["expect"], "reject", "unknown expectation");
        let name = format!("literal_{index}_{}", test["name"].as_str().unwrap());
        let input = match &test["input"] {
            Value::String(text) => text.clone(),
            json => json.to_string(),
        };
        let key = test["key"].to_string();
        trials.push(trial(name, move || {
            check(refused_by_all(&input, &key), "accepted")
        }));
    }
    let catalogue = json("attack-tokens/catalogue.json");
    let mut ids: Vec<&str> = JOSE.iter().map(|(id, _)| *id).collect();
    ids.extend(JWE.iter().chain(&PASETO));
    for case in catalogue["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let known = ids.iter().filter(|known| **known == id).count();
        assert_eq!(known, 1, "{id} stands in {known} lists");
    }
    for (id, recipe) in JOSE {
        trials.push(trial(format!("recipe_{id}"), move || {
            recipe();
            Ok(())
        }));
    }
    vectors::run(trials)
}

/// Refused by verifiers with keys of every algorithm, and with the token's own key if it is one.
fn refused_by_all(token: &str, own: &str) -> bool {
    let mut all: Vec<jeton::key::Keys> = every().iter().map(Key::keys).collect();
    for alg in MacAlg::ALL {
        all.extend(MacKey::from_jwk_as(own, alg).map(Into::into));
    }
    all.into_iter().all(|keys| {
        let verifier = Verifier::new(keys);
        verifier.verify(token).is_err()
            && verifier.verify_json(token).is_err()
            && verifier.verify_detached(token, b"").is_err()
            && verifier.verify_json_detached(token, b"").is_err()
    }) && every().iter().all(|key| {
        let verifier = jwt::Verifier::new(key.keys(), lenient());
        verifier.verify::<Value>(token).is_err()
    })
}

/// A policy that any well-formed JWT satisfies.
fn lenient() -> Policy {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    policy.without_expiry()
}

/// A key of every algorithm, made once.
fn every() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| Key::every().collect());
    &KEYS
}

fn hs256() -> Key {
    Key::generate(Alg::Mac(MacAlg::HS256))
}

/// Refused as a JWS and as a JWT.
fn assert_refused(key: &Key, token: &str) {
    assert!(key.verifier().verify(token).is_err(), "JWS: {token}");
    let verifier = jwt::Verifier::new(key.keys(), lenient());
    assert!(verifier.verify::<Value>(token).is_err(), "JWT: {token}");
}
