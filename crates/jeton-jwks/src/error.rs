use std::fmt;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a token was not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// What the library says of the token, or of the call.
    Jeton(jeton::Error),
    /// There are no keys to verify with, or none that are recent enough. It is nothing that the token's
    /// sender did: 503, and not 401.
    NoKeys(FetchError),
}

impl Error {
    /// Why the token is refused, if it is.
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
            Error::NoKeys(error) => write!(f, "there are no keys to verify with: {error}"),
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

/// Why an address gave no keys. It repeats nothing of what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// It is no address that keys may come from: `https`, or `http` on this machine, and no password.
    Address,
    /// It could not be reached, or the connection broke; what the system or TLS says.
    Unreachable(String),
    /// It did not answer in time.
    TimedOut,
    /// It answered with another status than 200, or 304 to a question about what is known.
    Status(u16),
    /// Its answer is longer than a key set may be.
    TooLong,
    /// Its answer is no key set, or one without a public key that verifies.
    NoKeySet,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Address => {
                f.write_str("keys come from https, or http on this machine, and no password")
            }
            FetchError::Unreachable(why) => write!(f, "the address cannot be reached: {why}"),
            FetchError::TimedOut => f.write_str("the address does not answer in time"),
            FetchError::Status(status) => write!(f, "the address answers {status}"),
            FetchError::TooLong => f.write_str("the answer is longer than a key set may be"),
            FetchError::NoKeySet => f.write_str("the answer has no public key that verifies"),
        }
    }
}

impl std::error::Error for FetchError {}
