//! Key sets: one of their keys for a use or all that have it, and why a key is left out.

use jeton::error::KeyProblem;
use jeton::limits;
use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Form, KeyFile, LoadError, Shape};
use crate::exit::{Failure, Outcome};
use crate::output;

#[derive(Deserialize)]
struct Elements<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// The id of a key that is refused, and why it is.
struct SkippedKey {
    kid: Option<String>,
    why: Failure,
}

/// What a file is loaded as, and the keys of its set that are not in it.
pub(crate) struct Loaded<K> {
    pub(crate) keys: K,
    pub(crate) skipped: Skipped,
}

/// The keys of a set that cannot be used for what it is loaded for. A set usually has such keys, for another
/// use or of a kind that is not supported: they are listed when the caller asks for it, or when no key fits.
#[derive(Default)]
pub(crate) struct Skipped(Vec<SkippedKey>);

impl Skipped {
    /// Lists them as notes.
    pub(crate) fn note(&self) {
        note(&self.0);
    }

    /// These and others.
    pub(crate) fn and(mut self, others: Skipped) -> Skipped {
        self.0.extend(others.0);
        self
    }

    /// Lists them now if the caller wants them in any case, and then no more.
    pub(crate) fn list_if(self, is_wanted: bool) -> Skipped {
        if !is_wanted {
            return self;
        }
        self.note();
        Skipped::default()
    }
}

impl KeyFile {
    /// One key for a use. Of a set it is the one with that id, or the only one that has the use; a
    /// single key without an id gets that id.
    pub(super) fn one_of<K>(
        &self,
        verb: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
        id: fn(&K) -> Option<&str>,
        with_id: fn(K, &str) -> jeton::Result<K>,
    ) -> Outcome<K> {
        if let Form::Set(text) = self.form() {
            return self.select(text, verb, kid, load, id);
        }
        let key = load(self).map_err(|error| self.failure(error))?;
        match (kid, id(&key)) {
            (None, _) => Ok(key),
            (Some(kid), Some(own)) if kid == own => Ok(key),
            (Some(_), Some(_)) => Err(Failure::error(format!(
                "{}: key refused: kid: the key has another id than --kid says",
                self.name()
            ))),
            (Some(kid), None) => {
                with_id(key, kid).map_err(|error| Failure::error(format!("--kid: {error}")))
            }
        }
    }

    /// The keys of a set, each as a file of its own; a single key stands alone.
    pub(crate) fn each(self) -> Outcome<Vec<KeyFile>> {
        Ok(self.set_keys()?.unwrap_or_else(|| vec![self]))
    }

    /// The keys of a set, each as a file of its own; none of a single key.
    pub(crate) fn set_keys(&self) -> Outcome<Option<Vec<KeyFile>>> {
        let Form::Set(text) = self.form() else {
            return Ok(None);
        };
        self.elements(text).map(Some)
    }

    /// What is made of the key, or of each key of a set: there, what is refused does not spoil the rest
    /// and is noted. At least one.
    pub(crate) fn each_as<T>(self, make: impl Fn(&KeyFile) -> Outcome<T>) -> Outcome<Vec<T>> {
        let (made, mut skipped_keys) = part(self.each()?, make);
        if made.is_empty() && !skipped_keys.is_empty() {
            return Err(skipped_keys.swap_remove(0).why);
        }
        note(&skipped_keys);
        Ok(made)
    }

    /// The keys of a set that have a use, at least one.
    pub(super) fn usable<K>(
        &self,
        text: &str,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
    ) -> Outcome<Loaded<Vec<K>>> {
        let (usable, skipped_keys) = part(self.elements(text)?, |key| key.loaded(&load));
        if usable.is_empty() {
            return Err(self.no_usable_key(text, load));
        }
        Ok(Loaded {
            keys: usable,
            skipped: Skipped(skipped_keys),
        })
    }

    /// A key of a set, for which the call's algorithm is meant if it says none and has that one.
    pub(super) fn with_default_algorithm<A: Copy, K>(
        &self,
        alg: Option<A>,
        load: impl Fn(Option<A>) -> Result<K, LoadError>,
    ) -> Result<K, LoadError> {
        let says_its_own = matches!(self.form(), Form::Jwk(text) if Shape::of(text).alg.is_some());
        if alg.is_none() || says_its_own {
            return load(None);
        }
        load(alg).or_else(|error| match load(None) {
            Err(other) if other.key_problem() == Some(KeyProblem::AlgorithmNeeded) => {
                Err(error)
            }
            loaded => loaded,
        })
    }

