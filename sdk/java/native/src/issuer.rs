//! Issuers.

use std::cell::RefCell;

use jeton::error::codes;
use jeton_bindings::thread_memory::{self, KEPT_BYTES};
use jeton_bindings::{Fault, Issuer, Key};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};

use crate::clock::clock_or_system;
use crate::env::{Env, Input};
use crate::guard::guard;
use crate::handle;
use crate::reply::{self, HEAD, Reply};

/// Creates an issuer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_newIssuer(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    encryption: jlong,
    clock: jlong,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes handles of these types, or 0.
        let (key, encryption, clock) = unsafe {
            (
                handle::optional::<Key>(key)?,
                handle::optional::<Key>(encryption)?,
                clock_or_system(clock)?,
            )
        };
        env.with_text(Input(settings, settings_length), |settings| {
            Ok(handle::create(Issuer::new(
                key, encryption, clock, settings,
            )?))
        })
    })
}

thread_local! {
    /// The reply, before it is copied to the array of the caller.
    static TOKEN: RefCell<String> = RefCell::default();
}

/// Issues a token with these claims, a JSON object. The reply is in `offered` if it fits.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_issue(
    env: *mut JNIEnv,
    _: jclass,
    issuer: jlong,
    claims: jbyteArray,
    claims_length: jint,
    offered: jbyteArray,
    capacity: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes the handle of an issuer; so below.
        let issuer = unsafe { handle::get::<Issuer>(issuer) }?;
        env.with_text(Input(claims, claims_length), |claims| {
            let issue = |token: &mut String| {
                token.clear();
                // The head is written when the length is known.
                token.push_str(PLACE);
                issuer.issue_onto(claims, token)?;
                written(env, token, offered, capacity)
            };
            if issuer.length_bound(claims.len()) <= KEPT_BYTES {
                thread_memory::with(&TOKEN, issue)
            } else {
                issue(&mut String::new())
            }
        })
    })
}

/// The placeholder of the head. Each character is one byte.
const PLACE: &str = "\0\0\0\0\0\0\0\0";

fn written(
    env: Env,
    token: &mut String,
    offered: jbyteArray,
    capacity: jint,
) -> Result<Reply, Fault> {
    let capacity = usize::try_from(capacity).unwrap_or_default();
    let Some(array) = reply::room(env, offered, capacity, token.len()) else {
        // The JVM throws an out-of-memory error.
        return Ok(Reply::Written(std::ptr::null_mut()));
    };
    env.write(array, 0, token.as_bytes());
    env.write(array, 0, &reply::head(0, token.len() - HEAD));
    Ok(Reply::Written(array))
}

/// Signs or encrypts bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_issueBytes(
    env: *mut JNIEnv,
    _: jclass,
    issuer: jlong,
    data: jbyteArray,
    data_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let issuer = unsafe { handle::get::<Issuer>(issuer) }?;
        env.with(Input(data, data_length), |data| issuer.issue_bytes(data))
    })
}

/// Prepares a token for signing outside the library.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_prepare(
    env: *mut JNIEnv,
    _: jclass,
    issuer: jlong,
    data: jbyteArray,
    data_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let issuer = unsafe { handle::get::<Issuer>(issuer) }?;
        env.with(Input(data, data_length), |data| {
            Ok(handle::create(issuer.prepare(data)?))
        })
    })
}

/// Returns the maximum length of a reply with a token with claims of this length.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_issueBound(
    env: *mut JNIEnv,
    _: jclass,
    issuer: jlong,
    claims_length: jint,
) -> jbyteArray {
    guard(env, |_| {
        // SAFETY: as above.
        let issuer = unsafe { handle::get::<Issuer>(issuer) }?;
        let length = usize::try_from(claims_length).unwrap_or_default();
        let bound = HEAD + issuer.length_bound(length);
        let bound = i64::try_from(bound)
            .map_err(|_| Fault::argument(&codes::ARGUMENT_LENGTH, "the claims are too large"))?;
        Ok(Reply::Handle(bound))
    })
}
