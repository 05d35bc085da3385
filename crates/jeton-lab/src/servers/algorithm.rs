//! The algorithms that the servers are asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a token is signed with: the two of the gRPC report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Algorithm {
    /// HMAC with SHA-256: one secret for everybody.
    #[serde(rename = "HS256")]
    Hs256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
}

impl Algorithm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Hs256, Self::Es256];

    /// Its name in a token's header and in a request.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Es256 => "ES256",
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
        all.find(|a| a.name() == name)
            .ok_or_else(|| "the servers are asked for HS256 or ES256".to_owned())
    }
}
