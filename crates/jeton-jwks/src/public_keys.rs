//! Reads the public keys of a fetched set.

use jeton::Error;
use jeton::error::KeyProblem;
use jeton::jwk::{KeySet, Skipped};
use jeton::key::SigAlg;

use crate::error::{FetchError, Reasons};

/// Reads a set without its secret keys. The result has at least one public key.
pub(crate) fn public_keys(text: &str, default_alg: Option<SigAlg>) -> Result<KeySet, FetchError> {
    let set = KeySet::from_published_json(text, default_alg).map_err(|error| match error {
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
