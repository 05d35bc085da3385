//! `v4.public`: signed with a secret key, verified with a public one.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use zeroize::Zeroizing;

use crate::claims::Claims;
use crate::clock::{Clock, SystemClock};
use crate::crypto::ed25519::{PUBLIC_BYTES, Pair, Public, SEED_BYTES, SIGNATURE_BYTES};
use crate::error::{Rejection, Result};
use crate::issue::{AnyClaims, Issue};
use crate::key::SigAlg;
use crate::paserk::{self, Id, Kind, Paserk};
use crate::paseto::issue::{self, Buffer, Seal};
use crate::paseto::open::{self, Keys, Open, Opened};
use crate::paseto::remote::{self, SignedElsewhere};
use crate::paseto::token::Parts;
use crate::paseto::{Binding, RemotePublicKey, bound, pae};
use crate::remote::Checks;

const HEADER: &str = "v4.public.";

/// A key that signs `v4.public` tokens. Its [`public_key`](SecretKey::public_key) verifies them.
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::v4::SecretKey;
/// use jeton::Claims;
///
/// let key = SecretKey::generate()?;
/// let token = key.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_mins(5)))?;
/// assert!(token.starts_with("v4.public."));
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct SecretKey {
    pair: Pair,
    public: PublicKey,
}

impl SecretKey {
    /// A fresh key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn generate() -> Result<SecretKey> {
        SecretKey::from_pair(Pair::generate()?)
    }

    /// Reads a `k4.secret` PASERK.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key): the text is no PASERK, of another kind, too short or too
    /// long, not in its one encoding, or its two halves do not belong together.
    pub fn from_paserk(text: &str) -> Result<SecretKey> {
        let paserk = Paserk::read(text, Kind::K4_SECRET)?;
        let (seed, public) = paserk.bytes().split_at(SEED_BYTES);
        let pair = Pair::from_halves(seed, public).map_err(paserk::refused)?;
        SecretKey::from_pair(pair)
    }

    /// The key's text, as secret as the key itself.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if AWS-LC does not give the seed out.
    pub fn to_paserk(&self) -> Result<Zeroizing<String>> {
        Ok(paserk::text(Kind::K4_SECRET, self.halves()?.as_slice()))
    }

    /// The key that verifies what this one signs.
    pub fn public_key(&self) -> PublicKey {
        self.public.clone()
    }

    /// The key's `k4.sid`. Not secret. Tokens are better marked with the `k4.pid` of the public
    /// key, which those who verify can compute.
    ///
    /// # Errors
    ///
    /// As [`to_paserk`](SecretKey::to_paserk).
    pub fn id(&self) -> Result<Id> {
        Ok(Id::of(Kind::K4_SECRET, self.halves()?.as_slice()))
    }

    /// Issues a token with these claims.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if the claims are not what a PASETO can hold: no
    /// expiry chosen, a list of audiences, a member with a registered name.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        self.issue_with(claims, Binding::new())
    }

    /// Issues a token with these claims that is bound to a footer, an implicit assertion or both.
    ///
    /// # Errors
    ///
    /// As [`issue`](SecretKey::issue), and for a footer beyond its limit.
    ///
    /// ```
    /// use jeton::paseto::{Binding, v4::SecretKey};
    /// use jeton::Claims;
    ///
    /// let key = SecretKey::generate()?;
    /// let kid = format!("{{\"kid\":\"{}\"}}", key.public_key().id());
    /// let claims = Claims::new(()).without_expiry();
    /// let token = key.issue_with(&claims, Binding::new().footer(&kid))?;
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn issue_with<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        binding: Binding<'_>,
    ) -> Result<String> {
        self.issue_by(claims, binding, &SystemClock)
    }

    /// The same by another clock than the system's.
    ///
    /// # Errors
    ///
    /// As [`issue_with`](SecretKey::issue_with).
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        binding: Binding<'_>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue::claims(self, claims, binding, clock)
    }

    /// Signs any bytes. Claims are issued with [`issue`](SecretKey::issue); this is for messages
    /// that are not claims, or were written by somebody else.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) for a footer beyond its limit.
    ///
    /// ```
    /// use jeton::paseto::{Binding, v4::SecretKey};
    ///
    /// let key = SecretKey::generate()?;
    /// let token = key.sign(b"any bytes", Binding::new().footer("f").implicit_assertion("i"))?;
    /// let opened = key.public_key().verify(&token, b"i")?;
    /// assert_eq!((opened.message(), opened.footer()), (&b"any bytes"[..], &b"f"[..]));
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn sign(&self, message: &[u8], binding: Binding<'_>) -> Result<String> {
        issue::bytes(self, message, binding)
    }

    fn from_pair(pair: Pair) -> Result<SecretKey> {
        let public = Public::from_bytes(&pair.public_bytes()).map_err(paserk::refused)?;
        Ok(SecretKey {
            pair,
            public: PublicKey::from_public(public),
        })
    }

    fn halves(&self) -> Result<Zeroizing<[u8; SEED_BYTES + PUBLIC_BYTES]>> {
        let mut halves = Zeroizing::new([0; SEED_BYTES + PUBLIC_BYTES]);
        let (seed, public) = halves.split_at_mut(SEED_BYTES);
        seed.copy_from_slice(self.pair.seed()?.as_slice());
        public.copy_from_slice(self.public.0.key.bytes());
        Ok(halves)
    }
}

