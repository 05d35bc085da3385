//! RFC 7520, section 4: verifies every JWS of the cookbook in every serialization, and creates the reproducible
//! ones again.

use jeton::danger;
use jeton::error::Rejection;
use jeton::jws::{JwsSigner, JwsVerifier, VerifiedPayload};
use jeton::key::{MacKey, SigningKey};
use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::{Trial, check, json, trial, verification_keys};

const FILES: [&str; 8] = [
    "4_1.rsa_v15_signature",
    "4_2.rsa-pss_signature",
    "4_3.ecdsa_signature",
    "4_4.hmac-sha2_integrity_protection",
    "4_5.signature_with_detached_content",
    "4_6.protecting_specific_header_fields",
    "4_7.protecting_content_only",
    "4_8.multiple_signatures",
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in FILES {
        let vector = json(&format!("rfc7520/{file}.json"));
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form).cloned() else {
                continue;
            };
            for (index, (key, alg)) in signers(&vector).into_iter().enumerate() {
                let (vector, token) = (vector.clone(), token.clone());
                trials.push(trial(
                    format!("{file}_{form}_signature_{index}"),
                    move || {
                        let verified = verify(&vector, index, &key, &alg, &token)?;
                        check(
                            verified.signature_index() == index,
                            "another signature verified",
                        )?;
                        let expected = vector["input"]["payload"].as_str().unwrap();
                        check(verified.payload() == expected.as_bytes(), "another payload")
                    },
                ));
            }
        }
    }
    trials.push(is_reproduced("4_1.rsa_v15_signature"));
    trials.push(is_reproduced("4_4.hmac-sha2_integrity_protection"));
    trials
}

/// The keys and algorithms that sign a vector, in the order of its signatures.
fn signers(vector: &Value) -> Vec<(Value, String)> {
    let (keys, algs) = (&vector["input"]["key"], &vector["input"]["alg"]);
    match (keys.as_array(), algs.as_array()) {
        (Some(keys), Some(algs)) => {
            let names = algs.iter().map(|alg| alg.as_str().unwrap().to_owned());
            keys.iter().cloned().zip(names).collect()
        }
        _ => vec![(keys.clone(), algs.as_str().unwrap().to_owned())],
    }
}

/// Sections 4.7 and 4.8 each have a signature with an unprotected `alg`.
fn has_unprotected_alg(vector: &Value, index: usize) -> bool {
    match vector["title"].as_str().unwrap() {
        "Protecting Content Only" => true,
        "Multiple Signatures" => index == 1,
        _ => false,
    }
}

fn verify(
    vector: &Value,
    index: usize,
    key: &Value,
    alg: &str,
    token: &Value,
) -> Result<VerifiedPayload, Failed> {
    let mut verifier = JwsVerifier::new(verification_keys(key, alg)?);
    if has_unprotected_alg(vector, index) {
        let rejection = verifier.verify_json(&token.to_string()).map(drop);
        let rejection = rejection.unwrap_err().rejection().cloned();
        let expected = match vector["title"].as_str() {
            // The error of the last signature is returned.
            Some("Multiple Signatures") => Rejection::AlgorithmMismatch,
            _ => Rejection::UnprotectedAlg,
        };
        check(
            rejection == Some(expected),
            "unprotected alg without danger",
        )?;
        verifier = danger::allow_unprotected_alg(verifier);
    }
    let detached = vector["title"].as_str().unwrap().contains("Detached");
    let content = vector["input"]["payload"].as_str().unwrap().as_bytes();
    Ok(match (token.as_str(), detached) {
        (Some(compact), false) => verifier.verify(compact)?,
        (Some(compact), true) => {
            check(
                verifier.verify(compact).is_err(),
                "accepted without its content",
            )?;
            verifier.verify_detached(compact, content)?
        }
        (None, false) => verifier.verify_json(&token.to_string())?,
        (None, true) => {
            check(
                verifier.verify_json(&token.to_string()).is_err(),
                "accepted without its content",
            )?;
            verifier.verify_json_detached(&token.to_string(), content)?
        }
    })
}

fn is_reproduced(file: &'static str) -> Trial {
    trial(format!("{file}_is_reproduced"), move || {
        let vector = json(&format!("rfc7520/{file}.json"));
        let (jwk, alg) = signers(&vector).remove(0);
        let payload = vector["input"]["payload"].as_str().unwrap().as_bytes();
        let token = if alg.starts_with("HS") {
            JwsSigner::new(&MacKey::from_jwk_as(&jwk.to_string(), alg.parse()?)?).sign(payload)?
        } else {
            JwsSigner::new(&SigningKey::from_jwk_as(&jwk.to_string(), alg.parse()?)?)
                .sign(payload)?
        };
        check(vector["output"]["compact"] == token, "another token")
    })
}
