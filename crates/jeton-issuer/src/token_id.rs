//! The id of a token, its `jti`: random, and the stamp of the revocation rules that its node had seen.

use crate::record::hex_into;
use crate::revocation::{RANDOM_DIGITS, StampText};

/// Nobody else's, for ever.
pub(crate) struct TokenId {
    bytes: [u8; RANDOM_DIGITS + StampText::BYTES],
    length: usize,
}

impl TokenId {
    pub(crate) fn random(stamp: &StampText) -> TokenId {
        let mut bytes = [0; RANDOM_DIGITS + StampText::BYTES];
        let (random, rest) = bytes.split_at_mut(RANDOM_DIGITS);
        // Names are no secrets: the thread's ChaCha12, which the system seeds and seeds again, takes
        // nanoseconds where AWS-LC's generator took a quarter of a token's time.
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
