use crate::base64;
use crate::claims::{Dates, Scanned};
use crate::error::{Part, Rejection};
use crate::jws::{Compact, Header};
use crate::token_limits::Limits;
use crate::verified::Scratch;

/// A JWT whose claims are read and not verified. It serves to select the keys.
///
/// The verification uses the same claims, so no second reader can find another issuer.
pub struct UnverifiedJwt<'t, Text = Box<str>> {
    pub(super) compact: Compact<'t>,
    pub(super) payload: Text,
    pub(super) claims: Scanned,
}

impl<'t> UnverifiedJwt<'t> {
    /// Reads a token within these limits.
    ///
    /// # Errors
    ///
    /// The [`Rejection`] of a token that is too large or malformed.
    pub fn read(token: &'t str, limits: &Limits) -> Result<Self, Rejection> {
        let compact = Compact::split(token, limits)?;
        let mut payload = Vec::new();
        decode_onto(compact, &mut payload)?;
        let payload = String::from_utf8(payload)
            .map_err(|_| Rejection::Malformed(Part::Payload))?
            .into_boxed_str();
        let mut claims = Scanned::default();
        claims.read(&payload, limits.depth(), Dates::Numeric)?;
        Ok(UnverifiedJwt {
            compact,
            payload,
            claims,
        })
    }
}

impl<'t, 's> UnverifiedJwt<'t, &'s str> {
    pub(super) fn read_in(
        token: &'t str,
        limits: &Limits,
        scratch: &'s mut Scratch,
    ) -> Result<Self, Rejection> {
        let compact = Compact::split(token, limits)?;
        scratch.payload.clear();
        decode_onto(compact, &mut scratch.payload)?;
        let payload = std::str::from_utf8(&scratch.payload)
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        let mut claims = Scanned::default();
        claims.read(payload, limits.depth(), Dates::Numeric)?;
        Ok(UnverifiedJwt {
            compact,
            payload,
            claims,
        })
    }
}

impl<Text: AsRef<str>> UnverifiedJwt<'_, Text> {
    /// Returns the claims, JSON text.
    pub fn json(&self) -> &str {
        self.payload.as_ref()
    }

    /// Returns `iss`, which is not verified.
    pub fn issuer(&self) -> Option<&str> {
        let issuer = self.claims.registered.issuer.as_ref()?;
        Some(issuer.read(self.payload.as_ref()))
    }
}

/// Reads the protected header of a compact JWS or JWE, JSON text that is not verified.
///
/// # Errors
///
/// The [`Rejection`] of a token that is too large, or whose header is malformed or has a private key.
pub fn read_unverified_header(token: &str, limits: &Limits) -> Result<String, Rejection> {
    if token.len() > limits.token_bytes {
        return Err(Rejection::too_large(
            Part::Token,
            token.len(),
            limits.token_bytes,
        ));
    }
    let (header, _) = token
        .split_once('.')
        .ok_or(Rejection::Malformed(Part::Token))?;
    let header = Header::decode(header, limits)?;
    Ok(header.unverified(limits)?.to_owned())
}

fn decode_onto(compact: Compact<'_>, payload: &mut Vec<u8>) -> Result<(), Rejection> {
    base64::decode_onto(compact.payload().as_bytes(), payload)
        .map_err(|_| Rejection::Malformed(Part::Payload))?;
    Ok(())
}
