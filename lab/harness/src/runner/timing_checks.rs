//! Checks after warm-up whether the times that a driver reports are plausible.
//!
//! A driver measures its own time, so it could report anything. Three checks look for misreported
//! timings. A suspicion is confirmed before it counts: a stall of the machine looks like a false report
//! once, but not three times in a row.
//!
//! One case cannot be detected: a driver that verifies its pool during `prepare` and then answers from
//! memory has no slower first time.

use std::time::Duration;

use super::case_run::{Batch, CaseRun, Stopped};
use crate::protocol::RUN_LIMIT;
use jeton_lab_fixtures::Fixtures;
use jeton_lab_model::protocol::Work;
use jeton_lab_model::result::Status;

/// The duration of a batch for the clock check; the overhead of a busy machine is then small.
const CLOCKED: Duration = Duration::from_millis(200);
/// The largest delay between the lab's and the driver's clock for one batch on a busy machine.
const TRANSFER_MAX: Duration = Duration::from_millis(50);
/// The usual delay on a quiet machine; more than this leads to a closer check.
const TRANSFER_USUAL: Duration = Duration::from_millis(1);
/// The largest accepted ratio of the lab's to the driver's time.
const CLOCKS_APART: f64 = 1.5;
/// The largest accepted ratio of times per operation between a quarter batch and a whole one.
const GROWTH: f64 = 2.5;
/// The number of tries before work that does not grow with its operations is believed.
const GROWTH_TRIES: usize = 8;
/// The smallest number of tries before growth is believed: a single stall in a whole batch looks like it.
const GROWTH_LEAST: usize = 3;
/// The smallest batch for the growth check.
const GROWING: u64 = 16;
/// The largest accepted ratio of the first to the second verification of a token.
const FIRST_TIME: f64 = 2.0;
/// The duration of one pass over fresh tokens, approximately.
const FRESH_PASS: Duration = Duration::from_millis(2);
/// The largest and smallest number of fresh tokens in one pass.
const FRESH_TOKENS: (usize, usize) = (64, 8);
/// Passes over different tokens; the fastest first and the fastest second time count.
const FRESH_PASSES: usize = 5;
/// The accepted difference of the clocks by their resolution.
const RESOLUTION: Duration = Duration::from_millis(1);
/// The shortest plausible operation; one block of a hash alone takes longer.
const FASTEST_NS: f64 = 2.0;
/// The number of confirmations for or against a suspicion.
const CONFIRMED: usize = 3;

/// The driver's and the lab's times during a warm-up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clocks {
    batches: u32,
    said: Duration,
    waited: Duration,
    /// True if a batch took longer by the driver's clock than the lab waited.
    impossible: bool,
}

impl Clocks {
    pub(super) fn add(&mut self, batch: &Batch) {
        self.batches += 1;
        self.said += batch.elapsed;
        self.waited += batch.waited;
        self.impossible |= batch.elapsed > batch.waited;
    }

    fn disagree(&self) -> bool {
        self.impossible || apart(self.said, self.waited, TRANSFER_USUAL * self.batches)
    }
}

/// The driver cannot work longer than the lab waits.
fn impossible(said: Duration, waited: Duration) -> bool {
    said > waited + RESOLUTION
}

/// Reports whether the lab waited much longer than the driver reports.
fn apart(said: Duration, waited: Duration, on_the_way: Duration) -> bool {
    waited > said.mul_f64(CLOCKS_APART) + on_the_way
}

/// Reports whether a batch for the clock check shows a wrong clock.
fn is_wrong(said: Duration, waited: Duration) -> bool {
    let stands_still = said.is_zero() && waited > RESOLUTION;
    stands_still || apart(said, waited, TRANSFER_MAX)
}

fn wrong_clock(case_run: &mut CaseRun, said: Duration, waited: Duration) {
    case_run.fail(
        Status::FailedPreflight,
        format!(
            "misreported time: the driver reports {:.1} ms, the lab waited {:.1} ms",
            said.as_secs_f64() * 1e3,
            waited.as_secs_f64() * 1e3
        ),
    );
}

/// Fails a case whose times are not plausible.
pub(super) fn check(
    case_run: &mut CaseRun,
    fixtures: &Fixtures,
    clocks: Clocks,
) -> Result<(), Stopped> {
    if clocks.disagree() {
        check_clock(case_run)?;
    }
    check_growth(case_run)?;
    check_first_times(case_run, fixtures)
}

fn check_clock(case_run: &mut CaseRun) -> Result<(), Stopped> {
    let (mut last, mut right) = (None, 0);
    let mut wrong = 0;
    let operations = if case_run.ns_per_op > 0.0 {
        at_most(CLOCKED, case_run.ns_per_op)
    } else {
        case_run.iterations
    };
    while wrong < CONFIRMED {
        let Some(batch) = case_run.batch(Work::of(operations), CLOCKED)? else {
            return Ok(());
        };
        if impossible(batch.elapsed, batch.waited) {
            wrong = CONFIRMED;
            last = Some(batch);
        } else if is_wrong(batch.elapsed, batch.waited) {
            wrong += 1;
            last = Some(batch);
        } else {
            right += 1;
        }
        if right == CONFIRMED {
            return Ok(());
        }
    }
    if let Some(batch) = last {
        wrong_clock(case_run, batch.elapsed, batch.waited);
    }
    Ok(())
}

