//! A subject under a contract.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::result::Subject;

/// One exactly described operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contract {
    /// Typed claims to the complete token. PASETO encryption is the same contract.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to yes or no; no claims are decoded.
    VerifySignature,
}

impl Contract {
    /// All of them, in the order of a table.
    pub const ALL: [Self; 3] = [Self::Sign, Self::Verify, Self::VerifySignature];

    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::VerifySignature => "verify-signature",
        }
    }

    /// The contract of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Format {
    /// JWS compact with claims.
    #[serde(rename = "jwt")]
    Jwt,
    /// PASETO version 4, signed.
    #[serde(rename = "v4.public")]
    V4Public,
    /// PASETO version 4, encrypted.
    #[serde(rename = "v4.local")]
    V4Local,
    /// No token: the primitive alone on the same bytes, as a reference.
    #[serde(rename = "bare")]
    Bare,
}

impl Format {
    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::V4Public => "v4.public",
            Self::V4Local => "v4.local",
            Self::Bare => "bare",
        }
    }

    /// Whether it is PASETO: times are text there, and the audience is one string.
    #[must_use]
    pub fn is_paseto(self) -> bool {
        matches!(self, Self::V4Public | Self::V4Local)
    }

    /// The algorithm that the format decides, by its JOSE name where it has one.
    #[must_use]
    pub fn fixed_alg(self) -> Option<&'static str> {
        match self {
            Self::V4Public => Some("EdDSA"),
            Self::V4Local => Some("XChaCha20+BLAKE2b"),
            Self::Jwt | Self::Bare => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is done with a key before the timed loop begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHandling {
    /// All that can be computed once is computed before.
    Prepared,
    /// The key's text is parsed inside the timed loop.
    ParsedPerCall,
}

impl KeyHandling {
    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::ParsedPerCall => "parsed-per-call",
        }
    }
}

/// One subject under one contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The driver's id, `language/folder`.
    pub driver: String,
    /// The library's name.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// The driver's language.
    pub language: String,
    /// The format.
    pub format: Format,
    /// The JOSE algorithm; none where the format decides.
    pub alg: Option<String>,
    /// How keys are handled.
    pub key_handling: KeyHandling,
    /// The contract.
    pub contract: Contract,
}

impl Cell {
    /// The subject's id: `go/golang-jwt:jwt:HS256:prepared`, without the algorithm where the
    /// format decides it.
    #[must_use]
    pub fn subject_id(&self) -> String {
        let (driver, format) = (&self.driver, self.format);
        let handling = self.key_handling.name();
        match &self.alg {
            Some(alg) => format!("{driver}:{format}:{alg}:{handling}"),
            None => format!("{driver}:{format}:{handling}"),
        }
    }

    /// The subject, as the result file writes it.
    #[must_use]
    pub fn subject(&self) -> Subject {
        Subject {
            id: self.subject_id(),
            library: self.library.clone(),
            version: self.version.clone(),
            language: self.language.clone(),
            format: self.format.name().to_owned(),
            alg: self.alg.clone(),
            enc: None,
            key_handling: self.key_handling.name().to_owned(),
        }
    }

    /// The algorithm that really works, whether named in the token or decided by the format.
    #[must_use]
    pub fn effective_alg(&self) -> &str {
        self.format
            .fixed_alg()
            .or(self.alg.as_deref())
            .unwrap_or("none")
    }

    /// A reference line is drawn beside a comparison, and never in one.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.format == Format::Bare
    }

    /// Whether its language compiles while it runs, so that it must be warmed up.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        matches!(self.language.as_str(), "node" | "java" | "python")
    }

    /// The tokens of two cells can be exchanged if this is equal. A reference line works on the
    /// bytes of a JWT.
    #[must_use]
    pub fn speaks(&self) -> (Format, Option<&str>) {
        let format = match self.format {
            Format::Bare => Format::Jwt,
            other => other,
        };
        (format, self.alg.as_deref())
    }
}
