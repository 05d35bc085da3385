use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jeton::error::{KeyError, codes};
use jeton::jwk::Skipped;

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
    /// The server responded with status 429 or 503, and `Retry-After` says when to send the next request.
    RetryAfter {
        /// The status.
        status: u16,
        /// The pause that the server asks for.
        pause: Duration,
    },
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
            FetchError::Unreachable(_)
            | FetchError::TimedOut
            | FetchError::Status(_)
            | FetchError::RetryAfter { .. } => codes::KEY_SET_UNREACHABLE.name(),
            FetchError::TooLarge { .. } => codes::KEY_TOO_LARGE.name(),
            FetchError::Html => codes::KEY_MALFORMED.name(),
            FetchError::InvalidKeySet(error) => error.code(),
            FetchError::NoUsableKey { .. } => codes::KEY_SET_EMPTY.name(),
            FetchError::Discovery(error) => error.code(),
            FetchError::InvalidAuthority { .. } => codes::INVALID_CERTIFICATE_AUTHORITY.name(),
        }
    }
}

impl FetchError {
    /// Returns the pause that the server asks for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            FetchError::RetryAfter { pause, .. } => Some(*pause),
            FetchError::Discovery(DiscoveryError::NotFetched(error)) => error.retry_after(),
            _ => None,
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
            FetchError::RetryAfter { status, pause } => {
                let seconds = pause.as_secs();
                write!(
                    f,
                    "the server responded with status {status} and asks for a pause of {seconds} s"
                )
            }
            FetchError::TooLarge { bytes, limit } => {
                write!(f, "the response has {bytes} bytes or more, limit {limit}")
            }
            FetchError::Html => {
                f.write_str("the response is an HTML page, not a key set: check the address")
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

/// Why keys may not be fetched from an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressError {
    /// Not an absolute URL with `https` or `http`.
    NotHttp,
    /// The address contains a user name or a password.
    Credentials,
    /// `http` to a host other than a loopback host: an attacker on the network could replace the keys. See
    /// [`allow_plain_http`](crate::RemoteKeySetBuilder::allow_plain_http).
    NotEncrypted,
    /// An address in a private network, from a document and not from the caller. The host of the issuer is
    /// allowed; for other hosts see
    /// [`allow_private_addresses`](crate::RemoteKeySetBuilder::allow_private_addresses).
    Private,
    /// The address of an issuer (RFC 8414, section 2) or of a resource has a query or a fragment.
    QueryOrFragment,
    /// The address of a proxy is not an absolute URL with `http`.
    NotHttpProxy,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressError::NotHttp => "the URL is not an https URL",
            AddressError::Credentials => "the URL contains credentials",
            AddressError::NotEncrypted => "the URL must use https, or http to a loopback host",
            AddressError::Private => {
                "the URL has a private IP address, and is not on the host of the issuer"
            }
            AddressError::QueryOrFragment => "the URL must have no query and no fragment",
            AddressError::NotHttpProxy => "the URL of the proxy is not an http URL",
        })
    }
}

impl std::error::Error for AddressError {}

impl From<AddressError> for FetchError {
    fn from(why: AddressError) -> Self {
        FetchError::InvalidAddress(why)
    }
}

/// Why the address of a key set could not be discovered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The document could not be fetched.
    NotFetched(Box<FetchError>),
    /// The document is larger than [`DISCOVERY_BYTES`](crate::DISCOVERY_BYTES).
    TooLarge {
        /// The length of the document, bytes. If it was not announced, reading stopped at the limit plus one.
        bytes: u64,
        /// The limit, bytes.
        limit: u64,
    },
    /// The document is an HTML page, often of a proxy, a login or an error.
    Html,
    /// The document is not a JSON object, or a member has the wrong type.
    Malformed,
    /// The document lacks this member.
    MemberMissing(&'static str),
    /// The document names another issuer (RFC 8414, section 3.3).
    IssuerMismatch {
        /// The issuer that the document names. The server chose this text.
        published: String,
        /// Whether the two differ only in a trailing slash.
        only_slash: bool,
    },
    /// Keys may not be fetched from `jwks_uri`.
    InvalidKeySetAddress(AddressError),
}

impl DiscoveryError {
    /// Returns the stable code, for example `DISCOVERY_ISSUER_MISMATCH`. [`codes`] lists all codes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            DiscoveryError::NotFetched(error) => error.code(),
            DiscoveryError::TooLarge { .. } => codes::DISCOVERY_TOO_LARGE.name(),
            DiscoveryError::Html | DiscoveryError::Malformed | DiscoveryError::MemberMissing(_) => {
                codes::DISCOVERY_MALFORMED.name()
            }
            DiscoveryError::IssuerMismatch { .. } => codes::DISCOVERY_ISSUER_MISMATCH.name(),
            DiscoveryError::InvalidKeySetAddress(_) => codes::KEY_SET_ADDRESS.name(),
        }
    }
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("discovery: ")?;
        match self {
            DiscoveryError::NotFetched(error) => error.fmt(f),
            DiscoveryError::TooLarge { bytes, limit } => {
                write!(f, "the document has {bytes} bytes or more, limit {limit}")
            }
            DiscoveryError::Html => f.write_str("the document is an HTML page, not JSON: check the address of the issuer"),
            DiscoveryError::Malformed => f.write_str("the document is not a JSON object with `issuer` and `jwks_uri`"),
            DiscoveryError::MemberMissing(name) => write!(f, "the document has no `{name}`"),
            DiscoveryError::IssuerMismatch {
                only_slash: true, ..
            } => f.write_str("the `issuer` of the document differs from yours in the trailing slash: add the slash, or remove it"),
            DiscoveryError::IssuerMismatch { .. } => {
                f.write_str("the `issuer` of the document is not the requested issuer")
            }
            DiscoveryError::InvalidKeySetAddress(why) => write!(f, "`jwks_uri`: {why}"),
        }
    }
}

impl std::error::Error for DiscoveryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DiscoveryError::NotFetched(error) => Some(error),
            DiscoveryError::InvalidKeySetAddress(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DiscoveryError> for FetchError {
    fn from(error: DiscoveryError) -> Self {
        FetchError::Discovery(error)
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
