//! The version, which must match the version of the Java classes.

use jni_sys::{JNIEnv, jbyteArray, jclass};

use crate::guard::guard;

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_version(
    env: *mut JNIEnv,
    _: jclass,
) -> jbyteArray {
    guard(env, |_| Ok(env!("CARGO_PKG_VERSION").to_owned()))
}
