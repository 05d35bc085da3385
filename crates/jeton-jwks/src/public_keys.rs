//! Selects the public keys of a fetched set.

use jeton::jwk::KeySet;
use jeton::key::SigAlg;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::error::FetchError;

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// The members that tell whether a key is public.
#[derive(Deserialize)]
struct Shape {
    kty: String,
    alg: Option<IgnoredAny>,
    r#use: Option<String>,
    crv: Option<String>,
    d: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
    r#priv: Option<IgnoredAny>,
}

/// Returns the set without its secret keys. Anyone who reads a secret key in a published set could sign. Keys without
/// `alg` get the default, if they have a type for it.
pub(crate) fn public_keys(text: &str, default_alg: Option<SigAlg>) -> Result<String, FetchError> {
    let set: Set<'_> = serde_json::from_str(text).map_err(|_| FetchError::InvalidKeySet)?;
    let public = |key: &&RawValue| {
        let shape: Shape = serde_json::from_str(key.get()).ok()?;
        let is_public =
            shape.kty != "oct" && shape.d.is_none() && shape.k.is_none() && shape.r#priv.is_none();
        is_public.then(|| match default_alg.filter(|alg| shape.lacks(*alg)) {
            // The object has members, at least `kty`.
            Some(alg) => key.get().replacen('{', &format!("{{\"alg\":\"{alg}\","), 1),
            None => key.get().to_owned(),
        })
    };
    let keys: Vec<String> = set.keys.iter().filter_map(public).collect();
    let text = format!("{{\"keys\":[{}]}}", keys.join(","));
    match KeySet::from_json(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(FetchError::InvalidKeySet),
    }
}

impl Shape {
    /// Whether the key has no algorithm and could be one for this.
    fn lacks(&self, alg: SigAlg) -> bool {
        let kty = match alg.name().as_bytes() {
            [b'R' | b'P', b'S', ..] => "RSA",
            [b'E', b'S', ..] => "EC",
            [b'M', b'L', ..] => "AKP",
            _ => "OKP",
        };
        // A curve implies the algorithm, except for a key of another algorithm.
        let is_implied = self.crv.is_some();
        let is_for_signatures = self.r#use.as_deref().is_none_or(|r#use| r#use == "sig");
        self.alg.is_none() && self.kty == kty && !is_implied && is_for_signatures
    }
}
