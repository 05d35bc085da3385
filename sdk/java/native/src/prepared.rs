//! Two-step signing.

use jeton_bindings::Prepared;
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};

use crate::env::Input;
use crate::guard::guard;
use crate::handle;

/// Returns the input of the signature.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_preparedInput(
    env: *mut JNIEnv,
    _: jclass,
    prepared: jlong,
    what: jbyteArray,
    what_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes the handle of a prepared token; so below.
        let prepared = unsafe { handle::get::<Prepared>(prepared) }?;
        env.with_text(Input(what, what_length), |what| prepared.input(what))
    })
}

/// Adds the signature and returns the token.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_attach(
    env: *mut JNIEnv,
    _: jclass,
    prepared: jlong,
    signature: jbyteArray,
    signature_length: jint,
    form: jbyteArray,
    form_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let prepared = unsafe { handle::get::<Prepared>(prepared) }?;
        let signature = env.bytes(Input(signature, signature_length))?.to_vec();
        env.with_text(Input(form, form_length), |form| {
            prepared.attach(signature, form)
        })
    })
}
