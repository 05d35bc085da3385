//! Verifiers.

use std::cell::RefCell;
use std::sync::Arc;

use jeton::error::{Part, Rejection};
use jeton::{RawClaims, Scratch, Verified};
use jeton_bindings::thread_memory::{self, KEPT_BYTES};
use jeton_bindings::{
    Fault, Key, KeySet, ReadVerified, RemoteKeys, Verifier, VerifierKeys, is_ascii,
};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};

use crate::clock::clock_or_system;
use crate::env::{Env, Input};
use crate::guard::guard;
use crate::handle;
use crate::reply::Reply;
use crate::verified;

/// Creates a verifier.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_newVerifier(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    set: jlong,
    decryption: jlong,
    remote: jlong,
    clock: jlong,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes handles of these types, or 0.
        let (keys, clock) = unsafe {
            (
                VerifierKeys {
                    key: handle::optional::<Key>(key)?,
                    set: handle::optional::<KeySet>(set)?,
                    decryption: handle::optional::<KeySet>(decryption)?,
                    remote: handle::optional::<Arc<RemoteKeys>>(remote)?,
                },
                clock_or_system(clock)?,
            )
        };
        env.with_text(Input(settings, settings_length), |settings| {
            Ok(handle::create(Verifier::new(keys, clock, settings)?))
        })
    })
}

thread_local! {
    /// The payload of a token, before it is copied to the caller. It is wiped when the thread ends.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Verifies a token. The reply is in `offered` if it fits: see `verified.rs`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_verify(
    env: *mut JNIEnv,
    _: jclass,
    verifier: jlong,
    token: jbyteArray,
    token_length: jint,
    offered: jbyteArray,
    capacity: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes the handle of a verifier; so below.
        let verifier = unsafe { handle::get::<Verifier>(verifier) }?;
        env.with(Input(token, token_length), |token| {
            let write = Write {
                env,
                offered,
                capacity: usize::try_from(capacity).unwrap_or_default(),
            };
            let is_short = token.len() <= KEPT_BYTES;
            let token = token_text(token)?;
            if is_short {
                thread_memory::with(&SCRATCH, |scratch| {
                    verifier.verify(token, scratch, write)?
                })
            } else {
                verifier.verify(token, &mut Scratch::new(), write)?
            }
        })
    })
}

/// Verifies or decrypts bytes. `content` is null unless the JWS is detached.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_verifyBytes(
    env: *mut JNIEnv,
    _: jclass,
    verifier: jlong,
    token: jbyteArray,
    token_length: jint,
    content: jbyteArray,
    content_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let verifier = unsafe { handle::get::<Verifier>(verifier) }?;
        env.with(Input(token, token_length), |token| {
            let token = token_text(token)?;
            if content.is_null() {
                verifier.verify_bytes(token, None)
            } else {
                env.with(Input(content, content_length), |content| {
                    verifier.verify_bytes(token, Some(content))
                })
            }
        })
    })
}

/// Returns the protected header of a token that the verifier has verified, as JSON text. It is empty for a PASETO.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_verifiedHeader(
    env: *mut JNIEnv,
    _: jclass,
    verifier: jlong,
    token: jbyteArray,
    token_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let verifier = unsafe { handle::get::<Verifier>(verifier) }?;
        env.with(Input(token, token_length), |token| {
            Ok(verifier.header(token_text(token)?)?.unwrap_or_default())
        })
    })
}

/// Returns what a token says without verifying it, as JSON text.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_unverified(
    env: *mut JNIEnv,
    _: jclass,
    token: jbyteArray,
    token_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        env.with(Input(token, token_length), |token| {
            jeton_bindings::unverified(token_text(token)?)
        })
    })
}

/// Writes a verified token to the array of the caller.
struct Write {
    env: Env,
    offered: jbyteArray,
    capacity: usize,
}

impl ReadVerified for Write {
    type Output = Result<Reply, Fault>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        verified::write(verified, self.env, self.offered, self.capacity)
    }
}

/// Returns a token as text. Tokens are untrusted, so bytes that are not UTF-8 are a rejection.
fn token_text(bytes: &[u8]) -> Result<&str, Fault> {
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8. Valid tokens are ASCII, and this check is faster.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).map_err(|_| Rejection::Malformed(Part::Token).into())
}
