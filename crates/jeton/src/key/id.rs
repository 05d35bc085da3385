use std::sync::Arc;

use crate::error::{InvalidUse, KeyError, KeyProblem};
use crate::limits;

/// A key id: opaque, not empty, with a maximum length, cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyId(Arc<str>);

impl KeyId {
    /// Checks an id that the caller sets.
    pub(crate) fn from_caller(id: &str) -> Result<KeyId, InvalidUse> {
        Self::bounded(id, limits::KEY_ID_BYTES).ok_or(InvalidUse::KeyId {
            bytes: id.len(),
            limit: limits::KEY_ID_BYTES,
        })
    }

    /// Checks an id from key material.
    pub(crate) fn from_key(id: &str) -> Result<KeyId, KeyError> {
        let limit = limits::KEY_ID_BYTES_MAX;
        Self::bounded(id, limit).ok_or(match id.len() {
            0 => KeyError::at("kid", KeyProblem::WrongLength),
            bytes => KeyError::too_large("kid", bytes, limit),
        })
    }

    fn bounded(id: &str, limit: usize) -> Option<KeyId> {
        (1..=limit).contains(&id.len()).then(|| KeyId(id.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}
