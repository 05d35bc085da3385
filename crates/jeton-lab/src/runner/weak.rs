//! An RSA key of 1,024 bits, which report 4 measured and jeton does not sign with.
//!
//! What is needed of it was signed before, by openssl (`weak/make.py`), with a key that has no other
//! use. AWS-LC verifies no RS384 under such a key either, so that the lab knows its own tokens again and
//! leaves those of the subjects to the other subjects.

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::mint::Owner;

/// The one size that is made before.
pub(super) const BITS: u32 = 1024;

const MADE: &str = include_str!("weak/rsa-1024.json");

/// One of the two keys, with all that was signed with it.
#[derive(Debug)]
pub(super) struct WeakKey {
    private: Value,
    public: Value,
    tokens: Vec<(Value, String)>,
}

impl WeakKey {
    /// That owner's key, for the algorithm that report 4 measured.
    pub(super) fn new(alg: &str, owner: Owner) -> Result<Self, String> {
        if alg != "RS384" {
            return Err(format!("the lab has no RSA key of {BITS} bits for {alg}"));
        }
        let name = match owner {
            Owner::Lab => "lab",
            Owner::Stranger => "stranger",
        };
        let made = serde_json::from_str(MADE);
        let mut made: Value = made.map_err(|e| format!("the weak key cannot be read: {e}"))?;
        let private = made[name]["private"].take();
        let public = json!({
            "kty": "RSA", "alg": alg, "n": private["n"], "e": private["e"],
        });
        let tokens = made[name]["tokens"].as_array().into_iter().flatten();
        let tokens = tokens
            .filter_map(Value::as_str)
            .filter_map(|token| Some((claims(token)?, token.to_owned())))
            .collect();
        Ok(Self {
            private,
            public,
            tokens,
        })
    }

    /// The private and the public JWK.
    pub(super) fn jwks(&self) -> (Value, Value) {
        (self.private.clone(), self.public.clone())
    }

    /// The token of these claims, if they were signed.
    pub(super) fn token(&self, claims: &Value) -> Result<String, String> {
        let found = self.tokens.iter().find(|(signed, _)| signed == claims);
        found.map(|(_, token)| token.clone()).ok_or_else(|| {
            format!("only the claims report4 were signed with an RSA key of {BITS} bits")
        })
    }

    /// The claims of a token that was signed before.
    pub(super) fn open(&self, token: &str) -> Result<Value, String> {
        let found = self.tokens.iter().find(|(_, signed)| signed == token);
        found.map(|(claims, _)| claims.clone()).ok_or_else(|| {
            format!("the lab verifies no RS384 under a key of {BITS} bits but its own")
        })
    }
}

fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    let json = URL_SAFE_NO_PAD.decode_to_vec(payload.as_bytes()).ok()?;
    serde_json::from_slice(&json).ok()
}
