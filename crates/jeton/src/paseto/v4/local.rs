//! `v4.local`: encrypted and authenticated with one shared key.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::claims::Claims;
use crate::clock::{Clock, SystemClock};
use crate::crypto::blake2b::Blake2b;
use crate::crypto::{random, xchacha20};
use crate::error::{Rejection, Result};
use crate::issue::{AnyClaims, Issue};
use crate::paserk::{Id, Kind, Paserk};
use crate::paseto::issue::{self, Buffer, Seal};
use crate::paseto::open::{self, Keys, Open, Opened};
use crate::paseto::token::Parts;
use crate::paseto::{Binding, bound, pae};

const HEADER: &str = "v4.local.";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
/// An encryption key and the nonce that goes with it come out of one hash.
const ENCRYPTION_BYTES: usize = xchacha20::KEY_BYTES + xchacha20::NONCE_BYTES;

/// A key that encrypts and decrypts `v4.local` tokens.
///
/// Whoever has it can read tokens and make them.
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::v4::LocalKey;
/// use jeton::Claims;
///
/// let key = LocalKey::generate()?;
/// let token = key.issue(&Claims::new(()).subject("user-7").expires_in(Duration::from_mins(5)))?;
/// assert!(token.starts_with("v4.local."));
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct LocalKey(Arc<Prepared>);

impl LocalKey {
    /// A fresh key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn generate() -> Result<LocalKey> {
        Ok(LocalKey::from_bytes(random::secret()?))
    }

    /// Reads a `k4.local` PASERK.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key): the text is no PASERK, of another kind, too short or too
    /// long, or not in its one encoding.
    ///
    /// ```
    /// use jeton::paseto::v4::LocalKey;
    /// let key = LocalKey::from_paserk("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8")?;
    /// let error = LocalKey::from_paserk("k3.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8");
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "key refused: paserk: a k3.local was given where a k4.local is wanted"
    /// );
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn from_paserk(text: &str) -> Result<LocalKey> {
        let paserk = Paserk::read(text, Kind::K4_LOCAL)?;
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        bytes.copy_from_slice(paserk.bytes());
        Ok(LocalKey::from_bytes(bytes))
    }

    /// The key's text, as secret as the key itself.
    pub fn to_paserk(&self) -> Zeroizing<String> {
        crate::paserk::text(Kind::K4_LOCAL, self.0.key.as_slice())
    }

    /// The key's `k4.lid`. Not secret.
    pub fn id(&self) -> Id {
        Id::of(Kind::K4_LOCAL, self.0.key.as_slice())
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
    /// As [`issue`](LocalKey::issue), and for a footer beyond its limit.
    ///
    /// ```
    /// use jeton::paseto::{Binding, v4::LocalKey};
    /// use jeton::Claims;
    ///
    /// let key = LocalKey::generate()?;
    /// let kid = format!("{{\"kid\":\"{}\"}}", key.id());
    /// let claims = Claims::new(()).without_expiry();
    /// let token = key.issue_with(&claims, Binding::new().footer(&kid))?;
    /// assert_eq!(token.split('.').count(), 4);
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
    /// As [`issue_with`](LocalKey::issue_with).
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        binding: Binding<'_>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue::claims(&*self.0, claims, binding, clock)
    }

    /// Encrypts any bytes. Claims are issued with [`issue`](LocalKey::issue); this is for messages
    /// that are not claims, or were written by somebody else.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) for a footer beyond its limit.
    ///
    /// ```
    /// use jeton::paseto::{Binding, v4::LocalKey};
    ///
    /// let key = LocalKey::generate()?;
    /// let token = key.encrypt(b"any bytes", Binding::new().footer("f").implicit_assertion("i"))?;
    /// let opened = key.decrypt(&token, b"i")?;
    /// assert_eq!((opened.message(), opened.footer()), (&b"any bytes"[..], &b"f"[..]));
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn encrypt(&self, message: &[u8], binding: Binding<'_>) -> Result<String> {
        issue::bytes(&*self.0, message, binding)
    }

    /// Decrypts a token to exactly the bytes that were encrypted, and looks at nothing in them: no
    /// expiry, no audience. Claims are verified by a [`Verifier`](super::Verifier).
    ///
    /// `implicit_assertion` is the one that the token was made with, or empty. A token has at most
    /// [`Limits::token_bytes`](crate::Limits::token_bytes) of the default limits.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected); [`Rejection::Decryption`] for everything that
    /// only the key can tell.
    pub fn decrypt(&self, token: &str, implicit_assertion: &[u8]) -> Result<Opened> {
        open::bytes(&*self.0, token, implicit_assertion)
    }

    fn from_bytes(key: Zeroizing<[u8; KEY_BYTES]>) -> LocalKey {
        LocalKey(Arc::new(Prepared::new(key)))
    }
}

impl From<&LocalKey> for Keys {
    fn from(key: &LocalKey) -> Keys {
        Keys::one(Arc::clone(&key.0) as Arc<dyn Open>)
    }
}

impl From<LocalKey> for Keys {
    fn from(key: LocalKey) -> Keys {
        Keys::one(key.0)
    }
}

impl Issue for LocalKey {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue::claims(&*self.0, claims, Binding::new(), clock)
    }
}

impl bound::sealed::Sealed for LocalKey {}

