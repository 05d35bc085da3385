//! How much of the processor a refusal takes. The thread's own time is looked at, not the clock on
//! the wall: a busy machine changes nothing.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What is promised for whatever is large, deep or many: ten milliseconds of an optimised build. The
/// test profile is several times slower.
const AT_ONCE: Duration = match cfg!(debug_assertions) {
    true => Duration::from_millis(50),
    false => Duration::from_millis(10),
};

/// Does `work` five times, and fails if not even the quickest of them was done at once. Once would
/// also count the caches and page faults of whoever else is at work.
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
