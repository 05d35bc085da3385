//! The signing input, built around a message that is already at its position in a buffer.

use std::ops::Range;

use super::{TokenContext, pae};

/// The pre-authentication encoding of the public key (version 3), header, message, footer and implicit
/// assertion (from version 3 on).
pub(super) struct Frame<'a> {
    /// The public key, if the version signs it.
    pub(super) key: Option<&'a [u8]>,
    pub(super) header: &'static str,
    pub(super) message_bytes: usize,
    pub(super) context: TokenContext<'a>,
    /// Whether the version has implicit assertions. If so, an empty one is encoded too.
    pub(super) implicit_assertion: bool,
}

impl Frame<'_> {
    /// The number of bytes before the message.
    pub(super) fn prefix_bytes(key: Option<&[u8]>, header: &str) -> usize {
        // The count, the key and the header with their lengths, and the length of the message.
        let key_bytes = key.map_or(0, |key| pae::LENGTH_BYTES + key.len());
        3 * pae::LENGTH_BYTES + key_bytes + header.len()
    }

    pub(super) fn message(&self) -> Range<usize> {
        let start = Self::prefix_bytes(self.key, self.header);
        start..start + self.message_bytes
    }

    pub(super) fn bytes(&self) -> usize {
        let suffix = self.suffix();
        let suffix = suffix.iter().flatten();
        self.message().end
            + suffix
                .map(|piece| pae::LENGTH_BYTES + piece.len())
                .sum::<usize>()
    }

    pub(super) fn write(&self, buffer: &mut [u8]) {
        let suffix = self.suffix();
        let pieces = self.key.iter().count() + 2 + suffix.iter().flatten().count();
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&pae::length(pieces));
        for piece in self.key.into_iter().chain([self.header.as_bytes()]) {
            put(&pae::length(piece.len()));
            put(piece);
        }
        put(&pae::length(self.message_bytes));
        let mut at = self.message().end;
        let mut put = |bytes: &[u8]| {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        for piece in suffix.into_iter().flatten() {
            put(&pae::length(piece.len()));
            put(piece);
        }
    }

    /// Returns the pieces after the message.
    fn suffix(&self) -> [Option<&[u8]>; 2] {
        let assertion = self.context.implicit_assertion;
        [
            Some(self.context.footer),
            self.implicit_assertion.then_some(assertion),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_equals_pae_of_its_pieces() {
        let context = TokenContext::new()
            .footer("foot")
            .implicit_assertion("implied");
        let message: &[u8] = b"message";
        for key in [None, Some(&b"the key"[..])] {
            for implicit_assertion in [false, true] {
                let frame = Frame {
                    key,
                    header: "v0.public.",
                    message_bytes: message.len(),
                    context,
                    implicit_assertion,
                };
                let mut buffer = vec![0xee; frame.bytes()];
                buffer[frame.message()].copy_from_slice(message);
                frame.write(&mut buffer);
                let mut pieces: Vec<&[u8]> = key.into_iter().collect();
                pieces.extend([b"v0.public.", message, b"foot"]);
                pieces.extend(implicit_assertion.then_some(&b"implied"[..]));
                let mut expected = Vec::new();
                pae::encode(&pieces, |bytes| expected.extend_from_slice(bytes));
                assert_eq!(buffer, expected);
            }
        }
    }
}