impl bound::IssueBound for LocalKey {
    fn issue_bound(
        &self,
        claims: &dyn AnyClaims,
        binding: Binding<'_>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue::claims(&*self.0, claims, binding, clock)
    }
}

impl fmt::Debug for LocalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("v4::LocalKey").finish_non_exhaustive()
    }
}

/// The key, and what depends on it alone.
struct Prepared {
    key: Zeroizing<[u8; KEY_BYTES]>,
    id: Arc<str>,
    /// Both derivations hash the key first, then their own name; a token adds its nonce.
    encryption: Blake2b<ENCRYPTION_BYTES>,
    authentication: Blake2b<KEY_BYTES>,
}

impl Prepared {
    fn new(key: Zeroizing<[u8; KEY_BYTES]>) -> Prepared {
        Prepared {
            id: Id::of(Kind::K4_LOCAL, key.as_slice()).to_string().into(),
            encryption: Blake2b::keyed(&key).and(b"paseto-encryption-key"),
            authentication: Blake2b::keyed(&key).and(b"paseto-auth-key-for-aead"),
            key,
        }
    }

    /// Encrypts or decrypts in place.
    fn apply_cipher(&self, nonce: &[u8], message: &mut [u8]) -> Result<()> {
        let derived = self.encryption.clone().and(nonce).finish();
        let (key, cipher_nonce) = derived
            .split_first_chunk::<{ xchacha20::KEY_BYTES }>()
            .expect("the hash is as long as both together");
        let cipher_nonce = cipher_nonce
            .first_chunk::<{ xchacha20::NONCE_BYTES }>()
            .expect("the hash is as long as both together");
        xchacha20::apply(key, cipher_nonce, message)
    }

    fn mac(
        &self,
        nonce: &[u8],
        encrypted: &[u8],
        footer: &[u8],
        implicit_assertion: &[u8],
    ) -> Zeroizing<[u8; MAC_BYTES]> {
        let key = self.authentication.clone().and(nonce).finish();
        let mut mac = Blake2b::<MAC_BYTES>::keyed(&key);
        pae::encode(
            &[
                HEADER.as_bytes(),
                nonce,
                encrypted,
                footer,
                implicit_assertion,
            ],
            |bytes| mac.update(bytes),
        );
        mac.finish()
    }

    /// The nonce stands before the message in the buffer.
    fn seal_with_nonce(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize> {
        let (nonce, message) = buffer.split_at_mut(NONCE_BYTES);
        self.apply_cipher(nonce, message)?;
        let mac = self.mac(nonce, message, binding.footer, binding.implicit_assertion);
        buffer.extend_from_slice(mac.as_slice());
        Ok(0)
    }
}

impl Seal for Prepared {
    const HEADER: &'static str = HEADER;
    const BEFORE: usize = NONCE_BYTES;
    const LONGER: usize = NONCE_BYTES + MAC_BYTES;

    fn seal(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize> {
        random::fill(&mut buffer[..NONCE_BYTES])?;
        self.seal_with_nonce(buffer, binding)
    }
}

impl Open for Prepared {
    fn header(&self) -> &'static str {
        HEADER
    }

    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn room(&self, parts: &Parts<'_>, _: &[u8]) -> usize {
        parts.body_bytes()
    }

    fn open(
        &self,
        parts: &Parts<'_>,
        implicit_assertion: &[u8],
        buffer: &mut [u8],
    ) -> Result<Range<usize>> {
        open::at_least(buffer.len(), NONCE_BYTES + MAC_BYTES)?;
        parts.body_into(buffer)?;
        let end = buffer.len() - MAC_BYTES;
        let (encrypted, given) = buffer.split_at_mut(end);
        let (nonce, encrypted) = encrypted.split_at_mut(NONCE_BYTES);
        let mac = self.mac(nonce, encrypted, &parts.footer, implicit_assertion);
        if !bool::from(mac.as_slice().ct_eq(given)) {
            return Err(Rejection::Decryption.into());
        }
        self.apply_cipher(nonce, encrypted)?;
        Ok(NONCE_BYTES..end)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::paseto::token;

    const VECTORS: &str = include_str!("../../../../../vectors/paseto/v4.json");

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

    /// The public face draws its own nonces, so that this is the one place where exact tokens can
    /// be made.
    #[test]
    fn the_official_tokens_to_the_byte() {
        let file: File = serde_json::from_str(VECTORS).expect("the file is JSON");
        let mut tested = 0;
        for vector in file.tests {
            let (false, Some(key), Some(nonce)) = (vector.expect_fail, vector.key, vector.nonce)
            else {
                continue;
            };
            let mut key_bytes = Zeroizing::new([0; KEY_BYTES]);
            key_bytes.copy_from_slice(&bytes(&key));
            let mut buffer = Buffer::from_vec(bytes(&nonce));
            buffer.extend_from_slice(vector.payload.unwrap_or_default().as_bytes());
            let binding = Binding::new()
                .footer(&vector.footer)
                .implicit_assertion(&vector.implicit_assertion);
            let start = Prepared::new(key_bytes)
                .seal_with_nonce(&mut buffer, binding)
                .expect("short");
            let token = token::assemble(HEADER, &buffer[start..], binding.footer);
            assert_eq!(token, vector.token, "{}", vector.name);
            tested += 1;
        }
        assert_eq!(tested, 9);
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal"))
            .collect()
    }
}
