//! The drivers' core measured by a fixed piece of work: is it as fast now as it was?
//!
//! A virtual core shares its arithmetic with a neighbour's whenever the hypervisor runs another
//! machine on the same physical core. Nothing says so: no time is stolen, no load is seen, and
//! everything takes half as long again for some milliseconds or some seconds. The yardstick sees it,
//! because its work keeps every arithmetic unit busy, needs no memory, and takes equally long to one
//! part in a thousand while the core is its own. It is held up between two batches, so it knows
//! nothing of what the batches measured.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::Cores;

/// A reading this much above the shortest ones says that the core was shared.
pub const SHARED_BEYOND: f64 = 1.05;

/// Chains that do not wait for each other: one alone would leave room for a neighbour.
const CHAINS: usize = 8;
/// Steps of one reading: about 60 µs.
const STEPS: u32 = 12_000;
/// An interrupt lengthens one reading of these, a neighbour all of them.
const READINGS: usize = 3;

/// Times the same work again and again.
#[derive(Debug, Clone)]
pub struct Yardstick<'c> {
    cores: &'c Cores,
}

impl<'c> Yardstick<'c> {
    /// On the core that the drivers have for themselves; `None` if they have none.
    #[must_use]
    pub fn of_drivers(cores: &'c Cores) -> Option<Self> {
        cores.driver_core().map(|_| Self { cores })
    }

    /// How long the work takes now: the shortest of a few readings.
    #[must_use]
    pub fn read(&self) -> Duration {
        self.cores.for_driver(1, || {
            let readings = std::iter::repeat_with(|| {
                let began = Instant::now();
                black_box(work(black_box(STEPS)));
                began.elapsed()
            });
            readings.take(READINGS).min().unwrap_or_default()
        })
    }
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
        assert!(Yardstick::of_drivers(&Cores::unpinned()).is_none());
    }

    #[test]
    fn twice_the_steps_are_other_work() {
        assert_ne!(work(STEPS), work(2 * STEPS));
    }
}
