use std::fmt;
use std::str::FromStr;

use crate::crypto::ml_dsa::ParameterSet;
use crate::crypto::{Curve, Hash, Padding};

/// A MAC algorithm (RFC 7518, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MacAlg {
    /// HMAC with SHA-256; keys of 32 bytes or more.
    HS256,
    /// HMAC with SHA-384; keys of 48 bytes or more.
    HS384,
    /// HMAC with SHA-512; keys of 64 bytes or more.
    HS512,
}

/// A signature algorithm (RFC 7518, section 3.1; RFC 8037; RFC 8812; RFC 9864; RFC 9964).
///
/// Ed448 is not supported, because no suitable implementation exists.
///
/// ```
/// use jeton::key::{Alg, MacAlg, SigAlg};
///
/// assert_eq!("ES256".parse::<SigAlg>(), Ok(SigAlg::ES256));
/// assert_eq!(SigAlg::MlDsa65.name(), "ML-DSA-65");
/// assert_eq!("HS256".parse::<Alg>(), Ok(Alg::Mac(MacAlg::HS256)));
/// assert!("none".parse::<Alg>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SigAlg {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RS256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    RS384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    RS512,
    /// RSASSA-PSS with SHA-256 and a salt of 32 bytes.
    PS256,
    /// RSASSA-PSS with SHA-384 and a salt of 48 bytes.
    PS384,
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes.
    PS512,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// ECDSA on P-384 with SHA-384.
    ES384,
    /// ECDSA on P-521 with SHA-512.
    ES512,
    /// ECDSA on secp256k1 with SHA-256 (RFC 8812).
    ES256K,
    /// Ed25519 under the name of RFC 8037, which most verifiers support.
    EdDSA,
    /// Ed25519 under the name of RFC 9864.
    Ed25519,
    /// ML-DSA-44 (FIPS 204), resistant to quantum computers; signatures of 2,420 bytes.
    MlDsa44,
    /// ML-DSA-65 (FIPS 204); signatures of 3,309 bytes.
    MlDsa65,
    /// ML-DSA-87 (FIPS 204); signatures of 4,627 bytes.
    MlDsa87,
}

/// An algorithm of a JWS: a MAC or a signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Alg {
    /// A MAC algorithm.
    Mac(MacAlg),
    /// A signature algorithm.
    Sig(SigAlg),
}

impl MacAlg {
    /// All MAC algorithms.
    pub const ALL: &'static [MacAlg] = &[MacAlg::HS256, MacAlg::HS384, MacAlg::HS512];

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            MacAlg::HS256 => "HS256",
            MacAlg::HS384 => "HS384",
            MacAlg::HS512 => "HS512",
        }
    }

    /// Returns the minimum length of a key, which is also the length of the MAC, bytes (RFC 7518, section 3.2).
    pub const fn key_bytes(self) -> usize {
        self.hash().length()
    }

    pub(crate) const fn hash(self) -> Hash {
        match self {
            MacAlg::HS256 => Hash::Sha256,
            MacAlg::HS384 => Hash::Sha384,
            MacAlg::HS512 => Hash::Sha512,
        }
    }
}

/// The parts of a signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Rsa(Padding, Hash),
    Ecdsa(Curve),
    Ed25519,
    MlDsa(ParameterSet),
}

