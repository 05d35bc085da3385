//! Claims as JSON text: validated once and written without changes.

use std::borrow::Cow;

use super::custom::CustomClaims;
use super::embedded::Embedded;
use super::object::Object;
use super::registered::Dates;
use super::registered_name::registered_name;
use super::{Claims, IssuerClaims, custom};
use crate::error::{Claim, Error, InvalidUse, Result};
use crate::json::{JsonError, Member, read_members};
use crate::token_limits::Limits;

/// Claims as JSON text: one object, whose members a token has in the same order and byte for byte.
///
/// [`Claims::from_json`] reads it. Use this type to look at the claims before, or with
/// [`TokenClaims`](crate::jwt::TokenClaims).
///
/// ```
/// use jeton::error::Claim;
/// use jeton::{Claims, JsonClaims};
///
/// let json = JsonClaims::from_json(r#"{"sub":"user-7","exact":1.10}"#)?;
/// assert!(json.contains(Claim::Subject) && !json.contains(Claim::Expiry));
/// let claims = Claims::new(json).without_expiry();
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonClaims<'t> {
    /// The text between the braces of the object.
    members: Cow<'t, str>,
    embedded: Embedded,
}

impl<'t> JsonClaims<'t> {
    /// Reads claims with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// Those of [`Claims::from_json`].
    pub fn from_json(text: &'t str) -> Result<JsonClaims<'t>> {
        JsonClaims::from_json_with_limits(text, &Limits::default())
    }

    /// Reads claims with these limits: [`Limits::json_depth`] applies. A verifier needs the same limit to
    /// accept the token.
    ///
    /// # Errors
    ///
    /// Those of [`Claims::from_json`].
    ///
    /// ```
    /// use jeton::{JsonClaims, Limits};
    ///
    /// let limits = Limits::default().json_depth(2);
    /// assert!(JsonClaims::from_json_with_limits(r#"{"a":[1]}"#, &limits).is_ok());
    /// let error = JsonClaims::from_json_with_limits(r#"{"a":[[1]]}"#, &limits).unwrap_err();
    /// assert_eq!(error.to_string(), "the claims are nested 3 levels, limit 2");
    /// ```
    pub fn from_json_with_limits(text: &'t str, limits: &Limits) -> Result<JsonClaims<'t>> {
        read_json_claims(text, limits.depth(), |_| Ok(())).map_err(|Stop(error)| error)
    }

    /// Returns whether the text has this registered claim.
    pub fn contains(&self, claim: Claim) -> bool {
        self.embedded.claims().contains(claim)
    }

    /// Returns the same claims with owned text.
    pub fn into_owned(self) -> JsonClaims<'static> {
        JsonClaims {
            members: Cow::Owned(self.members.into_owned()),
            embedded: self.embedded,
        }
    }

    /// The length of the text between the braces, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.members.len()
    }
}

/// Reads claims that are nested at most `depth` deep, at most 127. `check` is called for each member and may reject it.
///
/// # Errors
///
/// [`JsonError`], the error for a registered claim, and the first error of `check`.
pub fn read_json_claims<'t, E: From<JsonError> + From<Error>>(
    text: &'t str,
    depth: u32,
    mut check: impl FnMut(&Member<'t>) -> Result<(), E>,
) -> Result<JsonClaims<'t>, E> {
    let mut embedded = Embedded::default();
    read_members(text, depth, |member| -> Result<(), E> {
        check(&member)?;
        let (name, value) = member.parts();
        if let Some(claim) = registered_name(name) {
            embedded.add(claim, value).map_err(Error::from)?;
        }
        Ok(())
    })?;
    let object = text.trim_ascii();
    // The parser has checked the braces at both ends.
    let members = object.get(1..object.len() - 1).unwrap_or_default();
    Ok(JsonClaims {
        members: Cow::Borrowed(members.trim_ascii()),
        embedded,
    })
}

