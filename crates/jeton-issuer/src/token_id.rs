//! Token ids (`jti`): a random part and the stamp of the newest revocation rule that the node knew.

use crate::hex::hex_into;
use crate::revocation::{RANDOM_DIGITS, StampText};

/// A unique token id.
pub(crate) struct TokenId {
    bytes: [u8; RANDOM_DIGITS + StampText::BYTES],
    length: usize,
}

impl TokenId {
    pub(crate) fn random(stamp: &StampText) -> TokenId {
        let mut bytes = [0; RANDOM_DIGITS + StampText::BYTES];
        let (random, rest) = bytes.split_at_mut(RANDOM_DIGITS);
        // Ids are not secrets. The ChaCha12 generator of the thread, seeded by the system, takes
        // nanoseconds. The generator of AWS-LC took a quarter of the time of a token.
        hex_into(&rand::random::<[u8; RANDOM_DIGITS / 2]>(), random);
        rest.copy_from_slice(stamp.as_array());
        TokenId {
            bytes,
            length: RANDOM_DIGITS + stamp.length(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).expect("digits and hyphens are ASCII")
    }
}
