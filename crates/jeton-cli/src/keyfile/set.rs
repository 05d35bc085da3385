//! Loads one key or all keys of a key set for a use, and records why a key is skipped.

use std::slice;

use jeton::error::KeyProblem;
use jeton::key::KeyFormat;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{Form, Half, KEY_ERROR_PREFIX as PREFIX, KeyFile, LoadError, Shape};
use crate::exit::{Failure, Outcome};
use crate::output;

/// A key that is skipped, and the reason.
struct SkippedKey {
    kid: Option<String>,
    reason: Failure,
}

/// The loaded keys, and the keys of the set that were skipped.
pub(crate) struct Loaded<K> {
    pub(crate) keys: K,
    pub(crate) skipped: Skipped,
}

/// The keys of a set that cannot be used for the purpose of this call.
///
/// Sets usually have keys for another use or of an unsupported kind. They are listed only with --verbose, or if
/// no key fits.
#[derive(Default)]
pub(crate) struct Skipped(Vec<SkippedKey>);

impl Skipped {
    /// Lists the keys as notes.
    pub(crate) fn note(&self) {
        note(&self.0);
    }

    /// Appends other skipped keys.
    pub(crate) fn and(mut self, others: Skipped) -> Skipped {
        self.0.extend(others.0);
        self
    }

    /// With --verbose, lists the keys now and removes them.
    pub(crate) fn list_if(self, is_verbose: bool) -> Skipped {
        if !is_verbose {
            return self;
        }
        self.note();
        Skipped::default()
    }
}

impl KeyFile {
    /// Loads one key for a use: the key of a set with this id, or the only key of a set with this use. A single
    /// key without an id gets this id.
    pub(super) fn one_of<K>(
        &self,
        use_name: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
        id: fn(&K) -> Option<&str>,
        with_id: fn(K, &str) -> jeton::Result<K>,
    ) -> Outcome<K> {
        if self.is_set() {
            return self.select(use_name, kid, load, id);
        }
        let key = load(self).map_err(|error| self.failure(error))?;
        match (kid, id(&key)) {
            (None, _) => Ok(key),
            (Some(kid), Some(own)) if kid == own => Ok(key),
            (Some(_), Some(_)) => Err(Failure::error(format!(
                "{}: {PREFIX}kid: differs from --kid",
                self.name()
            ))),
            (Some(kid), None) => {
                with_id(key, kid).map_err(|error| Failure::error(format!("--kid: {error}")))
            }
        }
    }

    /// Returns the keys of a set, each as its own file; a single key is the only element.
    pub(crate) fn each(self) -> Outcome<Vec<KeyFile>> {
        Ok(self.set_keys()?.unwrap_or_else(|| vec![self]))
    }

    /// Returns the keys of a set, each as its own file; `None` for a single key.
    pub(crate) fn set_keys(&self) -> Outcome<Option<Vec<KeyFile>>> {
        self.is_set().then(|| self.elements()).transpose()
    }

    /// Returns whether it is a key set, or several files.
    pub(super) fn is_set(&self) -> bool {
        matches!(self.form(), Form::Set(_) | Form::Several(_))
    }

    /// Returns whether it is several files.
    pub(crate) fn is_several(&self) -> bool {
        matches!(self.form(), Form::Several(_))
    }

    /// Returns the files that the caller named.
    pub(super) fn files(&self) -> &[KeyFile] {
        match self.form() {
            Form::Several(files) => files,
            _ => slice::from_ref(self),
        }
    }

    /// Removes secret keys, which must not count if anyone can read the file. Returns `None` if no key is left.
    pub(crate) fn without_secrets(self) -> Outcome<Option<KeyFile>> {
        let Some(keys) = self.set_keys()? else {
            return Ok((!self.is_secret()).then_some(self));
        };
        let public: Vec<_> = keys.iter().filter(|key| !key.is_secret()).collect();
        if public.len() == keys.len() {
            return Ok(Some(self));
        }
        let texts = public.iter().filter_map(|key| match key.form() {
            Form::Jwk(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        let set = format!("{{\"keys\":[{}]}}", texts.join(","));
        Ok((!texts.is_empty()).then(|| KeyFile {
            form: Form::Set(Zeroizing::new(set)),
            ..self
        }))
    }

    /// Returns whether it is a private or a symmetric key.
    pub(crate) fn is_secret(&self) -> bool {
        match self.any_algorithm() {
            Ok(loaded) => loaded.half() != Half::Public,
            Err(_) => self.has_secret(),
        }
    }

    /// Converts the key, or each key of a set. A key of a set that fails is noted, and at least one succeeds.
    pub(crate) fn each_as<T>(self, make: impl Fn(&KeyFile) -> Outcome<T>) -> Outcome<Vec<T>> {
        let (made, mut skipped_keys) = partition(self.each()?, make);
        if made.is_empty() && !skipped_keys.is_empty() {
            return Err(skipped_keys.swap_remove(0).reason);
        }
        note(&skipped_keys);
        Ok(made)
    }

    /// Loads the keys of a set that have this use, at least one.
    pub(super) fn usable<K>(
        &self,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
    ) -> Outcome<Loaded<Vec<K>>> {
        let (usable, skipped_keys) = partition(self.elements()?, |key| key.loaded(&load));
        if usable.is_empty() {
            return Err(self.no_usable_key(load));
        }
        Ok(Loaded {
            keys: usable,
            skipped: Skipped(skipped_keys),
        })
    }

    /// Loads a key of a set. The caller's algorithm applies if the key has none and the algorithm fits.
    pub(super) fn with_default_algorithm<A: Copy, K>(
        &self,
        alg: Option<A>,
        load: impl Fn(Option<A>) -> Result<K, LoadError>,
    ) -> Result<K, LoadError> {
        if alg.is_none() || self.names_algorithm() {
            return load(None);
        }
        load(alg).or_else(|error| match load(None) {
            Err(other) if other.key_problem() == Some(KeyProblem::AlgorithmNeeded) => Err(error),
            loaded => loaded,
        })
    }

    fn loaded<K>(&self, load: impl Fn(&KeyFile) -> Result<K, LoadError>) -> Outcome<K> {
        load(self).map_err(|error| self.failure(error))
    }

    fn select<K>(
        &self,
        use_name: &str,
        kid: Option<&str>,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
        id: fn(&K) -> Option<&str>,
    ) -> Outcome<K> {
        let (mut keys, mut skipped_keys) = partition(self.elements()?, |key| key.loaded(&load));
        if kid.is_some() {
            // Errors of keys with another id do not matter.
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
                "{set}: the set has several keys that can {use_name}"
            ))
            .hint("to select one, add `--kid ID`")),
            (Some(_), Some(_)) => Err(Failure::error(format!(
                "{set}: {PREFIX}kid: several keys that can {use_name} have this id"
            ))),
            (None, None) => Err(self.no_usable_key(load)),
            (None, Some(_)) if !skipped_keys.is_empty() => Err(skipped_keys.swap_remove(0).reason),
            (None, Some(_)) => Err(Failure::error(format!(
                "{set}: {PREFIX}kid: no key that can {use_name} has this id"
            ))),
        }
    }

