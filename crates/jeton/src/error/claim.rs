use std::fmt;

/// A registered claim (RFC 7519, section 4.1; the PASETO specification has the same names).
///
/// ```
/// use jeton::Policy;
/// use jeton::error::Claim;
///
/// let policy = Policy::new("https://id.example", "api").require(Claim::Subject);
/// assert_eq!(Claim::Subject.name(), "sub");
/// assert_eq!(Claim::from_name("sub"), Some(Claim::Subject));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// `iss`
    Issuer,
    /// `sub`
    Subject,
    /// `aud`
    Audience,
    /// `exp`
    Expiry,
    /// `nbf`
    NotBefore,
    /// `iat`
    IssuedAt,
    /// `jti`
    TokenId,
}

impl Claim {
    /// All registered claims, in the order in which jeton writes them.
    pub const ALL: &'static [Claim] = &[
        Claim::Issuer,
        Claim::Subject,
        Claim::Audience,
        Claim::Expiry,
        Claim::NotBefore,
        Claim::IssuedAt,
        Claim::TokenId,
    ];

    /// Returns the name of the claim in a token.
    pub const fn name(self) -> &'static str {
        match self {
            Claim::Issuer => "iss",
            Claim::Subject => "sub",
            Claim::Audience => "aud",
            Claim::Expiry => "exp",
            Claim::NotBefore => "nbf",
            Claim::IssuedAt => "iat",
            Claim::TokenId => "jti",
        }
    }

    /// Returns the registered claim with exactly this name.
    pub fn from_name(name: &str) -> Option<Claim> {
        Self::of_name(name.as_bytes())
    }

    pub(crate) fn of_name(name: &[u8]) -> Option<Claim> {
        Some(match name {
            b"iss" => Claim::Issuer,
            b"sub" => Claim::Subject,
            b"aud" => Claim::Audience,
            b"exp" => Claim::Expiry,
            b"nbf" => Claim::NotBefore,
            b"iat" => Claim::IssuedAt,
            b"jti" => Claim::TokenId,
            _ => return None,
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
