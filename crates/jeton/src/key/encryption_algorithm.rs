use std::fmt;
use std::str::FromStr;

use super::UnknownAlgorithm;
use crate::crypto::Hash;
use crate::crypto::rsa_encryption::Padding;

/// A key management algorithm with a public key (RFC 7518, section 4.1).
///
/// ```
/// use jeton::key::KeyManagementAlg;
/// assert_eq!("RSA-OAEP-256".parse(), Ok(KeyManagementAlg::RsaOaep256));
/// assert!("RSA1_5".parse::<KeyManagementAlg>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyManagementAlg {
    /// RSAES-OAEP with SHA-1 and MGF1 with SHA-1.
    RsaOaep,
    /// RSAES-OAEP with SHA-256 and MGF1 with SHA-256.
    RsaOaep256,
    /// RSAES-OAEP with SHA-384 and MGF1 with SHA-384.
    RsaOaep384,
    /// RSAES-OAEP with SHA-512 and MGF1 with SHA-512.
    RsaOaep512,
    /// ECDH-ES: the derived key is the content key. Only one recipient.
    EcdhEs,
    /// ECDH-ES: the derived key wraps the content key with AES Key Wrap, 128 bits.
    EcdhEsA128Kw,
    /// ECDH-ES: the derived key wraps the content key with AES Key Wrap, 192 bits.
    EcdhEsA192Kw,
    /// ECDH-ES: the derived key wraps the content key with AES Key Wrap, 256 bits.
    EcdhEsA256Kw,
    /// RSAES-PKCS1-v1_5. Only [`danger::RSA1_5`](crate::danger::RSA1_5) creates it.
    Rsa1_5(LegacyOptIn),
}

/// RSAES-PKCS1-v1_5 as key management (RFC 7518, section 4.2). Only this constant enables it.
///
/// Insecure: Bleichenbacher's attack uses every observable difference between a valid and an invalid padding
/// as a decryption oracle. Here, an invalid padding or a content key of another length gives a random content
/// key, chosen without a branch. The token then fails as with any wrong key (RFC 7516, section 11.5).
///
/// AWS-LC itself branches on the padding and offers no alternative. So each decryption is followed by a
/// second one, of a number with an invalid padding if the first was valid, and the reverse. The total work is
/// the same. Two differences remain: the order of the two, and the number of bytes copied from a valid
/// padding. This doubles the time.
///
/// A key for this algorithm must have no other use. A [`Decrypter`](crate::jwe::Decrypter) with the same RSA
/// key for RSA-OAEP returns [`InvalidUse::SharedRsaKey`](crate::error::InvalidUse::SharedRsaKey).
///
/// ```
/// use jeton::danger::RSA1_5;
/// use jeton::key::DecryptionKey;
/// let key = DecryptionKey::generate(RSA1_5)?;
/// assert_eq!(key.alg().name(), "RSA1_5");
/// # Ok::<(), jeton::Error>(())
/// ```
pub const RSA1_5: KeyManagementAlg = KeyManagementAlg::Rsa1_5(LegacyOptIn(()));

/// Proves that the caller used [`danger`](crate::danger): nothing else creates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LegacyOptIn(());

/// A key management algorithm with a shared key (RFC 7518, sections 4.4 and 4.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyWrapAlg {
    /// AES Key Wrap with 128 bits.
    A128Kw,
    /// AES Key Wrap with 192 bits.
    A192Kw,
    /// AES Key Wrap with 256 bits.
    A256Kw,
    /// AES-GCM with 128 bits. One key may wrap at most 2³² content keys.
    A128GcmKw,
    /// AES-GCM with 192 bits. One key may wrap at most 2³² content keys.
    A192GcmKw,
    /// AES-GCM with 256 bits. One key may wrap at most 2³² content keys.
    A256GcmKw,
}

/// A content encryption algorithm (RFC 7518, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentEnc {
    /// AES-CBC with 128 bits and HMAC-SHA-256.
    A128CbcHs256,
    /// AES-CBC with 192 bits and HMAC-SHA-384.
    A192CbcHs384,
    /// AES-CBC with 256 bits and HMAC-SHA-512.
    A256CbcHs512,
    /// AES-GCM with 128 bits. One content key may encrypt at most 2³² tokens.
    A128Gcm,
    /// AES-GCM with 192 bits. One content key may encrypt at most 2³² tokens.
    A192Gcm,
    /// AES-GCM with 256 bits. One content key may encrypt at most 2³² tokens.
    A256Gcm,
}

/// The parts of an asymmetric key management algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Management {
    Rsa(Padding),
    /// The length of the wrapping key, bytes; `None` for direct key agreement.
    Ecdh(Option<usize>),
}

/// The parts of a symmetric key wrapping algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    Kw,
    Gcm,
}

/// The parts of a content encryption algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cipher {
    CbcHmac(Hash),
    Gcm,
}

