//! Randomised complete blocks: in each round every subject runs equally often, in random order.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::bench::{Bench, Stopped};
use super::pace::{BATCHES, Pace};
use crate::result::Status;
use crate::stats::median::round_value;

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

/// One round: as many passes over every subject as there are batches to a value, each pass in its
/// own random order. The batches of a value lie seconds apart, so that one stall of the machine,
/// however many subjects it meets, meets each of them once, and the median leaves it out.
///
/// `after_visit` hears how many visits are done, and of how many. Nothing of a round that was stopped is kept: a
/// round is complete or it is not.
pub(super) fn round(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    mut after_visit: impl FnMut(usize, usize),
) -> Result<(), Stopped> {
    let mut visits: Vec<usize> = (0..benches.len()).filter(|&i| benches[i].live()).collect();
    let mut batches: Vec<Vec<f64>> = vec![Vec::new(); benches.len()];
    let mut done = 0;
    for _ in 0..BATCHES {
        order.shuffle(&mut visits);
        for &i in &visits {
            batches[i].extend(visit(&mut benches[i], pace)?);
            done += 1;
            after_visit(done, visits.len() * BATCHES as usize);
        }
    }
    for i in visits {
        // Who failed on the way keeps no rounds at all.
        if benches[i].live() {
            benches[i].rounds.extend(round_value(&batches[i]));
        }
    }
    Ok(())
}

/// A round that nobody counts. Who was warmed up first has waited for all the others, and its first
/// values would be those of a process that has just been woken: of all rounds that were far off, two
/// in five were the first.
pub(super) fn rehearse(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
) -> Result<(), Stopped> {
    let finished: Vec<usize> = benches.iter().map(|b| b.rounds.len()).collect();
    round(benches, order, pace, |_, _| ())?;
    for (bench, finished) in benches.iter_mut().zip(finished) {
        bench.rounds.truncate(finished);
    }
    Ok(())
}

/// One batch, in nanoseconds for each operation.
fn visit(bench: &mut Bench, pace: &Pace) -> Result<Option<f64>, Stopped> {
    let (iterations, expected) = (bench.iterations, pace.batch_of(&bench.cell));
    let Some(batch) = bench.batch(iterations, expected, false)? else {
        return Ok(None);
    };
    if batch.ns_per_op <= 0.0 {
        bench.fail(Status::Crashed, "says that its work took no time");
        return Ok(None);
    }
    Ok(Some(batch.ns_per_op))
}
