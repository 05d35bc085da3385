//! What is done with a key, and when.

use std::fmt;

/// What is done with a key before the timed loop begins; for `load-key`, which text is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyHandling {
    /// All that can be computed once is computed before.
    Prepared,
    /// The key's text is parsed inside the timed loop.
    ParsedPerCall,
    /// The text of this form is what is loaded.
    Text(KeyForm),
}

/// How a key is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyForm {
    /// A JWK's JSON (RFC 7517).
    Jwk,
    /// PKCS#8 and `SubjectPublicKeyInfo` in PEM (RFC 7468).
    Pem,
    /// PASERK.
    Paserk,
    /// The bytes of a PASETO key in hexadecimal, which no standard describes.
    Hex,
}

impl KeyHandling {
    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::ParsedPerCall => "parsed-per-call",
            Self::Text(form) => form.name(),
        }
    }

    /// The key handling of that name in a manifest's `key_handling`; the forms of a text have a
    /// member of their own there.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Prepared, Self::ParsedPerCall]
            .into_iter()
            .find(|k| k.name() == name)
    }
}

impl KeyForm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Jwk, Self::Pem, Self::Paserk, Self::Hex];

    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwk => "jwk",
            Self::Pem => "pem",
            Self::Paserk => "paserk",
            Self::Hex => "hex",
        }
    }

    /// The form of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

impl fmt::Display for KeyHandling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