impl<'t> Claims<'t, JsonClaims<'t>> {
    /// Reads the claims of a token from JSON text (RFC 8259): one object without duplicate members at any
    /// level, nested at most [`Limits::json_depth`] deep.
    ///
    /// A token has the members in the same order and byte for byte, so numbers keep all digits. Claims that
    /// are set with methods come before them.
    ///
    /// The text may contain registered claims. Their types and ranges are checked:
    ///
    /// | claim | in a JWT | in a PASETO |
    /// |---|---|---|
    /// | `iss`, `sub`, `jti` | a string | a string |
    /// | `aud` | a string or a list of strings | a string |
    /// | `exp`, `nbf`, `iat` | seconds since 1970, optionally with a fraction | RFC 3339 text with an offset |
    ///
    /// Times are between the years 1970 and 9999. The forms of both formats are accepted here; issuing checks
    /// that they are those of the format. The text is never converted.
    ///
    /// The caller must choose an expiry: `exp` in the text, [`expires_in`](Claims::expires_in),
    /// [`expires_at`](Claims::expires_at) or [`without_expiry`](Claims::without_expiry). `iat` is the time of
    /// issuing, unless the text has it, or [`without_issued_at`](Claims::without_issued_at) was called. With
    /// an `iat` in the text, `expires_in` counts from it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) with the position in the text or the name of the claim.
    ///
    /// A claim that is in the text and that a method sets too is an error when a token is issued:
    /// [`InvalidUse::ClaimSetTwice`](crate::error::InvalidUse::ClaimSetTwice). `without_expiry` with an `exp` in the
    /// text, and `without_issued_at` with an `iat`, are such errors.
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::error::{Claim, InvalidUse};
    /// use jeton::{Claims, Policy, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    ///
    /// let key = MacKey::generate(MacAlg::HS256)?;
    /// let claims = Claims::from_json(r#"{"iss":"i","aud":"a","big":18446744073709551617}"#)?
    ///     .expires_in(Duration::from_secs(900));
    /// let token = key.issue(&claims)?;
    ///
    /// let verifier = JwtVerifier::new(&key, Policy::new("i", "a"));
    /// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
    /// assert!(verified.json().ends_with(r#""iss":"i","aud":"a","big":18446744073709551617}"#));
    ///
    /// let error = key.issue(&claims.issuer("j")).unwrap_err();
    /// assert_eq!(error, InvalidUse::ClaimSetTwice(Claim::Issuer).into());
    /// assert!(Claims::from_json(r#"{"role":"user","role":"admin"}"#).is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_json(text: &'t str) -> Result<Claims<'t, JsonClaims<'t>>> {
        JsonClaims::from_json(text).map(Claims::new)
    }

    /// Reads claims as [`from_json`](Claims::from_json) does, with these limits:
    /// [`Limits::json_depth`] applies.
    ///
    /// # Errors
    ///
    /// Those of [`from_json`](Claims::from_json).
    pub fn from_json_with_limits(
        text: &'t str,
        limits: &Limits,
    ) -> Result<Claims<'t, JsonClaims<'t>>> {
        JsonClaims::from_json_with_limits(text, limits).map(Claims::new)
    }
}

impl Claims<'_, JsonClaims<'_>> {
    /// Returns an upper bound for the length of the claims in a token, bytes.
    pub(crate) fn length_bound(&self, dates: Dates) -> usize {
        CLAIMS_FRAME_BYTES + self.registered.length_bound(dates) + self.custom.bytes()
    }
}

/// The braces, and a comma between the registered claims and the custom claims.
const CLAIMS_FRAME_BYTES: usize = 3;

impl IssuerClaims {
    /// Returns an upper bound for the length of the claims in a token of this issuer, bytes.
    pub(crate) fn length_bound(&self, own: &Claims<'_, JsonClaims<'_>>, dates: Dates) -> usize {
        match own.registered.with_shared(&self.0) {
            Ok(all) => CLAIMS_FRAME_BYTES + all.length_bound(dates) + own.custom.bytes(),
            // Issuing returns this error.
            Err(_) => own.length_bound(dates),
        }
    }
}

impl CustomClaims for JsonClaims<'_> {}

impl CustomClaims for &JsonClaims<'_> {}

impl custom::sealed::Members for JsonClaims<'_> {
    #[inline]
    fn write(
        &self,
        object: &mut Object<'_>,
        registered: impl FnOnce(&mut Object<'_>, &Embedded) -> Result<()>,
    ) -> Result<()> {
        registered(object, &self.embedded)?;
        object.members(&self.members);
        Ok(())
    }
}

impl custom::sealed::Members for &JsonClaims<'_> {
    #[inline]
    fn write(
        &self,
        object: &mut Object<'_>,
        registered: impl FnOnce(&mut Object<'_>, &Embedded) -> Result<()>,
    ) -> Result<()> {
        (**self).write(object, registered)
    }
}

/// Carries the error through the reader.
struct Stop(Error);

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop(error)
    }
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Stop(invalid_use(error).into())
    }
}

/// Drops the name of a duplicate member, which may come from another party.
#[cold]
fn invalid_use(error: JsonError) -> InvalidUse {
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match error {
        JsonError::Syntax { line, column } => InvalidUse::ClaimsSyntax {
            line: bounded(line),
            column: bounded(column),
        },
        JsonError::NotAnObject => InvalidUse::ClaimsNotAnObject,
        JsonError::Duplicate { line, column, .. } => InvalidUse::ClaimsDuplicate {
            line: bounded(line),
            column: bounded(column),
        },
        JsonError::TooDeep { depth, limit } => InvalidUse::ClaimsTooDeep {
            depth: bounded(depth),
            limit,
        },
    }
}
