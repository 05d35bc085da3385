//! Wycheproof, `json_web_crypto`: the encryption groups. Its signature groups repeat `json_web_signature`, with
//! key sets.

use jeton::jwe::Decrypter;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::decryption::decryption_keys;
use crate::support::{Trial, check, json, trial};

/// A valid token in the JSON serialization. Its label `invalid` is for readers of compact tokens; `decrypt_json`
/// accepts it.
const GOOD_JSON: u64 = 66;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let file = json("wycheproof/json_web_crypto_test.json");
    for group in file["testGroups"].as_array().unwrap() {
        let comment = group["comment"].as_str().unwrap();
        if !comment.starts_with("jwe_") {
            continue;
        }
        for test in group["tests"].as_array().unwrap() {
            let valid = match test["result"].as_str().unwrap() {
                "valid" => true,
                "invalid" => false,
                other => panic!("unknown expectation {other}"),
            };
            let id = test["tcId"].as_u64().unwrap();
            let name = format!("tc{id}_{comment}_{}", test["comment"].as_str().unwrap());
            let (key, test) = (group["private"].clone(), test.clone());
            trials.push(trial(name, move || case(&key, &test, id, valid)));
        }
    }
    assert_eq!(trials.len(), 34);
    trials
}

fn case(key: &Value, test: &Value, id: u64, valid: bool) -> Result<(), Failed> {
    let alg = key["alg"].as_str().unwrap();
    let decrypter = Decrypter::new(decryption_keys(key, alg, "")?);
    let (compact, json) = match &test["jwe"] {
        Value::String(text) => (decrypter.decrypt(text), decrypter.decrypt_json(text)),
        json => {
            let text = json.to_string();
            (decrypter.decrypt(&text), decrypter.decrypt_json(&text))
        }
    };
    check(
        compact.is_ok() == valid,
        "the compact reader says otherwise",
    )?;
    check(
        json.is_ok() == (id == GOOD_JSON),
        "the JSON reader says otherwise",
    )?;
    if let (true, Some(hex)) = (valid, test["pt"].as_str()) {
        let plaintext = compact?.into_plaintext();
        let made: String = plaintext.iter().map(|byte| format!("{byte:02x}")).collect();
        check(made == hex, "another plaintext")?;
    }
    Ok(())
}
