//! Key sets.

use jeton_bindings::{Key, KeySet};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong, jlongArray};

use crate::env::Input;
use crate::guard::guard;
use crate::handle;

/// Creates a set of keys.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_newKeySet(
    env: *mut JNIEnv,
    _: jclass,
    keys: jlongArray,
    count: jint,
) -> jbyteArray {
    guard(env, |env| {
        let handles = env.numbers(keys, count)?;
        let mut keys = Vec::with_capacity(handles.len());
        for handle in handles {
            // SAFETY: Java passes handles of keys.
            keys.push(unsafe { handle::get::<Key>(handle) }?.clone());
        }
        Ok(handle::create(KeySet::new(&keys)?))
    })
}

/// Imports a set.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_importKeySet(
    env: *mut JNIEnv,
    _: jclass,
    text: jbyteArray,
    text_length: jint,
    settings: jbyteArray,
    settings_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        env.with_text(Input(text, text_length), |text| {
            env.with_text(Input(settings, settings_length), |settings| {
                Ok(handle::create(KeySet::import(text, settings)?))
            })
        })
    })
}

/// Returns the named part of a set.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_exportKeySet(
    env: *mut JNIEnv,
    _: jclass,
    set: jlong,
    what: jbyteArray,
    what_length: jint,
) -> jbyteArray {
    guard(env, |env| {
        // SAFETY: Java passes the handle of a set.
        let set = unsafe { handle::get::<KeySet>(set) }?;
        env.with_text(Input(what, what_length), |what| set.export(what))
    })
}
