//! One way to issue, whatever the format and wherever the key lives.

use std::sync::Arc;

use serde::Serialize;

use crate::claims::{Buffer, Claims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;

/// Issues tokens: a key, or a key and what else the format needs.
///
/// Code that is written against it issues any format: a [`MacKey`](crate::jwt::MacKey) or
/// [`SigningKey`](crate::jwt::SigningKey) makes JWTs, an [`Issuer`](crate::jwt::Issuer) those of another
/// `typ`, a [`NestedIssuer`](crate::jwt::NestedIssuer)
/// or [`EncryptedIssuer`](crate::jwt::EncryptedIssuer) encrypts them, a
/// [`RemoteSigner`](crate::remote::RemoteSigner) has them signed elsewhere, the keys of
/// [`paseto`](crate::paseto) make PASETOs. A type of one's own may implement it too, to choose
/// between keys, say.
///
/// It is object-safe: `&impl Issue` and `&dyn Issue` are used alike. The concrete types have an
/// `issue` of their own, so only code that is generic needs the trait in scope.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::SigAlg;
/// use jeton::{Claims, Issue, jwt, paseto::v4};
///
/// fn greet(issuer: &dyn Issue) -> jeton::Result<String> {
///     issuer.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_mins(5)))
/// }
///
/// assert!(greet(&jwt::SigningKey::generate(SigAlg::ES256)?)?.starts_with("ey"));
/// assert!(greet(&v4::LocalKey::generate()?)?.starts_with("v4.local."));
/// # Ok::<(), jeton::Error>(())
/// ```
pub trait Issue: Send + Sync {
    /// A token with these claims, by that clock. A `&Claims<T>` is what to give.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if the claims are not what the format can hold,
    /// [`Error::Key`](crate::Error::Key) if the key must not sign or encrypt, and
    /// [`Error::Remote`](crate::Error::Remote) if a key that lives elsewhere did not sign.
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String>;

    /// A token with these claims, by the system's clock.
    ///
    /// # Errors
    ///
    /// As [`issue_by`](Issue::issue_by).
    fn issue(&self, claims: &dyn AnyClaims) -> Result<String> {
        self.issue_by(claims, &SystemClock)
    }
}

/// [`Claims`] around a type that the callee need not know: every `Claims<T>` is one.
///
/// ```
/// use jeton::{AnyClaims, Claims};
///
/// #[derive(serde::Serialize)]
/// struct Visit { page: &'static str }
///
/// let two: [&dyn AnyClaims; 2] = [&Claims::new(()), &Claims::new(Visit { page: "/" })];
/// ```
pub trait AnyClaims: sealed::Write {}

impl<T: Serialize> AnyClaims for Claims<'_, T> {}

mod sealed {
    use super::{Buffer, Clock, Dates, Result};

    /// Only [`Claims`](super::Claims) are claims: the registered names are jeton's to write.
    pub trait Write {
        #[doc(hidden)]
        fn write_into(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()>;
    }
}

pub(crate) use sealed::Write as WriteClaims;

impl<T: Serialize> sealed::Write for Claims<'_, T> {
    #[inline]
    fn write_into(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()> {
        self.write(buffer, dates, clock)
    }
}

impl<I: Issue + ?Sized> Issue for &I {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        (**self).issue_by(claims, clock)
    }
}

impl<I: Issue + ?Sized> Issue for Box<I> {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        (**self).issue_by(claims, clock)
    }
}

impl<I: Issue + ?Sized> Issue for Arc<I> {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        (**self).issue_by(claims, clock)
    }
}
