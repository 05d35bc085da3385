//! ML-DSA for JOSE (RFC 9964): the key and the token of the working group's example.

use jeton::jws::{Signer, Verifier};
use jeton::key::{SigAlg, SigningKey};

use crate::support::{Trial, check, json, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let example = || json("ml-dsa-jose/ML_DSA_44.jose.json");
    let key = move || SigningKey::from_jwk(&example()["jwk"].to_string());
    vec![
        trial("private_key_round_trips", move || {
            let key = key()?;
            check(key.alg() == SigAlg::MlDsa44, "another algorithm")?;
            let again: serde_json::Value = serde_json::from_str(&key.to_jwk()?)?;
            check(again == example()["jwk"], "another JWK")
        }),
        trial("kid_is_the_thumbprint", move || {
            let kid = example()["jwk"]["kid"].as_str().unwrap().to_owned();
            check(
                key()?.verifying_key().thumbprint() == kid,
                "another thumbprint",
            )
        }),
        trial("token_verifies", move || {
            let token = example()["jws"].as_str().unwrap().to_owned();
            let verified = Verifier::new(key()?.verifying_key()).verify(&token)?;
            let text = std::str::from_utf8(verified.payload())?;
            check(text.starts_with("It\u{2019}s a dangerous business"), text)
        }),
        trial("changed_token_is_rejected", move || {
            let token = example()["jws"].as_str().unwrap().to_owned();
            let verifier = Verifier::new(key()?.verifying_key());
            check(
                verifier.verify(&token.replacen(".SX", ".TX", 1)).is_err(),
                "payload",
            )?;
            let (head, _) = token.split_at(token.len() - 4);
            check(
                verifier.verify(&format!("{head}AAAA")).is_err(),
                "signature",
            )
        }),
        trial("signing_again_gives_a_valid_token", move || {
            let key = key()?;
            let token = Signer::new(&key).sign(b"x")?;
            Verifier::new(key.verifying_key()).verify(&token)?;
            Ok(())
        }),
    ]
}
