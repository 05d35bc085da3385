//! Encryption of keys with encrypt-then-MAC: AES-256-CTR and HMAC-SHA-384 in versions 1 and 3, XChaCha20 and
//! keyed BLAKE2b in versions 2 and 4.

use sha2::{Digest, Sha384};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::crypto::blake2b::Blake2b;
use crate::crypto::{aes_ctr, hmac, xchacha20};
use crate::error::Result;
use crate::paserk_kind::Family;

impl Family {
    /// Length of the tag, bytes.
    pub(super) fn tag_bytes(self) -> usize {
        match self {
            Family::Nist => 48,
            Family::Sodium => 32,
        }
    }

    /// Length of the nonce of the cipher, bytes.
    pub(super) fn nonce_bytes(self) -> usize {
        match self {
            Family::Nist => aes_ctr::COUNTER_BYTES,
            Family::Sodium => xchacha20::NONCE_BYTES,
        }
    }
}

/// The derived keys and the nonce for encrypting one key.
pub(super) struct KeyCipher {
    family: Family,
    encryption: Zeroizing<[u8; 32]>,
    nonce: Vec<u8>,
    authentication: Zeroizing<Vec<u8>>,
}

impl KeyCipher {
    /// Derives from a wrapping key and the nonce of the wrapped key (PASERK, "Key-Wrapping: pie").
    pub(super) fn wrapping(family: Family, key: &[u8; 32], nonce: &[u8]) -> KeyCipher {
        let encryption = [&[0x80], nonce];
        let authentication = [&[0x81], nonce];
        match family {
            // The MAC key is truncated to 32 bytes. Only the test vectors show this, not the specification.
            Family::Nist => KeyCipher::split(
                family,
                &hmac_sha384(key, &encryption),
                Zeroizing::new(first(&hmac_sha384(key, &authentication)).to_vec()),
            ),
            Family::Sodium => KeyCipher::split(
                family,
                &blake2b(Blake2b::<56>::keyed(key), &encryption),
                blake2b(Blake2b::<32>::keyed(key), &authentication),
            ),
        }
    }

    /// Derives from a password-derived key and a nonce (PASERK, "Password-Based Key Wrapping").
    pub(super) fn password(family: Family, key: &[u8; 32], nonce: &[u8]) -> KeyCipher {
        let of = |purpose: u8| match family {
            Family::Nist => sha384(&[&[purpose], key]),
            Family::Sodium => blake2b(Blake2b::<32>::new(), &[&[purpose], key]),
        };
        KeyCipher {
            family,
            encryption: first(&of(0xff)),
            nonce: nonce.to_vec(),
            authentication: of(0xfe),
        }
    }

    /// Derives from a shared secret and its context (PASERK, "Public-Key Encryption"). `ephemeral` and `public`
    /// are the two public keys.
    pub(super) fn agreed(
        family: Family,
        header: &str,
        secret: &[u8],
        ephemeral: &[u8],
        public: &[u8],
    ) -> KeyCipher {
        let pieces = |purpose| [purpose, header.as_bytes(), secret, ephemeral, public];
        let (encryption, authentication) = (pieces(&[1][..]), pieces(&[2]));
        match family {
            Family::Nist => KeyCipher::split(family, &sha384(&encryption), sha384(&authentication)),
            Family::Sodium => KeyCipher {
                family,
                encryption: first(&blake2b(Blake2b::<32>::new(), &encryption)),
                nonce: blake2b(Blake2b::<24>::new(), &[ephemeral, public]).to_vec(),
                authentication: blake2b(Blake2b::<32>::new(), &authentication),
            },
        }
    }

    /// One derivation yields the key followed by the nonce.
    fn split(family: Family, derived: &[u8], authentication: Zeroizing<Vec<u8>>) -> KeyCipher {
        KeyCipher {
            family,
            encryption: first(derived),
            nonce: derived[32..].to_vec(),
            authentication,
        }
    }

    /// Encrypts or decrypts in place; both are the same operation.
    pub(super) fn apply(&self, key: &mut [u8]) -> Result<()> {
        const NONCE: &str = "a lock is made with a nonce of its family's length";
        let nonce = self.nonce.as_slice();
        match self.family {
            Family::Nist => aes_ctr::apply(&self.encryption, nonce.try_into().expect(NONCE), key),
            Family::Sodium => {
                xchacha20::apply(&self.encryption, nonce.try_into().expect(NONCE), key)
            }
        }
    }

    pub(super) fn tag(&self, pieces: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        match self.family {
            Family::Nist => hmac_sha384(&self.authentication, pieces),
            Family::Sodium => blake2b(Blake2b::<32>::keyed(&first(&self.authentication)), pieces),
        }
    }

    /// Compares in constant time.
    pub(super) fn is_authentic(&self, pieces: &[&[u8]], tag: &[u8]) -> bool {
        self.tag(pieces).ct_eq(tag).into()
    }
}

fn first(bytes: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut first = Zeroizing::new([0; 32]);
    first.copy_from_slice(&bytes[..32]);
    first
}

fn hmac_sha384(key: &[u8], pieces: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let mut mac = hmac::Sha384::keyed(key);
    pieces.iter().for_each(|piece| mac.update(piece));
    Zeroizing::new(mac.finish().to_vec())
}

fn sha384(pieces: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let mut hash = Sha384::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    let mut derived = Zeroizing::new([0; 48]);
    hash.finalize_into((&mut *derived).into());
    Zeroizing::new(derived.to_vec())
}

fn blake2b<const N: usize>(mut hash: Blake2b<N>, pieces: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    pieces.iter().for_each(|piece| hash.update(piece));
    Zeroizing::new(hash.finish().to_vec())
}
