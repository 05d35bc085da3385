use std::fmt;

use super::codes::{self, Code};
use super::debug::write_debug;
use super::{InvalidUse, KeyError, Rejection, RemoteError};

/// The error of every fallible function in the library.
///
/// `Display` is the message for people, [`code`](Error::code) is for programs, and `Debug` has both.
///
/// ```
/// use jeton::Error;
/// use jeton::key::VerifyingKey;
///
/// let error = VerifyingKey::from_jwk("{}").unwrap_err();
/// assert_eq!(error.to_string(), "key rejected: kty: missing");
/// assert_eq!(error.code(), "KEY_MEMBER_MISSING");
/// assert_eq!(format!("{error:?}"), r#"Key(KEY_MEMBER_MISSING: "kty: missing")"#);
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The token is rejected. Its sender caused this.
    Rejected(Rejection),
    /// The key material is rejected.
    Key(KeyError),
    /// Invalid use of the API: a bug in the calling program.
    InvalidUse(InvalidUse),
    /// A remote signer failed, or returned a signature that is not valid.
    Remote(RemoteError),
    /// The cryptographic primitive failed on valid input: no randomness, or a defect in the library below.
    Primitive,
}

/// The result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns whether the token was rejected, as opposed to a key error or an invalid use of the API.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Error::Rejected(_))
    }

    /// Returns why the token was rejected, if it was.
    pub fn rejection(&self) -> Option<&Rejection> {
        match self {
            Error::Rejected(rejection) => Some(rejection),
            _ => None,
        }
    }

    /// Returns the stable code, for programs: `TOKEN_EXPIRED`. [`codes`](super::codes) lists all codes.
    ///
    /// ```
    /// use jeton::Error;
    /// use jeton::error::Rejection;
    /// assert_eq!(Error::from(Rejection::Expired).code(), "TOKEN_EXPIRED");
    /// ```
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    /// Returns the entry of the [table of codes](super::codes): meaning, cause, and what to do.
    ///
    /// ```
    /// use jeton::Error;
    /// use jeton::error::{Rejection, codes::Cause};
    /// let error = Error::from(Rejection::Expired);
    /// assert_eq!(error.entry().cause(), Cause::TokenSender);
    /// ```
    pub fn entry(&self) -> &'static Code {
        match self {
            Error::Rejected(rejection) => rejection.entry(),
            Error::Key(error) => error.entry(),
            Error::InvalidUse(invalid_use) => invalid_use.entry(),
            Error::Remote(error) => error.entry(),
            Error::Primitive => &codes::INTERNAL,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rejected(rejection) => rejection.fmt(f),
            Error::Key(error) => error.fmt(f),
            Error::InvalidUse(invalid_use) => invalid_use.fmt(f),
            Error::Remote(error) => error.fmt(f),
            Error::Primitive => f.write_str("the cryptographic primitive failed"),
        }
    }
}

/// Writes the code and the message: `main() -> Result` prints the `Debug` form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rejected(rejection) => write_debug(f, "Rejected", self.code(), rejection),
            Error::Key(error) => error.write_debug(f, "Key"),
            Error::InvalidUse(error) => write_debug(f, "InvalidUse", self.code(), error),
            Error::Remote(error) => error.write_debug(f, "Remote"),
            Error::Primitive => f.write_str("Primitive(INTERNAL)"),
        }
    }
}

/// [`Error`] shows the message of the error that it contains, so its source is the source of that error.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Remote(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Rejection> for Error {
    fn from(rejection: Rejection) -> Self {
        Error::Rejected(rejection)
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Error::Key(error)
    }
}

impl From<InvalidUse> for Error {
    fn from(invalid_use: InvalidUse) -> Self {
        Error::InvalidUse(invalid_use)
    }
}

impl From<RemoteError> for Error {
    fn from(error: RemoteError) -> Self {
        Error::Remote(error)
    }
}
