//! The error of all calls, divided by what the caller can do about it.

use std::fmt;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// An error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The token was rejected.
    Rejected {
        /// The reason for programs, such as `TOKEN_REVOKED`.
        reason: String,
        /// The message for people.
        message: String,
    },
    /// The caller is unknown or lacks permission.
    Denied(String),
    /// The request is invalid: the problem and the expected value.
    InvalidRequest(String),
    /// The server is overloaded. Retry later.
    Overloaded(String),
    /// The server cannot be reached, or the connection broke.
    Unreachable(String),
    /// The server is temporarily unavailable, or the time limit has passed.
    Unavailable(String),
    /// The URL, a certificate or the bearer token is invalid.
    Configuration(String),
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the token was rejected.
    #[must_use]
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

impl Error {
    /// The server cannot be reached or the connection broke: says so, with the innermost cause.
    pub(crate) fn of_connection(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut cause = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        Error::Unreachable(format!("cannot reach the server: {cause}"))
    }

    /// Converts the status of a call. It is no `From`, so that the API does not depend on the version of tonic.
    pub(crate) fn of_status(status: Status) -> Self {
        // A status with a source comes from the connection, not from the server.
        if let Some(source) = std::error::Error::source(&status) {
            return Error::of_connection(source);
        }
        let message = status.message().to_owned();
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
            Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::OutOfRange
            | Code::Unimplemented => Error::InvalidRequest(message),
            Code::Unavailable | Code::DeadlineExceeded => Error::Unavailable(message),
            code => Error::Unavailable(if message.is_empty() {
                code.description().to_owned()
            } else {
                message
            }),
        }
    }
}
