//! Wycheproof, `json_web_signature`: one test per case. `vectors/wycheproof/ERRATA.json` lists the labels that a
//! strict implementation must contradict, with the reasons.

use std::collections::BTreeMap;

use jeton::jws::JwsVerifier;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::{Trial, check, json, trial, verification_keys};

/// The result of jeton where it differs from the label.
#[derive(Clone, Copy, PartialEq)]
enum Erratum {
    /// The label is valid, but RFC 7515 requires rejection.
    Rejected,
    /// The label is invalid, but another case labels the same token valid.
    Accepted,
}

pub(crate) fn trials() -> Vec<Trial> {
    let errata = errata();
    let mut trials = Vec::new();
    let file = json("wycheproof/json_web_signature_test.json");
    for group in file["testGroups"].as_array().unwrap() {
        for test in group["tests"].as_array().unwrap() {
            let id = test["tcId"].as_u64().unwrap();
            let valid = match test["result"].as_str().unwrap() {
                "valid" => true,
                "invalid" => false,
                other => panic!("unknown expectation {other} of case {id}"),
            };
            let expected = match errata.get(&id) {
                Some(Erratum::Rejected) => false,
                Some(Erratum::Accepted) => true,
                None => valid,
            };
            let name = format!(
                "tc{id}_{}_{}_is_{}",
                group["comment"].as_str().unwrap(),
                test["comment"].as_str().unwrap().replace(' ', "_"),
                if expected { "accepted" } else { "rejected" }
            );
            let (group, test) = (group.clone(), test.clone());
            trials.push(trial(name, move || case(&group, &test, expected)));
        }
    }
    trials
}

fn case(group: &Value, test: &Value, expected: bool) -> Result<(), Failed> {
    // Most groups contain the private key too; only the public key or the secret verifies.
    let key = group.get("public").unwrap_or(&group["private"]);
    let token = match &test["jws"] {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    let accepted = accepts(key, &token);
    check(
        accepted == expected,
        if accepted { "accepted" } else { "rejected" },
    )
}

/// The `alg` of the key decides; a key without one is tried with every algorithm of its type.
fn accepts(key: &Value, token: &str) -> bool {
    let algorithms: Vec<&str> = match (key["alg"].as_str(), key["kty"].as_str()) {
        (Some(alg), _) => vec![alg],
        (None, Some("RSA")) => vec!["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        (None, Some("EC")) => vec!["ES256", "ES384", "ES512"],
        (None, Some("oct")) => vec!["HS256", "HS384", "HS512"],
        (None, kty) => panic!("a key of type {kty:?}"),
    };
    algorithms
        .into_iter()
        .filter(|alg| alg.parse::<jeton::key::Alg>().is_ok())
        .filter_map(|alg| verification_keys(key, alg).ok())
        .any(|keys| JwsVerifier::new(keys).verify(token).is_ok())
}

fn errata() -> BTreeMap<u64, Erratum> {
    let groups = json("wycheproof/ERRATA.json")["json_web_signature_test.json"].clone();
    let mut errata = BTreeMap::new();
    for (name, group) in groups.as_object().unwrap() {
        let deviation = match name.as_str() {
            "contradiction" => Erratum::Accepted,
            "wrongly_valid" | "alg_vs_jwk_alg" | "unregistered_jwk_alg" => Erratum::Rejected,
            // The public key of this case has valid key_ops, and only that key is used. The API reads only the
            // compact serialization. Both labels apply.
            "key_ops_typo" | "compact_only_policy" => continue,
            other => panic!("unknown erratum {other}"),
        };
        for id in group["tcIds"].as_array().unwrap() {
            errata.insert(id.as_u64().unwrap(), deviation);
        }
    }
    errata
}
