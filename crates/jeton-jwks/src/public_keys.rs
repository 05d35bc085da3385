//! Reads the public keys of a fetched set.

use jeton::Error;
use jeton::error::KeyProblem;
use jeton::jwk::{KeySet, Skipped};
use jeton::key::SigAlg;

use crate::error::{FetchError, Reasons};

/// How a set is read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The algorithm of keys without `alg`.
    pub(crate) default_alg: Option<SigAlg>,
    /// The `use` of the signature keys, if it is not `sig`.
    pub(crate) key_use: Option<String>,
}

/// Reads a set without its secret keys. The result has at least one public key.
pub(crate) fn public_keys(text: &str, reading: &Reading) -> Result<KeySet, FetchError> {
    let set = match &reading.key_use {
        None => KeySet::from_published_json(text, reading.default_alg),
        Some(key_use) => KeySet::from_published_json_with_use(text, key_use, reading.default_alg),
    };
    let set = set.map_err(|error| match error {
        Error::Key(error) => FetchError::InvalidKeySet(error),
        _ => FetchError::InvalidKeySet(KeyProblem::Malformed.into()),
    })?;
    if set.is_empty() {
        return Err(FetchError::NoUsableKey {
            skipped: set.skipped().into(),
        });
    }
    Ok(set)
}

/// Logs why keys of a new set were skipped. Keys for another use are normal, so they are not logged.
pub(crate) fn log_skipped(host: &str, set: &KeySet) {
    let is_fault = |skipped: &&Skipped| !skipped.serves_another_use();
    let faults: Vec<Skipped> = set.skipped().iter().filter(is_fault).cloned().collect();
    if faults.is_empty() {
        return;
    }
    let (skipped, usable) = (Reasons(&faults), set.len());
    tracing::warn!(host, usable, %skipped, "keys of the key set were skipped");
}
