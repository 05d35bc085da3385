//! Remote key sets: the library decides when to fetch, and the caller fetches.

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

/// Creates a key set at an address, or at the address that an issuer publishes. It sends no request.
///
/// The options are in docs/reference/settings.md, section *Remote key set*.
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

/// Returns the next new request as JSON in a buffer of the library: `id`, `url`, `etag` (or null), `no_cache`,
/// `max_bytes`, `public_only`, `timeout_milliseconds`, and the `version` of the library for `User-Agent`. Without a
/// request, the buffer is empty.
///
/// Call it when the program starts, and when a verification returns `KEY_SET_TO_FETCH`. Also call it regularly after
/// verifications: stale keys are still used, and then fetched again.
///
/// The program sends `etag` as `If-None-Match`, and `Cache-Control: no-cache` if `no_cache` is true. It sends
/// `Accept: application/jwk-set+json, application/json` and `Accept-Encoding: identity`. It must not follow redirects. If
/// `public_only` is true, it must connect to public addresses only.
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

/// Checks that keys are available. When the program starts, call it after the requests of `jeton_remote_keys_next`.
///
/// It returns the error of the last fetch, or `KEY_SET_TO_FETCH` if requests are pending.
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

/// Passes the response to a request. Status 0 means that there is no response. `headers` has one header per line, in
/// HTTP/1.1 syntax; `ETag`, `Cache-Control`, `Age` and `Retry-After` are read.
///
/// An unknown id is an error. If the response is not a key set, the next verification returns the error.
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
