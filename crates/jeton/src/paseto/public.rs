use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use super::frame::Frame;
use super::issue::{self, Buffer, Seal, issuing_key};
use super::keys::opening_key;
use super::open::{self, Message, Open};
use super::paserk::{self, Id, Paserk};
use super::remote::{self, RemotelySigned};
use super::suite::{Pair, Public, Suite};
use super::token::Parts;
use super::{PasetoKey, PasetoKeys, TokenContext, Version, bound};
use crate::claims::{Claims, CustomClaims, JsonClaims};
use crate::clock::{Clock, SystemClock};
use crate::crypto::Signature;
use crate::error::{Rejection, Result};
use crate::issue::{AnyClaims, Issue};
use crate::key::SigAlg;
use crate::key::remote::RemoteVerifier;
use crate::paserk_kind::{Form, Kind};
use crate::token_limits::Limits;

/// A key that signs the `public` tokens of one version. Its [`public_key`](SecretKey::public_key) verifies
/// them.
///
/// Use the type aliases [`v4::SecretKey`](super::v4::SecretKey) and [`v3::SecretKey`](super::v3::SecretKey).
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::v4::SecretKey;
/// use jeton::Claims;
///
/// let key = SecretKey::generate()?;
/// let token = key.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_secs(300)))?;
/// assert!(token.starts_with("v4.public."));
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct SecretKey<V> {
    pair: Box<dyn Pair>,
    public: PublicKey<V>,
}

impl<V: Version> SecretKey<V> {
    const KIND: Kind = Kind::of(V::VERSION, Form::Secret);

    /// Generates a key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn generate() -> Result<SecretKey<V>> {
        SecretKey::from_pair((V::suite().generate)()?)
    }

    /// Reads a PASERK of this version with the form `secret`.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is not a PASERK, has another kind or the wrong length, or is
    /// not canonical. Also if its secret and public key do not match.
    pub fn from_paserk(text: &str) -> Result<SecretKey<V>> {
        SecretKey::from_bytes(Paserk::read(text, Self::KIND)?.bytes())
    }

    /// Returns the PASERK of the key, which is as secret as the key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if AWS-LC does not export the key.
    pub fn to_paserk(&self) -> Result<Zeroizing<String>> {
        Ok(paserk::text(Self::KIND, &self.secret()?))
    }

    /// Returns the public key, which verifies tokens of this key.
    pub fn public_key(&self) -> PublicKey<V> {
        self.public.clone()
    }

    /// Returns the id of the key, for example `k4.sid`. It is not secret. In tokens, use the `k4.pid` of the
    /// public key instead, because verifiers can compute it.
    ///
    /// # Errors
    ///
    /// Those of [`to_paserk`](SecretKey::to_paserk).
    pub fn id(&self) -> Result<Id> {
        Ok(Id::of(Self::KIND, &self.secret()?))
    }

    /// Signs bytes. To issue claims, use [`issue`](Self::issue). This is for messages that are not claims,
    /// or that another program wrote.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) for a footer that is too long, and for an implicit assertion in
    /// a version without one.
    ///
    /// ```
    /// use jeton::paseto::{TokenContext, v4::SecretKey};
    ///
    /// let key = SecretKey::generate()?;
    /// let token = key.sign(b"any bytes", TokenContext::new().footer("f").implicit_assertion("i"))?;
    /// let opened = key.public_key().verify(&token, b"i")?;
    /// assert_eq!((opened.message(), opened.footer()), (&b"any bytes"[..], &b"f"[..]));
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn sign(&self, message: &[u8], context: TokenContext<'_>) -> Result<String> {
        issue::bytes(self, message, context)
    }

    /// Reads the bytes of a PASERK.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<SecretKey<V>> {
        let pair = (V::suite().pair)(bytes).map_err(paserk::key_error)?;
        SecretKey::from_pair(pair)
    }

    /// Returns the bytes of the PASERK.
    pub(crate) fn secret(&self) -> Result<Zeroizing<Vec<u8>>> {
        self.pair.bytes()
    }

    fn sealer(&self) -> &Self {
        self
    }

    fn from_pair(pair: Box<dyn Pair>) -> Result<SecretKey<V>> {
        let public = pair.public().map_err(paserk::key_error)?;
        Ok(SecretKey {
            pair,
            public: PublicKey::from_public(public),
        })
    }
}

