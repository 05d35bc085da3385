//! RFC 7517, appendix A: public, private and symmetric keys in sets.

use jeton::Error;
use jeton::error::KeyProblem;
use jeton::jwk::KeySet;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use serde_json::Value;

use crate::support::{Trial, check, json, text, trial};

fn keys(set: &str) -> Vec<Value> {
    json(set)["keys"].as_array().unwrap().clone()
}

fn problem<T>(result: jeton::Result<T>) -> (Option<&'static str>, KeyProblem) {
    match result {
        Err(Error::Key(error)) => (error.member(), error.problem().clone()),
        Err(other) => panic!("not a key error: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("A.1_public_keys", || {
            let all = keys("rfc7517/rfc7517_A.1.jwkset");
            check(all.len() == 2, "two keys")?;
            // The curve key is for encryption and must not verify.
            let (ec, rsa) = (all[0].to_string(), all[1].to_string());
            check(
                problem(VerifyingKey::from_jwk(&ec)) == (Some("use"), KeyProblem::AnotherUse),
                "use: enc",
            )?;
            let key = VerifyingKey::from_jwk(&rsa)?;
            check(key.alg() == SigAlg::RS256, "another algorithm")?;
            check(key.key_id() == Some("2011-04-29"), "another kid")
        }),
        trial("A.1_key_set_keeps_the_verification_key", || {
            let set = KeySet::from_json(&text("rfc7517/rfc7517_A.1.jwkset"))?;
            check((set.len(), set.skipped().len()) == (1, 1), "one of two")
        }),
        trial("A.2_private_keys", || {
            let all = keys("rfc7517/rfc7517_A.2.jwkset");
            let (ec, rsa) = (all[0].to_string(), all[1].to_string());
            check(
                problem(SigningKey::from_jwk(&ec)) == (Some("use"), KeyProblem::AnotherUse),
                "use: enc",
            )?;
            let key = SigningKey::from_jwk(&rsa)?;
            let public =
                VerifyingKey::from_jwk(&keys("rfc7517/rfc7517_A.1.jwkset")[1].to_string())?;
            check(
                key.verifying_key().thumbprint() == public.thumbprint(),
                "not the public half of A.1",
            )?;
            let again = SigningKey::from_jwk(&key.to_jwk()?)?;
            check(again.to_jwk()? == key.to_jwk()?, "the key changed")
        }),
        trial("A.2_key_set_of_private_keys_is_rejected", || {
            let set = KeySet::from_json(&text("rfc7517/rfc7517_A.2.jwkset"))?;
            let private = set
                .skipped()
                .iter()
                .map(|skipped| skipped.reason().problem());
            let rejected = private.filter(|problem| **problem == KeyProblem::PrivateGiven);
            check(
                set.is_empty() && rejected.count() == 2,
                "private keys taken",
            )
        }),
        trial("A.3_symmetric_keys", || {
            let all = keys("rfc7517/rfc7517_A.3.jwkset");
            let (wrap, mac) = (all[0].to_string(), all[1].to_string());
            check(
                problem(MacKey::from_jwk(&wrap)) == (Some("alg"), KeyProblem::AnotherAlgorithm),
                "a key for A128KW taken for a MAC",
            )?;
            // The second key has neither `alg` nor `use`; its `kid` says "used in JWS spec".
            check(
                problem(MacKey::from_jwk(&mac)) == (Some("alg"), KeyProblem::AlgorithmNeeded),
                "without an algorithm",
            )?;
            let key = MacKey::from_jwk_as(&mac, MacAlg::HS256)?;
            let example = MacKey::from_jwk_as(&text("rfc7515/rfc7515_A.1.jwk"), MacAlg::HS256)?;
            check(
                key.thumbprint() == example.thumbprint(),
                "not RFC 7515's key",
            )
        }),
    ]
}
