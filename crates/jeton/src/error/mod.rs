//! Error types, separated by cause.
//!
//! - [`Rejection`]: the token is not acceptable. Anyone who can send a token can cause it.
//! - [`KeyError`]: the key material that the caller loads is not acceptable.
//! - [`InvalidUse`]: invalid use of the API, a bug in the calling program.
//! - [`RemoteError`]: a remote signer failed.
//!
//! No message contains a byte of a token, a key or a claim.

mod claim;
mod key_error;
mod invalid_use;
mod rejection;
mod remote_error;

pub use claim::Claim;
pub use key_error::{KeyError, KeyProblem};
pub use invalid_use::InvalidUse;
pub use rejection::{Part, Rejection, ShapeMismatch};
pub use remote_error::RemoteError;

use std::fmt;

/// The error of every fallible function in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub fn rejection(&self) -> Option<Rejection> {
        match self {
            Error::Rejected(rejection) => Some(*rejection),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rejected(rejection) => rejection.fmt(f),
            Error::Key(error) => error.fmt(f),
            Error::InvalidUse(invalid_use) => invalid_use.fmt(f),
            Error::Remote(fault) => fault.fmt(f),
            Error::Primitive => f.write_str("the cryptographic primitive failed"),
        }
    }
}

impl std::error::Error for Error {}

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
    fn from(fault: RemoteError) -> Self {
        Error::Remote(fault)
    }
}
