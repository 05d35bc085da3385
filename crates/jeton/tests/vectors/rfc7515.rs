//! RFC 7515, appendix A, and RFC 7638, section 3.1. RFC 7520, section 4.5, covers appendix F (detached content).

use jeton::error::Rejection;
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{MacKey, SigningKey, VerifyingKey};
use libtest_mimic::Failed;

use crate::support::{Trial, check, json, text, trial, verification_keys};

const PAYLOAD: &str =
    "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (section, alg, payload) in [
        ("A.1", "HS256", PAYLOAD),
        ("A.2", "RS256", PAYLOAD),
        ("A.3", "ES256", PAYLOAD),
        ("A.4", "ES512", "Payload"),
    ] {
        trials.push(trial(format!("{section}_{alg}_verifies"), move || {
            let keys = verification_keys(&json(&format!("rfc7515/rfc7515_{section}.jwk")), alg)?;
            let token = text(&format!("rfc7515/rfc7515_{section}.jwsc"));
            let verified = JwsVerifier::new(keys).verify(token.trim())?;
            check(verified.payload() == payload.as_bytes(), "another payload")
        }));
        trials.push(trial(
            format!("{section}_{alg}_tampered_is_rejected"),
            move || {
                let keys =
                    verification_keys(&json(&format!("rfc7515/rfc7515_{section}.jwk")), alg)?;
                every_flip_is_rejected(
                    &JwsVerifier::new(keys),
                    text(&format!("rfc7515/rfc7515_{section}.jwsc")).trim(),
                )
            },
        ));
    }
    trials.push(trial("A.1_HS256_key_round_trips", || {
        let jwk = text("rfc7515/rfc7515_A.1.jwk");
        let key = MacKey::from_jwk_as(&jwk, "HS256".parse()?)?;
        let again = MacKey::from_jwk(&key.to_jwk())?;
        check(
            key.thumbprint() == again.thumbprint(),
            "the key changed on its way through JSON",
        )
    }));
    trials.push(trial("A.2_RS256_token_is_reproduced", || {
        let key = SigningKey::from_jwk_as(&text("rfc7515/rfc7515_A.2.jwk"), "RS256".parse()?)?;
        let ours = JwsSigner::new(&key).sign(PAYLOAD.as_bytes())?;
        check(
            ours == text("rfc7515/rfc7515_A.2.jwsc").trim(),
            "another token",
        )
    }));
    trials.push(trial("A.5_none_is_rejected", || {
        let token = text("rfc7515/rfc7515_A.5.jwsc");
        for (section, alg) in [
            ("A.1", "HS256"),
            ("A.2", "RS256"),
            ("A.3", "ES256"),
            ("A.4", "ES512"),
        ] {
            let keys = verification_keys(&json(&format!("rfc7515/rfc7515_{section}.jwk")), alg)?;
            let rejection = JwsVerifier::new(keys)
                .verify(token.trim())
                .unwrap_err()
                .rejection()
                .cloned();
            check(
                rejection == Some(Rejection::AlgorithmMismatch),
                "rejected for another reason",
            )?;
        }
        Ok(())
    }));
    for (signature, alg) in [(0, "RS256"), (1, "ES256")] {
        trials.push(trial(
            format!("A.6_general_signature_{signature}_{alg}_verifies"),
            move || {
                let jwk = json(&format!("rfc7515/rfc7515_A.6.{}.jwk", signature + 1));
                let verifier = JwsVerifier::new(verification_keys(&jwk, alg)?);
                let verified = verifier.verify_json(&text("rfc7515/rfc7515_A.6.jwsg"))?;
                check(verified.signature_index() == signature, "another signature")?;
                check(verified.payload() == PAYLOAD.as_bytes(), "another payload")
            },
        ));
    }
    trials.push(trial("A.7_flattened_ES256_verifies", || {
        let verifier = JwsVerifier::new(verification_keys(
            &json("rfc7515/rfc7515_A.7.jwk"),
            "ES256",
        )?);
        let verified = verifier.verify_json(&text("rfc7515/rfc7515_A.7.jwsf"))?;
        check(verified.payload() == PAYLOAD.as_bytes(), "another payload")
    }));
    trials.push(trial("A.6_key_set_of_private_keys_is_rejected", || {
        // The published set contains private keys, which must be rejected as public keys.
        check(
            KeySet::from_json(&text("rfc7515/rfc7515_A.6.jwkset"))?.is_empty(),
            "private keys taken",
        )
    }));
    trials.push(trial("RFC7638_3.1_thumbprint", || {
        let key = VerifyingKey::from_jwk(&text("rfc7515/rfc7638_3.1.jwk"))?;
        check(
            key.thumbprint() == text("rfc7515/rfc7638_3.1.thp").trim(),
            "another thumbprint",
        )
    }));
    trials
}

/// Replaces each character by several others.
fn every_flip_is_rejected(verifier: &JwsVerifier, token: &str) -> Result<(), Failed> {
    verifier.verify(token)?;
    for position in 0..token.len() {
        for replacement in ["A", "B", "_", ".", "=", "\n"] {
            if token[position..].starts_with(replacement) {
                continue;
            }
            let mut changed = token.to_owned();
            changed.replace_range(position..=position, replacement);
            check(
                verifier.verify(&changed).is_err(),
                &format!("a change at {position} was accepted"),
            )?;
        }
    }
    for length in 0..token.len() {
        check(
            verifier.verify(&token[..length]).is_err(),
            &format!("cut at {length}, accepted"),
        )?;
    }
    Ok(())
}
