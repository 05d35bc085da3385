//! Key sets that are elsewhere: the library decides when to fetch, and the caller fetches.

use std::sync::Arc;

use jeton_bindings::RemoteKeys;

use crate::argument::{Out, bytes, text};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::reason::JetonReason;

/// A key set that the program fetches from an address.
pub struct JetonRemoteKeys {
    _opaque: [u8; 0],
}

impl Handle for JetonRemoteKeys {
    type Value = Arc<RemoteKeys>;
    const KIND: Kind = Kind::RemoteKeys;
}

/// Creates a key set that is at an address, or at the address that an issuer publishes. It sends no request.
///
/// Options: `address`, or `issuer` for discovery. `default_alg` is the algorithm of keys without `alg`.
/// `allow_private_addresses` allows an issuer to publish a private address. `fresh_for`, `cooldown` and `usable_for`
/// (seconds) are the schedule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_remote_keys_new(
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonRemoteKeys,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a text and a place for a handle.
        let (out, options) = unsafe { (Out::new(out)?, text(options, options_length)?) };
        out.put(handle::create(Arc::new(RemoteKeys::new(options)?)));
        Ok(())
    })
}

/// Returns the next request that the program should send, as JSON in a buffer of the library: `id`, `url`, `etag` (or null),
/// `no_cache`, `max_bytes`, `public_only`, `timeout_milliseconds`. The buffer is empty if there is none.
///
/// Call it when the program starts, and when a verification returns `KEY_SET_TO_FETCH`. Call it from time to time after
/// verifications, too: keys that are not fresh are used, and fetched again.
///
/// The program sends `etag` as `If-None-Match`, and `Cache-Control: no-cache` if `no_cache` is true. It follows no redirects. If
/// `public_only` is true, it connects to public addresses only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_remote_keys_next(
    keys: *const JetonRemoteKeys,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle and a place for a buffer.
        let (out, remote) = unsafe { (Out::new(out)?, handle::get(keys)?) };
        out.put_bytes(remote.next().unwrap_or_default());
        Ok(())
    })
}

/// Checks that there are keys to verify with. Call it after the requests of `jeton_remote_keys_next`, when the program starts.
/// The error is why the last fetch failed, or `KEY_SET_TO_FETCH` if requests wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_remote_keys_ready(
    keys: *const JetonRemoteKeys,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle.
        unsafe { handle::get(keys)? }.ready()
    })
}

/// Passes the response to a request. A status of 0 says that there is none. `headers` has one header in each line, as HTTP/1.1
/// writes it; `ETag`, `Cache-Control` and `Age` are read.
///
/// A response that is no key set is no error here: the next verification returns it. An unknown id is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_remote_keys_respond(
    keys: *const JetonRemoteKeys,
    id: u64,
    status: u32,
    headers: *const u8,
    headers_length: usize,
    body: *const u8,
    body_length: usize,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text and bytes.
        let (remote, headers, body) = unsafe {
            (
                handle::get(keys)?,
                text(headers, headers_length)?,
                bytes(body, body_length)?,
            )
        };
        remote.respond(id, status, headers, body)
    })
}
