//! Panics for tests.

use std::sync::atomic::{AtomicBool, Ordering};

use jni_sys::{JNIEnv, jclass};

static PANIC_NEXT: AtomicBool = AtomicBool::new(false);

/// Makes the next call of any function panic inside.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_testPanicNext(
    _: *mut JNIEnv,
    _: jclass,
) {
    PANIC_NEXT.store(true, Ordering::SeqCst);
}

pub(crate) fn panic_if_asked() {
    if PANIC_NEXT.swap(false, Ordering::SeqCst) {
        #[allow(clippy::panic, reason = "the purpose of the hook")]
        {
            panic!("a test asked for it");
        }
    }
}
