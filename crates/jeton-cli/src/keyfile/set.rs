//! Key sets: the whole to verify with, one of its keys to sign with.

use jeton::jwk::KeySet;
use jeton::key::Alg;
use jeton::limits;
use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Form, KeyFile, Refused, Shape, Signer};
use crate::exit::{Failure, Outcome};

#[derive(Deserialize)]
struct Elements<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeyFile {
    pub(super) fn set(&self, text: &str, alg: Option<Alg>) -> Result<KeySet, Refused> {
        Ok(match alg {
            None => KeySet::from_json(text)?,
            Some(alg) => KeySet::from_json_as(text, alg)?,
        })
    }

    /// The keys of a set, each as a file of its own; a single key stands alone.
    pub(crate) fn each(self) -> Outcome<Vec<KeyFile>> {
        let Form::Set(text) = self.form() else {
            return Ok(vec![self]);
        };
        self.elements(text)
    }

    pub(super) fn select_signer(
        &self,
        text: &str,
        alg: Option<Alg>,
        kid: Option<&str>,
    ) -> Outcome<Signer> {
        let signers = self.elements(text)?.into_iter();
        let mut signers: Vec<Signer> = signers
            .filter_map(|key| key.signer(alg).ok())
            .filter(|key| kid.is_none() || key.key_id() == kid)
            .collect();
        let set = self.name();
        match (signers.pop(), kid) {
            (Some(signer), _) if signers.is_empty() => Ok(signer),
            (Some(_), None) => Err(Failure::wrong(format!(
                "{set}: the set has several keys that can sign"
            ))
            .hint("choose one: --kid ID")),
            (Some(_), Some(_)) => Err(Failure::wrong(format!(
                "{set}: key refused: kid: several keys that can sign have this id"
            ))),
            (None, None) => Err(Failure::wrong(format!(
                "{set}: the set has no key that can sign"
            ))
            .hint("a key signs if it is private or oct and says its alg; give --alg NAME for one that does not")),
            (None, Some(_)) => Err(Failure::wrong(format!(
                "{set}: key refused: kid: no key that can sign has this id"
            ))),
        }
    }

    /// Whether it is a set with a private key in it, which no verifier takes.
    pub(super) fn has_private_keys(&self) -> bool {
        let Form::Set(text) = self.form() else {
            return false;
        };
        let elements = serde_json::from_str::<Elements<'_>>(text);
        elements.is_ok_and(|set| set.keys.iter().any(|key| Shape::of(key.get()).is_private()))
    }

    fn elements(&self, text: &str) -> Outcome<Vec<KeyFile>> {
        let refused = |message: &str| {
            Failure::wrong(format!("{}: key refused: keys: {message}", self.name()))
        };
        let elements: Elements<'_> =
            serde_json::from_str(text).map_err(|_| refused("not a list of keys"))?;
        if elements.keys.len() > limits::KEY_SET_KEYS {
            return Err(refused("more keys than a set may hold"));
        }
        if elements.keys.is_empty() {
            return Err(refused("the set is empty"));
        }
        let keys = elements.keys.into_iter().enumerate();
        Ok(keys
            .map(|(index, key)| KeyFile {
                name: format!("{}, key {}", self.name(), index + 1),
                form: Form::Jwk(Zeroizing::new(key.get().to_owned())),
            })
            .collect())
    }
}
