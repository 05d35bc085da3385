//! The trait for verifying tokens of any format.

use std::sync::Arc;

use crate::error::Result;
use crate::verified::{RawClaims, Scratch, Verified, VerifiedIn};

/// Verifies tokens of one format with one policy.
///
/// Use it for code that works with any format. Implemented by [`jwt::JwtVerifier`](crate::jwt::JwtVerifier),
/// [`jwt::NestedVerifier`](crate::jwt::NestedVerifier),
/// [`jwt::EncryptedVerifier`](crate::jwt::EncryptedVerifier),
/// [`paseto::PasetoVerifier`](crate::paseto::PasetoVerifier), and [`Cached`](crate::Cached) with any of them.
///
/// It is object-safe: `&impl Verify` and `&dyn Verify` both work. The trait verifies, and
/// [`Verified::deserialize`] then deserializes the custom claims. The concrete types have a `verify` method that does
/// both, so only generic code needs the trait in scope.
///
/// Other types may implement it too, for example to choose between verifiers, or as a double in a test. Only
/// [`verify_raw`](Verify::verify_raw) and [`recheck`](Verify::recheck) are required, and later versions require no
/// other method.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::{SigAlg, SigningKey};
/// use jeton::paseto::PasetoVerifier;
/// use jeton::{Claims, Policy, Verified, Verify, jwt::JwtVerifier, paseto::v4};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String }
///
/// fn page(verifier: &dyn Verify, token: &str) -> jeton::Result<String> {
///     let visit: Verified<Visit> = verifier.verify_raw(token)?.deserialize()?;
///     Ok(visit.into_claims().page)
/// }
///
/// let claims = Claims::new(Visit { page: "/".into() })
///     .issuer("https://id.example")
///     .audience("api")
///     .expires_in(Duration::from_secs(900));
/// let policy = Policy::new("https://id.example", "api");
///
/// let key = SigningKey::generate(SigAlg::ES256)?;
/// let verifier = JwtVerifier::new(key.verifying_key(), policy.clone());
/// assert_eq!(page(&verifier, &key.issue(&claims)?)?, "/");
///
/// let key = v4::LocalKey::generate()?;
/// let verifier = PasetoVerifier::new(&key, policy);
/// assert_eq!(page(&verifier, &key.issue(&claims)?)?, "/");
/// # Ok::<(), jeton::Error>(())
/// ```
pub trait Verify: Send + Sync {
    /// Verifies a token and returns its claims. The registered claims can be read directly;
    /// [`Verified::deserialize`] deserializes the custom claims.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected) is the only error that a token can cause.
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>>;

    /// Verifies a token with its payload in `scratch`, without an allocation if the format allows it.
    ///
    /// By default, the payload of [`verify_raw`](Verify::verify_raw) is copied.
    ///
    /// # Errors
    ///
    /// Those of [`verify_raw`](Verify::verify_raw).
    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        Ok(self.verify_raw(token)?.copied_into(scratch))
    }

    /// Checks claims that this verifier verified earlier against its policy at the current time. The signature is
    /// not verified again.
    ///
    /// # Errors
    ///
    /// Those of [`verify_raw`](Verify::verify_raw).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Claims, Policy, Verify, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// # let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(60));
    /// # let token = key.issue(&claims)?;
    /// let verifier = JwtVerifier::new(&key, Policy::new("i", "a"));
    /// let verified = verifier.verify_raw(&token)?;
    /// // Later, in a connection that lives as long as the token:
    /// assert!(verifier.recheck(&verified).is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<V: Verify + ?Sized> Verify for $pointer {
            fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
                (**self).verify_raw(token)
            }

            fn verify_raw_in<'s>(
                &self,
                token: &str,
                scratch: &'s mut Scratch,
            ) -> Result<VerifiedIn<'s, RawClaims>> {
                (**self).verify_raw_in(token, scratch)
            }

            fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
                (**self).recheck(verified)
            }
        }
    )*};
}

forward!(&V, Box<V>, Arc<V>);