    fn loaded<K>(&self, load: impl Fn(&KeyFile) -> Result<K, LoadError>) -> Outcome<K> {
        load(self).map_err(|error| self.failure(error))
    }

    fn select<K>(
        &self,
        text: &str,
        verb: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
        id: fn(&K) -> Option<&str>,
    ) -> Outcome<K> {
        let (mut keys, mut skipped_keys) = part(self.elements(text)?, |key| key.loaded(&load));
        if kid.is_some() {
            // What is wrong with keys of other ids is of no concern.
            keys.retain(|key| id(key) == kid);
            skipped_keys.retain(|key| key.kid.as_deref() == kid);
        }
        let set = self.name();
        match (keys.pop(), kid) {
            (Some(key), _) if keys.is_empty() => {
                note(&skipped_keys);
                Ok(key)
            }
            (Some(_), None) => Err(Failure::error(format!(
                "{set}: the set has several keys that can {verb}"
            ))
            .hint("choose one: --kid ID")),
            (Some(_), Some(_)) => Err(Failure::error(format!(
                "{set}: key refused: kid: several keys that can {verb} have this id"
            ))),
            (None, None) => Err(self.no_usable_key(text, load)),
            (None, Some(_)) if !skipped_keys.is_empty() => Err(skipped_keys.swap_remove(0).why),
            (None, Some(_)) => Err(Failure::error(format!(
                "{set}: key refused: kid: no key that can {verb} has this id"
            ))),
        }
    }

    /// Why no key of a set has the use: what is wrong with the first of them, or rather with the
    /// first that is private where a public one is wanted, which is the likeliest slip.
    pub(super) fn no_usable_key<K>(
        &self,
        text: &str,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
    ) -> Failure {
        let elements = match self.elements(text) {
            Ok(elements) => elements,
            Err(failure) => return failure,
        };
        let mut first = None;
        for key in &elements {
            match load(key) {
                Err(error) if refused.key_problem() == Some(KeyProblem::PrivateGiven) => {
                    let hint =
                        format!("take their public halves: jeton key public {}", self.name());
                    return key.failure(refused).hint(hint);
                }
                Err(error) if first.is_none() => first = Some(key.failure(refused)),
                _ => {}
            }
        }
        match (first, elements.len()) {
            (Some(failure), 1) => failure,
            (Some(failure), count) => failure.map_message(|reason| {
                format!("none of the set's {count} keys can be used here; {reason}")
            }),
            (None, _) => Failure::error(format!("{}: key refused: keys: no key", self.name())),
        }
    }

    /// What it says its id is.
    fn kid(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            kid: String,
        }
        let Form::Jwk(text) = self.form() else {
            return None;
        };
        serde_json::from_str(text).ok().map(|Named { kid }| kid)
    }

    pub(super) fn elements(&self, text: &str) -> Outcome<Vec<KeyFile>> {
        let refused = |message: &str| {
            Failure::error(format!("{}: key refused: keys: {message}", self.name()))
        };
        let elements: Elements<'_> =
            serde_json::from_str(text).map_err(|_| refused("not a list of keys"))?;
        if elements.keys.len() > limits::KEY_SET_KEYS {
            let (count, limit) = (elements.keys.len(), limits::KEY_SET_KEYS);
            return Err(refused(&format!("the set has {count} keys, limit {limit}")));
        }
        if elements.keys.is_empty() {
            return Err(refused("the set is empty"));
        }
        let keys = elements.keys.into_iter().enumerate();
        Ok(keys
            .map(|(index, key)| KeyFile {
                name: format!("{}, key {}", self.name(), index + 1),
                file: self.file.clone(),
                is_der: false,
                form: Form::Jwk(Zeroizing::new(key.get().to_owned())),
            })
            .collect())
    }
}

/// What is made of each of a set's keys, and which are refused.
fn part<T>(keys: Vec<KeyFile>, make: impl Fn(&KeyFile) -> Outcome<T>) -> (Vec<T>, Vec<SkippedKey>) {
    let (mut made, mut skipped_keys) = (Vec::new(), Vec::new());
    for key in &keys {
        match make(key) {
            Ok(one) => made.push(one),
            Err(why) => skipped_keys.push(SkippedKey {
                kid: key.kid(),
                why,
            }),
        }
    }
    (made, skipped_keys)
}

fn note(skipped_keys: &[SkippedKey]) {
    for key in skipped_keys {
        output::note(format_args!("skipped: {}", key.why.message_with_hint()));
    }
}
