use std::fmt;
use std::str::FromStr;

use crate::crypto::ml_dsa::ParameterSet;
use crate::crypto::{
    Curve, Hash, Padding,
    Padding::{Pkcs1, Pss},
};

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

/// Everything that follows from the name of a signature algorithm. The files of the libraries for other languages and
/// docs/reference/algorithms.md are written from these rows.
struct Row {
    alg: SigAlg,
    name: &'static str,
    scheme: Scheme,
    required_key: &'static str,
    description: &'static str,
}

macro_rules! row {
    ($alg:ident, $name:literal, $scheme:expr, $key:literal, $description:literal) => {
        Row {
            alg: SigAlg::$alg,
            name: $name,
            scheme: $scheme,
            required_key: concat!($key, " for ", $name),
            description: $description,
        }
    };
}

/// In the order of the enum.
#[rustfmt::skip]
const ROWS: [Row; 15] = [
    row!(RS256, "RS256", Scheme::Rsa(Pkcs1, Hash::Sha256), "RSA", "RSASSA-PKCS1-v1_5, SHA-256"),
    row!(RS384, "RS384", Scheme::Rsa(Pkcs1, Hash::Sha384), "RSA", "RSASSA-PKCS1-v1_5, SHA-384"),
    row!(RS512, "RS512", Scheme::Rsa(Pkcs1, Hash::Sha512), "RSA", "RSASSA-PKCS1-v1_5, SHA-512"),
    row!(PS256, "PS256", Scheme::Rsa(Pss, Hash::Sha256), "RSA", "RSASSA-PSS, SHA-256, salt of 32"),
    row!(PS384, "PS384", Scheme::Rsa(Pss, Hash::Sha384), "RSA", "RSASSA-PSS, SHA-384, salt of 48"),
    row!(PS512, "PS512", Scheme::Rsa(Pss, Hash::Sha512), "RSA", "RSASSA-PSS, SHA-512, salt of 64"),
    row!(ES256, "ES256", Scheme::Ecdsa(Curve::P256), "EC P-256", "ECDSA on P-256, SHA-256"),
    row!(ES384, "ES384", Scheme::Ecdsa(Curve::P384), "EC P-384", "ECDSA on P-384, SHA-384"),
    row!(ES512, "ES512", Scheme::Ecdsa(Curve::P521), "EC P-521", "ECDSA on P-521, SHA-512"),
    row!(ES256K, "ES256K", Scheme::Ecdsa(Curve::Secp256k1), "EC secp256k1", "ECDSA on secp256k1, SHA-256 (RFC 8812)"),
    row!(EdDSA, "EdDSA", Scheme::Ed25519, "Ed25519", "Ed25519 with the name of RFC 8037"),
    row!(Ed25519, "Ed25519", Scheme::Ed25519, "Ed25519", "Ed25519 with the name of RFC 9864"),
    row!(MlDsa44, "ML-DSA-44", Scheme::MlDsa(ParameterSet::MlDsa44), "AKP", "ML-DSA (FIPS 204), empty context"),
    row!(MlDsa65, "ML-DSA-65", Scheme::MlDsa(ParameterSet::MlDsa65), "AKP", "ML-DSA (FIPS 204), empty context"),
    row!(MlDsa87, "ML-DSA-87", Scheme::MlDsa(ParameterSet::MlDsa87), "AKP", "ML-DSA (FIPS 204), empty context"),
];

/// All algorithms of the table. It does not compile if a row is missing, doubled or at another place than in the enum.
const SIGNATURES: [SigAlg; ROWS.len()] = {
    let mut all = [ROWS[0].alg; ROWS.len()];
    let mut at = 0;
    while at < ROWS.len() {
        all[at] = ROWS[at].alg;
        assert!(
            all[at] as usize == at,
            "a row of the table is at another place"
        );
        at += 1;
    }
    all
};

impl SigAlg {
    /// All signature algorithms.
    pub const ALL: &'static [SigAlg] = &SIGNATURES;

    const fn row(self) -> &'static Row {
        const TABLE: &[Row; ROWS.len()] = &ROWS;
        &TABLE[self as usize]
    }

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns what the algorithm is, in a phrase.
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// Returns the length of a signature, bytes; `None` for RSA, whose signatures are as long as the modulus.
    pub const fn signature_bytes(self) -> Option<usize> {
        match self.scheme() {
            Scheme::Rsa(..) => None,
            Scheme::Ecdsa(curve) => Some(2 * curve.bytes()),
            Scheme::Ed25519 => Some(64),
            Scheme::MlDsa(set) => Some(set.signature_bytes()),
        }
    }

    /// Returns the type of key that it requires, for messages.
    pub(crate) const fn required_key(self) -> &'static str {
        self.row().required_key
    }

    pub(crate) const fn scheme(self) -> Scheme {
        self.row().scheme
    }

    /// Returns the first algorithm of the table with this scheme.
    pub(super) fn of_scheme(scheme: Scheme) -> Option<SigAlg> {
        let mut all = SigAlg::ALL.iter().copied();
        all.find(|alg| alg.scheme() == scheme)
    }

    /// Returns the algorithm of the keys on this curve (`crv`).
    pub(super) fn of_curve(name: &str) -> Option<SigAlg> {
        let mut all = SigAlg::ALL.iter().copied();
        all.find(|alg| matches!(alg.scheme(), Scheme::Ecdsa(curve) if curve.name() == name))
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
