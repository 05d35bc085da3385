//! How a run ends: the exit codes, and the two kinds of failure behind them.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | the token was rejected, or something is wrong with what was looked at; standard error says what |
//! | 2 | the call was wrong, or something could not be read or written |

use std::process::ExitCode;

use crate::output;

const REJECTED: u8 = 1;
const WRONG: u8 = 2;

/// What a verb comes to.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a verb could not do what it was asked to.
#[derive(Debug)]
pub(crate) struct Failure {
    cause: Cause,
    message: String,
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Whoever made the token.
    Token,
    /// Whoever made what the verb is to find faults with.
    Fault,
    /// Whoever called.
    Call,
}

impl Failure {
    /// The token is refused.
    pub(crate) fn rejected(reason: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Token,
            message: reason.into(),
            hint: None,
        }
    }

    /// Something is wrong with what the verb was to find faults with.
    pub(crate) fn fault(message: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Fault,
            message: message.into(),
            hint: None,
        }
    }

    /// The call was wrong, or something could not be read or written.
    pub(crate) fn wrong(message: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Call,
            message: message.into(),
            hint: None,
        }
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// The same, said in other words.
    pub(crate) fn reworded(mut self, words: impl FnOnce(&str) -> String) -> Failure {
        self.message = words(&self.message);
        self
    }

    /// What went wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What went wrong and what to do about it, in one line.
    pub(crate) fn with_hint(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// The reason, if it was the token that was refused.
    pub(crate) fn rejection(&self) -> Option<&str> {
        (self.cause == Cause::Token).then_some(&*self.message)
    }
}

/// The exit code of a wrong call about which all is said.
pub(crate) fn wrong() -> ExitCode {
    ExitCode::from(WRONG)
}

/// Says what went wrong, if anything did, and turns it into the exit code.
pub(crate) fn end(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    let code = match failure.cause {
        Cause::Token => {
            output::rejected(&failure.message);
            REJECTED
        }
        Cause::Fault => {
            output::found(&failure.message);
            REJECTED
        }
        Cause::Call => {
            output::error(&failure.message);
            WRONG
        }
    };
    if let Some(hint) = &failure.hint {
        output::hint(hint);
    }
    ExitCode::from(code)
}
