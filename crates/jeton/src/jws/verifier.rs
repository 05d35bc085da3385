use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::compact::VerifiedCompact;
use super::header::{Extensions, PayloadForm, Reading};
use super::{Compact, json_form};
use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::key::{KeyId, Keys};
use crate::limits::Limits;

/// Verifies JWSs with any payload. For claims, use [`jwt::Verifier`](crate::jwt::Verifier), which also
/// checks them against a policy.
///
/// An unencoded payload (`b64: false`, RFC 7797) is the only supported extension.
#[derive(Debug)]
pub struct Verifier {
    keys: Keys,
    limits: Limits,
    unprotected_alg: bool,
}

impl Verifier {
    /// Creates a verifier that trusts these keys: one key, or a key set.
    pub fn new(keys: impl Into<Keys>) -> Verifier {
        Verifier {
            keys: keys.into(),
            limits: Limits::default(),
            unprotected_alg: false,
        }
    }

    /// Sets the size limits.
    pub fn limits(mut self, limits: Limits) -> Verifier {
        self.limits = limits;
        self
    }

    pub(crate) fn with_unprotected_alg(mut self) -> Verifier {
        self.unprotected_alg = true;
        self
    }

    /// Verifies a compact JWS (RFC 7515, section 7.1) and returns its payload.
    pub fn verify(&self, token: &str) -> Result<VerifiedPayload> {
        let compact = Compact::split(token, &self.limits)?;
        let mut header = None;
        let verified = compact.verify(&self.keys, &self.limits, Extensions::B64, &mut header)?;
        let payload = match verified.payload_form {
            PayloadForm::Plain => verified.payload.as_bytes().to_vec(),
            PayloadForm::Encoded => base64::decode(verified.payload.as_bytes())
                .map_err(|_| Rejection::Malformed(Part::Payload))?,
        };
        Ok(VerifiedPayload::of_compact(payload, verified))
    }

    /// Verifies a compact JWS with detached content (RFC 7515, appendix F). A token that contains a payload is
    /// rejected.
    ///
    /// ```
    /// # use jeton::{jws, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// let token = jws::Signer::new(&key).sign_detached(b"content")?;
    /// let verifier = jws::Verifier::new(&key);
    /// assert!(verifier.verify_detached(&token, b"content").is_ok());
    /// assert!(verifier.verify_detached(&token, b"another").is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn verify_detached(&self, token: &str, content: &[u8]) -> Result<VerifiedPayload> {
        let compact = Compact::split(token, &self.limits)?;
        let mut header = None;
        let verified = compact.verify_detached(content, &self.keys, &self.limits, &mut header)?;
        Ok(VerifiedPayload::of_compact(content.to_vec(), verified))
    }

    /// Verifies a JWS in the general or flattened JSON serialization (RFC 7515, section 7.2). One signature
    /// must be valid for a trusted key.
    ///
    /// [`VerifiedPayload::signature_index`] and [`VerifiedPayload::key_id`] return the signature and the key. The
    /// other signatures are not trusted. If the `alg` of a signature is not in its protected header, the token
    /// is rejected with [`Rejection::UnprotectedAlg`]; see
    /// [`danger::allow_unprotected_alg`](crate::danger::allow_unprotected_alg). At most
    /// [`limits::SIGNATURES`](crate::limits::SIGNATURES) signatures are read, and at most
    /// [`limits::SIGNATURES_TRIED`](crate::limits::SIGNATURES_TRIED) are checked.
    pub fn verify_json(&self, text: &str) -> Result<VerifiedPayload> {
        Ok(json_form::verify(text, None, &self.keys, self.reading())?)
    }

    /// Verifies a JWS in the JSON serialization with detached content.
    pub fn verify_json_detached(&self, text: &str, content: &[u8]) -> Result<VerifiedPayload> {
        Ok(json_form::verify(
            text,
            Some(content),
            &self.keys,
            self.reading(),
        )?)
    }

    fn reading(&self) -> Reading<'_> {
        Reading {
            limits: &self.limits,
            unprotected_alg: self.unprotected_alg,
        }
    }
}

/// A payload with a valid signature. Only a [`Verifier`] creates it.
pub struct VerifiedPayload {
    pub(super) payload: Vec<u8>,
    pub(super) key_id: Option<Arc<str>>,
    pub(super) typ: Option<String>,
    pub(super) cty: Option<String>,
    pub(super) signature_index: usize,
}

impl VerifiedPayload {
    fn of_compact(payload: Vec<u8>, verified: VerifiedCompact<'_, '_, '_>) -> VerifiedPayload {
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
