use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use super::issue::{self, Buffer, Seal, issuing_key};
use super::keys::opening_key;
use super::open::{self, Message, Open};
use super::paserk::{self, Id, Paserk};
use super::suite::{Cipher, Suite};
use super::token::Parts;
use super::{PasetoKey, PasetoKeys, TokenContext, Version, bound};
use crate::claims::{Claims, CustomClaims, JsonClaims};
use crate::clock::{Clock, SystemClock};
use crate::crypto::random;
use crate::error::{KeyProblem, Result};
use crate::issue::{AnyClaims, Issue};
use crate::paserk_kind::{Form, Kind, LOCAL_KEY_BYTES};
use crate::token_limits::Limits;

/// A key that encrypts and decrypts the `local` tokens of one version.
///
/// Anyone who has the key can decrypt tokens and issue them. Use the type aliases
/// [`v4::LocalKey`](super::v4::LocalKey) and [`v3::LocalKey`](super::v3::LocalKey).
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::v4::LocalKey;
/// use jeton::Claims;
///
/// let key = LocalKey::generate()?;
/// let token = key.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_secs(300)))?;
/// assert!(token.starts_with("v4.local."));
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct LocalKey<V> {
    prepared: Arc<Prepared>,
    version: PhantomData<V>,
}

impl<V: Version> LocalKey<V> {
    const KIND: Kind = Kind::of(V::VERSION, Form::Local);

    /// Generates a key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn generate() -> Result<LocalKey<V>> {
        LocalKey::from_bytes(random::secret_bytes(LOCAL_KEY_BYTES)?)
    }

    /// Reads a PASERK of this version with the form `local`.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is not a PASERK, has another kind or the wrong length, or is
    /// not canonical.
    ///
    /// ```
    /// use jeton::paseto::v4::LocalKey;
    /// let key = LocalKey::from_paserk("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8")?;
    /// let error = LocalKey::from_paserk("k3.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8");
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "key rejected: paserk: k3.local given, k4.local expected"
    /// );
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn from_paserk(text: &str) -> Result<LocalKey<V>> {
        LocalKey::from_bytes(Paserk::read(text, Self::KIND)?.into_bytes())
    }

    /// Returns the PASERK of the key, which is as secret as the key.
    pub fn to_paserk(&self) -> Zeroizing<String> {
        paserk::text(Self::KIND, self.secret())
    }

    /// Returns the id of the key, for example `k4.lid`. It is not secret.
    pub fn id(&self) -> Id {
        Id::of(Self::KIND, self.secret())
    }

    /// Encrypts bytes. To issue claims, use [`issue`](Self::issue). This is for messages that are not
    /// claims, or that another program wrote.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) for a footer that is too long, and for an implicit assertion in
    /// a version without one.
    ///
    /// ```
    /// use jeton::paseto::{TokenContext, v4::LocalKey};
    ///
    /// let key = LocalKey::generate()?;
    /// let token = key.encrypt(b"any bytes", TokenContext::new().footer("f").implicit_assertion("i"))?;
    /// let opened = key.decrypt(&token, b"i")?;
    /// assert_eq!((opened.message(), opened.footer()), (&b"any bytes"[..], &b"f"[..]));
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn encrypt(&self, message: &[u8], context: TokenContext<'_>) -> Result<String> {
        issue::bytes(&*self.prepared, message, context)
    }

    /// Decrypts a token and returns the encrypted bytes. It checks no claims: no expiry, no audience. To verify
    /// claims, use a [`PasetoVerifier`](super::PasetoVerifier).
    ///
    /// `implicit_assertion` must be the one of the token, or empty. The default
    /// [`Limits::token_bytes`](crate::Limits::token_bytes) applies.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected), with
    /// [`Rejection::Decryption`](crate::error::Rejection::Decryption) for all failures that depend on the key.
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) for an implicit assertion in a version without one.
    pub fn decrypt(&self, token: &str, implicit_assertion: &[u8]) -> Result<Message> {
        self.decrypt_with_limits(token, implicit_assertion, &Limits::default())
    }

    /// Decrypts a token as [`decrypt`](Self::decrypt) does, with these limits.
    ///
    /// # Errors
    ///
    /// Those of [`decrypt`](Self::decrypt).
    ///
    /// ```
    /// use jeton::Limits;
    /// use jeton::paseto::{TokenContext, v4::LocalKey};
    ///
    /// let key = LocalKey::generate()?;
    /// let token = key.encrypt(b"any bytes", TokenContext::new())?;
    /// let limits = Limits::new().token_bytes(50);
    /// assert!(key.decrypt_with_limits(&token, b"", &limits).is_err());
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn decrypt_with_limits(
        &self,
        token: &str,
        implicit_assertion: &[u8],
        limits: &Limits,
    ) -> Result<Message> {
        open::bytes(&*self.prepared, token, implicit_assertion, limits)
    }

    /// Creates a key from bytes of the right length.
    pub(crate) fn from_bytes(key: Zeroizing<Vec<u8>>) -> Result<LocalKey<V>> {
        if key.len() != LOCAL_KEY_BYTES {
            return Err(paserk::key_error(KeyProblem::WrongLength).into());
        }
        Ok(LocalKey {
            prepared: Arc::new(Prepared::new(V::suite(), key)),
            version: PhantomData,
        })
    }

    pub(crate) fn secret(&self) -> &[u8] {
        self.prepared.cipher.key()
    }

    fn sealer(&self) -> &Prepared {
        &self.prepared
    }
}

