//! Text that is not a JWK. Its start shows what it is instead.

use crate::error::{FoundInput, KeyError, KeyProblem};

/// The start of a PEM block (RFC 7468).
pub(super) const PEM_BEGIN: &str = "-----BEGIN ";

/// Whether the text has a block.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains(PEM_BEGIN)
}

/// Returns the error for a text that is no JSON object.
pub(super) fn not_json(text: &str) -> KeyError {
    let start = text.trim_start_matches('\u{feff}').trim_start().as_bytes();
    match start {
        [] => KeyError::input(FoundInput::Empty),
        [b'k', b'1'..=b'4', b'.', ..] => KeyError::input(FoundInput::Paserk),
        _ if is_pem(text) => KeyError::input(FoundInput::Pem),
        _ => KeyError::new(KeyProblem::Malformed).with_expected("a JWK"),
    }
}
