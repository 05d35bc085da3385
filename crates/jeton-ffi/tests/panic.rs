//! A panic of the library, as a C caller sees it. The test needs a separate process, because the next call of any
//! thread panics.

#![cfg(feature = "test-hooks")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "it/api.rs"]
#[allow(dead_code, reason = "the tests in `it` use the rest")]
mod api;

use jeton_ffi::jeton_test_panic_next;

#[test]
fn panic_becomes_the_code_internal() {
    let key = api::generate("HS256", "").unwrap();
    jeton_test_panic_next();
    let failure = api::export(&key, "alg").unwrap_err();
    assert_eq!(failure.code, "INTERNAL");
    assert_eq!(
        failure.message,
        "internal error in the native library: report it"
    );
    assert_eq!(api::export(&key, "alg").unwrap(), "HS256");
}
