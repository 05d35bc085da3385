//! What can go wrong, parted by what is to be done about it.

use std::fmt;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// The error of every call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The token was refused: the reason for programs, such as `TOKEN_REVOKED`, and words for people.
    Rejected {
        /// Such as `TOKEN_REVOKED`.
        reason: String,
        /// For people.
        message: String,
    },
    /// The server does not know the caller, or the caller may not do this.
    Denied(String),
    /// The call was wrong: what, and what is wanted.
    InvalidRequest(String),
    /// The server has too much to do: try again later.
    Overloaded(String),
    /// The server cannot be reached, or the connection broke.
    Unreachable(String),
    /// The server cannot do it now, or not in time.
    Unavailable(String),
    /// The address, the certificate or the bearer token cannot be used.
    Configuration(String),
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether it was the token that was refused.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Error::Rejected { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rejected { message, .. }
            | Error::Denied(message)
            | Error::InvalidRequest(message)
            | Error::Overloaded(message)
            | Error::Unreachable(message)
            | Error::Unavailable(message)
            | Error::Configuration(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let message = status.message().to_owned();
        // A status that came from the server has no cause here.
        if std::error::Error::source(&status).is_some() {
            return Error::Unreachable(message);
        }
        match status.code() {
            Code::FailedPrecondition => Error::Rejected {
                reason: status
                    .get_details_error_info()
                    .map(|info| info.reason)
                    .unwrap_or_default(),
                message,
            },
            Code::Unauthenticated | Code::PermissionDenied => Error::Denied(message),
            Code::ResourceExhausted => Error::Overloaded(message),
            Code::InvalidArgument | Code::NotFound | Code::AlreadyExists | Code::OutOfRange => {
                Error::InvalidRequest(message)
            }
            Code::Unavailable | Code::DeadlineExceeded => Error::Unavailable(message),
            code => Error::Unavailable(match message.is_empty() {
                true => code.description().to_owned(),
                false => message,
            }),
        }
    }
}
