//! Shared test support: the programs of the workspace ([`program`]), an etcd cluster ([`Etcd`]), free ports
//! ([`free_port`]), samples of long tests ([`is_sampled`]), waiting ([`until`]), a disk that is full ([`SmallDisk`]), a key server with the habits of real ones (the feature
//! `key-server`), and a counting allocator for tests and drivers that report allocations.
//!
//! The counts are exact: every call to the global allocator of Rust, and the requested bytes. Allocations of C
//! code (for example AWS-LC) are not counted.
//!
//! A binary or a test installs it once:
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
//! While nothing is being counted, an allocation costs one relaxed load and one branch more than with
//! [`std::alloc::System`].

mod etcd;
#[cfg(feature = "key-server")]
mod key_server;
mod ports;
mod programs;
mod sampling;
mod small_disk;
mod waiting;

pub use etcd::{Etcd, Host as EtcdHost, VARIABLE as ETCD_VARIABLE};
#[cfg(feature = "key-server")]
pub use key_server::{Expected, Habit, KeyServer, PROXIED_HOST, REFUSED_HOST};
pub use ports::free_port;
#[cfg(unix)]
pub use programs::{copy_program, write_program};
pub use programs::{program, run};
pub use sampling::{WHOLE, is_sampled, is_whole};
pub use small_disk::SmallDisk;
pub use waiting::{until, until_some};

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The allocations between two points in time.
///
/// A reallocation counts as one allocation of its new size, whether or not the block moved. Freed memory is not
/// subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of allocation calls.
    pub allocations: u64,
    /// Sum of the requested bytes.
    pub bytes: u64,
}

/// Counts the allocations of `work` on the calling thread. Returns them with the result of `work`.
///
/// Calls may be nested; the outer count includes the inner one. Other threads are not counted, even if `work`
/// starts them; use [`count_process`] for that.
///
/// # Panics
///
/// If [`CountingAlloc`] is not the global allocator. Otherwise a test that requires "no allocation" would
/// always pass.
pub fn count<R>(work: impl FnOnce() -> R) -> (Counts, R) {
    require_installed();
    let _on = Switch::on(&WATCHERS);
    let before = thread_total();
    let result = work();
    (thread_total().since(before), result)
}

/// Counts the allocations of the whole process while `work` runs. Returns them with the result of `work`.
///
/// If `work` does not wait for a thread, only a part of its allocations is counted. While counting, each
/// allocation costs two atomic additions on shared memory, so do not measure time in the same run.
///
/// # Panics
///
/// Like [`count`].
pub fn count_process<R>(work: impl FnOnce() -> R) -> (Counts, R) {
    require_installed();
    let _process = Switch::on(&PROCESS_WATCHERS);
    let _on = Switch::on(&WATCHERS);
    let before = process_total();
    let result = work();
    (process_total().since(before), result)
}

/// The system allocator with a counter. Install it as the `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAlloc;

// SAFETY: every method passes its arguments unchanged to `System`, which fulfils the requirements of
// `GlobalAlloc`, and returns the result of `System`. The counter neither allocates (`Cell` and atomics,
// thread-locals with a `const` initial value and no destructor) nor unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for CountingAlloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller guarantees for `layout` what `System` requires.
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

/// Number of active `count` and `count_process` calls. Zero is the fast path.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);
/// Number of active `count_process` calls.
static PROCESS_WATCHERS: AtomicUsize = AtomicUsize::new(0);

static PROCESS_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static PROCESS_BYTES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static THREAD_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static THREAD_BYTES: Cell<u64> = const { Cell::new(0) };
}

// Relaxed is sufficient: a thread sees its own switch, and a thread started later sees it through the
// happens-before relation of `spawn`.
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

/// Registers a watcher until it is dropped, also if the watched code panics.
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
