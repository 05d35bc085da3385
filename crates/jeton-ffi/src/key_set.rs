//! Key sets.

use jeton::error::KeyProblem;
use jeton_bindings::KeySet;

use crate::argument::{Out, elements, text};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::key::JetonKey;
use crate::reason::JetonReason;

/// Several keys with the same use: keys that verify, keys that decrypt, or PASETO keys.
pub struct JetonKeySet {
    _opaque: [u8; 0],
}

impl Handle for JetonKeySet {
    type Value = KeySet;
    const KIND: Kind = Kind::KeySet;
}

/// Creates a set of keys with the same use: keys that verify, keys that decrypt, or PASETO keys. A private signing key
/// is added as its public key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_new(
    keys: *const *const JetonKey,
    count: usize,
    out: *mut *const JetonKeySet,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes handles and a place for one.
        let (out, handles) = unsafe { (Out::new(out)?, elements(keys, count)?) };
        if count > jeton::limits::KEY_SET_KEYS {
            return Err(KeyProblem::TooLarge.into());
        }
        let mut keys = Vec::with_capacity(handles.len());
        for &handle in handles {
            // SAFETY: as above.
            keys.push((*unsafe { handle::get(handle) }?).clone());
        }
        out.put(handle::create(KeySet::new(&keys)?));
        Ok(())
    })
}

/// Imports a JWK Set, or PASERKs, one per line. Unusable keys are skipped: `jeton_key_set_export` returns the reasons.
/// A set without a usable key is an error.
///
/// The options are in docs/reference/settings.md, section *Imported key set*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_import(
    data: *const u8,
    length: usize,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonKeySet,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes texts and a place for a handle.
        let (out, data, options) = unsafe {
            (
                Out::new(out)?,
                text(data, length)?,
                text(options, options_length)?,
            )
        };
        out.put(handle::create(KeySet::import(data, options)?));
        Ok(())
    })
}

/// Exports the set, or the property that `what` names, to a buffer of the library:
///
/// - `jwks`: the public keys as a JWK Set.
/// - `ids`: the key ids, one per line; an empty line for a key without id.
/// - `skipped`: why keys were skipped during the import, one reason per line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_export(
    keys: *const JetonKeySet,
    what: *const u8,
    what_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text and a place for a buffer.
        let (out, set, what) =
            unsafe { (Out::new(out)?, handle::get(keys)?, text(what, what_length)?) };
        out.put_bytes(set.export(what)?);
        Ok(())
    })
}
