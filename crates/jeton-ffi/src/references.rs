//! References to handles of any type.

use std::ffi::c_void;

use crate::clock::JetonClock;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Kind};
use crate::issuer::JetonIssuer;
use crate::key::JetonKey;
use crate::key_set::JetonKeySet;
use crate::prepared::JetonPrepared;
use crate::reason::JetonReason;
use crate::remote_keys::JetonRemoteKeys;
use crate::verifier::JetonVerifier;

/// Adds a reference to a handle of any type. Each reference needs one call to `jeton_release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_retain(
    handle: *const c_void,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, or null.
        unsafe { handle::retain(handle) }
    })
}

/// Drops a reference to a handle of any type. The last release wipes and frees the handle. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_release(
    handle: *const c_void,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        if handle.is_null() {
            return Ok(());
        }
        // SAFETY: not null, and the caller passes a handle. The kind determines its type, and the caller gives up its
        // reference.
        unsafe {
            match Kind::of(handle)? {
                Kind::Key => handle::release::<JetonKey>(handle.cast()),
                Kind::KeySet => handle::release::<JetonKeySet>(handle.cast()),
                Kind::Issuer => handle::release::<JetonIssuer>(handle.cast()),
                Kind::Verifier => handle::release::<JetonVerifier>(handle.cast()),
                Kind::Prepared => handle::release::<JetonPrepared>(handle.cast()),
                Kind::RemoteKeys => handle::release::<JetonRemoteKeys>(handle.cast()),
                Kind::Clock => handle::release::<JetonClock>(handle.cast()),
            }
        }
        Ok(())
    })
}
