use std::fmt::Write as _;

use zeroize::Zeroizing;

use super::{Metadata, Operation, PRIVATE};
use crate::base64;

/// Writes a JWK member by member. The text may contain a secret, so it is wiped when dropped.
pub(crate) struct Writer(Zeroizing<String>);

impl Writer {
    pub(crate) fn new(kty: &'static str) -> Writer {
        // Capacity for an RSA-8192 private key; see `reserve`.
        let mut text = Zeroizing::new(String::with_capacity(8192));
        text.push_str("{\"kty\":\"");
        text.push_str(kty);
        text.push('"');
        Writer(text)
    }

    /// Writes a string that needs no escapes.
    pub(crate) fn word(mut self, name: &'static str, word: &'static str) -> Writer {
        self.name(name);
        self.0.push_str(word);
        self.0.push('"');
        self
    }

    pub(crate) fn bytes(mut self, name: &'static str, bytes: &[u8]) -> Writer {
        self.reserve(name.len() + base64::encoded_length(bytes.len()));
        self.name(name);
        if PRIVATE.contains(&name) {
            base64::encode_secret_onto(bytes, &mut self.0)
        } else {
            base64::encode_onto(bytes, &mut self.0)
        }
        self.0.push('"');
        self
    }

    /// Writes the metadata that was read with the key.
    pub(crate) fn metadata(self, metadata: &Metadata, operation: Operation) -> Writer {
        let mut writer = if metadata.has_use {
            self.word("use", "sig")
        } else {
            self
        };
        if metadata.has_operations {
            writer = writer.operations(&[operation.name()]);
        }
        if let Some(certificates) = &metadata.certificates {
            writer.reserve(certificates.len());
            writer.0.push_str(",\"x5c\":[");
            writer.0.push_str(certificates);
            writer.0.push(']');
        }
        writer
    }

    /// Writes `key_ops` (RFC 7517, section 4.3); omitted if the key is not restricted.
    pub(crate) fn operations(mut self, operations: &[&'static str]) -> Writer {
        if !operations.is_empty() {
            self.0.push_str(",\"key_ops\":[\"");
            self.0.push_str(&operations.join("\",\""));
            self.0.push_str("\"]");
        }
        self
    }

    /// Writes the key id, which may contain any character.
    pub(crate) fn key_id(mut self, key_id: Option<&str>) -> Writer {
        if let Some(key_id) = key_id {
            let escaped = serde_json::Value::from(key_id).to_string();
            self.reserve(escaped.len());
            let written = write!(self.0, ",\"kid\":{escaped}");
            debug_assert!(written.is_ok(), "a String takes everything");
        }
        self
    }

    pub(crate) fn finish(mut self) -> Zeroizing<String> {
        self.0.push('}');
        self.0
    }

    /// Reserves capacity for this many bytes and the surrounding JSON, so that a reallocation leaves no copy of
    /// a secret in memory.
    fn reserve(&mut self, bytes: usize) {
        const AROUND: usize = 128;
        let needed = self.0.len() + bytes + AROUND;
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(String::with_capacity(2 * needed));
            larger.push_str(&self.0);
            self.0 = larger;
        }
    }

    fn name(&mut self, name: &'static str) {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":\"");
    }
}
