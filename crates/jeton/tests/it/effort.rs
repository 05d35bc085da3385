//! Measures the CPU time of a rejection. It uses the CPU time of the thread, so that other load does not matter.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The limit for rejecting large, deep or numerous input: 10 ms in an optimized build. The test profile is
/// several times slower.
const AT_ONCE: Duration = if cfg!(debug_assertions) {
    Duration::from_millis(50)
} else {
    Duration::from_millis(10)
};

/// Runs `work` five times and fails if the fastest run exceeds the limit. A single run would include cache
/// misses and page faults that other processes cause.
pub(crate) fn at_once<R>(work: impl Fn() -> R) -> R {
    let mut quickest = Duration::MAX;
    for _ in 0..4 {
        quickest = quickest.min(processor_time(&work).0);
    }
    let (last, result) = processor_time(work);
    let quickest = quickest.min(last);
    assert!(quickest < AT_ONCE, "{quickest:?}");
    result
}

fn processor_time<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let before = now();
    let result = work();
    (now() - before, result)
}
