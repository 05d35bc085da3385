//! Tokens that are read and not verified.

use crate::argument::Out;
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::reason::JetonReason;
use crate::verifier::token_text;

/// Reads a compact token without keys. Anyone can write such a token: use the result to select keys, or for logs.
///
/// The result is JSON text in a buffer of the library: an object with `format` (`jwt`, `jwe` or `paseto`), `header`
/// (an object, or null for a PASETO), `claims` (an object, or null if they are encrypted) and `footer` (the footer of a
/// PASETO, or null). The limits are the defaults of a verifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_unverified(
    token: *const u8,
    token_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a token and a place for a buffer.
        let (out, token) = unsafe { (Out::new(out)?, token_text(token, token_length)?) };
        out.put_bytes(jeton_bindings::unverified(token)?);
        Ok(())
    })
}
