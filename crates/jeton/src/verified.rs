//! The type that only a successful verification can make.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::claims::{Layout, Registered, Scanned};
use crate::clock::Timestamp;
use crate::crypto;
use crate::error::Result;

/// Claims that have been verified: signature, times and policy.
///
/// Only a verifier makes one. It cannot be built by hand, deserialised or changed; a function that
/// takes a `Verified<T>` cannot be called with claims that nobody checked. It reads like the
/// caller's own type; the registered claims have their own methods.
///
/// `Text` is where the payload's text lives: in the value itself, or, from `verify_in`, in the
/// caller's [`Scratch`].
///
/// ```compile_fail
/// // There is no other way to one.
/// let forged = jeton::Verified { claims: () };
/// ```
#[derive(Clone)]
pub struct Verified<T, Text = Box<str>> {
    claims: T,
    registered: Registered,
    payload: Text,
    key_id: Option<Arc<str>>,
    footer: Option<Arc<[u8]>>,
}

/// Claims that have been verified, borrowing from the caller's [`Scratch`].
pub type VerifiedIn<'s, T> = Verified<T, &'s str>;

/// In the place of the caller's type: the claims are verified, and that type has not been read yet.
///
/// It is what [`Verify`](crate::Verify) gives; [`Verified::typed`] reads the type. The registered
/// claims can be read as they are.
///
/// ```
/// use jeton::{Untyped, Verified};
///
/// fn log(token: &Verified<Untyped>) {
///     println!("{:?} until {:?}", token.subject(), token.expires_at());
/// }
/// ```
#[derive(Clone)]
pub struct Untyped(Layout);

impl fmt::Debug for Untyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Untyped")
    }
}

/// A buffer that verification writes the payload into, so that nothing is allocated per token.
///
/// It grows to the largest payload it has seen, and never beyond the verifier's limit. What it holds, which
/// may have been encrypted, is wiped when it is dropped.
#[derive(Default)]
pub struct Scratch {
    pub(crate) payload: Vec<u8>,
}

impl Scratch {
    /// An empty one.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// So many bytes, with any contents.
    pub(crate) fn first_bytes(&mut self, length: usize) -> &mut [u8] {
        if self.payload.len() < length {
            self.reset(length);
            self.payload.resize(length, 0);
        }
        &mut self.payload[..length]
    }

    /// Nothing, and room for so many bytes. What was here does not stay behind in a buffer that was too small.
    fn reset(&mut self, length: usize) {
        if self.payload.capacity() < length {
            crypto::wipe(&mut self.payload);
        }
        self.payload.clear();
        self.payload.reserve(length);
    }

    /// A copy of that text, in the place of what was here.
    pub(crate) fn copy_from(&mut self, text: &str) -> &str {
        self.reset(text.len());
        self.payload.extend_from_slice(text.as_bytes());
        std::str::from_utf8(&self.payload).expect("a copy of a text is a text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What lies behind the length was longer once.
        let capacity = self.payload.capacity();
        self.payload.resize(capacity, 0);
        crypto::wipe(&mut self.payload);
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl<Text> Verified<Untyped, Text> {
    pub(crate) fn untyped(claims: Scanned, payload: Text, key_id: Option<Arc<str>>) -> Self {
        let untyped = Untyped::new(claims.layout);
        Verified::new(untyped, claims.registered, payload, key_id)
    }
}

impl Untyped {
    pub(crate) fn new(layout: Layout) -> Untyped {
        Untyped(layout)
    }
}

impl<T, Text> Verified<T, Text> {
    pub(crate) fn new(
        claims: T,
        registered: Registered,
        payload: Text,
        key_id: Option<Arc<str>>,
    ) -> Self {
        Verified {
            claims,
            registered,
            payload,
            key_id,
            footer: None,
        }
    }
}

impl<T, Text: AsRef<str>> Verified<T, Text> {
    pub(crate) fn registered(&self) -> &Registered {
        &self.registered
    }

    pub(crate) fn with_footer(mut self, footer: Option<Arc<[u8]>>) -> Self {
        self.footer = footer;
        self
    }

    /// The caller's own part of the claims.
    pub fn claims(&self) -> &T {
        &self.claims
    }

    /// The caller's own part of the claims. That they were verified is no longer in their type.
    pub fn into_claims(self) -> T {
        self.claims
    }

    /// `iss`
    pub fn issuer(&self) -> Option<&str> {
        self.registered
            .issuer
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// `sub`
    pub fn subject(&self) -> Option<&str> {
        self.registered
            .subject
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// `aud`, one or many.
    pub fn audiences(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.registered.audiences(self.json())
    }

    /// `exp`: the first second in which the token is no longer valid.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.registered.expires_at
    }

    /// `nbf`
    pub fn not_before(&self) -> Option<Timestamp> {
        self.registered.not_before
    }

    /// `iat`
    pub fn issued_at(&self) -> Option<Timestamp> {
        self.registered.issued_at.map(|moment| moment.next)
    }

    /// `jti`
    pub fn token_id(&self) -> Option<&str> {
        self.registered
            .token_id
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// The id of the key that verified the token, if the key has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The footer of a PASETO, if the token has one. Verified like the rest.
    pub fn footer(&self) -> Option<&[u8]> {
        self.footer.as_deref()
    }

    /// The claims as they stand in the token: one JSON object.
    pub fn json(&self) -> &str {
        self.payload.as_ref()
    }
}

impl Verified<Untyped> {
    /// Reads the caller's type out of the verified payload.
    ///
    /// # Errors
    ///
    /// [`Rejection::ClaimsShape`](crate::error::Rejection::ClaimsShape) if the claims do not fit it.
    ///
    /// ```
    /// use jeton::{Verified, Verify};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Visit { page: String }
    ///
    /// fn visit(verifier: &impl Verify, token: &str) -> jeton::Result<Verified<Visit>> {
    ///     verifier.verify_untyped(token)?.typed()
    /// }
    /// ```
    #[inline]
    pub fn typed<T: DeserializeOwned>(self) -> Result<Verified<T>> {
        let claims = self.claims.0.read(&self.payload)?;
        Ok(self.with_claims(claims))
    }

    /// The same claims, with their text in the caller's buffer.
    pub(crate) fn copied_into<'s>(&self, scratch: &'s mut Scratch) -> VerifiedIn<'s, Untyped> {
        Verified {
            claims: self.claims.clone(),
            registered: self.registered.clone(),
            payload: scratch.copy_from(&self.payload),
            key_id: self.key_id.clone(),
            footer: self.footer.clone(),
        }
    }
}

impl<'s> Verified<Untyped, &'s str> {
    /// Reads the caller's type out of the verified payload, from which it may borrow.
    ///
    /// # Errors
    ///
    /// [`Rejection::ClaimsShape`](crate::error::Rejection::ClaimsShape) if the claims do not fit it.
    #[inline]
    pub fn typed<T: Deserialize<'s>>(self) -> Result<VerifiedIn<'s, T>> {
        let claims = self.claims.0.read(self.payload)?;
        Ok(self.with_claims(claims))
    }
}

impl<Text> Verified<Untyped, Text> {
    fn with_claims<T>(self, claims: T) -> Verified<T, Text> {
        Verified {
            claims,
            registered: self.registered,
            payload: self.payload,
            key_id: self.key_id,
            footer: self.footer,
        }
    }
}

impl<T, Text> Deref for Verified<T, Text> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.claims
    }
}

impl<T: fmt::Debug, Text> fmt::Debug for Verified<T, Text> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Verified").field(&self.claims).finish()
    }
}
