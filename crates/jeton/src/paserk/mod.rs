//! PASERK: the text form of PASETO keys, and the ids made from it
//! (<https://github.com/paseto-standard/paserk>).
//!
//! A PASERK says what it is: `k4.local.` is a key of version 4 for encrypted tokens and nothing
//! else, so a key cannot be loaded as one of another version or purpose. The keys of
//! [`paseto`](crate::paseto) read and write it themselves (`from_paserk`, `to_paserk`); this module
//! is for whoever handles the text without using the key: to see what a text is, to make one from
//! raw bytes, to compute an id.
//!
//! | kind | holds | id |
//! |---|---|---|
//! | `k4.local` | 32 secret bytes | `k4.lid` |
//! | `k4.secret` | 64 secret bytes: the seed and the public key | `k4.sid` |
//! | `k4.public` | the 32 bytes of the public key | `k4.pid` |
//! | `k3.local` | 32 secret bytes | `k3.lid` |
//! | `k3.secret` | 48 secret bytes: the scalar | `k3.sid` |
//! | `k3.public` | 49 bytes: the compressed point | `k3.pid` |
//!
//! `k1` and `k2` are the same for the versions in [`danger`](crate::danger); `k1.secret` is PKCS#1 in
//! DER and `k1.public` a SubjectPublicKeyInfo.
//!
//! An id is a hash of the key's text. It is not secret, even that of a secret key, and may stand in
//! a footer.
//!
//! # Encrypted keys
//!
//! A key can be encrypted, and then be stored where others can read:
//!
//! | kind | with what | how |
//! |---|---|---|
//! | `local-wrap`, `secret-wrap` | a [`WrappingKey`] | `to_wrapped_paserk`, `from_wrapped_paserk` |
//! | `local-pw`, `secret-pw` | a password, at a [`PasswordCost`] | `to_password_paserk`, `from_password_paserk` |
//! | `seal` (not `k1`) | a public key | `to_sealed_paserk`, `from_sealed_paserk` |
//!
//! The text of a key under a password says how much work it is to open it, and nothing about it is known to
//! be authentic before that work is done. [`PasswordLimits`] bound it.
//!
//! Of these PASERK allows those that are wrapped or sealed in a footer, beside the ids. No key in
//! the clear and none under a password belongs there, and not even a public key: whoever made the
//! token chose it.
//!
//! ```
//! use jeton::paserk::{Kind, Paserk};
//!
//! let text = "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8";
//! let paserk = Paserk::parse(text)?;
//! assert_eq!(paserk.kind(), Kind::K4_PUBLIC);
//! assert_eq!(*paserk.to_text(), text);
//! assert_eq!(paserk.id().to_string(), "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs");
//! # Ok::<_, jeton::Error>(())
//! ```

mod encrypted;
mod id;
mod kind;
mod key_cipher;
mod password;
mod password_limits;
mod seal;
mod wrapping;

pub use id::Id;
pub use kind::{Form, Kind, Version};
pub use password::PasswordCost;
pub use password_limits::PasswordLimits;
pub use wrapping::WrappingKey;

use std::fmt;

use zeroize::Zeroizing;

use crate::base64;
use crate::error::{KeyError, KeyProblem, Result};

/// The member that errors name.
const MEMBER: &str = "paserk";

/// The text form of a key: its kind, and as many bytes as that kind has.
///
/// Whether the bytes are a key that can be used (a point on the curve, two halves that belong
/// together) is found out by the key type that takes them.
pub struct Paserk {
    kind: Kind,
    bytes: Zeroizing<Vec<u8>>,
}

impl Paserk {
    /// Reads a key's text: the kind, a dot, and base64url in its one encoding, and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) with the problem [`KeyProblem::Malformed`] if the text is
    /// no PASERK, [`KeyProblem::Unsupported`] if it is an id or an encrypted key,
    /// [`KeyProblem::NotBase64Url`] or [`KeyProblem::WrongLength`].
    ///
    /// ```
    /// use jeton::paserk::Paserk;
    /// assert!(Paserk::parse("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8").is_ok());
    /// assert!(Paserk::parse("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Paserk> {
        let (kind, encoded) = Kind::split(text).ok_or(refused(KeyProblem::Malformed))?;
        let lengths = kind.key_bytes().ok_or(refused(KeyProblem::Unsupported))?;
        // A text of the wrong length is refused before it is decoded.
        let [least, most] = [lengths.start(), lengths.end()].map(|n| base64::encoded_length(*n));
        if !(least..=most).contains(&encoded.len()) {
            return Err(refused(KeyProblem::WrongLength).into());
        }
        let bytes = match kind.is_secret() {
            true => base64::decode_secret(encoded.as_bytes()),
            false => base64::decode(encoded.as_bytes()).map(Zeroizing::new),
        }
        .map_err(|_| refused(KeyProblem::NotBase64Url))?;
        Ok(Paserk { kind, bytes })
    }

    /// Makes one from a key's raw bytes.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::WrongLength`], and [`KeyProblem::Unsupported`] for a kind that holds no key.
    ///
    /// ```
    /// use jeton::paserk::{Kind, Paserk};
    /// use jeton::paseto::v4::LocalKey;
    ///
    /// let bytes = [7; 32]; // from a key management service, say
    /// let key = LocalKey::from_paserk(&Paserk::from_bytes(Kind::K4_LOCAL, &bytes)?.to_text())?;
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn from_bytes(kind: Kind, bytes: &[u8]) -> Result<Paserk> {
        let lengths = kind.key_bytes().ok_or(refused(KeyProblem::Unsupported))?;
        if !lengths.contains(&bytes.len()) {
            return Err(refused(KeyProblem::WrongLength).into());
        }
        Ok(Paserk {
            kind,
            bytes: Zeroizing::new(bytes.to_vec()),
        })
    }

    /// The version and the form.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The text. Of a local or secret key it is as secret as the key, and wiped when it goes.
    pub fn to_text(&self) -> Zeroizing<String> {
        text(self.kind, &self.bytes)
    }

    /// The key's id. Not secret.
    pub fn id(&self) -> Id {
        Id::of(self.kind, &self.bytes)
    }

    /// The bytes, if the text is a key of that kind.
    pub(crate) fn read(text: &str, wanted: Kind) -> Result<Paserk> {
        let (given, _) = Kind::split(text).ok_or(refused(KeyProblem::Malformed))?;
        if given != wanted {
            return Err(refused(KeyProblem::WrongKind { wanted, given }).into());
        }
        Paserk::parse(text)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Paserk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Paserk({})", self.kind)
    }
}

/// The text of a key of that kind, in one allocation that is never moved.
pub(crate) fn text(kind: Kind, bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(
        Kind::PREFIX_BYTES_MAX + base64::encoded_length(bytes.len()),
    ));
    kind.write_prefix(&mut text);
    match kind.is_secret() {
        true => base64::encode_secret_onto(bytes, &mut text),
        false => base64::encode_onto(bytes, &mut text),
    }
    text
}

/// A refusal of the text as a whole: it has no members of its own.
pub(crate) const fn refused(problem: KeyProblem) -> KeyError {
    KeyError::at(MEMBER, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_never_moved_while_it_is_written() {
        for kind in [Kind::K4_LOCAL, Kind::K4_SECRET, Kind::K4_PUBLIC] {
            let bytes = vec![1; *kind.key_bytes().expect("a key").end()];
            let written = text(kind, &bytes);
            assert!(written.len() <= Kind::PREFIX_BYTES_MAX + base64::encoded_length(bytes.len()));
            assert!(written.starts_with(&kind.to_string()));
        }
    }
}
