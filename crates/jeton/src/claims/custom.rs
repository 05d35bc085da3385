//! What a token may have as custom claims.

use serde::Serialize;

use super::embedded::Embedded;
use super::members::Members;
use super::object::Object;
use crate::error::{Error, InvalidUse, Result};

/// Custom claims that a token can be issued with.
///
/// - Any type that implements [`Serialize`] and becomes a JSON object. Its members must not have the names of
///   registered claims.
/// - [`WithRegistered`](super::WithRegistered) with such a type, whose members may have these names.
/// - [`JsonClaims`](super::JsonClaims): JSON text.
///
/// Sealed: `Serialize` is the way to implement it.
///
/// ```
/// use jeton::{Claims, CustomClaims, key::MacKey};
///
/// fn issue<T: CustomClaims>(key: &MacKey, custom: T) -> jeton::Result<String> {
///     key.issue(&Claims::new(custom).issuer("https://id.example").without_expiry())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the custom claims of a token",
    note = "implement `serde::Serialize`"
)]
pub trait CustomClaims: sealed::Members {}

impl<T: Serialize> CustomClaims for T {}

pub(super) mod sealed {
    use super::{Embedded, Object, Result};

    /// Sealed: only these types may write registered claims.
    pub trait Members {
        /// Writes the members into an open object. Calls `registered` once, which writes the other registered
        /// claims. It needs to know those that the custom claims contain.
        #[doc(hidden)]
        fn write(
            &self,
            object: &mut Object<'_>,
            registered: impl FnOnce(&mut Object<'_>, &Embedded) -> Result<()>,
        ) -> Result<()>;
    }
}

impl<T: Serialize> sealed::Members for T {
    #[inline]
    fn write(
        &self,
        object: &mut Object<'_>,
        registered: impl FnOnce(&mut Object<'_>, &Embedded) -> Result<()>,
    ) -> Result<()> {
        if let Err(error) = registered(object, &Embedded::default()) {
            return Err(explained(error, self, object));
        }
        Members::write(self, object, None)
    }
}

/// A type with a field `exp` has no expiry here, but a more helpful error.
#[cold]
fn explained<T: Serialize>(error: Error, custom: &T, object: &mut Object<'_>) -> Error {
    if error != InvalidUse::ExpiryNotChosen.into() {
        return error;
    }
    match Members::write(custom, object, None) {
        Err(registered @ Error::InvalidUse(InvalidUse::RegisteredName(_))) => registered,
        _ => error,
    }
}
