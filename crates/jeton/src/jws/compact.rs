//! The compact serialization (RFC 7515, section 7.1): splitting, verifying and assembling.

use std::borrow::Cow;

use memchr::memchr;

use super::header::{Extensions, Fields, Header, PayloadForm};
use crate::base64;
use crate::crypto::SignatureBuffer;
use crate::error::{Part, Rejection, Result};
use crate::key::{Keys, SigningKeyRef, VerificationKey};
use crate::token_limits::Limits;
use crate::verified::Kid;

/// The three parts of a compact JWS, still encoded.
#[derive(Clone, Copy)]
pub(crate) struct Compact<'t> {
    signing_input: &'t str,
    header: &'t str,
    payload: &'t str,
    signature: &'t str,
}

/// A compact JWS with a valid signature. Its payload is still encoded.
pub(crate) struct VerifiedCompact<'k, 't, 'h> {
    pub(crate) key: &'k VerificationKey,
    pub(crate) payload: &'t str,
    pub(crate) payload_form: PayloadForm,
    pub(crate) kid: Kid,
    /// `typ` of the protected header.
    pub(crate) typ: Option<Cow<'h, str>>,
    /// `cty` of the protected header.
    pub(crate) cty: Option<Cow<'h, str>>,
}

impl<'t> Compact<'t> {
    /// Splits a token with exactly two dots. The cost does not depend on the number of dots.
    ///
    /// Always inline: otherwise the parts are written to memory and read again.
    #[inline(always)]
    pub(crate) fn split(token: &'t str, limits: &Limits) -> Result<Compact<'t>, Rejection> {
        if token.len() > limits.token_bytes {
            return Err(Rejection::too_large(
                Part::Token,
                token.len(),
                limits.token_bytes,
            ));
        }
        let malformed = || Rejection::Malformed(Part::Token);
        let first = memchr(b'.', token.as_bytes()).ok_or_else(malformed)?;
        let second =
            first + 1 + memchr(b'.', &token.as_bytes()[first + 1..]).ok_or_else(malformed)?;
        let signature = &token[second + 1..];
        // A third dot would fail to decode anyway; this check is faster.
        if memchr(b'.', signature.as_bytes()).is_some() {
            return Err(malformed());
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

    /// Checks the header against the keys, then the signature. `decoded` holds the header for the result.
    ///
    /// Always inline, with what it calls: otherwise a known header exceeds its bound in
    /// `benches/instructions.rs`.
    #[inline(always)]
    pub(crate) fn verify<'k, 'h>(
        self,
        keys: &'k Keys,
        limits: &Limits,
        extensions: Extensions,
        decoded: &'h mut Option<Header>,
    ) -> Result<VerifiedCompact<'k, 't, 'h>, Rejection> {
        self.check(None, keys, limits, extensions, decoded)
    }

    /// Verifies a JWS with detached content (RFC 7515, appendix F).
    pub(crate) fn verify_detached<'k, 'h>(
        self,
        content: &[u8],
        keys: &'k Keys,
        limits: &Limits,
        decoded: &'h mut Option<Header>,
    ) -> Result<VerifiedCompact<'k, 't, 'h>, Rejection> {
        if !self.payload.is_empty() {
            return Err(Rejection::Malformed(Part::Payload));
        }
        if content.len() > limits.token_bytes {
            return Err(Rejection::too_large(
                Part::Payload,
                content.len(),
                limits.token_bytes,
            ));
        }
        self.check(Some(content), keys, limits, Extensions::B64, decoded)
    }

    #[inline(always)]
    fn check<'k, 'h>(
        self,
        content: Option<&[u8]>,
        keys: &'k Keys,
        limits: &Limits,
        extensions: Extensions,
        decoded: &'h mut Option<Header>,
    ) -> Result<VerifiedCompact<'k, 't, 'h>, Rejection> {
        if let Some((key, known)) = keys.known(self.header) {
            limits.check_header(self.header)?;
            // The `kid` is shorter than the header, so this is rarely compared.
            if self.header.len() > limits.key_id_bytes
                && let Some(id) = key.id()
            {
                limits.check_key_id(Part::Header, id.as_str())?;
            }
            let message = self.message(content, PayloadForm::Encoded)?;
            if !signed_by(key, &message, self.signature) {
                return Err(Rejection::Signature);
            }
            // Such a header has the id of the key, if the key has one.
            let kid = match key.id() {
                Some(_) => Kid::OfKey,
                None => Kid::Absent,
            };
            return Ok(self.verified(key, kid, known.fields()));
        }
        let header = decoded.insert(Header::decode(self.header, limits)?);
        let fields = header.fields(limits, extensions)?;
        let alg = fields.alg()?;
        let message = self.message(content, fields.payload_form)?;
        let key = keys.find(alg, fields.kid.as_deref(), limits.keys_tried, |key| {
            signed_by(key, &message, self.signature)
        })?;
        let kid = match (fields.kid.as_deref(), key.id()) {
            (None, _) => Kid::Absent,
            (Some(kid), Some(id)) if id.as_str() == kid => Kid::OfKey,
            (Some(kid), _) => Kid::Other(kid.into()),
        };
        Ok(self.verified(key, kid, fields))
    }

