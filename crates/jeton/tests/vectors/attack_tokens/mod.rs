//! `vectors/attack-tokens`: every literal token must be rejected, and every recipe of the catalogue must have a
//! test for each format that it applies to.
//!
//! Recipes for JWS, JWT and JWK are implemented here, with keys of every algorithm. `tests/it` has
//! those for JWE and PASETO; the lists below name their tests, which must exist. A recipe that is in no list, or
//! in the list of another format, is an error.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

mod headers;
mod keys;
mod payloads;
mod signatures;
#[path = "../../it/jws/attacks/support.rs"]
#[allow(dead_code)]
mod support;

use std::sync::LazyLock;

use jeton::jws::JwsVerifier;
use jeton::key::{Alg, MacAlg, MacKey};
use jeton::{Policy, jwt::JwtVerifier};
use serde_json::Value;
use support::Key;

use crate::support::{Trial, check, json, trial};

/// Creates the tokens of a recipe and checks that they are rejected.
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

/// A recipe in another test: the recipe, the file, the test.
type InOtherTest = (&'static str, &'static str, &'static str);

const JWE: [InOtherTest; 16] = [
    ("crit-unknown", "algorithms", "decrypt_crit_is_rejected"),
    (
        "dup-header",
        "algorithms",
        "decrypt_duplicate_member_is_rejected",
    ),
    (
        "base64-forms",
        "bytes",
        "decrypt_non_canonical_base64_is_rejected",
    ),
    ("dots-flood", "sizes", "decrypt_million_dots_is_rejected"),
    ("dots-flood", "sizes", "decrypt_ten_megabytes_is_rejected"),
    (
        "pbes2-count",
        "passwords",
        "rounds_over_limit_are_rejected_before_derivation",
    ),
    (
        "pbes2-count",
        "passwords",
        "rounds_below_minimum_or_not_a_number_are_rejected",
    ),
    (
        "pbes2-count",
        "passwords",
        "salt_of_wrong_length_or_missing_is_rejected",
    ),
    (
        "zip-bomb",
        "compression",
        "decompression_bomb_over_ratio_is_rejected",
    ),
    (
        "rsa15-mma",
        "rsa",
        "rsa1_5_padding_errors_are_indistinguishable",
    ),
    (
        "oaep-key-with-rsa15",
        "rsa",
        "rsa1_5_without_danger_is_rejected",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "epk_off_the_curve_is_rejected",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "epk_on_another_curve_is_rejected",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "epk_of_small_order_is_rejected",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "epk_that_is_not_a_public_key_is_rejected",
    ),
    (
        "gcm-tag",
        "bytes",
        "decrypt_wrong_length_gives_uniform_error",
    ),
];

const PASETO: [InOtherTest; 8] = [
    (
        "base64-forms",
        "tokens",
        "verify_non_canonical_base64_is_rejected",
    ),
    (
        "dots-flood",
        "tokens",
        "verify_many_dots_is_rejected_cheaply",
    ),
    (
        "paseto-cross-purpose",
        "tokens",
        "verify_token_of_another_version_or_purpose_is_rejected",
    ),
    (
        "paseto-footer",
        "tokens",
        "verify_changed_footer_is_rejected",
    ),
    ("paseto-footer", "keys", "key_of_another_kind_is_rejected"),
    (
        "paseto-time",
        "claims",
        "verify_time_claim_of_wrong_type_is_rejected",
    ),
    (
        "paseto-time",
        "claims",
        "verify_times_are_exact_for_any_offset",
    ),
    (
        "paseto-time",
        "claims",
        "verify_missing_exp_is_rejected_by_default",
    ),
];

/// The lists that must contain a recipe, depending on `applies_to` in the catalogue.
fn lists_for(applies_to: &str) -> &'static [&'static str] {
    match applies_to {
        "JWS" | "JWT" | "JWK" | "verify" | "HS*" | "ES*" | "RS*/PS*/ES*" => &["jose"],
        "JWS/JWE" => &["jose", "jwe"],
        "JWE" | "JWE/JWS zip" | "RSA1_5" | "ECDH-ES" => &["jwe"],
        "PASETO" => &["paseto"],
        "all" => &["jose", "jwe", "paseto"],
        other => panic!("unknown applies_to: {other}"),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
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
            check(rejected_by_all(&input, &key), "accepted")
        }));
    }
    let catalogue = json("attack-tokens/catalogue.json");
    let lists: [(&str, Vec<&str>); 3] = [
        ("jose", JOSE.map(|(id, _)| id).to_vec()),
        ("jwe", JWE.map(|(id, _, _)| id).to_vec()),
        ("paseto", PASETO.map(|(id, _, _)| id).to_vec()),
    ];
    let mut known = Vec::new();
    for case in catalogue["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let wanted = lists_for(case["applies_to"].as_str().unwrap());
        for (list, ids) in &lists {
            assert_eq!(ids.contains(&id), wanted.contains(list), "{id} in {list}");
        }
        known.push(id);
    }
    for id in lists.iter().flat_map(|(_, ids)| ids) {
        assert!(known.contains(id), "the catalogue has no {id}");
    }
    for (format, list) in [("jwe", &JWE[..]), ("paseto", &PASETO[..])] {
        for (id, file, test) in list {
            trials.push(trial(format!("{format}_{id}_{test}"), move || {
                let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
                let text = std::fs::read_to_string(format!("{tests}/{format}/attacks/{file}.rs"))?;
                let head = format!("#[test]\nfn {test}() {{");
                check(text.contains(&head), "the test does not exist")
            }));
        }
    }
    for (id, recipe) in JOSE {
        trials.push(trial(format!("recipe_{id}"), move || {
            recipe();
            Ok(())
        }));
    }
    trials
}

/// Whether verifiers with keys of every algorithm, and with the key of the token if it is a MAC key, reject it.
fn rejected_by_all(token: &str, own: &str) -> bool {
    let mut all: Vec<jeton::key::Keys> = every().iter().map(Key::keys).collect();
    for &alg in MacAlg::ALL {
        all.extend(MacKey::from_jwk_as(own, alg).map(Into::into));
    }
    all.into_iter().all(|keys| {
        let verifier = JwsVerifier::new(keys);
        verifier.verify(token).is_err()
            && verifier.verify_json(token).is_err()
            && verifier.verify_detached(token, b"").is_err()
            && verifier.verify_json_detached(token, b"").is_err()
    }) && every().iter().all(|key| {
        let verifier = JwtVerifier::new(key.keys(), lenient());
        verifier.verify::<Value>(token).is_err()
    })
}

/// A policy that accepts every well-formed JWT.
fn lenient() -> Policy {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    policy.without_expiry()
}

/// A key of every algorithm, created once.
fn every() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| Key::every().collect());
    &KEYS
}

fn hs256() -> Key {
    Key::generate(Alg::Mac(MacAlg::HS256))
}

/// Checks that the token is rejected as a JWS and as a JWT.
fn assert_rejected(key: &Key, token: &str) {
    assert!(key.verifier().verify(token).is_err(), "JWS: {token}");
    let verifier = JwtVerifier::new(key.keys(), lenient());
    assert!(verifier.verify::<Value>(token).is_err(), "JWT: {token}");
}