    /// Returns the failure if no key of a set has the use: the error of the first key. A private key in place of
    /// a public key comes first, because that is the most likely mistake.
    pub(super) fn no_usable_key<K>(
        &self,
        load: impl Fn(&KeyFile) -> Result<K, LoadError>,
    ) -> Failure {
        let elements = match self.elements() {
            Ok(elements) => elements,
            Err(failure) => return failure,
        };
        let mut first = None;
        for key in &elements {
            match load(key) {
                Err(error) if error.key_problem() == Some(KeyProblem::PrivateGiven) => {
                    let hint = format!(
                        "to get the public keys, run `jeton key public {}`",
                        self.name()
                    );
                    return key.failure(error).hint(hint);
                }
                Err(error) if first.is_none() => first = Some(key.failure(error)),
                _ => {}
            }
        }
        match (first, elements.len()) {
            (Some(failure), 1) => failure,
            (Some(failure), count) => failure.map_message(|reason| {
                format!("none of the {count} keys of the set can be used; {reason}")
            }),
            (None, _) => Failure::error(format!("{}: {PREFIX}keys: no key", self.name())),
        }
    }

    /// Returns the key's `kid`.
    pub(crate) fn kid(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            kid: String,
        }
        let Form::Jwk(text) = self.form() else {
            return None;
        };
        serde_json::from_str(text).ok().map(|Named { kid }| kid)
    }

    /// Returns the keys, at least one.
    fn elements(&self) -> Outcome<Vec<KeyFile>> {
        if let Form::Several(files) = self.form() {
            let keys: Outcome<Vec<_>> = files.iter().map(KeyFile::elements).collect();
            return Ok(keys?.concat());
        }
        let keys = self.elements_or_none()?;
        if keys.is_empty() {
            Err(Failure::error(format!(
                "{}: {PREFIX}keys: the set is empty",
                self.name()
            )))
        } else {
            Ok(keys)
        }
    }

    /// Returns whether the key is a JWK with an algorithm.
    pub(crate) fn names_algorithm(&self) -> bool {
        matches!(self.form(), Form::Jwk(text) if Shape::of(text).alg.is_some())
    }

    /// Returns the keys of a set, which may be empty; a single key is the only element.
    pub(crate) fn elements_or_none(&self) -> Outcome<Vec<KeyFile>> {
        let Form::Set(text) = self.form() else {
            return Ok(vec![self.clone()]);
        };
        let keys = jeton::key::AnyKey::from_bytes(text.as_bytes()).and_then(|set| set.each());
        let keys = keys.map_err(|error| self.failure(error.into()))?;
        let keys = keys.iter().enumerate();
        Ok(keys
            .map(|(index, key)| KeyFile {
                name: format!("{}, key {}", self.name(), index + 1),
                file: self.file.clone(),
                format: KeyFormat::Jwk,
                form: Form::Jwk(Zeroizing::new(key.text().unwrap_or_default().to_owned())),
            })
            .collect())
    }
}

/// Converts each key, and collects the keys that fail.
fn partition<T>(
    keys: Vec<KeyFile>,
    make: impl Fn(&KeyFile) -> Outcome<T>,
) -> (Vec<T>, Vec<SkippedKey>) {
    let (mut made, mut skipped_keys) = (Vec::new(), Vec::new());
    for key in &keys {
        match make(key) {
            Ok(one) => made.push(one),
            Err(reason) => skipped_keys.push(SkippedKey {
                kid: key.kid(),
                reason,
            }),
        }
    }
    (made, skipped_keys)
}

fn note(skipped_keys: &[SkippedKey]) {
    for key in skipped_keys {
        output::note(format_args!("skipped: {}", key.reason.with_hint()));
    }
}
