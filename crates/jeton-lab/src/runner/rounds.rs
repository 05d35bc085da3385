//! Randomised complete blocks: in each round every subject runs equally often, in random order.

use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::bench::{Bench, Stopped};
use super::pace::{BATCHES, Pace};
use super::shared_core::{Batches, EXTRA_PASSES, Sharing, Slice};
use crate::host::Yardstick;
use crate::result::Status;

/// The order of all rounds, from one seed.
#[derive(Debug)]
pub(super) struct Order(ChaCha8Rng);

impl Order {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        order.shuffle(&mut self.0);
    }
}

/// How long one round waits for a core of its own, in all.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Between two looks at whether it is.
const PAUSE: Duration = Duration::from_millis(3);

/// One round: as many passes over every subject as there are batches to a value, each pass in its
/// own random order. The batches of a value lie seconds apart, so that one stall of the machine,
/// however many subjects it meets, meets each of them once, and the median leaves it out. Between
/// two slices of a batch the yardstick is held up: see [`super::shared_core`].
///
/// `after_visit` hears how many visits are done, and of how many. Nothing of a round that was
/// stopped is kept: a round is complete or it is not.
pub(super) fn round(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    yardstick: Option<&Yardstick<'_>>,
    mut after_visit: impl FnMut(usize, usize),
) -> Result<Sharing, Stopped> {
    let mut visits: Vec<usize> = (0..benches.len()).filter(|&i| benches[i].live()).collect();
    let mut batches = Batches::of(benches.len());
    let mut before = yardstick.map(Yardstick::read);
    let mut done = 0;
    let mut patience = PATIENCE;
    let all = visits.clone();
    for pass in 0..BATCHES + EXTRA_PASSES {
        let extra = pass >= BATCHES;
        if extra {
            visits = batches.short_of_lone_ones(&all);
        }
        order.shuffle(&mut visits);
        for &i in &visits {
            if extra && let Some(yardstick) = yardstick {
                before = await_lone_core(yardstick, batches.limit(), &mut patience);
            }
            if let Some(batch) = visit(&mut benches[i], pace, yardstick, &mut before)? {
                batches.add(i, batch);
            }
            done += 1;
            after_visit(done, done.max(all.len() * BATCHES as usize));
        }
    }
    let (values, sharing) = batches.values();
    for i in all {
        // Who failed on the way keeps no rounds at all.
        if benches[i].live() {
            benches[i].rounds.extend(values[i]);
        }
    }
    Ok(sharing)
}

/// Reads the yardstick until the core is nobody else's, or patience ends: who comes back at once
/// meets the same neighbour. The last reading.
fn await_lone_core(
    yardstick: &Yardstick<'_>,
    limit: Option<Duration>,
    patience: &mut Duration,
) -> Option<Duration> {
    loop {
        let reading = yardstick.read();
        if patience.is_zero() || limit.is_none_or(|limit| reading <= limit) {
            return Some(reading);
        }
        std::thread::sleep(PAUSE);
        *patience = patience.saturating_sub(PAUSE);
    }
}

/// A round that nobody counts. Who was warmed up first has waited for all the others, and its first
/// values would be those of a process that has just been woken: of all rounds that were far off, two
/// in five were the first.
pub(super) fn rehearse(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    yardstick: Option<&Yardstick<'_>>,
) -> Result<(), Stopped> {
    let finished: Vec<usize> = benches.iter().map(|b| b.rounds.len()).collect();
    round(benches, order, pace, yardstick, |_, _| ())?;
    for (bench, finished) in benches.iter_mut().zip(finished) {
        bench.rounds.truncate(finished);
    }
    Ok(())
}

/// One batch, slice by slice. `before` is what the yardstick read last.
fn visit(
    bench: &mut Bench,
    pace: &Pace,
    yardstick: Option<&Yardstick<'_>>,
    before: &mut Option<Duration>,
) -> Result<Option<Vec<Slice>>, Stopped> {
    let slices = yardstick.map_or(1, |_| pace.slices_of(&bench.cell));
    let expected = pace.batch_of(&bench.cell);
    let operations = bench.iterations.div_ceil(slices);
    let mut batch = Vec::new();
    let mut left = bench.iterations;
    while left > 0 {
        let operations = operations.min(left);
        left -= operations;
        let Some(slice) = bench.batch(operations, expected, false)? else {
            return Ok(None);
        };
        if slice.ns_per_op <= 0.0 {
            bench.fail(Status::Crashed, "says that its work took no time");
            return Ok(None);
        }
        let after = yardstick.map(Yardstick::read);
        batch.push(Slice {
            operations,
            ns_per_op: slice.ns_per_op,
            reading: (*before).max(after),
        });
        *before = after;
    }
    Ok(Some(batch))
}
