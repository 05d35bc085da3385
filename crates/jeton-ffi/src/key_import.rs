//! Imports keys from text and bytes.

use jeton_bindings::Key;

use crate::argument::{Out, bytes, text};
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle;
use crate::key::JetonKey;
use crate::reason::JetonReason;

/// Imports a key.
///
/// Options: `format` is `any` (JWK, PEM, DER or PASERK, detected), `secret`, `secret-base64` or `certificate`. `alg` is
/// required if the key does not imply it. `enc` is required for `dir`. `kid` sets the id. `password` decrypts PKCS#8 or
/// a PASERK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_import(
    data: *const u8,
    length: usize,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonKey,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes bytes, a text and a place for a handle.
        let (out, data, options) = unsafe {
            (
                Out::new(out)?,
                bytes(data, length)?,
                text(options, options_length)?,
            )
        };
        out.put(handle::create(Key::import(data, options)?));
        Ok(())
    })
}
