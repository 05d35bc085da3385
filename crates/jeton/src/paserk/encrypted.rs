//! The text of a key that is itself encrypted.

use std::ops::RangeInclusive;

use super::{Form, Kind, refused};
use crate::base64;
use crate::error::{KeyProblem, Result};

/// What stands in such a text, as its kind and its protocol say.
pub(super) struct Envelope {
    kind: Kind,
    /// How many bytes the key in it has.
    key_bytes: RangeInclusive<usize>,
    /// What follows the kind, with its dot: `pie.` for wrapped keys.
    protocol: &'static str,
    /// How many bytes it is longer than the key.
    longer: usize,
}

impl Envelope {
    /// `longer` is all that is in it beside the key, bytes.
    pub(super) fn new(key: Kind, form: Form, protocol: &'static str, longer: usize) -> Envelope {
        Envelope {
            kind: Kind::of(key.version(), form),
            key_bytes: key.key_bytes().expect("it holds a key in the clear"),
            protocol,
            longer,
        }
    }

    /// The same with a key of another length, because it is written in another way.
    pub(super) fn with_key_bytes(self, key_bytes: RangeInclusive<usize>) -> Envelope {
        Envelope { key_bytes, ..self }
    }

    /// What the text begins with; it is authenticated.
    pub(super) fn header(&self) -> String {
        format!("{}.{}", self.kind, self.protocol)
    }

    pub(super) fn write(&self, parts: &[&[u8]]) -> String {
        let mut text = self.header();
        base64::encode_onto(&parts.concat(), &mut text);
        text
    }

    /// The bytes of such a text, and of no other kind. Their number is right for a key.
    pub(super) fn read(&self, text: &str) -> Result<Vec<u8>> {
        let (given, rest) = Kind::split(text).ok_or(refused(KeyProblem::Malformed))?;
        let wanted = self.kind;
        if given != wanted {
            return Err(refused(KeyProblem::WrongKind { wanted, given }).into());
        }
        let encoded = rest
            .strip_prefix(self.protocol)
            .ok_or(refused(KeyProblem::Unsupported))?;
        let least = base64::encoded_length(self.key_bytes.start() + self.longer);
        let most = base64::encoded_length(self.key_bytes.end() + self.longer);
        // Rejected before it is decoded, and before any work is done for it.
        if !(least..=most).contains(&encoded.len()) {
            return Err(refused(KeyProblem::WrongLength).into());
        }
        base64::decode(encoded.as_bytes()).map_err(|_| refused(KeyProblem::NotBase64Url).into())
    }
}
