//! Cryptographic primitives, each reduced to the operations that jeton needs. This module works on
//! validated keys and on bytes, and knows nothing about tokens.

#[cfg(feature = "jwe")]
pub(crate) mod aes_cbc_hmac;
#[cfg(feature = "paseto")]
pub(crate) mod aes_ctr;
#[cfg(feature = "jwe")]
pub(crate) mod aes_gcm;
#[cfg(feature = "jwe")]
pub(crate) mod aes_kw;
#[cfg(feature = "paseto")]
pub(crate) mod argon2id;
#[cfg(feature = "paseto")]
pub(crate) mod blake2b;
#[cfg(feature = "jwe")]
pub(crate) mod concat_kdf;
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub(crate) mod deflate;
#[cfg(any(feature = "jwe", feature = "paseto"))]
pub(crate) mod ecdh;
pub(crate) mod ecdsa;
pub(crate) mod ed25519;
#[cfg(feature = "paseto")]
pub(crate) mod hkdf;
pub(crate) mod hmac;
#[cfg(feature = "_secrets")]
mod hmac_sha256;
pub(crate) mod ml_dsa;
#[cfg(any(feature = "paseto", all(feature = "jwe", feature = "legacy")))]
pub(crate) mod pbes2;
pub(crate) mod random;
pub(crate) mod rsa;
#[cfg(feature = "jwe")]
pub(crate) mod rsa_encryption;
mod rsa_size;
#[cfg(feature = "paseto")]
pub(crate) mod xchacha20;
#[cfg(feature = "paseto")]
pub(crate) mod xchacha20_poly1305;

pub use rsa_size::RsaSize;

use aws_lc_rs::digest;
use smallvec::SmallVec;

/// Overwrites with zeros. `zeroize` does so byte by byte, which would be too slow for the plaintext of a
/// token. Its barrier keeps the compiler from removing the write.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    zeroize::optimization_barrier(bytes);
}

/// A signature or MAC. It is on the stack for all algorithms except ML-DSA and RSA above 4,096 bits.
pub(crate) type Signature = SmallVec<[u8; 512]>;

/// A stack buffer for a signature of any algorithm; ML-DSA-87 has the longest. It is filled in place and
/// never moved, so its size costs nothing.
pub(crate) type SignatureBuffer = SmallVec<[u8; 4640]>;

/// A hash function of the SHA-2 family (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// The length of the hash, bytes.
    pub(crate) const fn length(self) -> usize {
        match self {
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }

    /// Returns the hash of the message.
    pub(crate) fn digest(self, message: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha384 => &digest::SHA384,
            Hash::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message).as_ref().to_vec()
    }
}

/// The padding of an RSA signature (RFC 8017, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    Pkcs1,
    Pss,
}

/// A curve of FIPS 186-5, or secp256k1 (RFC 8812). JOSE binds each curve to one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
    Secp256k1,
}

impl Curve {
    /// The name in a JWK (`crv`).
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Curve::P256 => "P-256",
            Curve::P384 => "P-384",
            Curve::P521 => "P-521",
            Curve::Secp256k1 => "secp256k1",
        }
    }

    /// Length of a coordinate and of a scalar, bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Curve::P256 | Curve::Secp256k1 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }

    pub(crate) const fn hash(self) -> Hash {
        match self {
            Curve::P256 | Curve::Secp256k1 => Hash::Sha256,
            Curve::P384 => Hash::Sha384,
            Curve::P521 => Hash::Sha512,
        }
    }
}
