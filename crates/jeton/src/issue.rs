//! The trait for issuing tokens of any format.

use std::sync::Arc;

use crate::claims::{Buffer, Claims, CustomClaims, Dates, IssuerClaims};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;

/// Issues tokens. Implemented by keys, and by issuers that combine a key with settings of the format.
///
/// Use it for code that works with any format:
///
/// - [`MacKey`](crate::key::MacKey) and [`SigningKey`](crate::key::SigningKey) issue JWTs.
/// - [`JwtIssuer`](crate::jwt::JwtIssuer) issues JWTs whose issuer, audience, lifetime and `typ` are set once.
/// - [`NestedIssuer`](crate::jwt::NestedIssuer) and [`EncryptedIssuer`](crate::jwt::EncryptedIssuer) issue
///   encrypted JWTs.
/// - [`RemoteSigner`](crate::remote::RemoteSigner) issues JWTs with a remote signer.
/// - The keys of [`paseto`](crate::paseto) issue PASETOs.
///
/// Other types may implement it too, for example to choose between keys. Only
/// [`issue_with_clock`](Issue::issue_with_clock) is required, and later versions require no other method.
///
/// It is object-safe: `&impl Issue` and `&dyn Issue` both work. The concrete types have their own `issue`
/// method, so only generic code needs the trait in scope.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::{SigAlg, SigningKey};
/// use jeton::{Claims, Issue, paseto::v4};
///
/// fn greet(issuer: &dyn Issue) -> jeton::Result<String> {
///     issuer.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_secs(300)))
/// }
///
/// assert!(greet(&SigningKey::generate(SigAlg::ES256)?)?.starts_with("ey"));
/// assert!(greet(&v4::LocalKey::generate()?)?.starts_with("v4.local."));
/// # Ok::<(), jeton::Error>(())
/// ```
pub trait Issue: Send + Sync {
    /// Issues a token with these claims, using this clock. Pass a `&Claims<T>`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if the format cannot represent the claims,
    /// [`Error::Key`](crate::Error::Key) if the key must not sign or encrypt, and
    /// [`Error::Remote`](crate::Error::Remote) if a remote signer failed.
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String>;

    /// Issues a token with these claims, using the system clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue_with_clock`](Issue::issue_with_clock).
    fn issue(&self, claims: &dyn AnyClaims) -> Result<String> {
        self.issue_with_clock(claims, &SystemClock)
    }

    /// Appends a token with these claims to a string, using this clock. After an error the string is unchanged.
    ///
    /// JWTs that are not encrypted, and PASETOs, are written onto the string. By default, the token of
    /// [`issue_with_clock`](Issue::issue_with_clock) is copied.
    ///
    /// # Errors
    ///
    /// Those of [`issue_with_clock`](Issue::issue_with_clock).
    ///
    /// ```
    /// use jeton::paseto::v4;
    /// use jeton::{Claims, Issue, SystemClock};
    ///
    /// let key = v4::LocalKey::generate()?;
    /// let claims = Claims::from_json(r#"{"sub":"user-7"}"#)?.without_expiry();
    /// let mut answer = String::from("token=");
    /// Issue::issue_onto_with_clock(&key, &claims, &SystemClock, &mut answer)?;
    /// assert!(answer.starts_with("token=v4.local."));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        token.push_str(&self.issue_with_clock(claims, clock)?);
        Ok(())
    }

    /// Appends a token with these claims to a string, using the system clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue_with_clock`](Issue::issue_with_clock).
    fn issue_onto(&self, claims: &dyn AnyClaims, token: &mut String) -> Result<()> {
        self.issue_onto_with_clock(claims, &SystemClock, token)
    }
}

/// [`Claims`] with any type of custom claims. Every `Claims<T>` implements it.
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

impl<T: CustomClaims> AnyClaims for Claims<'_, T> {}

mod sealed {
    use super::{Buffer, Clock, Dates, IssuerClaims, Result};

    /// Sealed: only [`Claims`](super::Claims) may write registered claims.
    pub trait Write {
        #[doc(hidden)]
        fn write_into(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()>;

        /// Writes them with the claims of an issuer.
        #[doc(hidden)]
        fn write_into_with(
            &self,
            issuer: &IssuerClaims,
            buffer: &mut Buffer,
            dates: Dates,
            clock: &dyn Clock,
        ) -> Result<()>;
    }
}

pub(crate) use sealed::Write as WriteClaims;

impl<T: CustomClaims> sealed::Write for Claims<'_, T> {
    #[inline]
    fn write_into(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()> {
        self.write(buffer, dates, clock)
    }

    #[inline]
    fn write_into_with(
        &self,
        issuer: &IssuerClaims,
        buffer: &mut Buffer,
        dates: Dates,
        clock: &dyn Clock,
    ) -> Result<()> {
        self.write_with(issuer, buffer, dates, clock)
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<I: Issue + ?Sized> Issue for $pointer {
            fn issue_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
            ) -> Result<String> {
                (**self).issue_with_clock(claims, clock)
            }

            fn issue_onto_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
                token: &mut String,
            ) -> Result<()> {
                (**self).issue_onto_with_clock(claims, clock, token)
            }
        }
    )*};
}

forward!(&I, Box<I>, Arc<I>);
