//! Shared by the fuzz targets:
//!
//! - fixed keys, so that an input keeps its meaning
//! - first inputs from the vectors and the keys
//! - mutations that keep the shape of a token
//! - a memory limit
//! - the token service

pub mod keys;
pub mod mutation;
pub mod seeds;
#[cfg(feature = "service")]
pub mod service;

use jeton_testkit::{CountingAlloc, count};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// The memory that a verification may allocate for headers, keys and errors, independent of the token.
const MEMORY_BYTES: u64 = 256 * 1024;

/// The memory that it may allocate per byte of the token, over all reallocations: three times the compression
/// ratio, plus the copies of the content.
const MEMORY_RATIO: u64 = 3 * jeton::limits::INFLATED_RATIO as u64 + 40;

/// Runs `work` with an input of this length, and fails if it allocates more than the limit.
pub fn bounded<R>(input_bytes: usize, work: impl FnOnce() -> R) -> R {
    let (counts, result) = count(work);
    let most = MEMORY_BYTES + MEMORY_RATIO * input_bytes as u64;
    assert!(counts.bytes <= most, "{counts:?} for {input_bytes} bytes");
    result
}
