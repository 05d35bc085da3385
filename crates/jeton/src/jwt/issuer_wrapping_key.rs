use super::encrypted::{SharedKey, sealed};
use crate::key::{DecryptionKeys, EncryptionKeyRef, WrappingKey};

/// A [`WrappingKey`] for issuing and verifying JWTs with
/// [`jwt::EncryptedIssuer`](crate::jwt::EncryptedIssuer) and
/// [`jwt::EncryptedVerifier`](crate::jwt::EncryptedVerifier), for peers that require AES Key Wrap.
///
/// Insecure: a wrapped content key does not authenticate the content. Suppose that the same secret is ever
/// used for one of several recipients of a JWE, in any program. Then each other recipient learns the content
/// key and can encrypt claims of its own, which this key accepts. So the secret must have no other use; this
/// type gives the key to no [`Encrypter`](crate::jwe::Encrypter). A
/// [`ContentKey`](crate::key::ContentKey) does not have this weakness, because it wraps nothing.
///
/// ```
/// use jeton::danger::IssuerWrappingKey;
/// use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
/// use jeton::{Claims, Policy, Verified, jwt};
/// use serde::de::IgnoredAny;
///
/// let key = IssuerWrappingKey::new(WrappingKey::generate(KeyWrapAlg::A256Kw)?);
/// let token = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm)
///     .issue(&Claims::new(()).issuer("shop").audience("shop").without_expiry())?;
/// let policy = Policy::new("shop", "shop").without_expiry();
/// let claims: Verified<IgnoredAny> = jwt::EncryptedVerifier::new(&key, policy).verify(&token)?;
/// assert_eq!(claims.issuer(), Some("shop"));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct IssuerWrappingKey(WrappingKey);

impl IssuerWrappingKey {
    /// Creates the key. The wrapped key must have no other use.
    pub fn new(key: WrappingKey) -> IssuerWrappingKey {
        IssuerWrappingKey(key)
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.0.key_id()
    }
}

impl SharedKey for IssuerWrappingKey {}

impl sealed::Shared for IssuerWrappingKey {
    fn to_encrypt(&self) -> EncryptionKeyRef<'_> {
        (&self.0).into()
    }

    fn to_decrypt(&self) -> DecryptionKeys {
        (&self.0).into()
    }
}