impl KeyManagementAlg {
    /// All key management algorithms with public keys that do not need [`danger`](crate::danger).
    pub const ALL: &'static [KeyManagementAlg] = &[
        KeyManagementAlg::RsaOaep,
        KeyManagementAlg::RsaOaep256,
        KeyManagementAlg::RsaOaep384,
        KeyManagementAlg::RsaOaep512,
        KeyManagementAlg::EcdhEs,
        KeyManagementAlg::EcdhEsA128Kw,
        KeyManagementAlg::EcdhEsA192Kw,
        KeyManagementAlg::EcdhEsA256Kw,
    ];

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            KeyManagementAlg::RsaOaep => "RSA-OAEP",
            KeyManagementAlg::RsaOaep256 => "RSA-OAEP-256",
            KeyManagementAlg::RsaOaep384 => "RSA-OAEP-384",
            KeyManagementAlg::RsaOaep512 => "RSA-OAEP-512",
            KeyManagementAlg::EcdhEs => "ECDH-ES",
            KeyManagementAlg::EcdhEsA128Kw => "ECDH-ES+A128KW",
            KeyManagementAlg::EcdhEsA192Kw => "ECDH-ES+A192KW",
            KeyManagementAlg::EcdhEsA256Kw => "ECDH-ES+A256KW",
            KeyManagementAlg::Rsa1_5(_) => "RSA1_5",
        }
    }

    pub(crate) const fn management(self) -> Management {
        match self {
            KeyManagementAlg::RsaOaep => Management::Rsa(Padding::OaepSha1),
            KeyManagementAlg::RsaOaep256 => Management::Rsa(Padding::OaepSha256),
            KeyManagementAlg::RsaOaep384 => Management::Rsa(Padding::OaepSha384),
            KeyManagementAlg::RsaOaep512 => Management::Rsa(Padding::OaepSha512),
            KeyManagementAlg::Rsa1_5(_) => Management::Rsa(Padding::Pkcs1),
            KeyManagementAlg::EcdhEs => Management::Ecdh(None),
            KeyManagementAlg::EcdhEsA128Kw => Management::Ecdh(Some(16)),
            KeyManagementAlg::EcdhEsA192Kw => Management::Ecdh(Some(24)),
            KeyManagementAlg::EcdhEsA256Kw => Management::Ecdh(Some(32)),
        }
    }
}

impl KeyWrapAlg {
    /// All key wrapping algorithms with shared keys.
    pub const ALL: &'static [KeyWrapAlg] = &[
        KeyWrapAlg::A128Kw,
        KeyWrapAlg::A192Kw,
        KeyWrapAlg::A256Kw,
        KeyWrapAlg::A128GcmKw,
        KeyWrapAlg::A192GcmKw,
        KeyWrapAlg::A256GcmKw,
    ];

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            KeyWrapAlg::A128Kw => "A128KW",
            KeyWrapAlg::A192Kw => "A192KW",
            KeyWrapAlg::A256Kw => "A256KW",
            KeyWrapAlg::A128GcmKw => "A128GCMKW",
            KeyWrapAlg::A192GcmKw => "A192GCMKW",
            KeyWrapAlg::A256GcmKw => "A256GCMKW",
        }
    }

    /// Returns the length of the key, bytes.
    pub const fn key_bytes(self) -> usize {
        match self {
            KeyWrapAlg::A128Kw | KeyWrapAlg::A128GcmKw => 16,
            KeyWrapAlg::A192Kw | KeyWrapAlg::A192GcmKw => 24,
            KeyWrapAlg::A256Kw | KeyWrapAlg::A256GcmKw => 32,
        }
    }

    pub(crate) const fn wrapping(self) -> Wrapping {
        match self {
            KeyWrapAlg::A128Kw | KeyWrapAlg::A192Kw | KeyWrapAlg::A256Kw => Wrapping::Kw,
            KeyWrapAlg::A128GcmKw | KeyWrapAlg::A192GcmKw | KeyWrapAlg::A256GcmKw => Wrapping::Gcm,
        }
    }
}

impl ContentEnc {
    /// All content encryption algorithms.
    pub const ALL: &'static [ContentEnc] = &[
        ContentEnc::A128CbcHs256,
        ContentEnc::A192CbcHs384,
        ContentEnc::A256CbcHs512,
        ContentEnc::A128Gcm,
        ContentEnc::A192Gcm,
        ContentEnc::A256Gcm,
    ];

    /// Returns the `enc` name.
    pub const fn name(self) -> &'static str {
        match self {
            ContentEnc::A128CbcHs256 => "A128CBC-HS256",
            ContentEnc::A192CbcHs384 => "A192CBC-HS384",
            ContentEnc::A256CbcHs512 => "A256CBC-HS512",
            ContentEnc::A128Gcm => "A128GCM",
            ContentEnc::A192Gcm => "A192GCM",
            ContentEnc::A256Gcm => "A256GCM",
        }
    }

    /// Returns the length of the content key, bytes.
    pub const fn key_bytes(self) -> usize {
        match self {
            ContentEnc::A128CbcHs256 => 32,
            ContentEnc::A192CbcHs384 => 48,
            ContentEnc::A256CbcHs512 => 64,
            ContentEnc::A128Gcm => 16,
            ContentEnc::A192Gcm => 24,
            ContentEnc::A256Gcm => 32,
        }
    }

    pub(crate) const fn cipher(self) -> Cipher {
        match self {
            ContentEnc::A128CbcHs256 => Cipher::CbcHmac(Hash::Sha256),
            ContentEnc::A192CbcHs384 => Cipher::CbcHmac(Hash::Sha384),
            ContentEnc::A256CbcHs512 => Cipher::CbcHmac(Hash::Sha512),
            ContentEnc::A128Gcm | ContentEnc::A192Gcm | ContentEnc::A256Gcm => Cipher::Gcm,
        }
    }
}

impl FromStr for KeyManagementAlg {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = KeyManagementAlg::ALL.iter().copied();
        all.find(|alg| alg.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl FromStr for KeyWrapAlg {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = KeyWrapAlg::ALL.iter().copied();
        all.find(|alg| alg.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl FromStr for ContentEnc {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = ContentEnc::ALL.iter().copied();
        all.find(|enc| enc.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl fmt::Display for KeyManagementAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for KeyWrapAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for ContentEnc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
