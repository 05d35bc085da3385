//! Reproducible random numbers, and work on several threads.

use std::sync::Barrier;
use std::thread;

use crate::{Checked, Failed};

/// A random generator with a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        // xorshift*: any even distribution is sufficient.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// Runs that many threads, which begin together, and returns the first finding.
pub fn at_once(count: usize, work: impl Fn(usize) -> Checked + Sync) -> Checked {
    let begin = Barrier::new(count);
    thread::scope(|scope| {
        let (work, begin) = (&work, &begin);
        let running: Vec<_> = (0..count)
            .map(|index| {
                scope.spawn(move || {
                    begin.wait();
                    work(index)
                })
            })
            .collect();
        running.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Failed("a thread panicked".to_owned())))
        })
    })
}
