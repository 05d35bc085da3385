//! Keys.

use jeton_bindings::Key;

use crate::argument::{Out, text};
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::reason::JetonReason;

/// A key with its algorithm and its id: secret, private or public.
pub struct JetonKey {
    _opaque: [u8; 0],
}

impl Handle for JetonKey {
    type Value = Key;
    const KIND: Kind = Kind::Key;
}

/// Generates a key for an algorithm: a JWA name, `dir` with the option `enc`, or `v3.local`, `v3.public`, `v4.local`,
/// `v4.public`.
///
/// The options are in docs/reference/settings.md, section *Generated key*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_generate(
    alg: *const u8,
    alg_length: usize,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonKey,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes texts and a place for a handle.
        let (out, alg, options) = unsafe {
            (
                Out::new(out)?,
                text(alg, alg_length)?,
                text(options, options_length)?,
            )
        };
        out.put(handle::create(Key::generate(alg, options)?));
        Ok(())
    })
}

/// Creates a handle of the public key of a private key. A symmetric key is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_public(
    key: *const JetonKey,
    out: *mut *const JetonKey,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle and a place for one.
        let (out, key) = unsafe { (Out::new(out)?, handle::get(key)?) };
        out.put(handle::create(key.public()?));
        Ok(())
    })
}

/// Signs once with a private key and discards the signature. Other keys do nothing.
///
/// The first signature of a process seeds the random generator, which takes tens of milliseconds. The first private key
/// that a thread generates or imports does this. Call it again after `fork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_warm_up(
    key: *const JetonKey,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle.
        let key = unsafe { handle::get(key) }?;
        key.warm_up()
    })
}
