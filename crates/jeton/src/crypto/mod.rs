//! The primitives, each behind the few operations that jeton needs. Everything here works on keys
//! that are ready and on bytes; nothing knows a token.

pub(crate) mod aes_cbc_hmac;
pub(crate) mod aes_ctr;
pub(crate) mod aes_gcm;
pub(crate) mod aes_kw;
pub(crate) mod argon2id;
pub(crate) mod blake2b;
pub(crate) mod concat_kdf;
pub(crate) mod deflate;
pub(crate) mod ecdh;
pub(crate) mod ecdsa;
pub(crate) mod ed25519;
pub(crate) mod hkdf;
pub(crate) mod hmac;
mod hmac_sha256;
pub(crate) mod ml_dsa;
pub(crate) mod pbes2;
pub(crate) mod random;
pub(crate) mod rsa;
pub(crate) mod rsa_encryption;
pub(crate) mod xchacha20;
pub(crate) mod xchacha20_poly1305;

use aws_lc_rs::digest;
use smallvec::SmallVec;

/// Overwrites with zeros. `zeroize` does so byte by byte, which would be felt where a token's plaintext is
/// wiped; its barrier keeps the compiler from leaving out what nobody reads.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    zeroize::optimization_barrier(bytes);
}

/// A signature or MAC that a primitive hands over. Those of every algorithm but ML-DSA and RSA
/// above 4,096 bits live on the stack.
pub(crate) type Signature = SmallVec<[u8; 512]>;

/// Room on the stack for a signature of any algorithm; the longest is ML-DSA-87's. It is filled in
/// place and never moved, so that its size costs nothing.
pub(crate) type SignatureBuffer = SmallVec<[u8; 4640]>;

/// A hash function of the SHA-2 family (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// Its length, bytes.
    pub(crate) const fn length(self) -> usize {
        match self {
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }

    /// The message's hash.
    pub(crate) fn digest(self, message: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha384 => &digest::SHA384,
            Hash::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message).as_ref().to_vec()
    }
}

/// How RSA pads what it signs (RFC 8017, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    Pkcs1,
    Pss,
}

/// A curve of FIPS 186-5, or secp256k1 (RFC 8812); with it comes the hash that JOSE binds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
    Secp256k1,
}

impl Curve {
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
