//! Keys.

use jeton_bindings::Key;
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};
use zeroize::Zeroizing;

use crate::env::Input;
use crate::guard::guard;
use crate::handle;
use crate::reply::Reply;

/// Generates a key.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_generateKey(
    env: *mut JNIEnv,
    _: jclass,
    alg: jbyteArray,
    alg_length: jint,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        env.with_text(Input(alg, alg_length), |alg| {
            env.with_text(Input(settings, settings_length), |settings| {
                Ok(handle::create(Key::generate(alg, settings)?))
            })
        })
    })
}

/// Imports a key.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_importKey(
    env: *mut JNIEnv,
    _: jclass,
    data: jbyteArray,
    data_length: jint,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // Both may be secret, so neither is copied to the stack.
        let data = env.bytes(Input(data, data_length))?;
        let settings = env.bytes(Input(settings, settings_length))?;
        let settings =
            std::str::from_utf8(&settings).map_err(|_| jeton_bindings::Fault::not_utf8())?;
        Ok(handle::create(Key::import(&data, settings)?))
    })
}

/// Returns the public key.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_publicKey(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
) -> jbyteArray {
    guard(env, |_| {
        // SAFETY: Java passes the handle of a key; so below.
        let key = unsafe { handle::get::<Key>(key) }?;
        Ok(handle::create(key.public()?))
    })
}

/// Returns the key or a part of it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_exportKey(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    what: jbyteArray,
    what_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: as above.
        let key = unsafe { handle::get::<Key>(key) }?;
        env.with_text(Input(what, what_length), |what| {
            Ok(Reply::Secret(Zeroizing::new(key.export(what)?)))
        })
    })
}
