//! Randomised complete blocks: in each round every subject runs once, in random order.

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

/// One round. `after_visit` hears how many visits are done. Nothing of a round that was stopped
/// is kept: a round is complete or it is not.
pub(super) fn round(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    mut after_visit: impl FnMut(usize),
) -> Result<(), Stopped> {
    let mut visits: Vec<usize> = (0..benches.len()).filter(|&i| benches[i].live()).collect();
    order.shuffle(&mut visits);
    let mut values = Vec::with_capacity(visits.len());
    for (done, &i) in visits.iter().enumerate() {
        if let Some(value) = visit(&mut benches[i], pace)? {
            values.push((i, value));
        }
        after_visit(done + 1);
    }
    for (i, value) in values {
        if benches[i].live() {
            benches[i].rounds.push(value);
        }
    }
    Ok(())
}

fn visit(bench: &mut Bench, pace: &Pace) -> Result<Option<f64>, Stopped> {
    let mut batches = Vec::with_capacity(BATCHES as usize);
    for _ in 0..BATCHES {
        let iterations = bench.iterations;
        match bench.batch(iterations, pace.batch, false)? {
            Some(batch) => batches.push(batch.ns_per_op),
            None => return Ok(None),
        }
    }
    let value = round_value(&batches).filter(|ns| *ns > 0.0);
    if value.is_none() {
        bench.fail(Status::Crashed, "says that its work took no time");
    }
    Ok(value)
}