impl Issue for SecretKey {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue::claims(self, claims, Binding::new(), clock)
    }
}

impl bound::sealed::Sealed for SecretKey {}

impl bound::IssueBound for SecretKey {
    fn issue_bound(
        &self,
        claims: &dyn AnyClaims,
        binding: Binding<'_>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue::claims(self, claims, binding, clock)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("v4::SecretKey").finish_non_exhaustive()
    }
}

/// A key that verifies `v4.public` tokens.
///
/// ```
/// use jeton::paseto::v4::{PublicKey, SecretKey};
///
/// let key = SecretKey::generate()?.public_key();
/// assert_eq!(PublicKey::from_paserk(&key.to_paserk())?, key);
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PublicKey(Arc<Prepared>);

impl PublicKey {
    /// Reads a `k4.public` PASERK.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key): the text is no PASERK, of another kind, too short or too
    /// long, or not in its one encoding; or it is not a key that anybody can have: not a point of
    /// the curve, one of small order, or not in its one encoding.
    pub fn from_paserk(text: &str) -> Result<PublicKey> {
        let paserk = Paserk::read(text, Kind::K4_PUBLIC)?;
        let public = Public::from_bytes(paserk.bytes()).map_err(paserk::refused)?;
        Ok(PublicKey::from_public(public))
    }

    /// The key's text.
    pub fn to_paserk(&self) -> String {
        std::mem::take(&mut *paserk::text(Kind::K4_PUBLIC, self.0.key.bytes()))
    }

    /// The key's `k4.pid`.
    pub fn id(&self) -> Id {
        Id::of(Kind::K4_PUBLIC, self.0.key.bytes())
    }

    /// Verifies a token and gives exactly the bytes that were signed, and looks at nothing in
    /// them: no expiry, no audience. Claims are verified by a [`Verifier`](super::Verifier).
    ///
    /// `implicit_assertion` is the one that the token was made with, or empty. A token has at most
    /// [`Limits::token_bytes`](crate::Limits::token_bytes) of the default limits.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected).
    pub fn verify(&self, token: &str, implicit_assertion: &[u8]) -> Result<Opened> {
        open::bytes(&*self.0, token, implicit_assertion)
    }

    fn from_public(key: Public) -> PublicKey {
        let id = Id::of(Kind::K4_PUBLIC, key.bytes()).to_string().into();
        PublicKey(Arc::new(Prepared { key, id }))
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.0.key.bytes() == other.0.key.bytes()
    }
}

impl Eq for PublicKey {}

impl From<&PublicKey> for Keys {
    fn from(key: &PublicKey) -> Keys {
        Keys::one(Arc::clone(&key.0) as Arc<dyn Open>)
    }
}

impl From<PublicKey> for Keys {
    fn from(key: PublicKey) -> Keys {
        Keys::one(key.0)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v4::PublicKey({})", self.0.id)
    }
}

/// The key, decompressed, and its id.
struct Prepared {
    key: Public,
    id: Arc<str>,
}

impl RemotePublicKey for PublicKey {}

