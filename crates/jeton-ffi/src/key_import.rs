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
/// The options are in docs/reference/settings.md, section *Imported key*. `alg` is required if the key does not imply
/// it, and `enc` is required for `dir`.
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
