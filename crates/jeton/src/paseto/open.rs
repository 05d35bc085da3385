//! Decrypting and verifying tokens, for all versions and purposes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smallvec::smallvec;
use zeroize::Zeroizing;

use super::key_set::Candidates;
use super::suite::Suite;
use super::token::{Footer, Parts};
use super::{PasetoKey, PasetoKeySet, TokenContext};
use crate::error::{Rejection, Result};
use crate::token_limits::Limits;

/// The object-safe core: a key that authenticates tokens.
pub(super) trait Open: Send + Sync {
    fn suite(&self) -> &'static Suite;

    /// Version and purpose, with dots.
    fn header(&self) -> &'static str;

    /// The PASERK id of the key.
    fn id(&self) -> &Arc<str>;

    /// The size of the buffer that `open` needs for this token.
    fn buffer_bytes(&self, parts: &Parts<'_>, implicit_assertion: &[u8]) -> usize;

    /// Authenticates a token, and decrypts it if it is encrypted. Returns the position of the message in the
    /// buffer. The buffer has the size from `buffer_bytes`, and any contents.
    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>>;
}

/// The keys of a verifier: one key of one version and purpose, or a [set](super::PasetoKeySet) of keys.
///
/// Every PASETO key, or a reference to it, converts into it. The key is shared, not copied.
///
/// ```
/// use jeton::paseto::{PasetoKeys, v4};
/// let key = v4::SecretKey::generate()?;
/// let keys: PasetoKeys = key.public_key().into();
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PasetoKeys(pub(super) Trusted);

#[derive(Clone)]
pub(super) enum Trusted {
    One(PasetoKey),
    Set(PasetoKeySet),
}

impl PasetoKeys {
    pub(super) fn one(key: Arc<dyn Open>) -> PasetoKeys {
        PasetoKeys(Trusted::One(PasetoKey(key)))
    }

    /// Splits the token, and returns it with the keys that may have created it, all of its version and purpose.
    pub(super) fn candidates<'k, 't>(
        &'k self,
        token: &'t str,
        limits: &Limits,
    ) -> Result<(Parts<'t>, Candidates<'k>), Rejection> {
        match &self.0 {
            Trusted::One(PasetoKey(key)) => {
                let parts = Parts::of(token, key.header(), limits)?;
                let keys = smallvec![key];
                Ok((parts, Candidates { keys, count: 1 }))
            }
            Trusted::Set(set) => set.candidates(token, limits),
        }
    }
}

impl Trusted {
    pub(super) fn all(&self) -> &[PasetoKey] {
        match self {
            Trusted::One(key) => std::slice::from_ref(key),
            Trusted::Set(set) => set.keys(),
        }
    }
}

impl fmt::Debug for PasetoKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.0.all().iter().map(PasetoKey::key_id);
        f.write_str("PasetoKeys")?;
        f.debug_list().entries(ids).finish()
    }
}

/// Defines the conversions of a key that opens tokens of one version.
macro_rules! opening_key {
    ($key:ident) => {
        impl<V> From<&$key<V>> for PasetoKey {
            fn from(key: &$key<V>) -> PasetoKey {
                PasetoKey(Arc::clone(&key.prepared) as Arc<dyn Open>)
            }
        }

        impl<V> From<$key<V>> for PasetoKey {
            fn from(key: $key<V>) -> PasetoKey {
                PasetoKey(key.prepared)
            }
        }

        impl<V> From<&$key<V>> for PasetoKeys {
            fn from(key: &$key<V>) -> PasetoKeys {
                PasetoKeys::one(Arc::clone(&key.prepared) as Arc<dyn Open>)
            }
        }

        impl<V> From<$key<V>> for PasetoKeys {
            fn from(key: $key<V>) -> PasetoKeys {
                PasetoKeys::one(key.prepared)
            }
        }
    };
}

pub(super) use opening_key;

/// The bytes of an authenticated token, and its footer. The bytes are wiped when dropped.
///
/// Only a key creates it. The message is not checked: to verify claims, use a
/// [`PasetoVerifier`](super::PasetoVerifier).
///
/// ```
/// use jeton::paseto::TokenContext;
/// use jeton::paseto::v4::LocalKey;
///
/// let key = LocalKey::generate()?;
/// let token = key.encrypt(b"hello", TokenContext::new().footer("kid-1"))?;
/// let message = key.decrypt(&token, b"")?;
/// assert_eq!((message.message(), message.footer()), (&b"hello"[..], &b"kid-1"[..]));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    message: Zeroizing<Vec<u8>>,
    footer: Footer,
}

impl Message {
    /// Returns the message, exactly as it was signed or encrypted.
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Returns the message. The caller is responsible for wiping it.
    pub fn into_message(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.message)
    }

    /// Returns the footer; empty if the token has none.
    pub fn footer(&self) -> &[u8] {
        &self.footer
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").finish_non_exhaustive()
    }
}

/// Authenticates a token.
pub(super) fn bytes(
    key: &dyn Open,
    token: &str,
    implicit_assertion: &[u8],
    limits: &Limits,
) -> Result<Message> {
    check(key, implicit_assertion)?;
    let parts = Parts::of(token, key.header(), limits)?;
    let mut buffer = Zeroizing::new(vec![0; key.buffer_bytes(&parts, implicit_assertion)]);
    let message = key.open(&parts, implicit_assertion, &mut buffer)?;
    buffer.truncate(message.end);
    buffer.drain(..message.start);
    Ok(Message {
        message: buffer,
        footer: parts.footer,
    })
}

/// Checks that the version of the key supports this assertion. Ignoring an unsupported assertion would make
/// the caller believe that the token is bound to it.
pub(super) fn check(key: &dyn Open, implicit_assertion: &[u8]) -> Result<()> {
    let context = TokenContext::new().implicit_assertion(implicit_assertion);
    key.suite().check(context)
}

/// Checks the minimum length of a body.
pub(super) fn check_body_bytes(body_bytes: usize, least: usize) -> Result<(), Rejection> {
    if body_bytes < least {
        return Err(Rejection::Malformed(crate::error::Part::Payload));
    }
    Ok(())
}
