use std::fmt;
use std::sync::Arc;

use jeton::error::{KeyError, codes};
use jeton::jwk::Skipped;

use crate::address::AddressError;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a token was not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library: the token is rejected, or the call is not valid.
    Jeton(jeton::Error),
    /// There are no keys, or none that are recent enough. The sender of the token did not cause this:
    /// respond with 503, not 401.
    NoKeys(FetchError),
}

impl Error {
    /// Returns the stable code, for programs: `TOKEN_EXPIRED`. [`codes`] lists all codes.
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
/// [`NoUsableKey`](FetchError::NoUsableKey), which its message leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is not allowed.
    InvalidAddress(AddressError),
    /// The certificates for [`Https::with_roots_pem`](crate::Https::with_roots_pem) are not valid. Contains the reason.
    InvalidRoots(String),
    /// The server is not reachable, or the connection broke. Contains the message of the system or of TLS.
    Unreachable(String),
    /// The server did not respond in time ([`TIMEOUT`](crate::TIMEOUT)).
    TimedOut,
    /// The response has an unexpected status: neither 200, nor 304 to a conditional request.
    Status(u16),
    /// The response is larger than [`KEY_SET_BYTES`](jeton::limits::KEY_SET_BYTES).
    TooLarge {
        /// The length of the response, bytes. If it was not announced, reading stopped at the limit plus one.
        bytes: u64,
        /// The limit, bytes.
        limit: u64,
    },
    /// The response is not a key set.
    InvalidKeySet(KeyError),
    /// The key set has no public key that can verify.
    NoUsableKey {
        /// The keys of the set, each with the reason. Empty if the set has no keys.
        skipped: Arc<[Skipped]>,
    },
}

impl FetchError {
    /// Returns the stable code, for programs: `KEY_SET_EMPTY`. [`codes`] lists all codes.
    ///
    /// ```
    /// use jeton_jwks::FetchError;
    /// assert_eq!(FetchError::TimedOut.code(), "KEY_SET_UNREACHABLE");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            FetchError::InvalidAddress(_) => codes::KEY_SET_ADDRESS.name(),
            FetchError::InvalidRoots(_) => codes::KEY_MALFORMED.name(),
            FetchError::Unreachable(_) | FetchError::TimedOut | FetchError::Status(_) => {
                codes::KEY_SET_UNREACHABLE.name()
            }
            FetchError::TooLarge { .. } => codes::KEY_TOO_LARGE.name(),
            FetchError::InvalidKeySet(error) => error.code(),
            FetchError::NoUsableKey { .. } => codes::KEY_SET_EMPTY.name(),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::InvalidAddress(why) => why.fmt(f),
            FetchError::InvalidRoots(why) => {
                write!(f, "the certificate authorities are not valid: {why}")
            }
            FetchError::Unreachable(why) => write!(f, "the server is not reachable: {why}"),
            FetchError::TimedOut => f.write_str("the server did not respond in time"),
            FetchError::Status(status) => write!(f, "the server responded with status {status}"),
            FetchError::TooLarge { bytes, limit } => {
                write!(f, "the response has {bytes} bytes or more, limit {limit}")
            }
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
        }
    }
}

impl std::error::Error for FetchError {}

/// The most keys that a message or a line of the log names.
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
