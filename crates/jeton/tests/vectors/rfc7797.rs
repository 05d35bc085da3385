//! RFC 7797: unencoded payloads. Verifies the examples, and creates those again that have the member order of
//! jeton.

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{MacAlg, MacKey};
use serde_json::Value;

use crate::support::{Trial, check, json, text, trial};

/// The key of RFC 7515, appendix A.1, which signed all examples.
fn key() -> MacKey {
    MacKey::from_jwk_as(&text("rfc7515/rfc7515_A.1.jwk"), MacAlg::HS256).unwrap()
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let file = json("rfc7797/jws_rfc7797.json");
    for test in file["tests"].as_array().unwrap().clone() {
        let name = test["name"].as_str().unwrap().replace(' ', "_");
        let payload = test.get("payload").unwrap_or(&file["payload"]);
        let payload = payload.as_str().unwrap().to_owned();
        let compact = test["compact"].as_str().unwrap().to_owned();
        let flattened = test["flattened_json"].clone();
        let unencoded = test["protected"]["b64"] == Value::Bool(false);
        // jeton writes `b64` only if it is false.
        let remade = test["protected"]["b64"] != Value::Bool(true);
        let detached = compact.contains("..");
        let (token, content) = (compact.clone(), payload.clone());
        trials.push(trial(format!("{name}_compact"), move || {
            let verifier = JwsVerifier::new(key());
            let verified = if detached {
                check(verifier.verify(&token).is_err(), "without its content")?;
                verifier.verify_detached(&token, content.as_bytes())?
            } else {
                verifier.verify(&token)?
            };
            check(verified.payload() == content.as_bytes(), "another payload")
        }));
        let content = payload.clone();
        trials.push(trial(format!("{name}_flattened"), move || {
            let verifier = JwsVerifier::new(key());
            let verified = verifier.verify_json(&flattened.to_string())?;
            check(verified.payload() == content.as_bytes(), "another payload")
        }));
        if remade {
            trials.push(trial(format!("{name}_is_reproduced"), move || {
                let key = key();
                let signer = if unencoded {
                    JwsSigner::new(&key).unencoded()
                } else {
                    JwsSigner::new(&key)
                };
                let token = if detached {
                    signer.sign_detached(payload.as_bytes())?
                } else {
                    signer.sign(payload.as_bytes())?
                };
                check(token == compact, "another token")
            }));
        }
    }
    trials.push(trial("cookbook_compact_and_json", || {
        let example = json("rfc7797/cookbook-compact.json");
        let key = MacKey::from_jwk(&example["input"]["key"].to_string())?;
        let verifier = JwsVerifier::new(&key);
        let payload = example["input"]["payload"].as_str().unwrap().as_bytes();
        let output = &example["output"];
        let compact = verifier.verify(output["compact"].as_str().unwrap())?;
        check(compact.payload() == payload, "another payload")?;
        for form in ["json", "json_flat"] {
            let verified = verifier.verify_json(&output[form].to_string())?;
            check(verified.payload() == payload, form)?;
        }
        Ok(())
    }));
    trials.push(trial("cookbook_json_only_without_crit_is_rejected", || {
        let example = json("rfc7797/cookbook-json-only.json");
        let key = MacKey::from_jwk(&example["input"]["key"].to_string())?;
        for form in ["json", "json_flat"] {
            let text = example["output"][form].to_string();
            check(JwsVerifier::new(&key).verify_json(&text).is_err(), form)?;
        }
        Ok(())
    }));
    trials
}
