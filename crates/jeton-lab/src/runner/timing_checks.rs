//! Between the warm-up and the rounds: can what a warm driver says of its time be true?
//!
//! A driver times itself, so it could say anything. Three lies are looked for, each in what it
//! would have to do to the figures; a suspicion is confirmed before it is believed, because a
//! machine that stalls looks like a lie once, and not three times in a row.
//!
//! What cannot be seen from outside: a driver that verifies its pool while it is prepared, and
//! answers from memory ever after, has no first time that could be slower than its second.

use std::time::Duration;

use super::case_run::{Batch, CaseRun, Stopped};
use super::fixtures::Fixtures;
use crate::protocol::{RUN_LIMIT, Work};
use crate::result::Status;
use crate::stats::median::median;

/// How long a batch is that is timed by two clocks: what a busy machine adds to it is small then.
const CLOCKED: Duration = Duration::from_millis(200);
/// What may pass between the lab's asking and the driver's clock, and back, for one batch on a busy
/// machine.
const ON_THE_WAY: Duration = Duration::from_millis(50);
/// What passes there on a quiet one: more of it is no proof, and worth a closer look.
const USUALLY_ON_THE_WAY: Duration = Duration::from_millis(1);
/// The lab's clock may show so many times what the driver's does.
const CLOCKS_APART: f64 = 1.5;
/// A quarter of the operations may cost so many times as much each.
const GROWTH: f64 = 2.5;
/// How often a driver whose work seems not to grow is asked, before that is believed.
const GROWTH_TRIES: usize = 8;
/// Fewer operations than this in a batch are too few to take a quarter of.
const GROWING: u64 = 16;
/// A token may take so many times as long the first time as the second.
const FIRST_TIME: f64 = 2.0;
/// How long one pass over tokens that were never seen takes, about.
const FRESH_PASS: Duration = Duration::from_millis(2);
/// Tokens that were never seen, in one pass, at most and at least.
const FRESH_TOKENS: (usize, usize) = (64, 8);
/// Passes over different tokens; their median counts.
const FRESH_PASSES: usize = 5;
/// Clocks may be so far apart by their grain alone.
const GRAIN: Duration = Duration::from_millis(1);
/// No operation on a token or key takes less: one block of a hash alone takes longer.
const FASTEST_NS: f64 = 2.0;
/// How often something must be seen to be believed; as often against it, and it is not.
const CONFIRMED: usize = 3;

/// What a warm-up showed of a driver's clock beside the lab's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clocks {
    batches: u32,
    said: Duration,
    waited: Duration,
    /// Whether a batch took longer than the lab waited for it, by the driver's clock.
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
        self.impossible || apart(self.said, self.waited, USUALLY_ON_THE_WAY * self.batches)
    }
}

/// Nobody works longer than the lab waits: there is nothing to weigh.
fn impossible(said: Duration, waited: Duration) -> bool {
    said > waited + GRAIN
}

/// Whether the lab waited so long that the driver cannot have worked so little.
fn apart(said: Duration, waited: Duration, on_the_way: Duration) -> bool {
    waited > said.mul_f64(CLOCKS_APART) + on_the_way
}

fn wrong_clock(case_run: &mut CaseRun, said: Duration, waited: Duration) {
    case_run.fail(
        Status::FailedPreflight,
        format!(
            "its clock is wrong: it says {:.1} ms for work that the lab waited {:.1} ms for",
            said.as_secs_f64() * 1e3,
            waited.as_secs_f64() * 1e3
        ),
    );
}

