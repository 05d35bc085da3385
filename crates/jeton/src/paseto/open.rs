//! Decrypting and verifying tokens, for all versions and purposes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::TokenContext;
use super::suite::Suite;
use super::token::{Footer, Parts};
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
