//! Wycheproof's JWS and JWE cases with keys that have an algorithm.
//!
//! `vectors/wycheproof/ERRATA.json` lists the labels that a strict implementation must contradict.

use serde_json::{Map, Value, json};

use super::Case;
use super::make::{Label, key, members, read_json, slug};

pub(crate) fn cases() -> Vec<Case> {
    [signatures(), encryption()].concat()
}

/// The cases that are rejected or accepted despite their label.
fn errata(names: &[&str]) -> Vec<u64> {
    let errata = &read_json("wycheproof/ERRATA.json")["json_web_signature_test.json"];
    let ids = names
        .iter()
        .flat_map(|name| errata[*name]["tcIds"].as_array().unwrap());
    ids.map(|id| id.as_u64().unwrap()).collect()
}

fn signatures() -> Vec<Case> {
    let accepted = errata(&["contradiction"]);
    let rejected = errata(&["wrongly_valid", "alg_vs_jwk_alg", "unregistered_jwk_alg"]);
    let mut cases = Vec::new();
    for group in read_json("wycheproof/json_web_signature_test.json")["testGroups"]
        .as_array()
        .unwrap()
    {
        let jwk = group.get("public").unwrap_or(&group["private"]);
        if jwk["alg"].as_str().is_none() {
            continue;
        }
        for test in group["tests"].as_array().unwrap() {
            let id = test["tcId"].as_u64().unwrap();
            let valid = match test["result"].as_str().unwrap() {
                _ if accepted.contains(&id) => true,
                _ if rejected.contains(&id) => false,
                result => result == "valid",
            };
            let token = match &test["jws"] {
                Value::String(text) => text.clone(),
                json => json.to_string(),
            };
            let case = Case {
                id: format!(
                    "wycheproof-jws-{id}-{}",
                    slug(test["comment"].as_str().unwrap())
                ),
                action: "verify-bytes".into(),
                key: Some(key(jwk.to_string(), json!({}))),
                options: members(json!({"format": "jws"})),
                token: Some(token),
                ..Case::default()
            };
            cases.push(case.labelled(label(valid)));
        }
    }
    cases
}

fn encryption() -> Vec<Case> {
    let mut cases = Vec::new();
    for group in read_json("wycheproof/json_web_crypto_test.json")["testGroups"]
        .as_array()
        .unwrap()
    {
        if !group["comment"].as_str().unwrap().starts_with("jwe_") {
            continue;
        }
        for test in group["tests"].as_array().unwrap() {
            let (token, options): (String, Map<_, _>) = match &test["jwe"] {
                Value::String(text) => (text.clone(), members(json!({"format": "jwe"}))),
                json => (json.to_string(), members(json!({"format": "jwe"}))),
            };
            let comment = format!("{}-{}", group["comment"], test["comment"]);
            let case = Case {
                id: format!("wycheproof-jwe-{}-{}", test["tcId"], slug(&comment)),
                action: "verify-bytes".into(),
                decryption: vec![key(group["private"].to_string(), json!({}))],
                options,
                token: Some(token),
                ..Case::default()
            };
            cases.push(case.labelled(label(test["result"] == "valid")));
        }
    }
    cases
}

fn label(valid: bool) -> Label<'static> {
    if valid { Label::Valid } else { Label::Invalid }
}
