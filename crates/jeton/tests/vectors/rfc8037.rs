//! RFC 8037, appendix A: Ed25519 keys, thumbprint, signing and verifying. A.6 and A.7, X25519 key agreement, are
//! part of the JWE tests.

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{SigAlg, SigningKey, VerifyingKey};

use crate::support::{Trial, check, json, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let private = || json("rfc8037/cookbook-jws.json")["input"]["key"].to_string();
    let public = || {
        let mut key = json("rfc8037/cookbook-jws.json")["input"]["key"].clone();
        key.as_object_mut().unwrap().remove("d");
        key.to_string()
    };
    let token = || {
        json("rfc8037/cookbook-jws.json")["output"]["compact"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let payload = b"Example of Ed25519 signing";

    let mut trials = vec![
        trial("A.1_private_key_round_trips", move || {
            let key = SigningKey::from_jwk(&private())?;
            let again = SigningKey::from_jwk(&key.to_jwk()?)?;
            check(key.to_jwk()? == again.to_jwk()?, "the key changed")?;
            check(key.alg() == SigAlg::EdDSA, "another algorithm")
        }),
        trial("A.2_public_key_round_trips", move || {
            let key = VerifyingKey::from_jwk(&public())?;
            check(
                key.thumbprint() == VerifyingKey::from_jwk(&key.to_jwk())?.thumbprint(),
                "the key changed",
            )?;
            check(
                SigningKey::from_jwk(&public()).is_err(),
                "a public key signs",
            )?;
            check(
                VerifyingKey::from_jwk(&private()).is_err(),
                "a private key taken for a public one",
            )
        }),
        trial("A.4_signing_reproduces_the_token", move || {
            let key = SigningKey::from_jwk(&private())?;
            check(
                JwsSigner::new(&key).sign(payload)? == token(),
                "another token",
            )
        }),
        trial("A.5_token_verifies", move || {
            let verifier = JwsVerifier::new(VerifyingKey::from_jwk(&public())?);
            check(
                verifier.verify(&token())?.payload() == payload,
                "another payload",
            )
        }),
    ];
    for test in json("rfc8037/thumbprints.json")["tests"]
        .as_array()
        .unwrap()
        .clone()
    {
        let kty = test["jwk"]["kty"].as_str().unwrap().to_owned();
        trials.push(trial(
            format!("A.3_thumbprint_and_RFC9278_uri_{kty}"),
            move || {
                let key = VerifyingKey::from_jwk(&test["jwk"].to_string())?;
                check(test["thumbprint"] == key.thumbprint(), "another thumbprint")?;
                check(test["uri"] == key.thumbprint_uri(), "another URI")
            },
        ));
    }
    trials
}