/// Fails a bench whose driver cannot be believed.
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
        } else if apart(batch.elapsed, batch.waited, ON_THE_WAY) {
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

/// Four times the operations take four times as long, whatever a checksum says.
///
/// A machine that stalls makes a batch longer and never shorter, and a stall weighs most on the
/// short batch: so the fastest of each is compared, and who is suspected is asked again.
fn check_growth(case_run: &mut CaseRun) -> Result<(), Stopped> {
    let all = case_run.iterations;
    if all < GROWING {
        return Ok(());
    }
    let (mut few, mut many) = (f64::INFINITY, f64::INFINITY);
    let impossible = case_run.ns_per_op > 0.0 && case_run.ns_per_op < FASTEST_NS;
    for _ in 0..GROWTH_TRIES {
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
        if few <= many * GROWTH {
            return Ok(());
        }
    }
    case_run.fail(
        Status::FailedPreflight,
        "its work does not grow with its operations: four times as many take hardly longer",
    );
    Ok(())
}

/// A token is not verified faster for having been verified before.
fn check_first_times(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
    let case = case_run.case.clone();
    if !case.operation.opens_tokens() || case.is_reference() || case.caches || !case_run.live() {
        return Ok(());
    }
    let in_a_pass = usize::try_from(at_most(FRESH_PASS, case_run.ns_per_op)).unwrap_or(usize::MAX);
    let tokens = in_a_pass.clamp(FRESH_TOKENS.1, FRESH_TOKENS.0);
    let mut slower = 0.0;
    for confirmation in 0..2 {
        let first = confirmation * FRESH_PASSES;
        let Some(ratio) = first_over_second(case_run, fixtures, first, tokens)? else {
            break;
        };
        if ratio < FIRST_TIME {
            break;
        }
        slower = if confirmation == 0 { 0.0 } else { ratio };
    }
    if slower > 0.0 {
        case_run.fail(
            Status::FailedPreflight,
            format!(
                "takes {slower:.1} times as long for a token the first time as the second: \
                 it answers from a cache, and its manifest does not say `caches_tokens`"
            ),
        );
    }
    // Back to the tokens that everybody works on.
    if let Ok(prepare) = fixtures.prepare(&case) {
        case_run.ask(|p| p.prepare(&prepare))?;
    }
    Ok(())
}

/// Operations that fill a time, if one takes so long; one at least.
fn at_most(time: Duration, ns_per_op: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    let operations = (time.as_secs_f64() * 1e9 / ns_per_op.max(0.1)) as u64;
    operations.clamp(1, 1 << 32)
}

/// The median over some passes of what a pass over tokens never seen takes, divided by what the
/// same pass takes again. `None` if there are no such tokens, or the driver failed.
fn first_over_second(
    case_run: &mut CaseRun,
    fixtures: &Fixtures,
    first_pass: usize,
    tokens: usize,
) -> Result<Option<f64>, Stopped> {
    let mut ratios = Vec::new();
    for pass in first_pass..first_pass + FRESH_PASSES {
        let Some(prepare) = fixtures.prepare_fresh(&case_run.case, pass, tokens) else {
            return Ok(None);
        };
        let operations = prepare.tokens.as_ref().map_or(0, Vec::len) as u64;
        let threads = case_run.case.threads;
        let timed = case_run.ask(|p| {
            p.prepare(&prepare)?;
            let first = p.run(Work::of(operations), threads, RUN_LIMIT)?;
            let second = p.run(Work::of(operations), threads, RUN_LIMIT)?;
            Ok((first.elapsed_ns, second.elapsed_ns))
        })?;
        let Some((first, second)) = timed else {
            return Ok(None);
        };
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        ratios.push(first as f64 / second.max(1) as f64);
    }
    Ok(median(&ratios))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_be_a_little_apart() {
        let ms = Duration::from_millis;
        assert!(!apart(ms(200), ms(201), ON_THE_WAY));
        let slow_to_wake = apart(ms(200), ms(330), ON_THE_WAY);
        assert!(!slow_to_wake, "a busy machine is no lie");
        let half_is_told = apart(ms(200), ms(400), ON_THE_WAY);
        assert!(half_is_told);
        assert!(impossible(ms(200), ms(150)), "longer than the lab waited");
        assert!(!impossible(ms(200), ms(200)));
        assert!(apart(ms(0), ms(60), ON_THE_WAY), "it stands still");
    }
}
