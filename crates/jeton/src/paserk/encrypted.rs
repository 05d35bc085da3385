//! The text of an encrypted key.

use std::ops::RangeInclusive;

use crate::base64;
use crate::error::{KeyProblem, Result};
use crate::paserk_kind::{Form, Kind};
use crate::paseto::paserk::{key_error, not_a_paserk};

/// The contents of such a text, for one kind and protocol.
pub(super) struct Envelope {
    kind: Kind,
    /// The length of the encrypted key, bytes.
    key_bytes: RangeInclusive<usize>,
    /// The text after the kind, with its dot: `pie.` for wrapped keys.
    protocol: &'static str,
    /// The number of bytes in addition to the key.
    overhead: usize,
}

impl Envelope {
    /// `overhead` is the number of bytes in addition to the key.
    pub(super) fn new(key: Kind, form: Form, protocol: &'static str, overhead: usize) -> Envelope {
        Envelope {
            kind: Kind::of(key.version(), form),
            key_bytes: key.key_bytes().expect("it holds a key in the clear"),
            protocol,
            overhead,
        }
    }

    /// Changes the length of the key, for a key in another encoding.
    pub(super) fn with_key_bytes(self, key_bytes: RangeInclusive<usize>) -> Envelope {
        Envelope { key_bytes, ..self }
    }

    /// Returns the start of the text, which is authenticated.
    pub(super) fn header(&self) -> String {
        format!("{}.{}", self.kind, self.protocol)
    }

    pub(super) fn write(&self, parts: &[&[u8]]) -> String {
        let mut text = self.header();
        base64::encode_onto(&parts.concat(), &mut text);
        text
    }

    /// Decodes a text of this kind. The length is checked.
    pub(super) fn read(&self, text: &str) -> Result<Vec<u8>> {
        let (given, rest) = Kind::split(text).ok_or(not_a_paserk())?;
        let wanted = self.kind;
        if given != wanted {
            return Err(key_error(KeyProblem::WrongKind { wanted, given }).into());
        }
        let encoded = rest
            .strip_prefix(self.protocol)
            .ok_or(key_error(KeyProblem::Unsupported))?;
        let least = base64::encoded_length(self.key_bytes.start() + self.overhead);
        let most = base64::encoded_length(self.key_bytes.end() + self.overhead);
        // The length is checked before decoding and before any derivation.
        if !(least..=most).contains(&encoded.len()) {
            return Err(key_error(KeyProblem::WrongLength).into());
        }
        base64::decode(encoded.as_bytes()).map_err(|_| key_error(KeyProblem::NotBase64Url).into())
    }
}
