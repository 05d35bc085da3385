//! What tests share: a real etcd ([`Etcd`]), and an allocator that counts, for tests and drivers that state
//! how much they allocate.
//!
//! The counts are exact: every call that reaches Rust's global allocator, and the bytes it asked
//! for. What C code allocates for itself (AWS-LC, for example) does not pass through here and is
//! not counted.
//!
//! A binary or a test chooses it once:
//!
//! ```
//! use jeton_testkit::CountingAlloc;
//!
//! #[global_allocator]
//! static ALLOC: CountingAlloc = CountingAlloc;
//!
//! let (counts, token) = jeton_testkit::count(|| "a".repeat(40));
//! assert_eq!((counts.allocations, counts.bytes), (1, 40));
//! assert_eq!(token.len(), 40);
//! ```
//!
//! While nobody counts, an allocation costs one relaxed load and a branch more than it would with
//! [`std::alloc::System`].

mod etcd;

pub use etcd::{Etcd, VARIABLE as ETCD_VARIABLE};

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What was allocated between two moments.
///
/// A reallocation counts as one allocation of its new size, whether or not the block moved: the
/// caller asked for it, and where it landed is the system's affair. Freed memory is not subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls to the allocator that asked for memory.
    pub allocations: u64,
    /// Bytes asked for, summed.
    pub bytes: u64,
}

/// Counts what `work` allocates on the calling thread, and returns it with `work`'s result.
///
/// Calls may be nested; the outer one sees the inner one's allocations. Other threads, including
/// any that `work` starts, are not seen: that is what [`count_process`] is for.
///
/// # Panics
///
/// If [`CountingAlloc`] is not the global allocator. A test that demands "no allocation" would
/// otherwise pass without having looked.
pub fn count<R>(work: impl FnOnce() -> R) -> (Counts, R) {
    require_installed();
    let _on = Switch::on(&WATCHERS);
    let before = thread_total();
    let result = work();
    (thread_total().since(before), result)
}

/// Counts what the whole process allocates while `work` runs, and returns it with `work`'s result.
///
/// A thread that `work` does not wait for is counted as far as it came. While this runs, each
/// allocation of each thread costs two atomic additions on shared memory: time and count in
/// separate runs.
///
/// # Panics
///
/// As [`count`].
pub fn count_process<R>(work: impl FnOnce() -> R) -> (Counts, R) {
    require_installed();
    let _process = Switch::on(&PROCESS_WATCHERS);
    let _on = Switch::on(&WATCHERS);
    let before = process_total();
    let result = work();
    (process_total().since(before), result)
}

/// The system's allocator with a counter in front of it. Made to be a `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAlloc;

// SAFETY: every method hands its arguments unchanged to `System`, which upholds the contract of
// `GlobalAlloc`, and returns what `System` returned. The counting beside it neither allocates
// (`Cell` and atomics, thread-locals with a `const` start value and no destructor) nor unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for CountingAlloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller's promise about `layout` is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        record(new_size);
        // SAFETY: `block` came from this allocator, so from `System`, with this `layout`; the
        // caller promises that and a fitting `new_size`.
        unsafe { System.realloc(block, layout, new_size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from this allocator, so from `System`, with this `layout`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// How many `count` and `count_process` calls are under way. Zero is the fast path.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);
/// How many of them are `count_process` calls.
static PROCESS_WATCHERS: AtomicUsize = AtomicUsize::new(0);

static PROCESS_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static PROCESS_BYTES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static THREAD_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static THREAD_BYTES: Cell<u64> = const { Cell::new(0) };
}

// Relaxed suffices throughout: a thread sees its own switch, and a thread started later sees it
// through the happens-before of `spawn`.
#[inline]
fn record(size: usize) {
    if WATCHERS.load(Ordering::Relaxed) != 0 {
        record_watched(size as u64);
    }
}

#[cold]
fn record_watched(size: u64) {
    THREAD_ALLOCATIONS.set(THREAD_ALLOCATIONS.get().wrapping_add(1));
    THREAD_BYTES.set(THREAD_BYTES.get().wrapping_add(size));
    if PROCESS_WATCHERS.load(Ordering::Relaxed) != 0 {
        PROCESS_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        PROCESS_BYTES.fetch_add(size, Ordering::Relaxed);
    }
}

fn thread_total() -> Counts {
    Counts {
        allocations: THREAD_ALLOCATIONS.get(),
        bytes: THREAD_BYTES.get(),
    }
}

fn process_total() -> Counts {
    Counts {
        allocations: PROCESS_ALLOCATIONS.load(Ordering::Relaxed),
        bytes: PROCESS_BYTES.load(Ordering::Relaxed),
    }
}

fn require_installed() {
    let _on = Switch::on(&WATCHERS);
    let before = thread_total();
    drop(black_box(Box::new(0_u8)));
    assert_ne!(
        thread_total(),
        before,
        "nothing would be counted: make jeton_testkit::CountingAlloc the #[global_allocator]"
    );
}

impl Counts {
    fn since(self, before: Self) -> Self {
        Self {
            allocations: self.allocations.wrapping_sub(before.allocations),
            bytes: self.bytes.wrapping_sub(before.bytes),
        }
    }
}

/// Counts one watcher in while it lives, also when the watched work panics.
struct Switch(&'static AtomicUsize);

impl Switch {
    fn on(watchers: &'static AtomicUsize) -> Self {
        watchers.fetch_add(1, Ordering::Relaxed);
        Self(watchers)
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
