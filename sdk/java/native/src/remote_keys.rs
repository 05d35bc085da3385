//! Remote key sets. Java fetches them.

use std::sync::Arc;

use jeton_bindings::{Fault, RemoteKeys};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};

use crate::env::Input;
use crate::guard::guard;
use crate::handle;

/// Creates a remote key set.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_newRemoteKeys(
    env: *mut JNIEnv,
    _: jclass,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        env.with_text(Input(settings, settings_length), |settings| {
            Ok(handle::create(Arc::new(RemoteKeys::new(settings)?)))
        })
    })
}

/// Returns the next request as JSON, or an empty text.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_nextRequest(
    env: *mut JNIEnv,
    _: jclass,
    keys: jlong,
) -> jbyteArray {
    guard(env, |_| {
        // SAFETY: Java passes the handle of a remote key set; so below.
        let keys = unsafe { handle::get::<Arc<RemoteKeys>>(keys) }?;
        Ok(keys.next().unwrap_or_default())
    })
}

/// Returns the reason as an error if there are no keys.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_ready(
    env: *mut JNIEnv,
    _: jclass,
    keys: jlong,
) -> jbyteArray {
    guard(env, |_| {
        // SAFETY: Java passes the handle of a remote key set; so below.
        let keys = unsafe { handle::get::<Arc<RemoteKeys>>(keys) }?;
        keys.ready()?;
        Ok(String::new())
    })
}

/// Passes the response to a request.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_respond(
    env: *mut JNIEnv,
    _: jclass,
    keys: jlong,
    id: jlong,
    status: jint,
    headers: jbyteArray,
    headers_length: jint,
    body: jbyteArray,
    body_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let keys = unsafe { handle::get::<Arc<RemoteKeys>>(keys) }?;
        let headers = env.bytes(Input(headers, headers_length))?;
        let headers = std::str::from_utf8(&headers).map_err(|_| Fault::not_utf8())?;
        let body = env.bytes(Input(body, body_length))?;
        let status = u32::try_from(status).unwrap_or_default();
        keys.respond(id as u64, status, headers, &body)
    })
}
