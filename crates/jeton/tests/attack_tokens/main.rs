//! `vectors/attack-tokens`: every literal token is refused, and every recipe of the catalogue is
//! held by a test for each format that it applies to.
//!
//! Recipes for JWS, JWT and JWK are cooked here, with keys of every algorithm. Those for JWE and
//! PASETO are cooked by `jwe_attacks` and `paseto_attacks`; the tests are named below, and must be
//! there. A recipe that no list has, or has for another format, is a failure.

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

/// Where a recipe is cooked: the recipe, the file, the test.
type Elsewhere = (&'static str, &'static str, &'static str);

const JWE: [Elsewhere; 16] = [
    ("crit-unknown", "algorithms", "critical_extensions"),
    ("dup-header", "algorithms", "duplicate_members"),
    ("base64-forms", "bytes", "base64_has_one_encoding"),
    ("dots-flood", "sizes", "a_million_dots"),
    ("dots-flood", "sizes", "ten_megabytes"),
    (
        "pbes2-count",
        "passwords",
        "rounds_beyond_the_limit_cost_nothing",
    ),
    (
        "pbes2-count",
        "passwords",
        "rounds_below_the_limit_or_no_number",
    ),
    (
        "pbes2-count",
        "passwords",
        "salts_too_short_too_long_or_no_salt",
    ),
    ("zip-bomb", "compression", "a_bomb_is_refused_by_its_ratio"),
    ("rsa15-mma", "rsa", "rsa1_5_oracle_every_fault_looks_alike"),
    ("oaep-key-with-rsa15", "rsa", "rsa1_5_needs_its_door"),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "invalid_curve_points_off_the_curve",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "points_of_another_curve_under_the_name_of_this_one",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "small_order_points_of_x25519",
    ),
    (
        "ecdh-invalid-curve",
        "key_agreement",
        "an_epk_that_is_no_public_key",
    ),
    (
        "gcm-tag",
        "bytes",
        "every_other_length_is_refused_with_the_same_answer",
    ),
];

const PASETO: [Elsewhere; 8] = [
    ("base64-forms", "tokens", "base64_has_one_form"),
    ("dots-flood", "tokens", "thousands_of_dots_cost_nothing"),
    (
        "paseto-cross-purpose",
        "tokens",
        "version_and_purpose_cannot_be_mixed_up",
    ),
    ("paseto-footer", "tokens", "the_footer_is_authenticated"),
    (
        "paseto-footer",
        "keys",
        "a_key_is_only_taken_for_what_it_is",
    ),
    (
        "paseto-time",
        "claims",
        "times_of_the_wrong_type_are_errors_and_not_absent",
    ),
    (
        "paseto-time",
        "claims",
        "times_are_exact_to_the_second_whatever_their_offset",
    ),
    ("paseto-time", "claims", "expiry_is_demanded_unless_told"),
];

/// The lists that must have a recipe, by what the catalogue says that it applies to.
fn lists_for(applies_to: &str) -> &'static [&'static str] {
    match applies_to {
        "JWS" | "JWT" | "JWK" | "verify" | "HS*" | "ES*" | "RS*/PS*/ES*" => &["jose"],
        "JWS/JWE" => &["jose", "jwe"],
        "JWE" | "JWE/JWS zip" | "RSA1_5" | "ECDH-ES" => &["jwe"],
        "PASETO" => &["paseto"],
        "all" => &["jose", "jwe", "paseto"],
        other => panic!("which formats are {other}?"),
    }
}

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
    for (folder, list) in [("jwe_attacks", &JWE[..]), ("paseto_attacks", &PASETO[..])] {
        for (id, file, test) in list {
            trials.push(trial(format!("{folder}_{id}_{test}"), move || {
                let path = format!("{}/tests/{folder}/{file}.rs", env!("CARGO_MANIFEST_DIR"));
                let text = std::fs::read_to_string(path)?;
                let head = format!("#[test]\nfn {test}() {{");
                check(text.contains(&head), "there is no such test")
            }));
        }
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
