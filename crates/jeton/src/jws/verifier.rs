use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::header::{Extensions, Fields, PayloadForm, Reading};
use super::{Compact, json_form};
use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::key::{KeyId, Keys, VerificationKey};
use crate::limits::Limits;

/// Verifies JWS of any payload. For claims, [`jwt::Verifier`](crate::jwt::Verifier) also
/// checks what they say.
///
/// A payload that stands unencoded (`b64: false`, RFC 7797) is understood; no other extension is.
#[derive(Debug)]
pub struct Verifier {
    keys: Keys,
    limits: Limits,
    unprotected_alg: bool,
}

impl Verifier {
    /// Trusts these keys: one, or a set.
    pub fn new(keys: impl Into<Keys>) -> Verifier {
        Verifier {
            keys: keys.into(),
            limits: Limits::default(),
            unprotected_alg: false,
        }
    }

    /// Accepts tokens of these sizes.
    pub fn limits(mut self, limits: Limits) -> Verifier {
        self.limits = limits;
        self
    }

    pub(crate) fn with_unprotected_alg(mut self) -> Verifier {
        self.unprotected_alg = true;
        self
    }

    /// The payload of a compact JWS (RFC 7515, section 7.1), if the signature is valid.
    pub fn verify(&self, token: &str) -> Result<VerifiedPayload> {
        let compact = Compact::split(token, &self.limits)?;
        let verified = compact.verify(&self.keys, &self.limits, Extensions::B64, owned)?;
        let payload = match verified.payload_form {
            PayloadForm::Plain => verified.payload.as_bytes().to_vec(),
            PayloadForm::Encoded => base64::decode(verified.payload.as_bytes())
                .map_err(|_| Rejection::Malformed(Part::Payload))?,
        };
        Ok(VerifiedPayload::of_compact(
            payload,
            verified.key,
            verified.header,
        ))
    }

    /// The content of a compact JWS that travels without it (RFC 7515, appendix F), if the
    /// signature is valid. A token that has a payload of its own is refused.
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
        let verified = compact.verify_detached(content, &self.keys, &self.limits, owned)?;
        Ok(VerifiedPayload::of_compact(
            content.to_vec(),
            verified.key,
            verified.header,
        ))
    }

    /// The payload of a JWS in the JSON serialization, general or flattened (RFC 7515,
    /// section 7.2), if one of its signatures is valid under a trusted key.
    ///
    /// [`VerifiedPayload::signature_index`] and [`VerifiedPayload::key_id`] say which. The others
    /// may be anybody's. A signature whose `alg` is not in its protected header is
    /// [`Rejection::UnprotectedAlg`]; see
    /// [`danger::allow_unprotected_alg`](crate::danger::allow_unprotected_alg). At most [`limits::SIGNATURES`](crate::limits::SIGNATURES) are looked at,
    /// and at most [`limits::SIGNATURES_TRIED`](crate::limits::SIGNATURES_TRIED) checked.
    pub fn verify_json(&self, text: &str) -> Result<VerifiedPayload> {
        Ok(json_form::verify(text, None, &self.keys, self.reading())?)
    }

    /// The content of a JWS in the JSON serialization that travels without it.
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

/// The protected header's `typ` and `cty`.
fn owned(fields: &Fields<'_>) -> Result<(Option<String>, Option<String>), Rejection> {
    let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Ok((owned(&fields.typ), owned(&fields.cty)))
}

/// A payload whose signature is valid. Only a [`Verifier`] makes one.
pub struct VerifiedPayload {
    pub(super) payload: Vec<u8>,
    pub(super) key_id: Option<Arc<str>>,
    pub(super) typ: Option<String>,
    pub(super) cty: Option<String>,
    pub(super) signature_index: usize,
}

impl VerifiedPayload {
    fn of_compact(
        payload: Vec<u8>,
        key: &VerificationKey,
        (typ, cty): (Option<String>, Option<String>),
    ) -> VerifiedPayload {
        VerifiedPayload {
            payload,
            key_id: key.id().map(KeyId::shared),
            typ,
            cty,
            signature_index: 0,
        }
    }

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

    /// Which of several signatures verified, counted from 0.
    pub fn signature_index(&self) -> usize {
        self.signature_index
    }

    /// The protected header's `typ`.
    pub fn typ(&self) -> Option<&str> {
        self.typ.as_deref()
    }

    /// The protected header's `cty`.
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
