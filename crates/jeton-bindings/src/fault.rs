//! Why a call failed: a code, and a message for people.

use std::borrow::Cow;
use std::fmt;

use jeton::Error;
use jeton::error::codes::{self, Code};
use jeton::error::{InvalidUse, KeyError, KeyProblem, Rejection, RemoteError};
use jeton::key::ContentEnc;
use jeton_jwks::{AddressError, DiscoveryError, FetchError};

/// Why a call failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// An error of the library.
    Library(Error),
    /// An argument was rejected before it reached the library.
    Argument {
        /// The code.
        code: &'static Code,
        /// What is wrong.
        message: Cow<'static, str>,
    },
    /// An option is invalid or does not apply.
    Option {
        /// The name of the option.
        name: Cow<'static, str>,
        /// What is wrong.
        why: Cow<'static, str>,
    },
    /// The options are not a JSON object.
    Options {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The buffer for a result is too small.
    TooSmall {
        /// The required size, bytes.
        needed: usize,
        /// The actual size, bytes.
        actual: usize,
    },
    /// A remote key set has no keys.
    NoKeys(FetchError),
    /// A panic was caught.
    Internal,
}

impl Fault {
    /// Creates an error about an argument.
    #[cold]
    pub fn argument(code: &'static Code, message: impl Into<Cow<'static, str>>) -> Fault {
        Fault::Argument {
            code,
            message: message.into(),
        }
    }

    /// Creates an error about a key that does not fit the call.
    #[cold]
    pub(crate) fn key(code: &'static Code, why: impl fmt::Display) -> Fault {
        Fault::argument(code, format!("key rejected: {why}"))
    }

    /// Creates an error about one option.
    #[cold]
    pub fn option(name: impl Into<Cow<'static, str>>, why: impl Into<Cow<'static, str>>) -> Fault {
        Fault::Option {
            name: name.into(),
            why: why.into(),
        }
    }

    /// Creates an error for text that is not valid UTF-8.
    #[cold]
    pub fn not_utf8() -> Fault {
        Fault::argument(&codes::ARGUMENT_NOT_UTF8, "a text is not valid UTF-8")
    }

    /// Returns the stable code.
    pub fn code(&self) -> &'static Code {
        match self {
            Fault::Library(error) => error.entry(),
            Fault::Argument { code, .. } => code,
            Fault::Option { .. } | Fault::Options { .. } => &codes::INVALID_OPTION,
            Fault::TooSmall { .. } => &codes::BUFFER_TOO_SMALL,
            Fault::NoKeys(error) => codes::find(error.code()).unwrap_or(&codes::INTERNAL),
            Fault::Internal => &codes::INTERNAL,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Library(error) => error.fmt(f),
            Fault::Argument { message, .. } => f.write_str(message),
            Fault::Option { name, why } => write!(f, "option `{name}`: {why}"),
            // The message of serde could contain a password.
            Fault::Options { line, column } => write!(
                f,
                "the options are not a JSON object: line {line}, column {column}"
            ),
            Fault::TooSmall { needed, actual } => {
                write!(f, "the buffer has {actual} bytes, {needed} required")
            }
            Fault::NoKeys(error) => {
                error.fmt(f)?;
                if is_private(error) {
                    f.write_str(": allow private addresses if you trust the issuer")?;
                }
                Ok(())
            }
            Fault::Internal => f.write_str("internal error in the native library: report it"),
        }
    }
}

/// Whether a discovered address is rejected because it is private.
fn is_private(error: &FetchError) -> bool {
    matches!(
        error,
        FetchError::Discovery(DiscoveryError::InvalidKeySetAddress(AddressError::Private))
    )
}

macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Fault {
                Fault::Library(error.into())
            }
        }
    )*};
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Fault {
        Fault::NoKeys(error)
    }
}

from!(Error, InvalidUse, KeyError, Rejection, RemoteError);

impl From<KeyProblem> for Fault {
    fn from(problem: KeyProblem) -> Fault {
        KeyError::from(problem).into()
    }
}

/// Returns the error for an `enc` that is not the content encryption of the key.
#[cold]
pub(crate) fn enc_mismatch(expected: ContentEnc) -> Fault {
    let expected = expected.name();
    Fault::option(
        "enc",
        format!("does not match the key: {expected} expected"),
    )
}
