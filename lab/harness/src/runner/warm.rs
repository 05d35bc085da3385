//! Calibration and warm-up, until the batches of a process take constant time.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::case_run::{Batch, CaseRun, Stopped};
use super::pace::Pace;
use super::timing_checks::Clocks;
use jeton_lab_model::protocol::Work;
use jeton_lab_stats::settle::settled;

/// The operations of the counted run: enough to make the cost of counting negligible.
const COUNTED: u64 = 512;

/// The largest accepted ratio of the lab's wait to the reported time of a batch.
const MAX_WAIT_FACTOR: f64 = 64.0;

/// The duration of a garbage collection, approximately. It runs concurrently; on one core Go schedules
/// it after 10 ms of work.
const COLLECTING: Duration = Duration::from_millis(10);

/// Finds the operations of a batch, warms up the process, and counts allocations. Returns both clocks'
/// times.
pub(super) fn warm_up(case_run: &mut CaseRun, pace: &Pace) -> Result<Clocks, Stopped> {
    let mut clocks = Clocks::default();
    let (target, least) = if case_run.case.is_managed() {
        (pace.managed_batch / 3, pace.managed_least)
    } else {
        (pace.warm_batch, Duration::ZERO)
    };
    let Some(first) = calibrate(case_run, target)? else {
        return Ok(clocks);
    };
    let mut iterations = fitting(&first, target);
    let began = Instant::now();
    let mut batches = Vec::new();
    let last = loop {
        let Some(batch) = case_run.batch(Work::of(iterations), target)? else {
            return Ok(clocks);
        };
        clocks.add(&batch);
        batches.push(batch.ns_per_op);
        if began.elapsed() >= least && settled(&batches) {
            break batch;
        }
        if began.elapsed() > pace.warm_limit {
            case_run.unsettled = true;
            break batch;
        }
        // A just-in-time compiler makes the same batch shorter over time.
        if batch.elapsed < target / 2 {
            iterations = fitting(&batch, target);
        }
    };
    case_run.iterations = fitting(&last, pace.batch_of(&case_run.case));
    case_run.ns_per_op = last.ns_per_op;
    if let Some(per_collection) = count(case_run)? {
        let operations = |time| fitting(&last, time);
        let most = operations(pace.longest_batch);
        let collecting = operations(COLLECTING);
        case_run.iterations =
            whole_collections(case_run.iterations, per_collection, collecting, most)
                .unwrap_or_else(|| operations(pace.batch_without_collection(&case_run.case)));
    }
    Ok(clocks)
}

/// Returns the number of operations of a batch with whole garbage collections: at least `operations`,
/// plus the operations during the last collection or half of the way to the next. The number of
/// collections in a batch then does not depend on a few operations. `None` if the first collection does
/// not finish within `most`.
fn whole_collections(
    operations: u64,
    per_collection: NonZeroU64,
    collecting: u64,
    most: u64,
) -> Option<u64> {
    let held = (operations / per_collection).max(1);
    let per_collection = per_collection.get();
    let beyond = per_collection.div_ceil(2).min(collecting);
    let whole = (held * per_collection).saturating_add(beyond);
    (whole <= most).then_some(whole)
}

/// Doubles the operations until a batch is long enough to measure.
fn calibrate(case_run: &mut CaseRun, target: Duration) -> Result<Option<Batch>, Stopped> {
    let mut iterations = 1;
    loop {
        let Some(batch) = case_run.batch(Work::of(iterations), target)? else {
            return Ok(None);
        };
        // A clock that does not advance must not lengthen the batches without limit.
        let long = batch.waited.as_secs_f64() > target.as_secs_f64() * MAX_WAIT_FACTOR;
        if batch.elapsed * 4 >= target || iterations >= 1 << 30 || long {
            return Ok(Some(batch));
        }
        iterations *= if batch.elapsed * 64 < target { 8 } else { 2 };
    }
}

fn fitting(batch: &Batch, target: Duration) -> u64 {
    // A clock that hardly moves must not lengthen the batches without limit.
    let per_op = batch
        .ns_per_op
        .max(batch.waited_per_op / MAX_WAIT_FACTOR)
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

/// Counts the allocations of an operation. Returns the operations between two garbage collections, if
/// the driver knows.
fn count(case_run: &mut CaseRun) -> Result<Option<NonZeroU64>, Stopped> {
    let iterations = case_run.iterations.clamp(1, COUNTED);
    let Some(batch) = case_run.batch(Work::of(iterations).counted(), Duration::from_secs(1))?
    else {
        return Ok(None);
    };
    case_run.bytes_per_op = batch.bytes_per_op;
    case_run.allocs_per_op = batch.allocs_per_op;
    Ok(batch.collects_after.and_then(NonZeroU64::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_contains_whole_collections() {
        let batch = |planned, per_collection| {
            let per_collection = NonZeroU64::new(per_collection).expect("at least one");
            whole_collections(planned, per_collection, 600, planned * 5)
        };
        // A collection happens at 860 operations, 840 are planned: the batch could contain one or none.
        assert_eq!(batch(840, 860), Some(1290));
        for (planned, expected) in [
            (300, 1500),
            (999, 1500),
            (1999, 1500),
            (2000, 2500),
            (9100, 9500),
        ] {
            assert_eq!(batch(planned, 1000), Some(expected), "{planned}");
        }
        // Rare collections finish long before half of the way to the next.
        assert_eq!(batch(5000, 4000), Some(4600));
        // The first would take more than five times as long.
        assert_eq!(batch(200, 667), None);
        assert_eq!(batch(200, 666), Some(999));
        // Implausible values from a driver.
        assert_eq!(batch(200, u64::MAX), None);
    }
}
