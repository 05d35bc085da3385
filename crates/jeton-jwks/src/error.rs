use std::fmt;
use std::sync::Arc;

use jeton::error::{KeyError, codes};
use jeton::jwk::Skipped;

use crate::address::AddressError;
use crate::discovery::DiscoveryError;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a token was not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library: the token is rejected, or the call is not valid.
    Jeton(jeton::Error),
    /// There are no keys, or they are too old. The sender of the token did not cause this:
    /// respond with 503, not 401.
    NoKeys(FetchError),
}

impl Error {
    /// Returns the stable code, for example `TOKEN_EXPIRED`. [`codes`] lists all codes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Jeton(error) => error.code(),
            Error::NoKeys(error) => error.code(),
        }
    }

    /// Returns why the token was rejected, if it was.
    #[must_use]
    pub fn rejection(&self) -> Option<&jeton::error::Rejection> {
        match self {
            Error::Jeton(error) => error.rejection(),
            Error::NoKeys(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Jeton(error) => error.fmt(f),
            Error::NoKeys(error) => write!(f, "no keys to verify with: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Jeton(error) => Some(error),
            Error::NoKeys(error) => Some(error),
        }
    }
}

impl From<jeton::Error> for Error {
    fn from(error: jeton::Error) -> Self {
        Error::Jeton(error)
    }
}

impl From<FetchError> for Error {
    fn from(error: FetchError) -> Self {
        Error::NoKeys(error)
    }
}

/// Why no keys could be fetched. It contains nothing from the response, except key ids in
/// [`NoUsableKey`](FetchError::NoUsableKey) and the issuer in [`DiscoveryError::IssuerMismatch`]. The messages
/// omit both.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is not allowed.
    InvalidAddress(AddressError),
    /// The server is not reachable, or the connection broke. Contains the message of the system or of TLS.
    Unreachable(String),
    /// The server did not respond in time ([`TIMEOUT`](crate::TIMEOUT)).
    TimedOut,
    /// The response has an unexpected status: neither 200, nor 304 to a conditional request.
    Status(u16),
    /// The response is larger than [`FetchRequest::max_bytes`](crate::FetchRequest::max_bytes).
    TooLarge {
        /// The length of the response, bytes. If it was not announced, reading stopped at the limit plus one.
        bytes: u64,
        /// The limit, bytes.
        limit: u64,
    },
    /// The response is an HTML page, often of a proxy, a login or an error.
    Html,
    /// The response is not a key set.
    InvalidKeySet(KeyError),
    /// The key set has no public key that can verify.
    NoUsableKey {
        /// The keys of the set, each with the reason. Empty if the set has no keys.
        skipped: Arc<[Skipped]>,
    },
    /// The address of the key set could not be discovered.
    Discovery(DiscoveryError),
    /// A certificate authority of the caller is malformed, or the text contains none.
    InvalidAuthority {
        /// The position of the certificate, from 0.
        index: usize,
    },
}

impl FetchError {
    /// Returns the stable code, for example `KEY_SET_EMPTY`. [`codes`] lists all codes.
    ///
    /// ```
    /// use jeton_jwks::FetchError;
    /// assert_eq!(FetchError::TimedOut.code(), "KEY_SET_UNREACHABLE");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            FetchError::InvalidAddress(_) => codes::KEY_SET_ADDRESS.name(),
            FetchError::Unreachable(_) | FetchError::TimedOut | FetchError::Status(_) => {
                codes::KEY_SET_UNREACHABLE.name()
            }
            FetchError::TooLarge { .. } => codes::KEY_TOO_LARGE.name(),
            FetchError::Html => codes::KEY_MALFORMED.name(),
            FetchError::InvalidKeySet(error) => error.code(),
            FetchError::NoUsableKey { .. } => codes::KEY_SET_EMPTY.name(),
            FetchError::Discovery(error) => error.code(),
            FetchError::InvalidAuthority { .. } => codes::INVALID_CERTIFICATE_AUTHORITY.name(),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::InvalidAddress(why) => why.fmt(f),
            FetchError::Unreachable(why) => write!(f, "the server is not reachable: {why}"),
            FetchError::TimedOut => f.write_str("the server did not respond in time"),
            FetchError::Status(status @ (301..=303 | 307 | 308)) => write!(
                f,
                "the server redirects (status {status}), and redirects are not followed: configure the final address"
            ),
            FetchError::Status(status) => write!(f, "the server responded with status {status}"),
            FetchError::TooLarge { bytes, limit } => {
                write!(f, "the response has {bytes} bytes or more, limit {limit}")
            }
            FetchError::Html => f.write_str("the response is an HTML page, not a key set: check the address"),
            FetchError::InvalidKeySet(error) => write!(f, "the response is not a key set: {error}"),
            FetchError::NoUsableKey { skipped } if skipped.is_empty() => {
                f.write_str("the key set has no keys")
            }
            FetchError::NoUsableKey { skipped } => {
                let reasons = Reasons(skipped);
                write!(
                    f,
                    "the key set has no public key that can verify: {reasons}"
                )
            }
            FetchError::Discovery(error) => error.fmt(f),
            FetchError::InvalidAuthority { index } => {
                let number = index + 1;
                write!(f, "certificate {number} is missing or malformed")
            }
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FetchError::Discovery(error) => Some(error),
            _ => None,
        }
    }
}

/// The maximum number of keys that a message or a log line names.
const NAMED_KEYS: usize = 8;

/// Writes why keys were skipped.
pub(crate) struct Reasons<'s>(pub(crate) &'s [Skipped]);

impl fmt::Display for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, skipped) in self.0.iter().take(NAMED_KEYS).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{skipped}")?;
        }
        match self.0.len().saturating_sub(NAMED_KEYS) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
