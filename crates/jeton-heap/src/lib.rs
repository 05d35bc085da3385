//! Returns memory that the allocator of the C library keeps after a peak.
//!
//! glibc returns only the end of its heaps by itself: after a peak, the pages between allocations that live on stay with
//! the process. `malloc_trim` gives them back. Other C libraries return memory by themselves.

/// Gives free pages back to the system. It locks the allocator for milliseconds: not for a thread that serves.
///
/// ```
/// jeton_heap::return_free_pages();
/// ```
pub fn return_free_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[allow(
            unsafe_code,
            reason = "the declaration is that of malloc.h; the function has no precondition"
        )]
        mod glibc {
            unsafe extern "C" {
                pub(super) safe fn malloc_trim(pad: usize) -> i32;
            }
        }
        glibc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    fn resident_bytes() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident = pages.split(' ').nth(1).unwrap();
        resident.parse::<usize>().unwrap() * 4096
    }

    #[test]
    fn pages_between_live_allocations_are_returned() {
        // Below the threshold from which the allocator maps each allocation.
        let mut all: Vec<Vec<u8>> = (0..4000).map(|_| vec![1; 64 * 1024]).collect();
        let mut index = 0;
        all.retain(|_| {
            index += 1;
            index % 100 == 0
        });
        let before = resident_bytes();
        super::return_free_pages();
        let after = resident_bytes();
        assert!(
            after + (128 << 20) < before,
            "{before} bytes before, {after} after"
        );
        assert_eq!(all.len(), 40);
    }
}
