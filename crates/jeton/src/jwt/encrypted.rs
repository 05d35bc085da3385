use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::claims::{Buffer, Claims, Dates, Scanned};
use crate::clock::{Clock, SystemClock};
use crate::crypto;
use crate::danger::IssuerWrappingKey;
use crate::error::{Part, Rejection, Result};
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jwe::{Decrypter, Encrypter};
use crate::key::{ContentEnc, ContentKey, DecryptionKeys, EncryptionKeyRef};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::verified::{Scratch, Untyped, Verified, VerifiedIn};
use crate::verify::Verify;

/// A key that both sides share and that can stand for the issuer of a JWT that is encrypted and not signed: a
/// [`ContentKey`].
///
/// To a public key anyone can encrypt, so there the claims are signed first:
/// [`NestedIssuer`](super::NestedIssuer).
///
/// ```compile_fail,E0277
/// # use jeton::jwt::EncryptedIssuer;
/// # use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg};
/// let public = DecryptionKey::generate(KeyManagementAlg::EcdhEs)?.encryption_key();
/// EncryptedIssuer::new(&public, ContentEnc::A256Gcm); // from anybody: refused by the compiler
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// A [`WrappingKey`](crate::key::WrappingKey) cannot either. A token may have other recipients beside it, each
/// of whom learns the content key and can encrypt other claims under it. Where the other side demands AES key
/// wrap, there is [`danger::IssuerWrappingKey`](crate::danger::IssuerWrappingKey).
///
/// ```compile_fail,E0277
/// # use jeton::jwt::EncryptedVerifier;
/// # use jeton::key::{KeyWrapAlg, WrappingKey};
/// # use jeton::Policy;
/// let wrapping = WrappingKey::generate(KeyWrapAlg::A256Kw)?;
/// EncryptedVerifier::new(&wrapping, Policy::new("i", "a")); // refused by the compiler
/// # Ok::<(), jeton::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for the issuer of a JWT",
    note = "a `ContentKey` can; to a public key anyone can encrypt, and every recipient of a token can \
            encrypt under its content key, so sign first: `jwt::NestedIssuer`"
)]
pub trait SharedKey: sealed::Shared {}

impl SharedKey for ContentKey {}

mod sealed {
    use super::{ContentKey, DecryptionKeys, EncryptionKeyRef, IssuerWrappingKey};

    pub trait Shared {
        #[doc(hidden)]
        fn to_encrypt(&self) -> EncryptionKeyRef<'_>;
        #[doc(hidden)]
        fn to_decrypt(&self) -> DecryptionKeys;
    }

    impl Shared for IssuerWrappingKey {
        fn to_encrypt(&self) -> EncryptionKeyRef<'_> {
            self.key().into()
        }

        fn to_decrypt(&self) -> DecryptionKeys {
            self.key().into()
        }
    }

    impl Shared for ContentKey {
        fn to_encrypt(&self) -> EncryptionKeyRef<'_> {
            self.into()
        }

        fn to_decrypt(&self) -> DecryptionKeys {
            self.into()
        }
    }
}

/// Issues JWTs that are encrypted with a shared key, and not signed: whoever can read such a token
/// can also make one.
///
/// With AES-GCM one [`ContentKey`] encrypts at most 2³² tokens (RFC 7518, section 8.4).
///
/// ```
/// use std::time::Duration;
/// use jeton::key::{ContentEnc, ContentKey};
/// use jeton::{Claims, Policy, Verified, jwt};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
/// let token = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm).issue(
///     &Claims::new(Visit { page: "/".into() })
///         .issuer("https://id.example")
///         .audience("api")
///         .expires_in(Duration::from_mins(15)),
/// )?;
///
/// let verifier = jwt::EncryptedVerifier::new(&key, Policy::new("https://id.example", "api"));
/// let visit: Verified<Visit> = verifier.verify(&token)?;
/// assert_eq!(visit.page, "/");
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct EncryptedIssuer<'k> {
    encrypter: Encrypter<'k>,
}

