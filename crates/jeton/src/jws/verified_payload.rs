use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::compact::VerifiedCompact;
use crate::key::KeyId;

/// A payload with a valid signature. Only a [`JwsVerifier`](super::JwsVerifier) creates it.
pub struct VerifiedPayload {
    pub(super) payload: Vec<u8>,
    pub(super) key_id: Option<Arc<str>>,
    pub(super) typ: Option<String>,
    pub(super) cty: Option<String>,
    pub(super) signature_index: usize,
}

impl VerifiedPayload {
    pub(super) fn of_compact(
        payload: Vec<u8>,
        verified: VerifiedCompact<'_, '_, '_>,
    ) -> VerifiedPayload {
        VerifiedPayload {
            payload,
            key_id: verified.key.id().map(KeyId::shared),
            typ: verified.typ.map(Cow::into_owned),
            cty: verified.cty.map(Cow::into_owned),
            signature_index: 0,
        }
    }

    /// Returns the signed bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the signed bytes as a `Vec`, which no longer shows in its type that they were verified.
    pub fn into_payload(self) -> Vec<u8> {
        self.payload
    }

    /// Returns the id of the key that verified the signature, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns the index of the valid signature, starting at 0.
    pub fn signature_index(&self) -> usize {
        self.signature_index
    }

    /// Returns `typ` of the protected header.
    pub fn typ(&self) -> Option<&str> {
        self.typ.as_deref()
    }

    /// Returns `cty` of the protected header.
    pub fn content_type(&self) -> Option<&str> {
        self.cty.as_deref()
    }
}

impl fmt::Debug for VerifiedPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedPayload")
            .field("bytes", &self.payload.len())
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}