issuing_key!(
    SecretKey,
    "key.public_key().id()",
    "Only the cryptographic library allocates, for the signature, if the string has enough capacity and the claims \
     have at most 900 bytes."
);

/// A key that verifies the `public` tokens of one version.
///
/// Use the type aliases [`v4::PublicKey`](super::v4::PublicKey) and [`v3::PublicKey`](super::v3::PublicKey).
///
/// ```
/// use jeton::paseto::v4::{PublicKey, SecretKey};
///
/// let key = SecretKey::generate()?.public_key();
/// assert_eq!(PublicKey::from_paserk(&key.to_paserk())?, key);
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct PublicKey<V> {
    prepared: Arc<Prepared>,
    version: PhantomData<V>,
}

impl<V: Version> PublicKey<V> {
    const KIND: Kind = Kind::of(V::VERSION, Form::Public);

    /// Reads a PASERK of this version with the form `public`.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is not a PASERK, has another kind or the wrong length, or is
    /// not canonical. Also if the bytes are not a usable key: not a point of the curve, a point of small order, or
    /// not canonical.
    pub fn from_paserk(text: &str) -> Result<PublicKey<V>> {
        let paserk = Paserk::read(text, Self::KIND)?;
        let public = (V::suite().public)(paserk.bytes()).map_err(paserk::key_error)?;
        Ok(PublicKey::from_public(public))
    }

    /// Returns the PASERK of the key.
    pub fn to_paserk(&self) -> String {
        std::mem::take(&mut *paserk::text(Self::KIND, self.bytes()))
    }

    /// Returns the id of the key, for example `k4.pid`.
    pub fn id(&self) -> Id {
        Id::of(Self::KIND, self.bytes())
    }

    /// Verifies a token and returns the signed bytes. It checks no claims: no expiry, no audience. To verify
    /// claims, use a [`PasetoVerifier`](super::PasetoVerifier).
    ///
    /// `implicit_assertion` must be the one of the token, or empty. The default
    /// [`Limits::token_bytes`](crate::Limits::token_bytes) applies.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected), and [`Error::InvalidUse`](crate::Error::InvalidUse) for an implicit
    /// assertion in a version without one.
    pub fn verify(&self, token: &str, implicit_assertion: &[u8]) -> Result<Message> {
        self.verify_with_limits(token, implicit_assertion, &Limits::default())
    }

    /// Verifies a token as [`verify`](Self::verify) does, with these limits.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Self::verify).
    ///
    /// ```
    /// use jeton::Limits;
    /// use jeton::paseto::{TokenContext, v4::SecretKey};
    ///
    /// let key = SecretKey::generate()?;
    /// let token = key.sign(b"any bytes", TokenContext::new())?;
    /// let limits = Limits::new().token_bytes(100);
    /// assert!(key.public_key().verify_with_limits(&token, b"", &limits).is_err());
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn verify_with_limits(
        &self,
        token: &str,
        implicit_assertion: &[u8],
        limits: &Limits,
    ) -> Result<Message> {
        open::bytes(&*self.prepared, token, implicit_assertion, limits)
    }

    fn from_public(key: Box<dyn Public>) -> PublicKey<V> {
        PublicKey {
            prepared: Arc::new(Prepared {
                suite: V::suite(),
                key,
                id: OnceLock::new(),
            }),
            version: PhantomData,
        }
    }
}

impl<V> PublicKey<V> {
    /// Returns the bytes of the PASERK.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.prepared.key.bytes()
    }
}

impl<V> Clone for PublicKey<V> {
    /// The key is shared, not copied.
    fn clone(&self) -> Self {
        PublicKey {
            prepared: Arc::clone(&self.prepared),
            version: PhantomData,
        }
    }
}

impl<V> PartialEq for PublicKey<V> {
    fn eq(&self, other: &PublicKey<V>) -> bool {
        self.bytes() == other.bytes()
    }
}

impl<V> Eq for PublicKey<V> {}

opening_key!(PublicKey);

impl<V: Version> fmt::Debug for PublicKey<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = V::VERSION.module();
        write!(f, "{module}::PublicKey({})", self.prepared.id())
    }
}

/// The key, ready to verify, and its id, which is computed when it is first needed.
struct Prepared {
    suite: &'static Suite,
    key: Box<dyn Public>,
    id: OnceLock<Arc<str>>,
}