impl remote::sealed::Share for PublicKey {
    fn share(&self) -> Arc<dyn SignedElsewhere> {
        Arc::clone(&self.0) as Arc<dyn SignedElsewhere>
    }
}

impl Checks for Prepared {
    fn alg(&self) -> SigAlg {
        SigAlg::EdDSA
    }

    fn signature_bytes(&self) -> usize {
        SIGNATURE_BYTES
    }

    fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool {
        signature
            .try_into()
            .is_ok_and(|signature| self.key.verify(message, signature))
    }
}

impl SignedElsewhere for Prepared {
    fn header(&self) -> &'static str {
        HEADER
    }

    fn signed_bytes(
        &self,
        claims: &dyn AnyClaims,
        binding: Binding<'_>,
        clock: &dyn Clock,
    ) -> Result<(Buffer, Range<usize>)> {
        let mut buffer = issue::message(Frame::BEFORE, claims, binding, clock)?;
        let frame = Frame {
            message_bytes: buffer.len() - Frame::BEFORE,
            footer: binding.footer,
            implicit_assertion: binding.implicit_assertion,
        };
        buffer.resize(frame.bytes(), 0);
        frame.write(&mut buffer);
        Ok((buffer, frame.message()))
    }
}

impl Seal for SecretKey {
    const HEADER: &'static str = HEADER;
    const BEFORE: usize = Frame::BEFORE;
    const LONGER: usize = SIGNATURE_BYTES;

    fn seal(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize> {
        let frame = Frame {
            message_bytes: buffer.len() - Frame::BEFORE,
            footer: binding.footer,
            implicit_assertion: binding.implicit_assertion,
        };
        buffer.resize(frame.bytes(), 0);
        frame.write(buffer);
        let signature = self.pair.sign(buffer)?;
        buffer.truncate(frame.message().end);
        buffer.extend_from_slice(&signature);
        Ok(Frame::BEFORE)
    }
}

impl Open for Prepared {
    fn header(&self) -> &'static str {
        HEADER
    }

    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn room(&self, parts: &Parts<'_>, implicit_assertion: &[u8]) -> usize {
        // The body stands where the message will, and what is signed around the message.
        let message_bytes = parts.body_bytes().saturating_sub(SIGNATURE_BYTES);
        let frame = Frame {
            message_bytes,
            footer: &parts.footer,
            implicit_assertion,
        };
        frame.bytes().max(Frame::BEFORE + parts.body_bytes())
    }

    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>> {
        let body_bytes = parts.body_bytes();
        open::at_least(body_bytes, SIGNATURE_BYTES)?;
        let body = &mut buffer[Frame::BEFORE..][..body_bytes];
        parts.body_into(body)?;
        let signature: [u8; SIGNATURE_BYTES] =
            *body.last_chunk().expect("a body is at least a signature");
        let frame = Frame {
            message_bytes: body_bytes - SIGNATURE_BYTES,
            footer: &parts.footer,
            implicit_assertion,
        };
        let signed = &mut buffer[..frame.bytes()];
        frame.write(signed);
        if !self.key.verify(signed, &signature) {
            return Err(Rejection::Signature.into());
        }
        Ok(frame.message())
    }
}

/// What is signed: the pre-authentication encoding of header, message, footer and implicit
/// assertion, written around a message that stands in its place already.
struct Frame<'a> {
    message_bytes: usize,
    footer: &'a [u8],
    implicit_assertion: &'a [u8],
}

impl Frame<'_> {
    /// The count, the header with its length, and the message's length.
    const BEFORE: usize = 3 * pae::LENGTH_BYTES + HEADER.len();

    fn message(&self) -> Range<usize> {
        Self::BEFORE..Self::BEFORE + self.message_bytes
    }

    fn bytes(&self) -> usize {
        self.message().end
            + 2 * pae::LENGTH_BYTES
            + self.footer.len()
            + self.implicit_assertion.len()
    }

    fn write(&self, buffer: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&pae::length(4));
        put(&pae::length(HEADER.len()));
        put(HEADER.as_bytes());
        put(&pae::length(self.message_bytes));
        let mut at = self.message().end;
        let mut put = |bytes: &[u8]| {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        for piece in [self.footer, self.implicit_assertion] {
            put(&pae::length(piece.len()));
            put(piece);
        }
    }
}
