//! Memory that a thread reuses for each call.

use std::cell::RefCell;
use std::thread::LocalKey;

/// The longest result for which a thread keeps its memory, bytes.
pub const KEPT_BYTES: usize = 64 * 1024;

/// Calls `run` with the memory of this thread. A nested call, or a call while the thread ends, gets new memory.
///
/// # Panics
///
/// If `run` panics.
pub fn with<T: Default, R>(
    memory: &'static LocalKey<RefCell<T>>,
    run: impl FnOnce(&mut T) -> R,
) -> R {
    let mut run = Some(run);
    let ran = memory.try_with(|memory| {
        let mut memory = memory.try_borrow_mut().ok()?;
        Some(run.take()?(&mut memory))
    });
    match (ran, run) {
        (_, Some(run)) => run(&mut T::default()),
        (ran, None) => ran.ok().flatten().expect("it ran with this memory"),
    }
}