impl<V> remote::sealed::Share for PublicKey<V> {
    fn share(&self) -> Arc<dyn RemotelySigned> {
        Arc::clone(&self.prepared) as Arc<dyn RemotelySigned>
    }
}

impl RemoteVerifier for Prepared {
    fn alg(&self) -> SigAlg {
        self.suite.signed_as
    }

    fn signature_bytes(&self) -> usize {
        self.key.signature_bytes()
    }

    fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify(message, signature)
    }
}

impl RemotelySigned for Prepared {
    fn header(&self) -> &'static str {
        self.suite.public_header
    }

    fn signed_bytes(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
    ) -> Result<(Buffer, Range<usize>)> {
        self.suite.check(context)?;
        let before = self.prefix_bytes();
        let mut buffer = issue::message(before, claims, clock)?;
        let frame = self.frame(buffer.len() - before, context);
        buffer.resize(frame.bytes(), 0);
        frame.write(&mut buffer);
        Ok((buffer, frame.message()))
    }
}

impl Prepared {
    /// Returns the public key, if the version signs it with every message.
    fn signed_key(&self) -> Option<&[u8]> {
        self.key.is_signed().then(|| self.key.bytes())
    }

    /// Returns the position of the message in the signing input.
    fn prefix_bytes(&self) -> usize {
        Frame::prefix_bytes(self.signed_key(), self.suite.public_header)
    }

    fn frame<'a>(&'a self, message_bytes: usize, context: TokenContext<'a>) -> Frame<'a> {
        Frame {
            key: self.signed_key(),
            header: self.suite.public_header,
            message_bytes,
            context,
            implicit_assertion: self.suite.implicit_assertion,
        }
    }
}

impl<V> Seal for SecretKey<V> {
    fn suite(&self) -> &'static Suite {
        self.public.prepared.suite
    }

    fn header(&self) -> &'static str {
        self.suite().public_header
    }

    fn prefix_bytes(&self) -> usize {
        self.public.prepared.prefix_bytes()
    }

    fn overhead_bytes(&self) -> usize {
        self.public.prepared.key.signature_bytes()
    }

    fn seal(&self, buffer: &mut Buffer, context: TokenContext<'_>) -> Result<usize> {
        let before = Seal::prefix_bytes(self);
        let message_bytes = buffer.len() - before;
        let frame = self.public.prepared.frame(message_bytes, context);
        buffer.resize(frame.bytes(), 0);
        frame.write(buffer);
        let signature = self.pair.sign(buffer)?;
        buffer.truncate(frame.message().end);
        buffer.extend_from_slice(&signature);
        Ok(before)
    }
}

impl Open for Prepared {
    fn suite(&self) -> &'static Suite {
        self.suite
    }

    fn header(&self) -> &'static str {
        self.suite.public_header
    }

    fn id(&self) -> &Arc<str> {
        self.id.get_or_init(|| {
            let kind = Kind::of(self.suite.version, Form::Public);
            Id::of(kind, self.key.bytes()).to_string().into()
        })
    }

    fn buffer_bytes(&self, parts: &Parts<'_>, implicit_assertion: &[u8]) -> usize {
        // The body is at the position of the message, with the rest of the signing input around it.
        let body_bytes = parts.body_bytes();
        let message_bytes = body_bytes.saturating_sub(self.key.signature_bytes());
        let frame = self.frame(message_bytes, parts.context(implicit_assertion));
        frame.bytes().max(self.prefix_bytes() + body_bytes)
    }

    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>> {
        let body_bytes = parts.body_bytes();
        let signature_bytes = self.key.signature_bytes();
        open::check_body_bytes(body_bytes, signature_bytes)?;
        let message_bytes = body_bytes - signature_bytes;
        let body = &mut buffer[self.prefix_bytes()..][..body_bytes];
        parts.body_into(body)?;
        // The footer will overwrite the signature.
        let signature = Signature::from_slice(&body[message_bytes..]);
        let frame = self.frame(message_bytes, parts.context(implicit_assertion));
        let signed = &mut buffer[..frame.bytes()];
        frame.write(signed);
        if !self.key.verify(signed, &signature) {
            return Err(Rejection::Signature.into());
        }
        Ok(frame.message())
    }
}
