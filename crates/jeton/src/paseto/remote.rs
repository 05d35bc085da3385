//! Remote signing of `public` tokens.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::issue::Buffer;
use super::{TokenContext, token};
use crate::claims::{Claims, CustomClaims};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue};
use crate::key::remote::{Prepared, RemoteVerifier, SignRemotely};

/// A secret key in a KMS, an HSM or another process ([`remote`](crate::remote)), represented by its public
/// key.
///
/// The signing input is the pre-authentication encoding of the token. The signer needs the whole message,
/// because Ed25519 does not sign a digest.
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::{TokenContext, PasetoRemoteKey, v4, PasetoVerifier};
/// use jeton::remote::Signature;
/// use jeton::{Claims, Policy};
/// # use aws_lc_rs::signature::Ed25519KeyPair;
/// # fn sign_remotely(key: &v4::SecretKey, message: &[u8]) -> Vec<u8> {
/// #     let text = key.to_paserk().unwrap();
/// #     let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(&text["k4.secret.".len()..]).unwrap();
/// #     Ed25519KeyPair::from_seed_unchecked(&bytes[..32]).unwrap().sign(message).as_ref().to_vec()
/// # }
/// # let secret = v4::SecretKey::generate()?;
/// # let public = secret.public_key();
///
/// let key = PasetoRemoteKey::new(&public);
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
/// let prepared = key.prepare(&claims, TokenContext::new().footer("f"))?;
/// let signature = sign_remotely(&secret, prepared.input().message());
/// let token = prepared.attach(&Signature::Fixed(signature))?;
///
/// let verifier = PasetoVerifier::new(&public, Policy::new("i", "a")).footer("f");
/// assert!(verifier.verify::<serde::de::IgnoredAny>(&token).is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PasetoRemoteKey {
    public: Arc<dyn RemotelySigned>,
}

/// A public key whose secret key may be remote. Implemented for the current versions of PASETO, and for references.
pub trait RemotePublicKey: sealed::Share {}

impl<K: RemotePublicKey> RemotePublicKey for &K {}

impl<K: RemotePublicKey> sealed::Share for &K {
    fn share(&self) -> Arc<dyn RemotelySigned> {
        (**self).share()
    }
}

pub(super) mod sealed {
    use super::{Arc, RemotelySigned};

    /// Seals [`RemotePublicKey`](super::RemotePublicKey).
    pub trait Share {
        #[doc(hidden)]
        fn share(&self) -> Arc<dyn RemotelySigned>;
    }
}

/// The operations of a public key for remote signing.
pub trait RemotelySigned: RemoteVerifier {
    /// Version and purpose, with dots.
    #[doc(hidden)]
    fn header(&self) -> &'static str;

    /// The signing input, and the position of the message in it.
    #[doc(hidden)]
    fn signed_bytes(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
    ) -> Result<(Buffer, Range<usize>)>;
}

impl PasetoRemoteKey {
    /// Creates a remote key from its public key, or from a reference to it.
    pub fn new(public: impl RemotePublicKey) -> PasetoRemoteKey {
        PasetoRemoteKey {
            public: public.share(),
        }
    }

    /// Prepares a token with these claims for signing, using the system clock.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if a PASETO cannot represent the claims.
    pub fn prepare<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        context: TokenContext<'_>,
    ) -> Result<Prepared> {
        self.prepare_with_clock(claims, context, &SystemClock)
    }

    /// Prepares a token with these claims for signing, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](PasetoRemoteKey::prepare).
    pub fn prepare_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        context: TokenContext<'_>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        self.prepare_any(claims, context, clock)
    }

    /// Returns a key that signs synchronously with this signer.
    pub fn with_signer(self, signer: impl SignRemotely + 'static) -> PasetoRemoteSigner {
        PasetoRemoteSigner {
            key: self,
            signer: Box::new(signer),
        }
    }

    fn prepare_any(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        let (signed, message) = self.public.signed_bytes(claims, context, clock)?;
        let mut footer = String::new();
        token::footer_onto(context.footer, &mut footer);
        Ok(Prepared::paseto(
            Arc::clone(&self.public) as Arc<dyn RemoteVerifier>,
            self.public.header(),
            (signed.to_vec(), message),
            footer,
        ))
    }
}

/// A remote secret key that signs synchronously. It issues tokens like a local key.
pub struct PasetoRemoteSigner {
    key: PasetoRemoteKey,
    signer: Box<dyn SignRemotely>,
}

impl PasetoRemoteSigner {
    /// Issues a token with these claims and this context: a footer, an implicit assertion, both or none.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if a PASETO cannot represent the claims, and
    /// [`Error::Remote`](crate::Error::Remote) or the error of the signer if signing failed.
    pub fn issue_with<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        context: TokenContext<'_>,
    ) -> Result<String> {
        self.sign(claims, context, &SystemClock)
    }

    fn sign(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
    ) -> Result<String> {
        let prepared = self.key.prepare_any(claims, context, clock)?;
        let signature = self.signer.sign(&prepared.input())?;
        prepared.attach(&signature)
    }
}

impl Issue for PasetoRemoteSigner {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        self.sign(claims, TokenContext::new(), clock)
    }
}

impl super::bound::sealed::Sealed for PasetoRemoteSigner {}

impl super::IssueBound for PasetoRemoteSigner {
    fn issue_bound_onto(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        token.push_str(&self.sign(claims, context, clock)?);
        Ok(())
    }
}

impl fmt::Debug for PasetoRemoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasetoRemoteKey({})", self.public.header())
    }
}

impl fmt::Debug for PasetoRemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasetoRemoteSigner({})", self.key.public.header())
    }
}
