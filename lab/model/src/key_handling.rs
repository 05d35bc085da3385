//! Key handling.

use std::fmt;

use crate::name_table::named;

/// How a key is handled before the timed loop; for `load-key`, the text that is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyHandling {
    /// Everything that can be computed once is computed before.
    Prepared,
    /// The key's text is parsed in each operation.
    ParsedPerCall,
    /// The text of this form is loaded.
    Text(KeyForm),
}

named! {
    /// The text format of a key.
    KeyForm {
        /// A JWK's JSON (RFC 7517).
        Jwk = "jwk",
        /// PKCS#8 and `SubjectPublicKeyInfo` in PEM (RFC 7468).
        Pem = "pem",
        /// PASERK.
        Paserk = "paserk",
        /// The bytes of a PASETO key in hexadecimal, which is not standardised.
        Hex = "hex",
    }
}

impl KeyHandling {
    /// Returns the protocol's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::ParsedPerCall => "parsed-per-call",
            Self::Text(form) => form.name(),
        }
    }

    /// Finds a key handling by its name in a manifest's `key_handling`; the text forms have their own
    /// member there.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Prepared, Self::ParsedPerCall]
            .into_iter()
            .find(|k| k.name() == name)
    }
}

impl fmt::Display for KeyHandling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