/// Checks that four times the operations take about four times as long.
///
/// A stall makes a batch longer and never shorter. So the fastest of several batches of each size are
/// compared, and a suspicious driver is measured again.
fn check_growth(case_run: &mut CaseRun) -> Result<(), Stopped> {
    let all = case_run.iterations;
    if all < GROWING {
        return Ok(());
    }
    let (mut few, mut many) = (f64::INFINITY, f64::INFINITY);
    let impossible = case_run.ns_per_op > 0.0 && case_run.ns_per_op < FASTEST_NS;
    for tries in 1..=GROWTH_TRIES {
        if impossible {
            break;
        }
        let Some(quarter) = case_run.batch(Work::of(all / 4), CLOCKED)? else {
            return Ok(());
        };
        let Some(whole) = case_run.batch(Work::of(all), CLOCKED)? else {
            return Ok(());
        };
        few = few.min(quarter.ns_per_op);
        many = many.min(whole.ns_per_op);
        if tries >= GROWTH_LEAST && few <= many * GROWTH {
            return Ok(());
        }
    }
    case_run.fail(
        Status::FailedPreflight,
        "misreported time: four times as many operations take hardly longer",
    );
    Ok(())
}

/// Checks that the second verification of a token is not faster than the first.
fn check_first_times(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
    let case = case_run.case.clone();
    if !case.operation.opens_tokens() || case.is_reference() || case.caches || !case_run.live() {
        return Ok(());
    }
    let in_a_pass = usize::try_from(at_most(FRESH_PASS, case_run.ns_per_op)).unwrap_or(usize::MAX);
    let tokens = in_a_pass.clamp(FRESH_TOKENS.1, FRESH_TOKENS.0);
    let mut slower = None;
    for confirmation in 0..CONFIRMED {
        let first = confirmation * FRESH_PASSES;
        let ratio = first_over_second(case_run, fixtures, first, tokens)?;
        slower = ratio.filter(|ratio| *ratio >= FIRST_TIME);
        if slower.is_none() {
            break;
        }
    }
    if let Some(slower) = slower {
        case_run.fail(
            Status::FailedPreflight,
            format!(
                "the first verification of a token takes {slower:.1} times as long as the second: \
                 the library uses a cache, and the manifest does not set `caches_tokens`"
            ),
        );
    }
    // Return to the shared tokens.
    if let Ok(prepare) = fixtures.prepare(&case) {
        case_run.ask(|p| p.prepare(&prepare))?;
    }
    Ok(())
}

/// Returns the number of operations that fill a time; at least one.
fn at_most(time: Duration, ns_per_op: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    let operations = (time.as_secs_f64() * 1e9 / ns_per_op.max(0.1)) as u64;
    operations.clamp(1, 1 << 32)
}

/// Returns the ratio of the fastest first to the fastest second pass over fresh tokens; `None` if there
/// are no such tokens, or the driver failed. A stall makes a pass longer and never shorter.
fn first_over_second(
    case_run: &mut CaseRun,
    fixtures: &Fixtures,
    first_pass: usize,
    tokens: usize,
) -> Result<Option<f64>, Stopped> {
    let (mut fastest_first, mut fastest_second) = (u64::MAX, u64::MAX);
    for pass in first_pass..first_pass + FRESH_PASSES {
        let Some(prepare) = fixtures.prepare_fresh(&case_run.case, pass, tokens) else {
            return Ok(None);
        };
        let operations = prepare.tokens.as_ref().map_or(0, Vec::len) as u64;
        let threads = case_run.case.threads;
        let timed = case_run.ask(|p| {
            p.prepare(&prepare)?;
            // Whatever is slow after a preparation, on a busy machine above all, is not in the first time.
            p.verify("no token")?;
            let first = p.run(Work::of(operations), threads, RUN_LIMIT)?;
            let second = p.run(Work::of(operations), threads, RUN_LIMIT)?;
            Ok((first.elapsed_ns, second.elapsed_ns))
        })?;
        let Some((first, second)) = timed else {
            return Ok(None);
        };
        fastest_first = fastest_first.min(first);
        fastest_second = fastest_second.min(second);
    }
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let ratio = fastest_first as f64 / fastest_second.max(1) as f64;
    Ok(Some(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_small_difference_is_accepted() {
        let ms = Duration::from_millis;
        assert!(!apart(ms(200), ms(201), TRANSFER_MAX));
        let slow_to_wake = apart(ms(200), ms(330), TRANSFER_MAX);
        assert!(!slow_to_wake, "a busy machine is not a false report");
        let half_is_told = apart(ms(200), ms(400), TRANSFER_MAX);
        assert!(half_is_told);
        assert!(impossible(ms(200), ms(150)), "longer than the lab waited");
        assert!(!impossible(ms(200), ms(200)));
        assert!(is_wrong(ms(0), ms(2)), "the clock does not advance");
        assert!(!is_wrong(ms(0), ms(1)), "below the resolution");
        assert!(is_wrong(ms(200), ms(400)) && !is_wrong(ms(200), ms(330)));
    }
}
