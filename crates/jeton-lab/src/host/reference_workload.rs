//! The drivers' core measured by a fixed piece of work: is it as fast now as it was?
//!
//! A virtual core shares its arithmetic with a neighbour's whenever the hypervisor runs another
//! machine on the same physical core. Nothing says so: no time is stolen, no load is seen, and
//! everything takes half as long again for some milliseconds or some seconds. The yardstick sees it,
//! because its work keeps every arithmetic unit busy, needs no memory, and takes equally long to one
//! part in a thousand while the core is its own. It is held up between two pieces of work, or beside
//! one that is long; of what they measured it knows nothing.

use std::hint::black_box;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::Cores;

/// A reading this much above the shortest ones says that the core was shared.
pub const SHARED_BEYOND: f64 = 1.05;

/// Chains that do not wait for each other: one alone would leave room for a neighbour.
const CHAINS: usize = 8;
/// Steps of one reading: about 60 µs.
const STEPS: u32 = 12_000;
/// An interrupt lengthens one reading of these, a neighbour all of them.
const READINGS: usize = 3;
/// The same for readings that are taken beside a piece of work: it waits for them.
const READINGS_DURING: usize = 2;

/// Times the same work again and again.
#[derive(Debug, Clone)]
pub struct ReferenceWorkload<'c> {
    cores: &'c Cores,
}

impl<'c> ReferenceWorkload<'c> {
    /// On the core that the drivers have for themselves; `None` if they have none.
    #[must_use]
    pub fn of_drivers(cores: &'c Cores) -> Option<Self> {
        cores.driver_core().map(|_| Self { cores })
    }

    /// Where it is held up, and the drivers are.
    #[must_use]
    pub fn cores(&self) -> &'c Cores {
        self.cores
    }

    /// How long the work takes now: the shortest of a few readings.
    #[must_use]
    pub fn read(&self) -> Duration {
        self.cores.for_driver(1, || shortest_of(READINGS))
    }

    /// Does a piece of work on the drivers' core, and reads there again and again until it is done: what it
    /// came to, and what was seen. While a reading has the core the work stands still, so it takes from the
    /// work the time of the core that it had itself, and not what passed: the two may take turns.
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
            // Without a thread nothing was seen.
            let looks = onlooker.ok().and_then(|thread| thread.join().ok());
            let during = ConcurrentReadings {
                looks: looks.unwrap_or_default(),
                ended: Some(ended),
            };
            (came_to, during)
        })
    }
}

/// What was seen beside a piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcurrentReadings {
    looks: Vec<Look>,
    ended: Option<Instant>,
}

/// What was seen in a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// The longest reading, if there was time for one.
    pub longest: Option<Duration>,
    /// How long the work stood still.
    pub took: Duration,
}

impl ConcurrentReadings {
    /// What was seen in so much of the time up to the end: the part that was timed. Who looks before it, or
    /// when the work is done, takes nothing from it, and sees nothing of it.
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
    /// The time that it had the core.
    took: Duration,
    began: Instant,
    over: Instant,
}

/// How long the calling thread has had a core.
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
    fn without_a_core_of_their_own_there_is_no_yardstick() {
        assert!(ReferenceWorkload::of_drivers(&Cores::unpinned()).is_none());
    }

    #[test]
    fn what_was_looked_at_before_or_behind_the_timed_part_does_not_count() {
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
    fn it_looks_until_the_work_is_done() {
        let cores = Cores::split();
        let Some(reference_workload) = ReferenceWorkload::of_drivers(&cores) else {
            return; // A machine with one core.
        };
        let every = Duration::from_millis(5);
        let (answer, seen) = reference_workload.during(every, || {
            thread::sleep(Duration::from_millis(100));
            42
        });
        cores.release();
        assert_eq!(answer, 42);
        let seen = seen.in_the_last(Duration::from_secs(1));
        let longest = seen.longest.expect("time for some");
        assert!(seen.took >= longest && !longest.is_zero(), "{seen:?}");
        let (_, none) = reference_workload.during(every, || ());
        assert_eq!(none.in_the_last(Duration::from_secs(1)), Seen::default());
    }

    #[test]
    fn twice_the_steps_are_other_work() {
        assert_ne!(work(STEPS), work(2 * STEPS));
    }
}