    /// Returns the signed bytes. Detached content replaces the payload.
    #[inline]
    fn message(
        &self,
        content: Option<&[u8]>,
        form: PayloadForm,
    ) -> Result<Cow<'t, [u8]>, Rejection> {
        match content {
            Some(content) => Ok(Cow::Owned(signing_input(self.header, form, content))),
            None if form == PayloadForm::Plain
                && !is_allowed_in_compact(self.payload.as_bytes()) =>
            {
                Err(Rejection::Malformed(Part::Payload))
            }
            None => Ok(Cow::Borrowed(self.signing_input.as_bytes())),
        }
    }

    #[inline]
    fn verified<'k, 'h>(
        self,
        key: &'k VerificationKey,
        kid: Kid,
        header: Fields<'h>,
    ) -> VerifiedCompact<'k, 't, 'h> {
        VerifiedCompact {
            key,
            payload: self.payload,
            payload_form: header.payload_form,
            kid,
            typ: header.typ,
            cty: header.cty,
        }
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
#[inline]
pub(super) fn signed_by(key: &VerificationKey, signing_input: &[u8], signature: &str) -> bool {
    let length = key.signature_bytes();
    signature.len() == base64::encoded_length(length)
        && decoded_signed_by(key, signing_input, signature, length)
}

/// Never inline: the buffer is large, and a signature of another length does not need it.
#[inline(never)]
fn decoded_signed_by(
    key: &VerificationKey,
    signing_input: &[u8],
    signature: &str,
    length: usize,
) -> bool {
    let mut decoded = SignatureBuffer::new();
    decoded.resize(length, 0);
    base64::decode_into(signature.as_bytes(), &mut decoded).is_ok()
        && key.verify_bytes(signing_input, &decoded)
}

/// Returns the length of `header.payload.signature`.
pub(crate) fn compact_length(
    encoded_header: &str,
    payload_bytes: usize,
    signature_bytes: usize,
) -> usize {
    encoded_header.len()
        + 1
        + base64::encoded_length(payload_bytes)
        + 1
        + base64::encoded_length(signature_bytes)
}

/// Returns `header.payload`, with capacity for the dot and the signature: the signing input, and the start
/// of the token.
pub(crate) fn unsigned(encoded_header: &str, payload: &[u8], signature_bytes: usize) -> String {
    let mut token = String::new();
    unsigned_onto(encoded_header, payload, signature_bytes, &mut token);
    token
}

fn unsigned_onto(encoded_header: &str, payload: &[u8], signature_bytes: usize, token: &mut String) {
    // The capacity is exact if the string is empty.
    token.reserve(compact_length(
        encoded_header,
        payload.len(),
        signature_bytes,
    ));
    token.push_str(encoded_header);
    token.push('.');
    base64::encode_onto(payload, token);
}

/// Returns `header.payload.signature` with one allocation of the exact size.
pub(crate) fn assemble(
    key: SigningKeyRef<'_>,
    encoded_header: &str,
    payload: &[u8],
) -> Result<String> {
    let mut token = String::new();
    assemble_onto(key, encoded_header, payload, &mut token)?;
    Ok(token)
}

/// Appends `header.payload.signature` to a string. After an error the string is unchanged.
pub(crate) fn assemble_onto(
    key: SigningKeyRef<'_>,
    encoded_header: &str,
    payload: &[u8],
    token: &mut String,
) -> Result<()> {
    let start = token.len();
    unsigned_onto(encoded_header, payload, key.signature_bytes(), token);
    let mut signature = SignatureBuffer::new();
    if let Err(error) = key.sign_bytes(&token.as_bytes()[start..], &mut signature) {
        token.truncate(start);
        return Err(error);
    }
    token.push('.');
    base64::encode_onto(&signature, token);
    debug_assert_eq!(
        token.len() - start,
        compact_length(encoded_header, payload.len(), signature.len())
    );
    Ok(())
}
