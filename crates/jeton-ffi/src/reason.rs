//! Why a function failed: a code, and a message for people.

use std::fmt::{self, Write as _};

use jeton_bindings::Fault;

use crate::code::{JetonCode, number};

/// The maximum size of a message, including the zero byte at its end.
pub const JETON_MESSAGE_BYTES: usize = 248;

/// Why a function failed. The caller allocates it. A function writes it only if it fails.
///
/// The message is English text for people. It contains no byte of a token, a key or a claim.
#[repr(C)]
pub struct JetonReason {
    /// The code that the function returned. `jeton_code_name` returns its name.
    pub code: JetonCode,
    /// The length of the message without the zero byte at its end.
    pub message_length: u32,
    /// UTF-8 with a zero byte at its end. A longer message is truncated.
    pub message: [u8; JETON_MESSAGE_BYTES],
}

/// Writes the reason if `place` is not null, and returns the number of its code.
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
    // It fails only if the message is truncated.
    let _ = write!(message, "{fault}");
    let reason = JetonReason {
        code,
        message_length: u32::try_from(message.length).unwrap_or_default(),
        message: message.bytes,
    };
    // SAFETY: not null and aligned, and the caller ensures that a reason may be written there.
    unsafe { place.write(reason) };
    code
}

/// Text, truncated at a character boundary.
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
        if end == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}
