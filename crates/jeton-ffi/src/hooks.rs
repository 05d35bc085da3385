//! Lets tests make the library panic.

use std::sync::atomic::{AtomicBool, Ordering};

static PANIC_NEXT: AtomicBool = AtomicBool::new(false);

/// Makes the next call of any function panic. That call returns `INTERNAL`.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_test_panic_next() {
    PANIC_NEXT.store(true, Ordering::SeqCst);
}

pub(crate) fn panic_if_asked() {
    if PANIC_NEXT.swap(false, Ordering::SeqCst) {
        #[allow(clippy::panic, reason = "the purpose of the hook")]
        {
            panic!("a test requested this panic");
        }
    }
}
