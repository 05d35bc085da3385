//! HMAC-SHA-256 (RFC 2104, FIPS 180-4) on the compression function of the `sha2` crate.
//!
//! The states after the padded key are stored as eight words each. A MAC then costs a copy of a state, the
//! blocks of the message, the padding, and one more block. Using `Sha256` instead would clone and wipe its
//! buffer twice per token.

use sha2::block_api::compress256;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

const BLOCK: usize = 64;
const DIGEST: usize = 32;

/// Position of the length in the padding at the end of a block.
const LENGTH: usize = BLOCK - 8;

/// The state before the first block (FIPS 180-4, section 5.3.3).
const INITIAL: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

type State = [u32; 8];

/// A key: the states after its inner and outer padding. They are as secret as the key itself.
pub(crate) struct Keyed {
    inner: State,
    outer: State,
}

impl Keyed {
    /// A placeholder without a key.
    pub(crate) const fn unset() -> Keyed {
        Keyed {
            inner: INITIAL,
            outer: INITIAL,
        }
    }

    /// Computes the states in place; a move would leave a copy in memory.
    pub(crate) fn set(&mut self, secret: &[u8]) {
        let mut key = Zeroizing::new([0; BLOCK]);
        if secret.len() > BLOCK {
            let (first, _) = key
                .split_first_chunk_mut::<DIGEST>()
                .expect("a block is longer");
            Sha256::new_with_prefix(secret).finalize_into(first.into());
        } else {
            key[..secret.len()].copy_from_slice(secret);
        }
        for (state, pad) in [(&mut self.inner, 0x36), (&mut self.outer, 0x5c)] {
            let mut padded = Zeroizing::new([pad; BLOCK]);
            padded
                .iter_mut()
                .zip(key.iter())
                .for_each(|(byte, key)| *byte ^= key);
            *state = INITIAL;
            compress256(state, std::slice::from_ref(&*padded));
        }
    }

    #[cfg(test)]
    pub(crate) fn new(secret: &[u8]) -> Keyed {
        let mut key = Keyed::unset();
        key.set(secret);
        key
    }

    pub(crate) fn mac(&self, message: &[u8]) -> [u8; DIGEST] {
        let mut state = self.inner;
        let last = absorb(&mut state, message);
        self.end(&mut state, last, message.len())
    }

    /// Processes a message prefix, to compute MACs of messages that begin with it.
    pub(crate) fn begin(&self, message: &[u8]) -> MacPrefix<'_> {
        let mut state = self.inner;
        let (blocks, _) = message.as_chunks();
        compress256(&mut state, blocks);
        MacPrefix {
            key: self,
            state,
            hashed: blocks.as_flattened().len(),
        }
    }

    /// Pads a message of this length and applies the outer state. `last` is the last, incomplete block, filled
    /// with zeros. `state` may still be that of the key, so it is updated in place and no copy is left behind.
    fn end(&self, state: &mut State, mut last: [u8; BLOCK], length: usize) -> [u8; DIGEST] {
        let used = length % BLOCK;
        last[used] = 0x80;
        if used >= LENGTH {
            compress256(state, &[last]);
            last = [0; BLOCK];
        }
        // The block of the padded key comes before the message.
        last[LENGTH..].copy_from_slice(&bits(BLOCK + length));
        compress256(state, &[last]);

        let mut block = [0; BLOCK];
        block[..DIGEST].copy_from_slice(&bytes(*state));
        block[DIGEST] = 0x80;
        block[LENGTH..].copy_from_slice(&bits(BLOCK + DIGEST));
        let mut state = self.outer;
        compress256(&mut state, &[block]);
        bytes(state)
    }
}

impl Drop for Keyed {
    fn drop(&mut self) {
        self.inner.zeroize();
        self.outer.zeroize();
    }
}

/// The MAC state after the whole blocks of a message prefix.
#[derive(Clone)]
pub(crate) struct MacPrefix<'k> {
    key: &'k Keyed,
    state: State,
    hashed: usize,
}

impl MacPrefix<'_> {
    /// Returns the MAC of a whole message, which must begin with the prefix.
    pub(crate) fn finish(&self, message: &[u8]) -> [u8; DIGEST] {
        let mut state = self.state;
        let last = absorb(&mut state, &message[self.hashed..]);
        self.key.end(&mut state, last, message.len())
    }
}

impl Drop for MacPrefix<'_> {
    fn drop(&mut self) {
        // After a short message, the state is close to that of the key.
        self.state.zeroize();
    }
}

/// Processes the whole blocks of a message. Returns the rest, filled with zeros.
fn absorb(state: &mut State, message: &[u8]) -> [u8; BLOCK] {
    let (blocks, rest) = message.as_chunks();
    compress256(state, blocks);
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// A length in bits, in the encoding of the padding.
fn bits(bytes: usize) -> [u8; 8] {
    (bytes as u64 * 8).to_be_bytes()
}

fn bytes(state: State) -> [u8; DIGEST] {
    let mut bytes = [0; DIGEST];
    for (four, word) in bytes.chunks_exact_mut(4).zip(state) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::hmac as aws;

    use super::*;

    fn by_aws_lc(secret: &[u8], message: &[u8]) -> Vec<u8> {
        let key = aws::Key::new(aws::HMAC_SHA256, secret);
        aws::sign(&key, message).as_ref().to_vec()
    }

    /// The definition (RFC 2104, section 2) with the SHA-256 of `sha2`.
    fn by_definition(secret: &[u8], message: &[u8]) -> Vec<u8> {
        let hashed = Sha256::digest(secret);
        let secret = if secret.len() > BLOCK {
            &hashed
        } else {
            secret
        };
        let padded = |pad: u8| -> Vec<u8> {
            let zeros = std::iter::repeat(&0);
            let key = secret.iter().chain(zeros).take(BLOCK);
            key.map(|byte| byte ^ pad).collect()
        };
        let inner = Sha256::digest([&padded(0x36), message].concat());
        Sha256::digest([&padded(0x5c)[..], &inner].concat()).to_vec()
    }

    /// Every message length up to five blocks, and every position at which it can be split in two.
    #[test]
    fn three_implementations_agree() {
        let message: Vec<u8> = (0..=u8::MAX).cycle().take(320).collect();
        let secret = [0xa7; 32];
        let key = Keyed::new(&secret);
        for length in 0..message.len() {
            let message = &message[..length];
            let mac = key.mac(message);
            assert_eq!(mac.as_slice(), by_aws_lc(&secret, message), "{length}");
            assert_eq!(mac.as_slice(), by_definition(&secret, message), "{length}");
            for border in 0..=length {
                let begun = key.begin(&message[..border]);
                assert_eq!(begun.finish(message), mac, "{border} of {length}");
            }
        }
    }

    #[test]
    fn secrets_of_every_length_agree() {
        let secret: Vec<u8> = (0..=u8::MAX).cycle().take(200).collect();
        for length in 0..secret.len() {
            let secret = &secret[..length];
            let mac = Keyed::new(secret).mac(b"message");
            assert_eq!(mac.as_slice(), by_aws_lc(secret, b"message"), "{length}");
            assert_eq!(
                mac.as_slice(),
                by_definition(secret, b"message"),
                "{length}"
            );
        }
    }

    /// A length in bits that exceeds 32 bits.
    #[test]
    fn length_over_32_bits_agrees() {
        let message = vec![0x5a; (1 << 29) + 7];
        let mac = Keyed::new(b"key").mac(&message);
        assert_eq!(mac.as_slice(), by_aws_lc(b"key", &message));
    }
}
