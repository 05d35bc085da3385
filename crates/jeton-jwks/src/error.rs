use std::fmt;

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
    /// Returns why the token was rejected, if it was.
    #[must_use]
    pub fn rejection(&self) -> Option<jeton::error::Rejection> {
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

/// Why no keys could be fetched. It contains nothing from the response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is not allowed. It must use `https`, or `http` to a loopback host, and contain no password.
    InvalidAddress,
    /// The server is not reachable, or the connection broke. Contains the message of the system or of TLS.
    Unreachable(String),
    /// The server did not respond in time.
    TimedOut,
    /// The response has an unexpected status: neither 200, nor 304 to a conditional request.
    Status(u16),
    /// The response is larger than [`KEY_SET_BYTES`](jeton::limits::KEY_SET_BYTES).
    TooLarge,
    /// The response is not a key set, or has no public key that can verify.
    InvalidKeySet,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::InvalidAddress => f.write_str(
                "the address must use https, or http to a loopback host, and contain no password",
            ),
            FetchError::Unreachable(why) => write!(f, "the server is not reachable: {why}"),
            FetchError::TimedOut => f.write_str("the server did not respond in time"),
            FetchError::Status(status) => write!(f, "the server responded with status {status}"),
            FetchError::TooLarge => {
                f.write_str("the response is larger than the limit for a key set")
            }
            FetchError::InvalidKeySet => {
                f.write_str("the response has no public key that can verify")
            }
        }
    }
}

impl std::error::Error for FetchError {}
