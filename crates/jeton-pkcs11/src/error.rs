//! Errors: what failed, and what to do about it.

use std::fmt;

use cryptoki::error::{Error as CallError, RvError};

/// Why there is no connection, or no signature.
#[derive(Debug)]
pub(crate) enum Error {
    /// The PIN is wrong. It is not tried again: a token locks after a few attempts.
    WrongPin(String),
    /// Anything else.
    Other(String),
}

impl Error {
    pub(crate) fn other(text: impl Into<String>) -> Error {
        Error::Other(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::WrongPin(text) | Error::Other(text) => f.write_str(text),
        }
    }
}

/// The return value of a call, by its name in the standard.
pub(crate) fn return_value(error: &CallError) -> String {
    match error {
        CallError::Pkcs11(value, function) => {
            format!("{} from C_{function:?}", standard_name(value))
        }
        other => other.to_string(),
    }
}

/// `CKR_PIN_INCORRECT` for `PinIncorrect`.
fn standard_name(value: &RvError) -> String {
    let mut name = String::from("CKR");
    for letter in format!("{value:?}").chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Error {
        Error::Other(return_value(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_value_has_the_name_of_the_standard() {
        assert_eq!(standard_name(&RvError::PinIncorrect), "CKR_PIN_INCORRECT");
        assert_eq!(
            standard_name(&RvError::SessionHandleInvalid),
            "CKR_SESSION_HANDLE_INVALID"
        );
    }
}
