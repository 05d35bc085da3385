//! RFC 7516, appendix A. Appendices B and C of RFC 7518 are tested with the primitives.

use jeton::error::Rejection;
use jeton::jwe::Decrypter;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::decryption::decryption_keys;
use crate::support::{Trial, check, json, trial};

const A1: &str = "The true sign of intelligence is not knowledge but imagination.";
const A2: &str = "Live long and prosper.";

pub(crate) fn trials() -> Vec<Trial> {
    let file = json("rfc7516/appendix-a.json");
    let case = move |section: &str| -> Value {
        let name = format!("RFC7516 {section}");
        let tests = file["tests"].as_array().unwrap();
        let found = tests.iter().find(|test| test["name"] == name.as_str());
        found.unwrap_or_else(|| panic!("{name} is missing")).clone()
    };
    let mut trials = Vec::new();
    for (section, alg, plaintext) in [
        ("A.1", "RSA-OAEP", A1),
        ("A.2", "RSA1_5", A2),
        ("A.3", "A128KW", A2),
    ] {
        let vector = case(section);
        let token = vector["compact"].as_str().unwrap().to_owned();
        let (jwk, compact) = (vector["jwk"].clone(), token.clone());
        trials.push(trial(format!("{section}_{alg}_decrypts"), move || {
            let decrypter = Decrypter::new(decryption_keys(&jwk, alg, "")?);
            let decrypted = decrypter.decrypt(&compact)?;
            check(
                decrypted.plaintext() == plaintext.as_bytes(),
                "another plaintext",
            )?;
            check(decrypted.alg() == alg, "another alg")
        }));
        let jwk = vector["jwk"].clone();
        trials.push(trial(
            format!("{section}_{alg}_tampered_is_rejected"),
            move || {
                every_change_is_rejected(&Decrypter::new(decryption_keys(&jwk, alg, "")?), &token)
            },
        ));
    }
    for (index, alg) in [(0, "RSA1_5"), (1, "A128KW")] {
        let vector = case("A.4");
        trials.push(trial(
            format!("A.4_general_recipient_{index}_{alg}_decrypts"),
            move || {
                let decrypter = Decrypter::new(decryption_keys(&vector["jwks"][index], alg, "")?);
                let decrypted = decrypter.decrypt_json(&vector["general_json"].to_string())?;
                check(decrypted.recipient_index() == index, "another recipient")?;
                check(decrypted.plaintext() == A2.as_bytes(), "another plaintext")
            },
        ));
    }
    let vector = case("A.5");
    trials.push(trial("A.5_flattened_A128KW_decrypts", move || {
        let decrypter = Decrypter::new(decryption_keys(&vector["jwk"], "A128KW", "")?);
        let decrypted = decrypter.decrypt_json(&vector["flattened_json"].to_string())?;
        check(decrypted.plaintext() == A2.as_bytes(), "another plaintext")
    }));
    trials
}

/// Changes each character, and truncates the token at each position. The RSA part is long, so each of its
/// characters is changed only once.
fn every_change_is_rejected(decrypter: &Decrypter, token: &str) -> Result<(), Failed> {
    decrypter.decrypt(token)?;
    let header_end = token.find('.').unwrap();
    for position in 0..token.len() {
        for replacement in ["A", "_", "."] {
            if token[position..].starts_with(replacement) {
                continue;
            }
            let mut changed = token.to_owned();
            changed.replace_range(position..=position, replacement);
            let Err(error) = decrypter.decrypt(&changed) else {
                return Err(format!("a change at {position} was accepted").into());
            };
            let rejection = error.rejection().ok_or("not a rejection")?;
            // After the header, the error is uniform, or base64url is not canonical.
            let expected = [
                Rejection::Decryption,
                Rejection::Malformed(jeton::error::Part::Token),
            ];
            check(
                position <= header_end || expected.contains(rejection),
                &format!("a change at {position} told more: {rejection}"),
            )?;
            if token.len() > 600 {
                break;
            }
        }
    }
    for length in 0..token.len() {
        check(
            decrypter.decrypt(&token[..length]).is_err(),
            "cut and accepted",
        )?;
    }
    Ok(())
}
