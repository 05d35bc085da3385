//! The compact serialization (RFC 7515, section 7.1), from text to a payload whose signature is
//! valid and back.

use memchr::memchr;

use super::header::{Fields, Header};
use crate::base64;
use crate::crypto::Signature;
use crate::error::{Part, Rejection};
use crate::key::{Keys, VerificationKey};
use crate::limits::Limits;

/// The three parts of a compact JWS, as they stand.
#[derive(Clone, Copy)]
pub(crate) struct Compact<'t> {
    signing_input: &'t str,
    header: &'t str,
    payload: &'t str,
    signature: &'t str,
}

/// A compact JWS whose signature is valid. The payload has not been decoded yet.
pub(crate) struct VerifiedCompact<'k, 't, H> {
    pub(crate) key: &'k VerificationKey,
    pub(crate) payload: &'t str,
    /// What the caller took from the header.
    pub(crate) header: H,
}

impl<'t> Compact<'t> {
    /// Splits at the first dot and the second, and takes no third. A token of a million dots costs no more.
    pub(crate) fn split(token: &'t str, limits: &Limits) -> Result<Compact<'t>, Rejection> {
        if token.len() > limits.token_bytes {
            return Err(Rejection::TooLarge(Part::Token));
        }
        let malformed = Rejection::Malformed(Part::Token);
        let first = memchr(b'.', token.as_bytes()).ok_or(malformed)?;
        let second = first + 1 + memchr(b'.', &token.as_bytes()[first + 1..]).ok_or(malformed)?;
        let signature = &token[second + 1..];
        // A third dot is not in base64url's alphabet; seeing it here spares the decoding.
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

    /// A detached JWS (RFC 7515, appendix F) with its content put back where it was: `token` is the
    /// whole text to be split.
    pub(crate) fn attach(
        token: &str,
        content: &[u8],
        limits: &Limits,
    ) -> Result<String, Rejection> {
        let detached = Compact::split(token, limits)?;
        if !detached.payload.is_empty() {
            return Err(Rejection::Malformed(Part::Payload));
        }
        let length = token.len() + base64::encoded_length(content.len());
        if length > limits.token_bytes {
            return Err(Rejection::TooLarge(Part::Token));
        }
        let mut whole = String::with_capacity(length);
        whole.push_str(detached.header);
        whole.push('.');
        base64::encode_onto(content, &mut whole);
        whole.push('.');
        whole.push_str(detached.signature);
        Ok(whole)
    }

    pub(crate) fn header(&self) -> &'t str {
        self.header
    }

    pub(crate) fn payload(&self) -> &'t str {
        self.payload
    }

    /// Checks the header against the keys, then the signature; `take` sees the header after that.
    pub(crate) fn verify<'k, H>(
        self,
        keys: &'k Keys,
        limits: &Limits,
        take: impl FnOnce(&Fields<'_>) -> Result<H, Rejection>,
    ) -> Result<VerifiedCompact<'k, 't, H>, Rejection> {
        if let Some(key) = keys.only()
            && let Some(fields) = key.headers().known(self.header)
        {
            if !self.signed_by(key) {
                return Err(Rejection::Signature);
            }
            return Ok(VerifiedCompact {
                key,
                payload: self.payload,
                header: take(&fields)?,
            });
        }
        let header = Header::decode(self.header, limits)?;
        let fields = header.fields(limits)?;
        let key = keys.find(fields.alg()?, fields.kid.as_deref(), |key| {
            self.signed_by(key)
        })?;
        Ok(VerifiedCompact {
            key,
            payload: self.payload,
            header: take(&fields)?,
        })
    }

    fn signed_by(&self, key: &VerificationKey) -> bool {
        signed_by(key, self.signing_input.as_bytes(), self.signature)
    }
}

/// Whether the base64url signature is this key's over the signing input.
pub(super) fn signed_by(key: &VerificationKey, signing_input: &[u8], signature: &str) -> bool {
    let length = key.signature_bytes();
    if signature.len() != base64::encoded_length(length) {
        return false;
    }
    let mut decoded = Signature::from_elem(0, length);
    base64::decode_into(signature.as_bytes(), &mut decoded).is_ok()
        && key.verify_bytes(signing_input, &decoded)
}