impl SigAlg {
    /// All signature algorithms.
    pub const ALL: &'static [SigAlg] = &[
        SigAlg::RS256,
        SigAlg::RS384,
        SigAlg::RS512,
        SigAlg::PS256,
        SigAlg::PS384,
        SigAlg::PS512,
        SigAlg::ES256,
        SigAlg::ES384,
        SigAlg::ES512,
        SigAlg::ES256K,
        SigAlg::EdDSA,
        SigAlg::Ed25519,
        SigAlg::MlDsa44,
        SigAlg::MlDsa65,
        SigAlg::MlDsa87,
    ];

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            SigAlg::RS256 => "RS256",
            SigAlg::RS384 => "RS384",
            SigAlg::RS512 => "RS512",
            SigAlg::PS256 => "PS256",
            SigAlg::PS384 => "PS384",
            SigAlg::PS512 => "PS512",
            SigAlg::ES256 => "ES256",
            SigAlg::ES384 => "ES384",
            SigAlg::ES512 => "ES512",
            SigAlg::ES256K => "ES256K",
            SigAlg::EdDSA => "EdDSA",
            SigAlg::Ed25519 => "Ed25519",
            SigAlg::MlDsa44 => "ML-DSA-44",
            SigAlg::MlDsa65 => "ML-DSA-65",
            SigAlg::MlDsa87 => "ML-DSA-87",
        }
    }

    pub(crate) const fn scheme(self) -> Scheme {
        use Padding::{Pkcs1, Pss};
        match self {
            SigAlg::RS256 => Scheme::Rsa(Pkcs1, Hash::Sha256),
            SigAlg::RS384 => Scheme::Rsa(Pkcs1, Hash::Sha384),
            SigAlg::RS512 => Scheme::Rsa(Pkcs1, Hash::Sha512),
            SigAlg::PS256 => Scheme::Rsa(Pss, Hash::Sha256),
            SigAlg::PS384 => Scheme::Rsa(Pss, Hash::Sha384),
            SigAlg::PS512 => Scheme::Rsa(Pss, Hash::Sha512),
            SigAlg::ES256 => Scheme::Ecdsa(Curve::P256),
            SigAlg::ES384 => Scheme::Ecdsa(Curve::P384),
            SigAlg::ES512 => Scheme::Ecdsa(Curve::P521),
            SigAlg::ES256K => Scheme::Ecdsa(Curve::Secp256k1),
            SigAlg::EdDSA | SigAlg::Ed25519 => Scheme::Ed25519,
            SigAlg::MlDsa44 => Scheme::MlDsa(ParameterSet::MlDsa44),
            SigAlg::MlDsa65 => Scheme::MlDsa(ParameterSet::MlDsa65),
            SigAlg::MlDsa87 => Scheme::MlDsa(ParameterSet::MlDsa87),
        }
    }

    /// Whether this `alg` name means this operation. `EdDSA` and `Ed25519` are two names for the same operation
    /// (RFC 9864, section 2.2) if the key is an Ed25519 key.
    pub(crate) fn matches_name(self, name: &str) -> bool {
        self.name() == name
            || (self.scheme() == Scheme::Ed25519 && matches!(name, "EdDSA" | "Ed25519"))
    }
}

impl Scheme {
    /// Returns the JWK `kty` of its keys.
    pub(crate) const fn kty(self) -> &'static str {
        match self {
            Scheme::Rsa(..) => "RSA",
            Scheme::Ecdsa(_) => "EC",
            Scheme::Ed25519 => "OKP",
            Scheme::MlDsa(_) => "AKP",
        }
    }
}

impl Alg {
    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            Alg::Mac(alg) => alg.name(),
            Alg::Sig(alg) => alg.name(),
        }
    }
}

impl From<MacAlg> for Alg {
    fn from(alg: MacAlg) -> Self {
        Alg::Mac(alg)
    }
}

impl From<SigAlg> for Alg {
    fn from(alg: SigAlg) -> Self {
        Alg::Sig(alg)
    }
}

/// The name is not a supported algorithm. `none` is not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the name of a supported algorithm (names are case-sensitive)")
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl FromStr for MacAlg {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = MacAlg::ALL.iter().copied();
        all.find(|alg| alg.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl FromStr for SigAlg {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = SigAlg::ALL.iter().copied();
        all.find(|alg| alg.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl FromStr for Alg {
    type Err = UnknownAlgorithm;

    /// Names are case-sensitive.
    ///
    /// ```
    /// use jeton::key::{Alg, SigAlg};
    /// assert_eq!("ES256".parse(), Ok(Alg::Sig(SigAlg::ES256)));
    /// assert!("es256".parse::<Alg>().is_err());
    /// assert!("none".parse::<Alg>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mac = name.parse().map(Alg::Mac);
        mac.or_else(|_| name.parse().map(Alg::Sig))
    }
}

impl fmt::Display for MacAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for SigAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Alg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
