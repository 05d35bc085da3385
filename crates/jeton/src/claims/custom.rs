//! Custom claims from JSON text: validated once and written without changes.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::Claim;
use crate::json::{JsonError, Member, read_members};

/// Custom claims as JSON text from another party: the members between the braces of one JSON object.
/// [`Claims`](crate::Claims) and [`TokenClaims`](crate::jwt::TokenClaims) accept it as custom claims, and write it after
/// the registered claims byte for byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomClaims<'t> {
    members: Cow<'t, str>,
}

/// Why a text is not accepted as custom claims.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CustomClaimsError {
    /// The text is not a single, unambiguous JSON object.
    Json(JsonError),
    /// It has a member with the name of a registered claim.
    Registered(Claim),
}

impl<'t> CustomClaims<'t> {
    /// The type name by which [`Claims`](crate::Claims) recognizes this type during serialization.
    pub(super) const VERBATIM: &'static str = "$jeton::private::CustomClaims";

    /// Parses custom claims strictly: no duplicate names, nested at most `depth` deep, no registered names.
    /// `check` is called for each member and may reject it.
    ///
    /// # Errors
    ///
    /// [`CustomClaimsError`], and the first error of `check`.
    pub fn read<E: From<CustomClaimsError>>(
        text: &'t str,
        depth: u32,
        mut check: impl FnMut(&Member<'t>) -> Result<(), E>,
    ) -> Result<CustomClaims<'t>, E> {
        read_members(text, depth, |member| {
            match Claim::from_name(&member.name()) {
                Some(claim) => Err(ReadError(CustomClaimsError::Registered(claim).into())),
                None => check(&member).map_err(ReadError),
            }
        })
        .map_err(|ReadError(error)| error)?;
        let object = text.trim_ascii();
        // The parser has checked the braces at both ends.
        let members = object.get(1..object.len() - 1).unwrap_or_default();
        Ok(CustomClaims {
            members: Cow::Borrowed(members.trim_ascii()),
        })
    }

    /// Returns the same claims with owned text.
    pub fn into_owned(self) -> CustomClaims<'static> {
        CustomClaims {
            members: Cow::Owned(self.members.into_owned()),
        }
    }
}

impl Serialize for CustomClaims<'_> {
    /// Only [`Claims`](crate::Claims) can serialize this type.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(Self::VERBATIM, &*self.members)
    }
}

impl fmt::Display for CustomClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CustomClaimsError::Json(error) => error.fmt(f),
            CustomClaimsError::Registered(claim) => write!(f, "`{claim}` is a registered claim"),
        }
    }
}

impl std::error::Error for CustomClaimsError {}

impl From<JsonError> for CustomClaimsError {
    fn from(error: JsonError) -> Self {
        CustomClaimsError::Json(error)
    }
}

/// Carries the error of the caller through the parser.
struct ReadError<E>(E);

impl<E: From<CustomClaimsError>> From<JsonError> for ReadError<E> {
    fn from(error: JsonError) -> Self {
        ReadError(CustomClaimsError::Json(error).into())
    }
}
