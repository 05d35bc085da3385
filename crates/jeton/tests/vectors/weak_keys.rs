//! Keys below the minimum strength: rejected by all constructors except those of `danger`, which have limits too.

use jeton::error::KeyProblem;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use jeton::{Error, danger};
use serde_json::{Value, json};

use crate::support::{self, Trial, check, trial};

fn problem<T>(result: jeton::Result<T>) -> (Option<&'static str>, KeyProblem) {
    match result {
        Err(Error::Key(error)) => (error.member(), error.problem().clone()),
        Err(other) => panic!("not a key error: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let file = support::json("weak-rsa/keys.json");
    for key in file["keys"].as_array().unwrap().clone() {
        let (bits, exponent) = (key["bits"].as_u64().unwrap(), &key["exponent"]);
        trials.push(trial(
            format!("rsa_{bits}_bits_exponent_{exponent}"),
            move || {
                rsa(&key, bits);
                Ok(())
            },
        ));
    }
    trials.push(trial("rsa_exponent_1_or_even_is_rejected", || {
        let mut key = support::json("weak-rsa/keys.json")["keys"][0]["jwk"].clone();
        for (e, expected) in [
            ("AQ", KeyProblem::TooWeak),
            ("Ag", KeyProblem::Invalid),
            ("BA", KeyProblem::Invalid),
        ] {
            key["e"] = json!(e);
            let rejected = danger::weak_rsa_key_from_jwk(&key.to_string(), SigAlg::RS256);
            check(problem(rejected) == (Some("e"), expected), e)?;
        }
        Ok(())
    }));
    trials.push(trial(
        "weak_rsa_key_that_is_private_or_ec_is_rejected",
        || {
            let private = SigningKey::generate(SigAlg::RS256)?;
            let rejected = danger::weak_rsa_key_from_jwk(&private.to_jwk()?, SigAlg::RS256);
            check(
                problem(rejected).1 == KeyProblem::PrivateGiven,
                "a private key",
            )?;
            let rejected = danger::weak_rsa_key_from_pem(&private.to_pem()?, SigAlg::RS256);
            check(
                problem(rejected).1 == KeyProblem::PrivateGiven,
                "a private key",
            )?;
            let ec = SigningKey::generate(SigAlg::ES256)?.verifying_key();
            for alg in [SigAlg::RS256, SigAlg::ES256] {
                check(
                    danger::weak_rsa_key_from_jwk(&ec.to_jwk(), alg).is_err(),
                    "an EC key",
                )?;
            }
            Ok(())
        },
    ));
    trials.push(trial("short_mac_key_needs_danger", || {
        for &alg in MacAlg::ALL {
            let secret = vec![7; alg.key_bytes() - 1];
            check(MacKey::new(alg, &secret).is_err(), "the normal constructor")?;
            let key = danger::weak_mac_key(alg, &secret)?;
            let token = JwsSigner::new(&key).sign(b"x")?;
            JwsVerifier::new(&key).verify(&token)?;
            let again = danger::weak_mac_key_from_jwk(&key.to_jwk(), alg)?;
            JwsVerifier::new(&again).verify(&token)?;
            check(
                MacKey::from_jwk(&key.to_jwk()).is_err(),
                "the normal constructor",
            )?;
            check(
                problem(danger::weak_mac_key(alg, b"")) == (Some("k"), KeyProblem::TooWeak),
                "empty",
            )?;
            let pem = b"-----BEGIN PUBLIC KEY-----";
            check(
                problem(danger::weak_mac_key(alg, pem)).1 == KeyProblem::KeyAsSecret,
                "the encoding of a key",
            )?;
        }
        let said = r#"{"kty":"oct","alg":"HS512","k":"c2hvcnQ"}"#;
        check(
            danger::weak_mac_key_from_jwk(said, MacAlg::HS256).is_err(),
            "another alg",
        )?;
        let ec = SigningKey::generate(SigAlg::ES256)?
            .verifying_key()
            .to_jwk();
        check(
            danger::weak_mac_key_from_jwk(&ec, MacAlg::HS256).is_err(),
            "not an oct key",
        )
    }));
    trials
}

fn rsa(key: &Value, bits: u64) {
    let (jwk, pem) = (key["jwk"].to_string(), key["pem"].as_str().unwrap());
    for (name, token) in key["tokens"].as_object().unwrap() {
        let alg: SigAlg = name.parse().unwrap();
        let token = token.as_str().unwrap();
        // The normal constructors reject them.
        for rejected in [
            VerifyingKey::from_jwk_as(&jwk, alg),
            VerifyingKey::from_pem_as(pem, alg),
        ] {
            let error = rejected.unwrap_err();
            let expected = match bits {
                2048.. => "key rejected: RSA exponent has 2 bits, minimum 17".to_owned(),
                _ => format!("key rejected: RSA modulus has {bits} bits, minimum 2048"),
            };
            assert_eq!(error.to_string(), expected, "{name}");
            let problem = problem::<()>(Err(error)).1;
            assert_eq!(problem, KeyProblem::TooWeak, "{name}");
        }
        let weak = [
            danger::weak_rsa_key_from_jwk(&jwk, alg),
            danger::weak_rsa_key_from_pem(pem, alg),
        ];
        for key in weak {
            if bits < 1024 {
                assert_eq!(problem(key), (Some("n"), KeyProblem::TooWeak));
            } else if bits < 2048 && !matches!(alg, SigAlg::RS256 | SigAlg::RS512) {
                assert_eq!(problem(key), (Some("n"), KeyProblem::Unsupported), "{name}");
            } else {
                let verifier = JwsVerifier::new(key.unwrap());
                assert_eq!(
                    verifier.verify(token).unwrap().payload(),
                    b"legacy",
                    "{name}"
                );
                let changed = token.replacen("bGVnYWN5", "TGVnYWN5", 1);
                assert!(verifier.verify(&changed).is_err(), "{name}");
            }
        }
    }
}
