//! Key sets: one of their keys for a use, and why there is none.

use jeton::error::KeyProblem;
use jeton::limits;
use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Form, KeyFile, Refused};
use crate::exit::{Failure, Outcome};

#[derive(Deserialize)]
struct Elements<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeyFile {
    /// One key for a use. Of a set it is the one with that id, or the only one that has the use; a
    /// single key without an id gets that id.
    pub(super) fn one_of<K>(
        &self,
        verb: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, Refused>,
        id: fn(&K) -> Option<&str>,
        with_id: fn(K, &str) -> jeton::Result<K>,
    ) -> Outcome<K> {
        if let Form::Set(text) = self.form() {
            return self.select(text, verb, kid, load, id);
        }
        let key = load(self).map_err(|refused| self.refusal(refused))?;
        match (kid, id(&key)) {
            (None, _) => Ok(key),
            (Some(kid), Some(own)) if kid == own => Ok(key),
            (Some(_), Some(_)) => Err(Failure::wrong(format!(
                "{}: key refused: kid: the key has another id than --kid says",
                self.name()
            ))),
            (Some(kid), None) => {
                with_id(key, kid).map_err(|error| Failure::wrong(format!("--kid: {error}")))
            }
        }
    }

    /// The keys of a set, each as a file of its own; a single key stands alone.
    pub(crate) fn each(self) -> Outcome<Vec<KeyFile>> {
        let Form::Set(text) = self.form() else {
            return Ok(vec![self]);
        };
        self.elements(text)
    }

    fn select<K>(
        &self,
        text: &str,
        verb: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, Refused>,
        id: fn(&K) -> Option<&str>,
    ) -> Outcome<K> {
        let elements = self.elements(text)?.into_iter();
        let mut keys: Vec<K> = elements
            .filter_map(|key| load(&key).ok())
            .filter(|key| kid.is_none() || id(key) == kid)
            .collect();
        let set = self.name();
        match (keys.pop(), kid) {
            (Some(key), _) if keys.is_empty() => Ok(key),
            (Some(_), None) => Err(Failure::wrong(format!(
                "{set}: the set has several keys that can {verb}"
            ))
            .hint("choose one: --kid ID")),
            (Some(_), Some(_)) => Err(Failure::wrong(format!(
                "{set}: key refused: kid: several keys that can {verb} have this id"
            ))),
            (None, None) => Err(self.why_none(text, load)),
            (None, Some(_)) => Err(Failure::wrong(format!(
                "{set}: key refused: kid: no key that can {verb} has this id"
            ))),
        }
    }

    /// Why no key of a set has the use: what is wrong with the first of them, or rather with the
    /// first that is private where a public one is wanted, which is the likeliest slip.
    pub(super) fn why_none<K>(
        &self,
        text: &str,
        load: impl Fn(&KeyFile) -> Result<K, Refused>,
    ) -> Failure {
        let elements = match self.elements(text) {
            Ok(elements) => elements,
            Err(failure) => return failure,
        };
        let mut first = None;
        for key in &elements {
            match load(key) {
                Err(refused) if refused.known_problem() == Some(KeyProblem::PrivateGiven) => {
                    let hint =
                        format!("take their public halves: jeton key public {}", self.name());
                    return key.refusal(refused).hint(hint);
                }
                Err(refused) if first.is_none() => first = Some(key.refusal(refused)),
                _ => {}
            }
        }
        match (first, elements.len()) {
            (Some(failure), 1) => failure,
            (Some(failure), count) => failure.reworded(|reason| {
                format!("none of the set's {count} keys can be used here; {reason}")
            }),
            (None, _) => Failure::wrong(format!("{}: key refused: keys: no key", self.name())),
        }
    }

    pub(super) fn elements(&self, text: &str) -> Outcome<Vec<KeyFile>> {
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
