//! Progress events of a run.

use crate::driver::BuildEvent;

/// A progress event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A driver is built, or a driver or subject is skipped.
    Build(BuildEvent<'a>),
    /// Preflight: processes start and verify each other's tokens.
    Checking {
        /// The number of started cases.
        done: usize,
        /// The number of all cases.
        of: usize,
    },
    /// A part of the cases is measured; the others before or after.
    Part {
        /// The part, counted from one.
        number: usize,
        /// The number of parts.
        of: usize,
    },
    /// A process warms up.
    Warming {
        /// The subject's id.
        subject: &'a str,
        /// The number of warm cases.
        done: usize,
        /// The number of all cases.
        of: usize,
    },
    /// The rehearsal round runs, which does not count.
    Rehearsing,
    /// The time limit allows fewer rounds than planned.
    FewerRounds {
        /// The number of possible rounds.
        rounds: u32,
        /// The number of planned rounds.
        planned: u32,
    },
    /// A visit of a round is done.
    Round {
        /// The round, counted from one.
        number: u32,
        /// The number of planned rounds.
        of: u32,
        /// The visits done in this round.
        visit: usize,
        /// The visits of a round.
        visits: usize,
    },
    /// The noise of the first rounds will hide differences that matter.
    Noisy {
        /// The rounds that show it.
        rounds: u32,
        /// The planned rounds.
        of: u32,
        /// The expected noise floor after all rounds, as a ratio minus one.
        floor: f64,
    },
    /// Verdicts are computed.
    Judging,
}
