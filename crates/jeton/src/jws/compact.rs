//! The compact serialization (RFC 7515, section 7.1): verifying and signing.

use memchr::memchr;

use super::header::{Extensions, Fields, Header, PayloadForm};
use crate::base64;
use crate::crypto::SignatureBuffer;
use crate::error::{Part, Rejection};
use crate::key::{Keys, VerificationKey};
use crate::limits::Limits;

/// The three parts of a compact JWS, still encoded.
#[derive(Clone, Copy)]
pub(crate) struct Compact<'t> {
    signing_input: &'t str,
    header: &'t str,
    payload: &'t str,
    signature: &'t str,
}

/// A compact JWS with a valid signature. Its payload is still encoded.
pub(crate) struct VerifiedCompact<'k, 't, H> {
    pub(crate) key: &'k VerificationKey,
    pub(crate) payload: &'t str,
    pub(crate) payload_form: PayloadForm,
    /// The result of the caller's closure over the header.
    pub(crate) header: H,
}

impl<'t> Compact<'t> {
    /// Splits a token with exactly two dots. The cost does not depend on the number of dots.
    pub(crate) fn split(token: &'t str, limits: &Limits) -> Result<Compact<'t>, Rejection> {
        if token.len() > limits.token_bytes {
            return Err(Rejection::TooLarge(Part::Token));
        }
        let malformed = Rejection::Malformed(Part::Token);
        let first = memchr(b'.', token.as_bytes()).ok_or(malformed)?;
        let second = first + 1 + memchr(b'.', &token.as_bytes()[first + 1..]).ok_or(malformed)?;
        let signature = &token[second + 1..];
        // A third dot would fail to decode anyway; this check is faster.
        if memchr(b'.', signature.as_bytes()).is_some() {
            return Err(malformed);
        }
        Ok(Compact {
            signing_input: &token[..second],
            header: &token[..first],
            payload: &token[first + 1..second],
            signature,
        })
    }

    pub(crate) fn header(&self) -> &'t str {
        self.header
    }

    pub(crate) fn payload(&self) -> &'t str {
        self.payload
    }

    /// Checks the header against the keys, then the signature. `take` receives the header afterwards.
    pub(crate) fn verify<'k, H>(
        self,
        keys: &'k Keys,
        limits: &Limits,
        extensions: Extensions,
        take: impl FnOnce(&Fields<'_>) -> Result<H, Rejection>,
    ) -> Result<VerifiedCompact<'k, 't, H>, Rejection> {
        let message = |form| match form {
            PayloadForm::Plain if !is_allowed_in_compact(self.payload.as_bytes()) => {
                Err(Rejection::Malformed(Part::Payload))
            }
            _ => Ok(self.signing_input),
        };
        self.check(keys, limits, extensions, message, take)
    }

    /// Verifies a JWS with detached content (RFC 7515, appendix F).
    pub(crate) fn verify_detached<'k, H>(
        self,
        content: &[u8],
        keys: &'k Keys,
        limits: &Limits,
        take: impl FnOnce(&Fields<'_>) -> Result<H, Rejection>,
    ) -> Result<VerifiedCompact<'k, 't, H>, Rejection> {
        if !self.payload.is_empty() {
            return Err(Rejection::Malformed(Part::Payload));
        }
        if content.len() > limits.token_bytes {
            return Err(Rejection::TooLarge(Part::Payload));
        }
        let message = |form| Ok(signing_input(self.header, form, content));
        self.check(keys, limits, Extensions::B64, message, take)
    }

    /// `message` builds the signed bytes.
    fn check<'k, H, M: AsRef<[u8]>>(
        self,
        keys: &'k Keys,
        limits: &Limits,
        extensions: Extensions,
        message: impl FnOnce(PayloadForm) -> Result<M, Rejection>,
        take: impl FnOnce(&Fields<'_>) -> Result<H, Rejection>,
    ) -> Result<VerifiedCompact<'k, 't, H>, Rejection> {
        if let Some((key, known)) = keys.known(self.header) {
            limits.check_header(self.header)?;
            if !signed_by(key, message(PayloadForm::Encoded)?.as_ref(), self.signature) {
                return Err(Rejection::Signature);
            }
            return Ok(VerifiedCompact {
                key,
                payload: self.payload,
                payload_form: PayloadForm::Encoded,
                header: take(&known.fields())?,
            });
        }
        let header = Header::decode(self.header, limits)?;
        let fields = header.fields(limits, extensions)?;
        let alg = fields.alg()?;
        let message = message(fields.payload_form)?;
        let key = keys.find(alg, fields.kid.as_deref(), |key| {
            signed_by(key, message.as_ref(), self.signature)
        })?;
        Ok(VerifiedCompact {
            key,
            payload: self.payload,
            payload_form: fields.payload_form,
            header: take(&fields)?,
        })
    }
}

/// Builds the signing input: encoded header, dot, payload in its form (RFC 7797, section 3).
pub(super) fn signing_input(header: &str, form: PayloadForm, payload: &[u8]) -> Vec<u8> {
    let mut input = String::with_capacity(header.len() + 1 + base64::encoded_length(payload.len()));
    input.push_str(header);
    input.push('.');
    match form {
        PayloadForm::Encoded => {
            base64::encode_onto(payload, &mut input);
            input.into_bytes()
        }
        PayloadForm::Plain => {
            let mut input = input.into_bytes();
            input.extend_from_slice(payload);
            input
        }
    }
}

/// Whether a compact JWS may contain this payload unencoded (RFC 7797, section 5.2): printable ASCII
/// without a dot.
pub(super) fn is_allowed_in_compact(payload: &[u8]) -> bool {
    payload
        .iter()
        .all(|byte| matches!(byte, b' '..=b'~') && *byte != b'.')
}

/// Whether this base64url signature of the signing input is valid for the key.
pub(super) fn signed_by(key: &VerificationKey, signing_input: &[u8], signature: &str) -> bool {
    let length = key.signature_bytes();
    if signature.len() != base64::encoded_length(length) {
        return false;
    }
    let mut decoded = SignatureBuffer::new();
    decoded.resize(length, 0);
    base64::decode_into(signature.as_bytes(), &mut decoded).is_ok()
        && key.verify_bytes(signing_input, &decoded)
}
