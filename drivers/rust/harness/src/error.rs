//! Why a request failed.

use std::fmt::Display;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverError {
    /// The library does not support this.
    Unsupported(String),
    /// The request is inconsistent.
    Invalid(String),
    /// The library failed on valid input.
    Failed(String),
}

impl DriverError {
    /// Creates an error for what the library does not support.
    pub fn unsupported(reason: impl Display) -> Self {
        Self::Unsupported(reason.to_string())
    }

    /// Creates an error for an inconsistent request.
    pub fn invalid(reason: impl Display) -> Self {
        Self::Invalid(reason.to_string())
    }

    /// Creates an error for a failure of the library on valid input.
    pub fn failed(reason: impl Display) -> Self {
        Self::Failed(reason.to_string())
    }
}
