//! A hook for tests.

use std::sync::atomic::{AtomicBool, Ordering};

static PANIC_NEXT: AtomicBool = AtomicBool::new(false);

/// Makes the next call panic.
pub(crate) fn panic_next() {
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
