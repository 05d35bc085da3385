//! Types of the caller that have the registered claims as fields.

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};

use super::custom::{CustomClaims, sealed};
use super::embedded::Embedded;
use super::members::Members;
use super::object::Object;
use crate::error::Result;

/// Custom claims whose type has registered claims as fields: `iss`, `sub`, `aud`, `exp`, `nbf`, `iat`, `jti`.
/// Use it for types that were written for libraries without separate registered claims.
///
/// To issue, wrap the value. Its registered fields must have the form that
/// [`Claims::from_json`](crate::Claims::from_json) lists, and the same rules apply: the expiry is required, and
/// a field that a method of [`Claims`](crate::Claims) sets too is an error. A field that is `None` counts as
/// absent. The members of the value come first in the token.
///
/// To verify, the type with or without this wrapper works: verification fills registered fields like the others.
///
/// ```
/// use jeton::{Claims, Policy, Timestamp, Verified, WithRegistered, jwt::JwtVerifier, key::{MacAlg, MacKey}};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Session { iss: String, aud: String, exp: u64, iat: Option<u64>, page: String }
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let session = Session { iss: "i".into(), aud: "a".into(), exp: 4_102_444_800, iat: None, page: "/".into() };
/// let token = key.issue(&Claims::new(WithRegistered(session)))?;
///
/// let verifier = JwtVerifier::new(&key, Policy::new("i", "a"));
/// let verified: Verified<WithRegistered<Session>> = verifier.verify(&token)?;
/// let session = &verified.claims().0;
/// assert_eq!((session.exp, &*session.page), (4_102_444_800, "/"));
/// assert!(session.iat.is_some());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WithRegistered<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for WithRegistered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        T::deserialize(deserializer).map(WithRegistered)
    }
}

impl<T: Serialize> CustomClaims for WithRegistered<T> {}

impl<T: Serialize> sealed::Members for WithRegistered<T> {
    fn write(
        &self,
        object: &mut Object<'_>,
        registered: impl FnOnce(&mut Object<'_>, &Embedded) -> Result<()>,
    ) -> Result<()> {
        let mut embedded = Embedded::default();
        Members::write(&self.0, object, Some(&mut embedded))?;
        registered(object, &embedded)
    }
}
