//! The algorithms that the servers are asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a token is signed or encrypted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Algorithm {
    /// HMAC with SHA-256: one secret for everybody.
    #[serde(rename = "HS256")]
    Hs256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// Ed25519, by the name that JWTs have for it.
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// PASETO v4.public: Ed25519.
    #[serde(rename = "v4.public")]
    V4Public,
    /// PASETO v4.local: XChaCha20 and BLAKE2b, one secret for everybody.
    #[serde(rename = "v4.local")]
    V4Local,
}

impl Algorithm {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Hs256,
        Self::Es256,
        Self::Rs256,
        Self::EdDsa,
        Self::V4Public,
        Self::V4Local,
    ];

    /// The two of the gRPC report.
    pub const REPORT: [Self; 2] = [Self::Hs256, Self::Es256];

    /// The one of the report that has this name.
    ///
    /// # Errors
    /// A sentence that names them.
    pub fn of_the_report(name: &str) -> Result<Self, String> {
        let known = Self::REPORT.into_iter().find(|alg| alg.name() == name);
        known.ok_or_else(|| "GenerateJwt makes tokens with HS256 or ES256".to_owned())
    }

    /// Its name: of a JWT in the token's header, of a PASETO before the token. Requests have it too.
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
            format!("the algorithms are {}", names.join(", "))
        })
    }
}
