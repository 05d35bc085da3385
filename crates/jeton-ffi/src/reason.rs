//! Why a function failed: a code, and a message for people.

use std::fmt::{self, Write as _};

use jeton::Error;
use jeton::error::codes::{self, Code};
use jeton::error::{InvalidUse, KeyError, KeyProblem, Rejection, RemoteError};

use jeton_jwks::FetchError;

use crate::code::{JetonCode, number};

/// The size of a message with the zero byte at its end.
pub const JETON_MESSAGE_BYTES: usize = 248;

/// Why a function failed. The caller allocates it. A function writes it only if it fails.
///
/// The message is English text for people. It has no byte of a token, a key or a claim.
#[repr(C)]
pub struct JetonReason {
    /// The code that the function returned. `jeton_code_name` returns its name.
    pub code: JetonCode,
    /// The length of the message without the zero byte at its end.
    pub message_length: u32,
    /// UTF-8 with a zero byte at its end. A longer message is cut.
    pub message: [u8; JETON_MESSAGE_BYTES],
}

/// An error of a function.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An error of the library.
    Library(Error),
    /// The caller passed something that the library does not see.
    Argument {
        code: &'static Code,
        message: &'static str,
    },
    /// An option has no meaning, or not here.
    Option {
        name: &'static str,
        why: &'static str,
    },
    /// The text of the options cannot be read.
    Options {
        line: usize,
        column: usize,
    },
    TooSmall {
        needed: usize,
        actual: usize,
    },
    /// A key set that is elsewhere has no keys.
    NoKeys(FetchError),
    /// A panic was caught.
    Internal,
}

impl Fault {
    #[cold]
    pub(crate) fn argument(code: &'static Code, message: &'static str) -> Fault {
        Fault::Argument { code, message }
    }

    #[cold]
    pub(crate) fn option(name: &'static str, why: &'static str) -> Fault {
        Fault::Option { name, why }
    }

    pub(crate) fn code(&self) -> &'static Code {
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
            // What serde says could repeat a password.
            Fault::Options { line, column } => write!(
                f,
                "the options have an unknown member or a wrong type at line {line}, column {column}"
            ),
            Fault::TooSmall { needed, actual } => {
                write!(f, "the buffer has {actual} bytes, needed {needed}")
            }
            Fault::NoKeys(error) => error.fmt(f),
            Fault::Internal => f.write_str("internal error: the library panicked"),
        }
    }
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

/// Writes the reason if there is a place for it, and returns the number of its code.
#[cold]
pub(crate) fn report(place: *mut JetonReason, fault: &Fault) -> JetonCode {
    let code = number(fault.code());
    if place.is_null() || !place.is_aligned() {
        return code;
    }
    let mut message = Message {
        bytes: [0; JETON_MESSAGE_BYTES],
        length: 0,
    };
    // Only a message that is cut is an error.
    let _ = write!(message, "{fault}");
    let reason = JetonReason {
        code,
        message_length: u32::try_from(message.length).unwrap_or_default(),
        message: message.bytes,
    };
    // SAFETY: not null, and the caller says that a reason may be written there.
    unsafe { place.write(reason) };
    code
}

/// A text that is cut at a character.
struct Message {
    bytes: [u8; JETON_MESSAGE_BYTES],
    length: usize,
}

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte stays zero.
        let mut end = text.len().min(JETON_MESSAGE_BYTES - 1 - self.length);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes[self.length..self.length + end].copy_from_slice(&text.as_bytes()[..end]);
        self.length += end;
        match end == text.len() {
            true => Ok(()),
            false => Err(fmt::Error),
        }
    }
}
