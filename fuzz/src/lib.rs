//! What the fuzz targets share: keys that never change, so that an input means the same tomorrow;
//! the first inputs, made from the vectors and the keys; changes to tokens that keep their shape; a
//! bound on memory; and the token service, to be asked anything.

pub mod keys;
pub mod mutation;
pub mod seeds;
#[cfg(feature = "service")]
pub mod service;

use jeton_testkit::{CountingAlloc, count};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// What a verification may allocate whatever the token says: headers, keys, errors.
const MEMORY_BYTES: u64 = 256 * 1024;

/// What it may allocate for each byte of the token, over all the copies of what grows by doubling:
/// three times the ratio that compressed content may have, and the content's own copies.
const MEMORY_RATIO: u64 = 3 * jeton::limits::INFLATED_RATIO as u64 + 40;

/// Does `work` on an input of that many bytes, and fails if it asks for memory beyond the bound.
pub fn bounded<R>(input_bytes: usize, work: impl FnOnce() -> R) -> R {
    let (counts, result) = count(work);
    let most = MEMORY_BYTES + MEMORY_RATIO * input_bytes as u64;
    assert!(counts.bytes <= most, "{counts:?} for {input_bytes} bytes");
    result
}
