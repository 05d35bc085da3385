//! Memory that a thread uses again for each call.

use std::cell::Cell;
use std::thread::LocalKey;

/// The longest result for which a thread keeps its memory, bytes.
pub(crate) const KEPT_BYTES: usize = 64 * 1024;

/// Runs with the memory of this thread. A call inside a call, and one while the thread ends, get memory of their own.
pub(crate) fn with<T: Default, R>(
    memory: &'static LocalKey<Cell<T>>,
    run: impl FnOnce(&mut T) -> R,
) -> R {
    let mut value = memory.try_with(Cell::take).unwrap_or_default();
    let result = run(&mut value);
    // At the end of the thread, the value is dropped here.
    let _ = memory.try_with(|memory| memory.set(value));
    result
}