issuing_key!(
    LocalKey,
    "key.id()",
    "Nothing is allocated if the string has enough capacity and the claims have at most 900 bytes."
);
opening_key!(LocalKey);

/// The key, and its id, which is computed when it is first needed.
struct Prepared {
    suite: &'static Suite,
    cipher: Box<dyn Cipher>,
    id: OnceLock<Arc<str>>,
}

impl Prepared {
    /// Takes a key of the right length.
    fn new(suite: &'static Suite, key: Zeroizing<Vec<u8>>) -> Prepared {
        Prepared {
            suite,
            cipher: (suite.cipher)(key),
            id: OnceLock::new(),
        }
    }

    /// The random bytes for the nonce must be before the message in the buffer.
    fn seal_with_random(&self, buffer: &mut Buffer, context: TokenContext<'_>) -> Result<usize> {
        let (nonce, message) = buffer.split_at_mut(self.cipher.nonce_bytes());
        self.cipher.finish_nonce(nonce, message);
        let tag = self.cipher.seal(nonce, message, context)?;
        buffer.extend_from_slice(&tag);
        Ok(0)
    }
}

impl Seal for Prepared {
    fn suite(&self) -> &'static Suite {
        self.suite
    }

    fn header(&self) -> &'static str {
        self.suite.local_header
    }

    fn prefix_bytes(&self) -> usize {
        self.cipher.nonce_bytes()
    }

    fn overhead_bytes(&self) -> usize {
        self.cipher.nonce_bytes() + self.cipher.tag_bytes()
    }

    fn seal(&self, buffer: &mut Buffer, context: TokenContext<'_>) -> Result<usize> {
        random::fill(&mut buffer[..self.cipher.nonce_bytes()])?;
        self.seal_with_random(buffer, context)
    }
}

impl Open for Prepared {
    fn suite(&self) -> &'static Suite {
        self.suite
    }

    fn header(&self) -> &'static str {
        self.suite.local_header
    }

    fn id(&self) -> &Arc<str> {
        self.id.get_or_init(|| {
            let kind = Kind::of(self.suite.version, Form::Local);
            Id::of(kind, self.cipher.key()).to_string().into()
        })
    }

    fn buffer_bytes(&self, parts: &Parts<'_>, _: &[u8]) -> usize {
        parts.body_bytes()
    }

    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>> {
        let nonce_bytes = self.cipher.nonce_bytes();
        let tag_bytes = self.cipher.tag_bytes();
        open::check_body_bytes(buffer.len(), nonce_bytes + tag_bytes)?;
        parts.body_into(buffer)?;
        let end = buffer.len() - tag_bytes;
        let (nonce, sealed) = buffer.split_at_mut(nonce_bytes);
        let context = parts.context(implicit_assertion);
        self.cipher.open(nonce, sealed, context)?;
        Ok(nonce_bytes..end)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::paseto::{token, v1, v2, v3, v4};

    #[derive(Deserialize)]
    struct File {
        tests: Vec<Vector>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Vector {
        name: String,
        expect_fail: bool,
        key: Option<String>,
        nonce: Option<String>,
        token: String,
        payload: Option<String>,
        footer: String,
        implicit_assertion: String,
    }

    /// The public API generates its own nonces, so tokens with a given nonce can only be created here.
    #[test]
    fn encrypt_with_official_nonces_matches_official_tokens() {
        for (text, suite, count) in [
            (
                include_str!("../../../../vectors/paseto/v1.json"),
                &v1::SUITE,
                9,
            ),
            (
                include_str!("../../../../vectors/paseto/v2.json"),
                &v2::SUITE,
                9,
            ),
            (
                include_str!("../../../../vectors/paseto/v3.json"),
                &v3::SUITE,
                9,
            ),
            (
                include_str!("../../../../vectors/paseto/v4.json"),
                &v4::SUITE,
                9,
            ),
        ] {
            let file: File = serde_json::from_str(text).expect("the file is JSON");
            let mut tested = 0;
            for vector in file.tests {
                let (false, Some(key), Some(nonce)) =
                    (vector.expect_fail, &vector.key, &vector.nonce)
                else {
                    continue;
                };
                let key = Zeroizing::new(bytes(key));
                let mut buffer = Buffer::from_vec(bytes(nonce));
                buffer.extend_from_slice(vector.payload.unwrap_or_default().as_bytes());
                // Versions 1 and 2 ignore the assertion.
                let context = TokenContext::new()
                    .footer(&vector.footer)
                    .implicit_assertion(&vector.implicit_assertion);
                let start = Prepared::new(suite, key)
                    .seal_with_random(&mut buffer, context)
                    .expect("short");
                let token = token::assemble(suite.local_header, &buffer[start..], context.footer);
                assert_eq!(token, vector.token, "{}", vector.name);
                tested += 1;
            }
            assert_eq!(tested, count, "{}", suite.local_header);
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal"))
            .collect()
    }
}
