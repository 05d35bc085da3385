//! What rounds cannot be used, and why.

use std::fmt;

/// Why no statistic can be drawn from these rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsError {
    /// Fewer rounds than the statistic needs.
    TooFewRounds {
        /// Rounds that there are.
        rounds: usize,
        /// Rounds that it takes.
        needed: usize,
    },
    /// Two subjects that do not have the same rounds cannot be compared within rounds.
    NotPaired {
        /// Rounds of the subject.
        subject: usize,
        /// Rounds of the baseline.
        baseline: usize,
    },
    /// A time of zero, below zero, infinite or not a number.
    NotATime {
        /// Its round, counted from zero.
        round: usize,
    },
}

impl fmt::Display for StatsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewRounds { rounds, needed } => {
                write!(
                    out,
                    "{rounds} finished rounds, and it takes {needed}: run more rounds"
                )
            }
            Self::NotPaired { subject, baseline } => write!(
                out,
                "the subject has {subject} rounds and the baseline {baseline}: \
                 compare only rounds that both finished"
            ),
            Self::NotATime { round } => {
                write!(
                    out,
                    "round {round} is not a time above zero: measure longer batches"
                )
            }
        }
    }
}

impl std::error::Error for StatsError {}

/// Refuses what has no logarithm.
pub(super) fn check_times(rounds: &[f64], needed: usize) -> Result<(), StatsError> {
    if rounds.len() < needed {
        return Err(StatsError::TooFewRounds {
            rounds: rounds.len(),
            needed,
        });
    }
    match rounds
        .iter()
        .position(|&time| !time.is_finite() || time <= 0.0)
    {
        Some(round) => Err(StatsError::NotATime { round }),
        None => Ok(()),
    }
}
