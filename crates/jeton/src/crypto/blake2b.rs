//! BLAKE2b (RFC 7693), with and without a key. The output length is a const parameter.

use std::hint::black_box;

use blake2b_simd::{Hash, Params, State};
use zeroize::Zeroizing;

/// A BLAKE2b computation with `N` bytes of output. It is wiped when dropped.
///
/// Clone it to reuse the state of a shared prefix. A keyed computation processes its key with the first
/// bytes that follow.
#[derive(Clone)]
pub(crate) struct Blake2b<const N: usize>(State);

impl<const N: usize> Blake2b<N> {
    /// Creates a computation without a key.
    pub(crate) fn new() -> Self {
        Blake2b(Self::params().to_state())
    }

    /// Creates a computation with a key, for a MAC or for key derivation.
    pub(crate) fn keyed<const K: usize>(key: &[u8; K]) -> Self {
        const { assert!(K >= 1 && K <= blake2b_simd::KEYBYTES) };
        let mut params = Self::params();
        params.key(key);
        let hash = Blake2b(params.to_state());
        // The parameters contain the key. Nothing reads the overwritten value, and `black_box` keeps the
        // compiler from removing the write. A stronger wipe would need `unsafe`.
        params.key(&[]);
        black_box(&params);
        hash
    }

    fn params() -> Params {
        const { assert!(N >= 1 && N <= blake2b_simd::OUTBYTES) };
        let mut params = Params::new();
        params.hash_length(N);
        params
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Appends bytes and returns the computation.
    pub(crate) fn and(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> Zeroizing<[u8; N]> {
        let mut hash = self.0.finalize();
        let mut bytes = Zeroizing::new([0; N]);
        bytes.copy_from_slice(hash.as_bytes());
        hash = Hash::from([0; blake2b_simd::OUTBYTES]);
        black_box(&hash);
        bytes
    }
}

impl<const N: usize> Drop for Blake2b<N> {
    fn drop(&mut self) {
        // As in `keyed`: the state depends on the key.
        self.0 = State::new();
        black_box(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_7693_appendix_a() {
        let hash = Blake2b::<64>::new().and(b"ab").and(b"c").finish();
        assert_eq!(
            hash[..16],
            [
                0xba, 0x80, 0xa5, 0x3f, 0x98, 0x1c, 0x4d, 0x0d, 0x6a, 0x27, 0x97, 0xb6, 0x9f, 0x12,
                0xf6, 0xe9
            ]
        );
    }

    #[test]
    fn cloned_state_is_independent() {
        let begun = Blake2b::<32>::keyed(&[7; 32]).and(b"beginning");
        let one = begun.clone().and(b"one").finish();
        let other = begun.and(b"other").finish();
        assert_eq!(
            one,
            Blake2b::<32>::keyed(&[7; 32]).and(b"beginningone").finish()
        );
        assert_ne!(one, other);
        assert_ne!(
            one,
            Blake2b::<32>::keyed(&[8; 32]).and(b"beginningone").finish()
        );
    }
}
