use crate::base64;
use crate::claims::{Dates, Scanned};
use crate::error::{Part, Rejection};
use crate::jws::Compact;
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
    /// Returns `iss`, which is not verified.
    pub fn issuer(&self) -> Option<&str> {
        let issuer = self.claims.registered.issuer.as_ref()?;
        Some(issuer.read(self.payload.as_ref()))
    }
}

fn decode_onto(compact: Compact<'_>, payload: &mut Vec<u8>) -> Result<(), Rejection> {
    base64::decode_onto(compact.payload().as_bytes(), payload)
        .map_err(|_| Rejection::Malformed(Part::Payload))?;
    Ok(())
}
