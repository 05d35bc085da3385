use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::claims::{Buffer, Claims, CustomClaims, Dates, Scanned};
use crate::clock::{Clock, SystemClock};
use crate::crypto;
use crate::error::{Part, Rejection, Result};
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jwe::{Decrypter, Encrypter};
use crate::key::{ContentEnc, ContentKey, DecryptionKeys, EncryptionKeyRef};
use crate::policy::Policy;
use crate::token_limits::Limits;
use crate::verified::{Header, Kid, RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;

/// A shared key that authenticates the issuer of a JWT that is encrypted but not signed: a [`ContentKey`].
///
/// Anyone can encrypt to a public key. So sign the claims first, with [`NestedIssuer`](super::NestedIssuer).
///
/// ```compile_fail,E0277
/// # use jeton::jwt::EncryptedIssuer;
/// # use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg};
/// let public = DecryptionKey::generate(KeyManagementAlg::EcdhEs)?.encryption_key();
/// EncryptedIssuer::new(&public, ContentEnc::A256Gcm); // does not compile: anyone could encrypt
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// A [`WrappingKey`](crate::key::WrappingKey) does not authenticate the issuer either. A token may have other
/// recipients, which learn the content key and can encrypt other claims with it. If a peer requires AES Key
/// Wrap, use [`danger::IssuerWrappingKey`](crate::danger::IssuerWrappingKey).
///
/// ```compile_fail,E0277
/// # use jeton::jwt::EncryptedVerifier;
/// # use jeton::key::{KeyWrapAlg, WrappingKey};
/// # use jeton::Policy;
/// let wrapping = WrappingKey::generate(KeyWrapAlg::A256Kw)?;
/// EncryptedVerifier::new(&wrapping, Policy::new("i", "a")); // does not compile
/// # Ok::<(), jeton::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not authenticate the issuer of a JWT",
    note = "use a `ContentKey`, or sign first with `jwt::NestedIssuer`: anyone can encrypt to a public key, \
            and every recipient of a token can encrypt with its content key"
)]
pub trait SharedKey: sealed::Shared {}

impl SharedKey for ContentKey {}

pub(super) mod sealed {
    use super::{ContentKey, DecryptionKeys, EncryptionKeyRef};

    pub trait Shared {
        #[doc(hidden)]
        fn to_encrypt(&self) -> EncryptionKeyRef<'_>;
        #[doc(hidden)]
        fn to_decrypt(&self) -> DecryptionKeys;
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

/// Issues JWTs that are encrypted with a shared key, but not signed. Anyone who can read such a token can
/// also issue one.
///
/// With AES-GCM, one [`ContentKey`] may encrypt at most 2³² tokens (RFC 7518, section 8.4).
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
///         .expires_in(Duration::from_secs(900)),
/// )?;
///
/// let verifier = jwt::EncryptedVerifier::new(&key, Policy::new("https://id.example", "api"));
/// let visit: Verified<Visit> = verifier.verify(&token)?;
/// assert_eq!(visit.claims().page, "/");
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct EncryptedIssuer<'k> {
    encrypter: Encrypter<'k>,
}

impl<'k> EncryptedIssuer<'k> {
    /// Creates an issuer with this key and content encryption. A [`ContentKey`] has a fixed content encryption;
    /// with another one, issuing returns
    /// [`InvalidUse::ContentEncryption`](crate::error::InvalidUse::ContentEncryption).
    pub fn new<K: SharedKey>(key: &'k K, enc: ContentEnc) -> EncryptedIssuer<'k> {
        EncryptedIssuer {
            encrypter: Encrypter::new(key.to_encrypt(), enc).typ("JWT"),
        }
    }

    /// Adds a member to the header of the tokens, as [`Encrypter::header`] does.
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.encrypter = self.encrypter.header(name, value);
        self
    }

    /// Issues a compact JWE with these claims, using the system clock.
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        self.encrypt(claims, &SystemClock)
    }

    /// Issues a compact JWE with these claims, using this clock.
    pub fn issue_with_clock<T: CustomClaims>(
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
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        self.encrypt(claims, clock)
    }
}

/// Verifies a compact JWE whose plaintext is claims, with a key that only the issuer shares.
///
/// A JWE that contains a signed JWT is rejected; use [`NestedVerifier`](super::NestedVerifier).
pub struct EncryptedVerifier {
    decrypter: Decrypter,
    policy: Policy,
    limits: Limits,
    clock: Box<dyn Clock>,
}

impl EncryptedVerifier {
    /// Creates a verifier with this key and policy.
    pub fn new<K: SharedKey>(key: &K, policy: Policy) -> EncryptedVerifier {
        EncryptedVerifier {
            decrypter: Decrypter::new(key.to_decrypt()),
            policy,
            limits: Limits::default(),
            clock: Box::new(SystemClock),
        }
    }

    /// Sets the size limits.
    pub fn limits(mut self, limits: Limits) -> EncryptedVerifier {
        self.decrypter = self.decrypter.limits(limits);
        self.limits = limits;
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> EncryptedVerifier {
        self.clock = Box::new(clock);
        self
    }

    /// Decrypts and verifies a token, and returns its claims.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_raw(token)?.deserialize()
    }

    /// Calls `make` with the plaintext, its claims, the id of the key and the header.
    fn open<R>(
        &self,
        token: &str,
        make: impl FnOnce(&str, Scanned, Option<Arc<str>>, Header) -> R,
    ) -> Result<R> {
        let decrypted = self.decrypter.decrypt(token)?;
        if decrypted.content_type().is_some() {
            return Err(Rejection::TypeMismatch.into());
        }
        let key_id = decrypted.shared_key_id();
        let header = Header {
            alg: decrypted.alg(),
            kid: match key_id {
                Some(_) => Kid::OfKey,
                None => Kid::Absent,
            },
            typ: self.policy.accept_typ(decrypted.typ())?,
        };
        let payload = std::str::from_utf8(decrypted.plaintext())
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        let clock = self.clock.as_ref();
        let mut claims = Scanned::default();
        self.policy
            .accept(payload, Dates::Numeric, &self.limits, clock, &mut claims)?;
        Ok(make(payload, claims, key_id, header))
    }
}

impl Verify for EncryptedVerifier {
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.open(token, |payload, claims, key_id, header| {
            Verified::raw(claims, Box::from(payload), key_id, header)
        })
    }

    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        self.open(token, |payload, claims, key_id, header| {
            Verified::raw(claims, scratch.copy_from(payload), key_id, header)
        })
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
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
