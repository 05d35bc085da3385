//! Custom claims that come as JSON text: checked once, and signed as they are written.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::Claim;
use crate::json::{JsonError, Member, read_members};

/// The custom claims of a token, as the text that somebody else wrote: what stands between the braces of
/// one JSON object. [`Claims`](crate::Claims) and [`Own`](crate::jwt::Own) take it as the caller's own
/// part, and write it behind the registered claims without changing a byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomClaims<'t> {
    members: Cow<'t, str>,
}

/// Why a text is not custom claims.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CustomClaimsError {
    /// It is not one JSON object with one meaning.
    Json(JsonError),
    /// It has a member with the name of a registered claim.
    Registered(Claim),
}

impl<'t> CustomClaims<'t> {
    /// The name by which [`Claims`](crate::Claims) knows them when they are serialised.
    pub(super) const VERBATIM: &'static str = "$jeton::private::CustomClaims";

    /// Reads them strictly: no duplicate names, nested at most `depth` deep, no registered names. `check`
    /// sees each member, and may refuse it.
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
        // The reader has seen a brace at either end.
        let members = object.get(1..object.len() - 1).unwrap_or_default();
        Ok(CustomClaims {
            members: Cow::Borrowed(members.trim_ascii()),
        })
    }

    /// The same with a text of its own.
    pub fn into_owned(self) -> CustomClaims<'static> {
        CustomClaims {
            members: Cow::Owned(self.members.into_owned()),
        }
    }
}

impl Serialize for CustomClaims<'_> {
    /// Only [`Claims`](crate::Claims) can write them.
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

/// The caller's error, on its way through the reader.
struct ReadError<E>(E);

impl<E: From<CustomClaimsError>> From<JsonError> for ReadError<E> {
    fn from(error: JsonError) -> Self {
        ReadError(CustomClaimsError::Json(error).into())
    }
}
