use crate::jwt::SharedKey;
use crate::key::WrappingKey;

/// A [`WrappingKey`] that stands for an issuer of JWTs: for
/// [`jwt::EncryptedIssuer`](crate::jwt::EncryptedIssuer) and
/// [`jwt::EncryptedVerifier`](crate::jwt::EncryptedVerifier), where the other side demands AES key wrap.
///
/// Questionable: what wraps a content key does not say what is encrypted with it. If the same secret is ever
/// one recipient among several of a JWE, in any program, then each of the others learns that content key, and
/// can encrypt claims of its own under it that this key accepts. So the secret must be for this and nothing
/// else; this type holds the key and gives it to no encrypter. A
/// [`ContentKey`](crate::key::ContentKey) does not have this weakness: it wraps nothing.
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
    /// Takes the key for this and nothing else.
    pub fn new(key: WrappingKey) -> IssuerWrappingKey {
        IssuerWrappingKey(key)
    }

    /// The key's id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.0.key_id()
    }

    pub(crate) fn key(&self) -> &WrappingKey {
        &self.0
    }
}

impl SharedKey for IssuerWrappingKey {}
