//! The reference workload: fixed arithmetic on the drivers' core that detects a shared core.
//!
//! A virtual core shares its arithmetic units if the hypervisor runs another virtual machine on the
//! same physical core. The operating system does not report this: there is no stolen time and no load,
//! and everything takes 50 % longer for milliseconds or seconds. The reference workload detects it: it
//! keeps every arithmetic unit busy, uses no memory, and takes a constant time, to one part in a
//! thousand, on an unshared core. It runs between two batches, or during a long one, and does not
//! depend on their times.

use std::hint::black_box;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::Cores;

/// A reading longer than the shortest ones by this factor means a shared core.
pub const SHARED_BEYOND: f64 = 1.05;

/// Independent chains: a single one would leave units unused.
const CHAINS: usize = 8;
/// The steps of one reading: about 60 µs.
const STEPS: u32 = 12_000;
/// Readings in a row: an interrupt lengthens one of them, a shared core all.
const READINGS: usize = 3;
/// The same for readings during a batch, which waits for them.
const READINGS_DURING: usize = 2;

/// Measures the time of the reference workload.
#[derive(Debug, Clone)]
pub struct ReferenceWorkload<'c> {
    cores: &'c Cores,
}

impl<'c> ReferenceWorkload<'c> {
    /// Creates it for the drivers' own core; `None` if they have none.
    #[must_use]
    pub fn of_drivers(cores: &'c Cores) -> Option<Self> {
        cores.driver_core().map(|_| Self { cores })
    }

    /// Returns the assignment of cores.
    #[must_use]
    pub fn cores(&self) -> &'c Cores {
        self.cores
    }

    /// Measures the time now: the shortest of a few readings.
    #[must_use]
    pub fn read(&self) -> Duration {
        self.cores.for_driver(1, || shortest_of(READINGS))
    }

    /// Runs `work` and takes readings on the drivers' core until it is done. Returns the result and the
    /// readings. The work stops during a reading, so its time is reduced by the core time of the
    /// reading, not by the elapsed time: both may be scheduled alternately.
    pub fn during<T>(&self, every: Duration, work: impl FnOnce() -> T) -> (T, ConcurrentReadings) {
        let (working, done) = mpsc::channel::<()>();
        let look = move || {
            let mut looks = Vec::new();
            self.cores.for_driver(1, || {
                while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                    let (began, before) = (Instant::now(), time_on_core());
                    let reading = shortest_of(READINGS_DURING);
                    let took = time_on_core().saturating_sub(before);
                    let over = Instant::now();
                    looks.push(Look {
                        reading,
                        took,
                        began,
                        over,
                    });
                }
            });
            looks
        };
        thread::scope(|scope| {
            let onlooker = thread::Builder::new().spawn_scoped(scope, look);
            let came_to = work();
            let ended = Instant::now();
            drop(working);
            // Without a thread there are no readings.
            let looks = onlooker.ok().and_then(|thread| thread.join().ok());
            let during = ConcurrentReadings {
                looks: looks.unwrap_or_default(),
                ended: Some(ended),
            };
            (came_to, during)
        })
    }
}

/// The readings during a piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcurrentReadings {
    looks: Vec<Look>,
    ended: Option<Instant>,
}

/// The readings during a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// The longest reading, if there is one.
    pub longest: Option<Duration>,
    /// The time for which the work was stopped.
    pub took: Duration,
}

impl ConcurrentReadings {
    /// Returns the readings in the last `part` of the time, which is the timed part. Other readings do
    /// not affect the work.
    #[must_use]
    pub fn in_the_last(&self, part: Duration) -> Seen {
        let Some(ended) = self.ended else {
            return Seen::default();
        };
        let within = |look: &&Look| look.over <= ended && ended - look.began <= part;
        let looks = self.looks.iter().filter(within);
        looks.fold(Seen::default(), |seen, look| Seen {
            longest: seen.longest.max(Some(look.reading)),
            took: seen.took + look.took,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    reading: Duration,
    /// The core time of the reading.
    took: Duration,
    began: Instant,
    over: Instant,
}

/// Returns the core time of the calling thread.
fn time_on_core() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .unwrap_or_default()
}

fn shortest_of(readings: usize) -> Duration {
    let reading = || {
        let began = Instant::now();
        black_box(work(black_box(STEPS)));
        began.elapsed()
    };
    let all = std::iter::repeat_with(reading).take(readings);
    all.min().unwrap_or_default()
}

fn work(steps: u32) -> u64 {
    let mut chains = [0u64; CHAINS];
    for (chain, seed) in chains.iter_mut().zip(1..) {
        *chain = seed;
    }
    for _ in 0..steps {
        for chain in &mut chains {
            let mixed = (*chain ^ (*chain >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *chain = mixed.rotate_left(17).wrapping_add(0x2545_f491);
        }
    }
    chains.iter().fold(0, |all, chain| all ^ chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_workload_requires_own_core() {
        assert!(ReferenceWorkload::of_drivers(&Cores::unpinned()).is_none());
    }

    #[test]
    fn readings_outside_timed_part_do_not_count() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let look = |reading, over| Look {
            reading: Duration::from_micros(reading),
            took: Duration::from_micros(2 * reading + 1),
            began: at(over - 1),
            over: at(over),
        };
        let during = ConcurrentReadings {
            looks: vec![look(95, 9), look(60, 18), look(90, 24), look(99, 26)],
            ended: Some(at(25)),
        };
        let seen = during.in_the_last(Duration::from_millis(12));
        assert_eq!(seen.longest, Some(Duration::from_micros(90)));
        assert_eq!(seen.took, Duration::from_micros(302));
        assert_eq!(during.in_the_last(Duration::ZERO), Seen::default());
    }

    #[test]
    fn readings_continue_until_work_is_done() {
        let cores = Cores::split();
        let Some(reference_workload) = ReferenceWorkload::of_drivers(&cores) else {
            return; // A machine with one core.
        };
        let every = Duration::from_millis(5);
        // On a busy machine the other thread may not run meanwhile.
        let read = |_| {
            let (answer, seen) = reference_workload.during(every, || {
                thread::sleep(Duration::from_millis(100));
                42
            });
            assert_eq!(answer, 42);
            let seen = seen.in_the_last(Duration::from_secs(1));
            let longest = seen.longest.filter(|longest| !longest.is_zero());
            longest.is_some_and(|longest| seen.took >= longest)
        };
        assert!((0..20).any(read), "no reading");
        cores.release();
        let every = Duration::from_hours(1);
        let (_, none) = reference_workload.during(every, || ());
        assert_eq!(none.in_the_last(Duration::from_secs(1)), Seen::default());
    }

    #[test]
    fn work_depends_on_steps() {
        assert_ne!(work(STEPS), work(2 * STEPS));
    }
}
