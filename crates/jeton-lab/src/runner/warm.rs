//! Calibration and warm-up: from a cold process to one whose batches take the same time.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::bench::{Batch, Bench, Stopped};
use super::honesty::Clocks;
use super::pace::{self, Pace};
use crate::stats::settle::settled;

/// Operations of the run that is counted: enough that what the count itself costs vanishes.
const COUNTED: u64 = 512;

/// A batch may keep the lab waiting for so many times what its driver says that it took.
const MOST_WAITED: f64 = 64.0;

/// Finds how many operations make a batch, warms the process up, and counts what it allocates.
/// What its clock showed beside the lab's.
pub(super) fn warm_up(bench: &mut Bench, pace: &Pace) -> Result<Clocks, Stopped> {
    let mut clocks = Clocks::default();
    let (target, least) = if bench.cell.is_managed() {
        (pace.managed_batch / 3, pace.managed_least)
    } else {
        (pace.warm_batch, Duration::ZERO)
    };
    let Some(first) = calibrate(bench, target)? else {
        return Ok(clocks);
    };
    let mut iterations = fitting(&first, target);
    let began = Instant::now();
    let mut batches = Vec::new();
    let last = loop {
        let Some(batch) = bench.batch(iterations, target, false)? else {
            return Ok(clocks);
        };
        clocks.add(&batch);
        batches.push(batch.ns_per_op);
        if began.elapsed() >= least && settled(&batches) {
            break batch;
        }
        if began.elapsed() > pace.warm_limit {
            bench.unsettled = true;
            break batch;
        }
        // A just-in-time compiler makes the same batch shorter and shorter.
        if batch.elapsed < target / 2 {
            iterations = fitting(&batch, target);
        }
    };
    bench.iterations = fitting(&last, pace.batch_of(&bench.cell));
    bench.ns_per_op = last.ns_per_op;
    if let Some(per_collection) = count(bench)? {
        let most = fitting(&last, pace.collected_batch * pace::LONGER);
        bench.iterations = whole_collections(bench.iterations, per_collection, most);
    }
    Ok(clocks)
}

/// As many operations as hold whole collections of memory, and a quarter of the way to the next: that
/// a batch has one collection more than another must not depend on a handful of operations. None are
/// held where the first of them comes later than `most` operations.
fn whole_collections(operations: u64, per_collection: NonZeroU64, most: u64) -> u64 {
    let held = (operations / per_collection).max(1);
    let per_collection = per_collection.get();
    let whole = (held * per_collection).saturating_add(per_collection.div_ceil(4));
    if whole > most { operations } else { whole }
}

/// Doubles the operations until a batch is long enough to be measured.
fn calibrate(bench: &mut Bench, target: Duration) -> Result<Option<Batch>, Stopped> {
    let mut iterations = 1;
    loop {
        let Some(batch) = bench.batch(iterations, target, false)? else {
            return Ok(None);
        };
        // A clock that stands still must not make the batches longer and longer.
        let long = batch.waited.as_secs_f64() > target.as_secs_f64() * MOST_WAITED;
        if batch.elapsed * 4 >= target || iterations >= 1 << 30 || long {
            return Ok(Some(batch));
        }
        iterations *= if batch.elapsed * 64 < target { 8 } else { 2 };
    }
}

fn fitting(batch: &Batch, target: Duration) -> u64 {
    // A clock that hardly moves must not make the batches longer and longer.
    let per_op = batch
        .ns_per_op
        .max(batch.waited_per_op / MOST_WAITED)
        .max(0.1);
    let operations = target.as_secs_f64() * 1e9 / per_op;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    let operations = operations as u64;
    operations.clamp(1, 1 << 32)
}

/// Counts what an operation allocates. How many operations there are from one collection to the next, if
/// the driver knows.
fn count(bench: &mut Bench) -> Result<Option<NonZeroU64>, Stopped> {
    let iterations = bench.iterations.clamp(1, COUNTED);
    let Some(batch) = bench.batch(iterations, Duration::from_secs(1), true)? else {
        return Ok(None);
    };
    bench.bytes_per_op = batch.bytes_per_op;
    bench.allocs_per_op = batch.allocs_per_op;
    Ok(batch.collects_after.and_then(NonZeroU64::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_holds_whole_collections() {
        let batch = |planned, per_collection| {
            let per_collection = NonZeroU64::new(per_collection).expect("one at least");
            whole_collections(planned, per_collection, planned * 5)
        };
        // One comes at 860 operations, and 840 were planned: as good as one, or none.
        assert_eq!(batch(840, 860), 1075);
        for (planned, expected) in [
            (300, 1250),
            (999, 1250),
            (1999, 1250),
            (2000, 2250),
            (9100, 9250),
        ] {
            assert_eq!(batch(planned, 1000), expected, "{planned}");
        }
        // The first would take more than five times as long.
        assert_eq!(batch(200, 801), 200);
        assert_eq!(batch(200, 800), 1000);
        // Whatever a driver says.
        assert_eq!(batch(200, u64::MAX), 200);
    }
}