impl<'k> EncryptedIssuer<'k> {
    /// Encrypts with this key and this content encryption; a [`ContentKey`]'s own, or issuing is
    /// [`Misuse::ContentEncryption`](crate::error::Misuse::ContentEncryption).
    pub fn new<K: SharedKey>(key: &'k K, enc: ContentEnc) -> EncryptedIssuer<'k> {
        EncryptedIssuer {
            encrypter: Encrypter::new(key.to_encrypt(), enc).typ("JWT"),
        }
    }

    /// A compact JWE with these claims. The time is the system's.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        self.encrypt(claims, &SystemClock)
    }

    /// The same by another clock.
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        self.encrypt(claims, clock)
    }

    fn encrypt<C: WriteClaims + ?Sized>(&self, claims: &C, clock: &dyn Clock) -> Result<String> {
        let mut payload = Buffer::new();
        let written = claims.write_into(&mut payload, Dates::Numeric, clock);
        let token = written.and_then(|()| self.encrypter.encrypt(&payload));
        crypto::wipe(&mut payload);
        token
    }
}

impl Issue for EncryptedIssuer<'_> {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        self.encrypt(claims, clock)
    }
}

/// Decrypts a compact JWE whose plaintext is claims, with a key that only the issuer shares.
///
/// A JWE around a signed JWT is refused: that is [`NestedVerifier`](super::NestedVerifier)'s.
pub struct EncryptedVerifier {
    decrypter: Decrypter,
    policy: Policy,
    limits: Limits,
    clock: Box<dyn Clock>,
}

impl EncryptedVerifier {
    /// Trusts this key and demands this policy.
    pub fn new<K: SharedKey>(key: &K, policy: Policy) -> EncryptedVerifier {
        EncryptedVerifier {
            decrypter: Decrypter::new(key.to_decrypt()),
            policy,
            limits: Limits::default(),
            clock: Box::new(SystemClock),
        }
    }

    /// Accepts tokens of these sizes.
    pub fn limits(mut self, limits: Limits) -> EncryptedVerifier {
        self.decrypter = self.decrypter.limits(limits);
        self.limits = limits;
        self
    }

    /// Asks this clock for the time.
    pub fn clock(mut self, clock: impl Clock + 'static) -> EncryptedVerifier {
        self.clock = Box::new(clock);
        self
    }

    /// The claims, if the token can be decrypted and is what the policy demands.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_untyped(token)?.typed()
    }

    /// The plaintext's text, the registered claims in it and the key's id.
    fn open<R>(
        &self,
        token: &str,
        make: impl FnOnce(&str, Scanned, Option<Arc<str>>) -> R,
    ) -> Result<R> {
        let decrypted = self.decrypter.decrypt(token)?;
        if decrypted.content_type().is_some() || !self.policy.accepts_typ(decrypted.typ()) {
            return Err(Rejection::TypeMismatch.into());
        }
        let payload = std::str::from_utf8(decrypted.plaintext())
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        let clock = self.clock.as_ref();
        let mut claims = Scanned::default();
        self.policy
            .accept(payload, Dates::Numeric, &self.limits, clock, &mut claims)?;
        Ok(make(payload, claims, decrypted.shared_key_id()))
    }
}

impl Verify for EncryptedVerifier {
    fn verify_untyped(&self, token: &str) -> Result<Verified<Untyped>> {
        self.open(token, |payload, claims, key_id| {
            Verified::untyped(claims, Box::from(payload), key_id)
        })
    }

    fn verify_untyped_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, Untyped>> {
        self.open(token, |payload, claims, key_id| {
            Verified::untyped(claims, scratch.copy_from(payload), key_id)
        })
    }

    fn recheck(&self, verified: &Verified<Untyped>) -> Result<()> {
        Ok(self.policy.recheck(verified, self.clock.as_ref())?)
    }
}

impl fmt::Debug for EncryptedVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptedVerifier")
            .field("decrypter", &self.decrypter)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
