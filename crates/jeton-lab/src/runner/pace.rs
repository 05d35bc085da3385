//! How long everything takes: batches, warm-up, rounds, and the estimate made of them.

use std::time::Duration;

use crate::suite::Cell;

/// Batches that make one visit: the round's value is their median.
pub(super) const BATCHES: u32 = 3;

/// Fewer rounds than this prove nothing; a budget does not go below.
pub(super) const FEWEST_ROUNDS: u32 = 4;

/// The time a run may take when it was asked to be quick.
pub const QUICK_BUDGET: Duration = Duration::from_secs(85);

/// How a run spends its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long one timed batch takes, about.
    pub batch: Duration,
    /// How long one batch of the warm-up takes, about.
    pub warm_batch: Duration,
    /// When a subject that has not settled is taken as it is.
    pub warm_limit: Duration,
    /// Rounds.
    pub rounds: u32,
    /// Subjects that run twice under two names.
    pub twins: usize,
}

impl Pace {
    /// The pace of a run that is to be believed.
    pub const FULL: Self = Self {
        batch: Duration::from_millis(100),
        warm_batch: Duration::from_millis(25),
        warm_limit: Duration::from_secs(10),
        rounds: 12,
        twins: 6,
    };

    /// The pace of a run that somebody waits for.
    pub const QUICK: Self = Self {
        batch: Duration::from_millis(20),
        warm_batch: Duration::from_millis(5),
        warm_limit: Duration::from_millis(1500),
        rounds: 8,
        twins: 5,
    };

    /// How long one round takes: every cell's batches, and the talk around them.
    #[must_use]
    pub fn round(&self, cells: usize) -> Duration {
        const TALK: Duration = Duration::from_millis(2);
        (self.batch * BATCHES + TALK) * u32::try_from(cells).unwrap_or(u32::MAX)
    }

    /// How long all this takes, once the drivers are built.
    #[must_use]
    pub fn estimate(&self, cells: &[Cell]) -> Duration {
        let before: Duration = cells.iter().map(|c| self.before_rounds(c)).sum();
        before + self.round(cells.len() + self.twins) * self.rounds
    }

    /// Start, preflight, calibration and warm-up of one cell.
    fn before_rounds(&self, cell: &Cell) -> Duration {
        const START: Duration = Duration::from_millis(40);
        let settling = self.warm_batch * 14;
        let managed = matches!(cell.language.as_str(), "node" | "java" | "python");
        START + if managed { settling * 5 } else { settling }
    }

    /// As many of the planned rounds as fit into what is left of a budget, when one takes `round`.
    #[must_use]
    pub fn rounds_within(&self, left: Duration, round: Duration) -> u32 {
        let fit = left.as_secs_f64() / round.as_secs_f64().max(1e-3);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let fit = fit as u32;
        self.rounds.min(fit).max(FEWEST_ROUNDS.min(self.rounds))
    }
}
