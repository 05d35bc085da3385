//! The algorithms of the servers suite.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The algorithm of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Algorithm {
    /// HMAC with SHA-256, with one secret.
    #[serde(rename = "HS256")]
    Hs256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// Ed25519, by its name in JWTs.
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// PASETO v4.public: Ed25519.
    #[serde(rename = "v4.public")]
    V4Public,
    /// PASETO v4.local: XChaCha20 and BLAKE2b, with one secret.
    #[serde(rename = "v4.local")]
    V4Local,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] = [
        Self::Hs256,
        Self::Es256,
        Self::Rs256,
        Self::EdDsa,
        Self::V4Public,
        Self::V4Local,
    ];

    /// The two algorithms of jwt-with-grpc-performance-tests.
    pub const REPORT: [Self; 2] = [Self::Hs256, Self::Es256];

    /// Returns the algorithm of that report with this name.
    ///
    /// # Errors
    ///
    /// A sentence that names the algorithms.
    pub fn of_the_report(name: &str) -> Result<Self, String> {
        let known = Self::REPORT.into_iter().find(|alg| alg.name() == name);
        known.ok_or_else(|| "GenerateJwt supports HS256 and ES256".to_owned())
    }

    /// Returns its name, as in a JWT header, a PASETO prefix, and requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
            Self::V4Public => "v4.public",
            Self::V4Local => "v4.local",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|a| a.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            format!("must be one of: {}", names.join(", "))
        })
    }
}
