//! Calibration and warm-up: from a cold process to one whose batches take the same time.

use std::time::{Duration, Instant};

use super::bench::{Batch, Bench, Stopped};
use super::honesty::Clocks;
use super::pace::Pace;
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
    count(bench)?;
    Ok(clocks)
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

fn count(bench: &mut Bench) -> Result<(), Stopped> {
    let counts = bench.hello.as_ref().is_some_and(|h| !h.counts.is_empty());
    if !counts {
        return Ok(());
    }
    let iterations = bench.iterations.clamp(1, COUNTED);
    if let Some(batch) = bench.batch(iterations, Duration::from_secs(1), true)? {
        bench.bytes_per_op = batch.bytes_per_op;
        bench.allocs_per_op = batch.allocs_per_op;
    }
    Ok(())
}
