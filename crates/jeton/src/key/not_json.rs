//! Text that is not a JWK. Its start shows what it is instead.

use super::other_input::{found_text, is_pem};
use crate::error::{FoundInput, KeyError, KeyProblem};

/// Returns the error for a text that is no JSON object.
pub(super) fn not_json(text: &str) -> KeyError {
    let start = text.trim_start_matches('\u{feff}').trim_start().as_bytes();
    match start {
        [] => KeyError::input(FoundInput::Empty),
        [b'k', b'1'..=b'4', b'.', ..] => KeyError::input(FoundInput::Paserk),
        _ if is_pem(text) => KeyError::input(FoundInput::Pem),
        _ => match found_text(text) {
            Some(found) => KeyError::input(found),
            None => KeyError::new(KeyProblem::Malformed).with_expected("a JWK"),
        },
    }
}
