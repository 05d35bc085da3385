use std::sync::Arc;

use crate::error::{KeyError, KeyProblem, Misuse};
use crate::limits;

/// A key's id: opaque, not empty, bounded, cheap to share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyId(Arc<str>);

impl KeyId {
    /// An id that the caller gives to a key.
    pub(crate) fn chosen(id: &str) -> Result<KeyId, Misuse> {
        Self::bounded(id).ok_or(Misuse::KeyId)
    }

    /// An id found in key material.
    pub(crate) fn loaded(id: &str) -> Result<KeyId, KeyError> {
        Self::bounded(id).ok_or(KeyError::at("kid", KeyProblem::WrongLength))
    }

    fn bounded(id: &str) -> Option<KeyId> {
        (1..=limits::KEY_ID_BYTES)
            .contains(&id.len())
            .then(|| KeyId(id.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}
