use std::fmt;

use super::JsonType;

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

/// The form that a registered claim must have. `Display` writes it: `a string`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClaimForm {
    /// `iss`, `sub` and `jti`, and `aud` of a PASETO.
    String,
    /// `aud` of a JWT.
    StringOrList,
    /// A time in a JWT: seconds since 1970 (RFC 7519, section 2, "NumericDate").
    Seconds,
    /// A time in a PASETO: RFC 3339 text.
    Rfc3339,
}

impl fmt::Display for ClaimForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClaimForm::String => "a string",
            ClaimForm::StringOrList => "a string or a list of strings",
            ClaimForm::Seconds => "a number of seconds since 1970",
            ClaimForm::Rfc3339 => "RFC 3339 text with an offset",
        })
    }
}

/// The form of a registered claim that does not have its [`ClaimForm`]. `Display` writes it, without the value:
/// `a number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FoundForm {
    /// A value of another type.
    Value(JsonType),
    /// A list that has an element of this type, where all must be strings.
    ListWith(JsonType),
    /// Text that is not an RFC 3339 time.
    OtherText,
}

impl FoundForm {
    /// Returns the form of a value of this type where another form is expected.
    pub(crate) fn of(found: JsonType, expected: ClaimForm) -> FoundForm {
        match (found, expected) {
            (JsonType::String, ClaimForm::Rfc3339) => FoundForm::OtherText,
            _ => FoundForm::Value(found),
        }
    }
}

impl fmt::Display for FoundForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoundForm::Value(found) => found.fmt(f),
            FoundForm::ListWith(element) => write!(f, "a list with {element}"),
            FoundForm::OtherText => f.write_str("other text"),
        }
    }
}

/// The unit that a time probably has instead of seconds. `Display` writes it: `milliseconds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeUnit {
    /// As `Date.now()` in JavaScript and `System.currentTimeMillis()` in Java.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
    /// As `time.time_ns()` in Python and `UnixNano()` in Go.
    Nanoseconds,
}

impl TimeUnit {
    pub(crate) const ALL: [TimeUnit; 3] = [
        TimeUnit::Milliseconds,
        TimeUnit::Microseconds,
        TimeUnit::Nanoseconds,
    ];

    /// Returns how many of it make a second.
    pub(crate) const fn per_second(self) -> f64 {
        match self {
            TimeUnit::Milliseconds => 1e3,
            TimeUnit::Microseconds => 1e6,
            TimeUnit::Nanoseconds => 1e9,
        }
    }

    /// Writes why a claim is out of range.
    pub(super) fn write_range(
        claim: Claim,
        unit: Option<TimeUnit>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        write!(f, "the claim `{claim}` is outside the years 1970 to 9999")?;
        match unit {
            Some(unit) => write!(f, ": {unit}? It must be in seconds"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeUnit::Milliseconds => "milliseconds",
            TimeUnit::Microseconds => "microseconds",
            TimeUnit::Nanoseconds => "nanoseconds",
        })
    }
}
