use std::fmt;
use std::sync::Arc;

use super::Compact;
use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::key::{KeyId, Keys};
use crate::limits::Limits;

/// Verifies compact JWS of any payload. For claims, [`jwt::Verifier`](crate::jwt::Verifier) also
/// checks what they say.
#[derive(Debug)]
pub struct Verifier {
    keys: Keys,
    limits: Limits,
}

impl Verifier {
    /// Trusts these keys: one, or a set.
    pub fn new(keys: impl Into<Keys>) -> Verifier {
        Verifier {
            keys: keys.into(),
            limits: Limits::default(),
        }
    }

    /// Accepts tokens of these sizes.
    pub fn limits(mut self, limits: Limits) -> Verifier {
        self.limits = limits;
        self
    }

    /// The payload, if the signature is valid.
    pub fn verify(&self, token: &str) -> Result<VerifiedPayload> {
        let verified = Compact::split(token, &self.limits)?.verify(&self.keys, &self.limits)?;
        let payload = base64::decode(verified.payload.as_bytes())
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        Ok(VerifiedPayload {
            payload,
            key_id: verified.key.id().map(KeyId::shared),
            typ: verified.typ.map(|typ| typ.into_owned()),
            cty: verified.cty,
        })
    }
}

/// A payload whose signature is valid. Only a [`Verifier`] makes one.
pub struct VerifiedPayload {
    payload: Vec<u8>,
    key_id: Option<Arc<str>>,
    typ: Option<String>,
    cty: Option<String>,
}

impl VerifiedPayload {
    /// Exactly the bytes that were signed.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Exactly the bytes that were signed. That they were verified is no longer in their type.
    pub fn into_payload(self) -> Vec<u8> {
        self.payload
    }

    /// The id of the key that verified, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The header's `typ`.
    pub fn typ(&self) -> Option<&str> {
        self.typ.as_deref()
    }

    /// The header's `cty`.
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
