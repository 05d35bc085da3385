//! Unencrypted keys as text, and key ids. [`paserk`](crate::paserk) has the documentation.

mod id;

pub use id::Id;

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::base64;
use crate::error::{Error, KeyError, KeyProblem, Result};
use crate::paserk_kind::Kind;

/// The member name in errors.
const MEMBER: &str = "paserk";

/// A PASERK with an unencrypted key.
///
/// The type that uses the key checks whether the bytes are a valid key: for example, a point on the curve.
///
/// ```
/// use jeton::paserk::{Form, Paserk, PaserkVersion};
/// use jeton::paseto::v4::LocalKey;
///
/// let key = LocalKey::generate()?;
/// let paserk = Paserk::parse(&key.to_paserk())?;
/// let kind = paserk.kind();
/// assert_eq!((kind.version(), kind.form()), (PaserkVersion::V4, Form::Local));
/// assert!(kind.is_secret());
/// assert_eq!(paserk.id(), key.id());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Paserk {
    kind: Kind,
    bytes: Zeroizing<Vec<u8>>,
}

impl Paserk {
    /// Parses a PASERK: the kind, a dot, and canonical base64url.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] with the problem [`KeyProblem::Malformed`] if the text is not a PASERK,
    /// [`KeyProblem::Unsupported`] if it is an id or an encrypted key, [`KeyProblem::NotBase64Url`], or
    /// [`KeyProblem::WrongLength`].
    ///
    /// ```
    /// use jeton::paserk::Paserk;
    /// assert!(Paserk::parse("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8").is_ok());
    /// assert!("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8".parse::<Paserk>().is_ok());
    /// assert!(Paserk::parse("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Paserk> {
        let (kind, encoded) = Kind::split(text).ok_or(not_a_paserk())?;
        Paserk::decode(kind, encoded)
    }

    /// Creates a PASERK from the raw bytes of a key.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::WrongLength`], and [`KeyProblem::Unsupported`] for a kind without an unencrypted key.
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
        let lengths = kind.key_bytes().ok_or(key_error(KeyProblem::Unsupported))?;
        if !lengths.contains(&bytes.len()) {
            return Err(key_error(KeyProblem::WrongLength).into());
        }
        Ok(Paserk {
            kind,
            bytes: Zeroizing::new(bytes.to_vec()),
        })
    }

    /// Returns the version and the form.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the text. For a local or secret key it is as secret as the key, and wiped when dropped.
    pub fn to_text(&self) -> Zeroizing<String> {
        text(self.kind, &self.bytes)
    }

    /// Returns the id of the key, which is not secret.
    pub fn id(&self) -> Id {
        Id::of(self.kind, &self.bytes)
    }

    /// Decodes a key of this kind.
    pub(crate) fn read(text: &str, wanted: Kind) -> Result<Paserk> {
        let (given, encoded) = Kind::split(text).ok_or(not_a_paserk())?;
        if given != wanted {
            return Err(key_error(KeyProblem::WrongKind { wanted, given }).into());
        }
        Paserk::decode(given, encoded)
    }

    fn decode(kind: Kind, encoded: &str) -> Result<Paserk> {
        let lengths = kind.key_bytes().ok_or(key_error(KeyProblem::Unsupported))?;
        // The length is checked before decoding.
        let [least, most] = [lengths.start(), lengths.end()].map(|n| base64::encoded_length(*n));
        if !(least..=most).contains(&encoded.len()) {
            return Err(key_error(KeyProblem::WrongLength).into());
        }
        let bytes = if kind.is_secret() {
            base64::decode_secret(encoded.as_bytes())
        } else {
            base64::decode(encoded.as_bytes()).map(Zeroizing::new)
        }
        .map_err(|_| key_error(KeyProblem::NotBase64Url))?;
        Ok(Paserk { kind, bytes })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }
}

impl FromStr for Paserk {
    type Err = Error;

    /// Parses the text as [`Paserk::parse`] does.
    fn from_str(text: &str) -> Result<Paserk> {
        Paserk::parse(text)
    }
}

impl fmt::Debug for Paserk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Paserk({})", self.kind)
    }
}

/// Encodes a key of this kind in one allocation that is never moved.
pub(crate) fn text(kind: Kind, bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(
        Kind::PREFIX_BYTES_MAX + base64::encoded_length(bytes.len()),
    ));
    kind.write_prefix(&mut text);
    if kind.is_secret() {
        base64::encode_secret_onto(bytes, &mut text)
    } else {
        base64::encode_onto(bytes, &mut text)
    }
    text
}

/// Returns the error for a text that does not begin like a PASERK.
pub(crate) const fn not_a_paserk() -> KeyError {
    key_error(KeyProblem::Malformed).with_expected("a text that begins like k4.public.")
}

/// An error about the whole text, which has no members.
pub(crate) const fn key_error(problem: KeyProblem) -> KeyError {
    KeyError::at(MEMBER, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_without_reallocation() {
        for kind in [Kind::K4_LOCAL, Kind::K4_SECRET, Kind::K4_PUBLIC] {
            let bytes = vec![1; *kind.key_bytes().expect("a key").end()];
            let written = text(kind, &bytes);
            assert!(written.len() <= Kind::PREFIX_BYTES_MAX + base64::encoded_length(bytes.len()));
            assert!(written.starts_with(&kind.to_string()));
        }
    }
}
