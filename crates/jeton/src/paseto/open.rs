//! From a token to the bytes in it, the same way for every version and purpose.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smallvec::smallvec;
use zeroize::Zeroizing;

use super::key_set::Candidates;
use super::suite::Suite;
use super::token::{Footer, Parts};
use super::{Binding, KeySet};
use crate::error::{Rejection, Result};
use crate::limits::Limits;

/// The object-safe core: a key that turns tokens into authenticated bytes.
pub(super) trait Open: Send + Sync {
    fn suite(&self) -> &'static Suite;

    /// Version and purpose, dots included.
    fn header(&self) -> &'static str;

    /// The key's PASERK id.
    fn id(&self) -> &Arc<str>;

    /// How large a buffer `open` needs for that token.
    fn buffer_bytes(&self, parts: &Parts<'_>, implicit_assertion: &[u8]) -> usize;

    /// Authenticates a token, and decrypts it if it is encrypted; where in the buffer its message
    /// stands. The buffer has the size that `room` said, and any contents.
    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>>;
}

/// What a verifier opens tokens with: one key of one version and purpose, or a
/// [set](super::KeySet) of them.
///
/// Made from a key or a reference to one; the key itself is shared, not copied.
///
/// ```
/// use jeton::paseto::{Keys, v4};
/// let key = v4::SecretKey::generate()?;
/// let keys: Keys = key.public_key().into();
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct Keys(pub(super) Trusted);

#[derive(Clone)]
pub(super) enum Trusted {
    One(Arc<dyn Open>),
    Set(KeySet),
}

impl Keys {
    pub(super) fn one(key: Arc<dyn Open>) -> Keys {
        Keys(Trusted::One(key))
    }

    /// The token, taken apart, and the keys that may have made it, all of one version and purpose.
    pub(super) fn candidates<'k, 't>(
        &'k self,
        token: &'t str,
        limits: &Limits,
    ) -> Result<(Parts<'t>, Candidates<'k>), Rejection> {
        match &self.0 {
            Trusted::One(key) => {
                let parts = Parts::of(token, key.header(), limits)?;
                Ok((parts, smallvec![key]))
            }
            Trusted::Set(set) => set.candidates(token, limits),
        }
    }
}

impl Trusted {
    pub(super) fn all(&self) -> &[Arc<dyn Open>] {
        match self {
            Trusted::One(key) => std::slice::from_ref(key),
            Trusted::Set(set) => set.keys(),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.0.all().iter().map(|key| key.id());
        f.write_str("Keys")?;
        f.debug_list().entries(ids).finish()
    }
}

/// The bytes of a token that has been authenticated, and its footer. The bytes are wiped when dropped.
///
/// Only a key makes one. Nothing in the message has been looked at: whoever wants claims checked
/// uses a [`Verifier`](super::Verifier).
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    message: Zeroizing<Vec<u8>>,
    footer: Footer,
}

impl Opened {
    /// The message, exactly as it was signed or encrypted.
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// The message, exactly as it was signed or encrypted. Wiping it is now the caller's.
    pub fn into_message(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.message)
    }

    /// The footer; empty if the token has none.
    pub fn footer(&self) -> &[u8] {
        &self.footer
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

/// Opens a token under the default limits.
pub(super) fn bytes(key: &dyn Open, token: &str, implicit_assertion: &[u8]) -> Result<Opened> {
    check(key, implicit_assertion)?;
    let parts = Parts::of(token, key.header(), &Limits::default())?;
    let mut buffer = Zeroizing::new(vec![0; key.buffer_bytes(&parts, implicit_assertion)]);
    let message = key.open(&parts, implicit_assertion, &mut buffer)?;
    buffer.truncate(message.end);
    buffer.drain(..message.start);
    Ok(Opened {
        message: buffer,
        footer: parts.footer,
    })
}

/// Whether a token of that key can be bound to that assertion at all. A version that has none must
/// not leave it out in silence: the caller would take a token for bound that is not.
pub(super) fn check(key: &dyn Open, implicit_assertion: &[u8]) -> Result<()> {
    Binding::new()
        .implicit_assertion(implicit_assertion)
        .check(key.suite())
}

/// The whole of a body must have at least that many bytes.
pub(super) fn check_body_bytes(body_bytes: usize, least: usize) -> Result<(), Rejection> {
    if body_bytes < least {
        return Err(Rejection::Malformed(crate::error::Part::Payload));
    }
    Ok(())
}
