//! Errors of unusable rounds.

use std::fmt;

/// The reason why no statistic can be computed from these rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsError {
    /// Too few rounds.
    TooFewRounds {
        /// The number of rounds.
        rounds: usize,
        /// The required number of rounds.
        needed: usize,
    },
    /// Two subjects with different numbers of rounds cannot be compared within rounds.
    NotPaired {
        /// The number of rounds of the subject.
        subject: usize,
        /// The number of rounds of the baseline.
        baseline: usize,
    },
    /// A time that is zero, negative, infinite or NaN.
    NotATime {
        /// The round, counted from zero.
        round: usize,
    },
}

impl fmt::Display for StatsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewRounds { rounds, needed } => {
                write!(
                    out,
                    "{rounds} finished rounds, at least {needed} required: run more rounds"
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
                    "round {round} is not a positive time: measure longer batches"
                )
            }
        }
    }
}

impl std::error::Error for StatsError {}

/// Rejects values without a logarithm.
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
