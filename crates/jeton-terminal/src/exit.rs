//! Exit codes, and the failures behind them.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | the token was rejected, or a check found a problem; standard error has the reason |
//! | 2 | invalid usage, or a file could not be read or written |

use std::process::ExitCode;

const REJECTED: u8 = 1;
const ERROR: u8 = 2;

/// The result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The error of a command, with its exit code and a hint.
#[derive(Debug, Clone)]
pub struct Failure {
    cause: Cause,
    message: String,
    hint: Option<String>,
    code: Option<&'static str>,
    is_too_long: bool,
}

/// Why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The token was rejected.
    Rejection,
    /// A check found a problem.
    Finding,
    /// The call is invalid, or a file could not be read or written.
    Error,
}

impl Failure {
    /// Creates the failure for a rejected token.
    pub fn rejected(reason: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Rejection,
            message: reason.into(),
            hint: None,
            code: None,
            is_too_long: false,
        }
    }

    /// Creates the failure for a problem that a check found.
    pub fn finding(message: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Finding,
            message: message.into(),
            hint: None,
            code: None,
            is_too_long: false,
        }
    }

    /// Creates the failure for an invalid call, or for a file that could not be read or written.
    pub fn error(message: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Error,
            message: message.into(),
            hint: None,
            code: None,
            is_too_long: false,
        }
    }

    /// Creates the failure for an input that is longer than its limit.
    pub(crate) fn too_long(message: impl Into<String>) -> Failure {
        Failure {
            is_too_long: true,
            ..Failure::error(message)
        }
    }

    /// Adds a hint: what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the stable code of the reason, one of [`jeton::error::codes`].
    pub fn with_code(mut self, code: &'static str) -> Failure {
        self.code = Some(code);
        self
    }

    /// Replaces the message.
    pub fn map_message(mut self, map: impl FnOnce(&str) -> String) -> Failure {
        self.message = map(&self.message);
        self
    }

    /// Returns the cause.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Returns the stable code of the reason, if the library or a check of the token has one.
    pub fn reason_code(&self) -> Option<&'static str> {
        self.code
    }

    /// Returns whether an input was longer than its limit.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Returns the exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self.cause {
            Cause::Rejection | Cause::Finding => REJECTED,
            Cause::Error => ERROR,
        })
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the hint.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message and the hint on one line.
    pub fn with_hint(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the reason, if the token was rejected.
    pub fn rejection(&self) -> Option<&str> {
        (self.cause == Cause::Rejection).then_some(&*self.message)
    }
}

/// Returns the exit code for an error that has been printed already.
pub fn error_code() -> ExitCode {
    ExitCode::from(ERROR)
}
