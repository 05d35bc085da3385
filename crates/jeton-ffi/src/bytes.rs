//! Signs and encrypts bytes that are not claims, and verifies and decrypts them.

use crate::argument::{Out, bytes};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle;
use crate::issuer::JetonIssuer;
use crate::reason::JetonReason;
use crate::verifier::{JetonVerifier, token_text};

/// Signs or encrypts bytes. The format of the issuer is `jws`, `jwe` or `paseto`. The token is in a buffer of the
/// library.
///
/// With the option `detached`, the token does not contain the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_issue_bytes(
    issuer: *const JetonIssuer,
    data: *const u8,
    length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a buffer.
        let (out, issuer, data) =
            unsafe { (Out::new(out)?, handle::get(issuer)?, bytes(data, length)?) };
        out.put_bytes(issuer.issue_bytes(data)?);
        Ok(())
    })
}

/// Verifies or decrypts a token. The format of the verifier is `jws` or `jwe`. The bytes are in a buffer of the
/// library.
///
/// `content` is the detached content of a JWS, or null if the token contains the content.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verify_bytes(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
    content: *const u8,
    content_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a buffer.
        let (out, verifier, token, detached) = unsafe {
            (
                Out::new(out)?,
                handle::get(verifier)?,
                token_text(token, token_length)?,
                bytes(content, content_length)?,
            )
        };
        let detached = (!content.is_null()).then_some(detached);
        out.put_bytes(verifier.verify_bytes(token, detached)?);
        Ok(())
    })
}
