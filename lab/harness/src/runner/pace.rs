//! The pace of a run: batches, warm-up, rounds, and the time estimate.

use std::time::Duration;

use super::aa_pairs;
use jeton_lab_model::Case;

/// Uncounted passes before the first round of a process; none for processes that restart each visit.
pub(super) const REHEARSALS: u32 = 2;

/// The longest time without a reading of the reference workload, approximately.
const SLICE: Duration = Duration::from_millis(4);

/// The uncounted work of a process at the start of each visit, approximately, so that its caches are
/// warm.
pub(super) const LEAD: Duration = Duration::from_millis(2);

/// The same for a driver that does it without waiting before its clock starts: the background monitor
/// of Go's runtime takes this long to become infrequent.
pub(super) const OWN_LEAD: Duration = Duration::from_millis(10);

/// Fewer rounds than this show almost nothing; the time limit never reduces rounds below.
const FEWEST_ROUNDS: u32 = 6;

/// A round may wait for an unshared core for this multiple of its work.
const MOST_SPARE: u32 = 2;

/// An optional round starts only if this fraction of its work is left as spare time.
const LEAST_SPARE: u32 = 5;

/// The time limit of a quick run: three minutes, minus the largest delay of its last round by a shared
/// core.
pub const QUICK_BUDGET: Duration = Duration::from_secs(175);

/// The time limit of the three suites.
pub const FULL_BUDGET: Duration = Duration::from_secs(58 * 60);

/// How a run spends its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The number of batches per round value, which is the lower quartile of the batches or of their
    /// slices.
    pub batches: u32,
    /// The duration of one timed batch, approximately.
    pub batch: Duration,
    /// The duration of one timed batch with garbage collection, approximately.
    pub collected_batch: Duration,
    /// The longest batch that is extended to contain a garbage collection. If it still contains none,
    /// it is as long as a batch without collection, or as that of a managed runtime.
    pub longest_batch: Duration,
    /// The duration of one timed batch of a managed runtime, approximately: it collects garbage and may
    /// discard compiled code.
    pub managed_batch: Duration,
    /// The duration of one warm-up batch, approximately. For managed runtimes it is longer: a third of
    /// a timed batch.
    pub warm_batch: Duration,
    /// The shortest warm-up of a managed runtime before it is checked for settling: its compiler may
    /// run late and change the speed.
    pub managed_least: Duration,
    /// The longest warm-up; after that an unsettled subject is measured as it is.
    pub warm_limit: Duration,
    /// The number of rounds.
    pub rounds: u32,
    /// How often all processes restart, evenly over the rounds, so that memory layout is part of the
    /// spread.
    pub restarts: u32,
    /// The number of A/A pairs: enough for three per language, because a pair is judged by the others
    /// of its kind.
    pub aa_pairs: usize,
}

impl Pace {
    /// The pace of a full run.
    pub const FULL: Self = Self {
        batches: 3,
        batch: Duration::from_millis(30),
        collected_batch: Duration::from_millis(50),
        longest_batch: Duration::from_millis(250),
        managed_batch: Duration::from_millis(50),
        warm_batch: Duration::from_millis(25),
        managed_least: Duration::from_secs(3),
        warm_limit: Duration::from_secs(10),
        rounds: 12,
        restarts: 0,
        aa_pairs: 9,
    };

    /// The pace of a run for publication: every process restarts twice.
    pub const PUBLISH: Self = Self {
        rounds: 30,
        restarts: 2,
        ..Self::FULL
    };

    /// The pace of a quick run.
    pub const QUICK: Self = Self {
        batches: 2,
        batch: Duration::from_millis(12),
        collected_batch: Duration::from_millis(24),
        longest_batch: Duration::from_millis(60),
        managed_batch: Duration::from_millis(30),
        warm_batch: Duration::from_millis(5),
        managed_least: Duration::from_millis(600),
        warm_limit: Duration::from_millis(2500),
        rounds: 8,
        restarts: 0,
        aa_pairs: 9,
    };

    /// Returns the duration of one batch of this case.
    #[must_use]
    pub fn batch_of(&self, case: &Case) -> Duration {
        if case.is_managed() {
            self.managed_batch
        } else if case.collects_garbage() {
            self.collected_batch
        } else {
            self.batch
        }
    }

    /// Returns the same if a batch contains no garbage collection.
    #[must_use]
    pub fn batch_without_collection(&self, case: &Case) -> Duration {
        if case.is_managed() {
            self.managed_batch
        } else {
            self.batch
        }
    }

    /// Returns the number of slices of a batch. With garbage collection it is one: a slice of a few
    /// milliseconds contains no collection, or one too many.
    #[must_use]
    pub fn slices_of(&self, case: &Case) -> u64 {
        if case.collects_garbage() {
            return 1;
        }
        let slices = self.batch_of(case).as_micros() / SLICE.as_micros();
        u64::try_from(slices).unwrap_or(u64::MAX).max(1)
    }

    /// Reports whether all processes restart before this round, counted from one.
    #[must_use]
    pub fn restarts_processes(&self, number: u32, of: u32) -> bool {
        let life = of.div_ceil(self.restarts + 1);
        number > 1 && (number - 1).is_multiple_of(life)
    }

    /// Returns the same before the interval between garbage collections is known.
    fn likely_batch_of(&self, case: &Case) -> Duration {
        /// About the mean of Go libraries.
        const UNTIL_COLLECTED: Duration = Duration::from_millis(45);
        let batch = self.batch_of(case);
        if case.collects_garbage() && !case.is_managed() {
            batch.max(UNTIL_COLLECTED)
        } else {
            batch
        }
    }

    /// Returns the duration of a round's visits to this case, approximately, including requests and new
    /// processes.
    pub(super) fn visits(&self, case: &Case, batch: Duration) -> Duration {
        const EXCHANGE: Duration = Duration::from_millis(1);
        const START: Duration = Duration::from_millis(5);
        let lead = if case.collects_garbage() && !case.is_managed() {
            OWN_LEAD
        } else {
            LEAD
        };
        let renewal = if restarts_each_visit(case) {
            START
        } else {
            Duration::ZERO
        };
        (renewal + lead + batch + EXCHANGE) * self.batches
    }

    /// Returns the number of A/A pairs of a run of these cases: [`Self::aa_pairs`], and some for each larger
    /// number of threads.
    #[must_use]
    pub fn pairs_of(&self, cases: &[Case]) -> usize {
        aa_pairs::most(cases, self.aa_pairs)
    }

    /// Returns the estimated duration, without building drivers.
    #[must_use]
    pub fn estimate(&self, cases: &[Case]) -> Duration {
        let before: Duration = cases.iter().map(|c| self.before_rounds(c)).sum();
        let before = before * (1 + self.restarts);
        // The A/A pairs are not selected yet; assume average cases.
        let aa_pairs = cases.iter().rev().take(self.pairs_of(cases));
        let visited = || cases.iter().chain(aa_pairs.clone());
        let visits = |case| self.visits(case, self.likely_batch_of(case));
        let round: Duration = visited().map(visits).sum();
        let rehearsed = visited().filter(|case| !restarts_each_visit(case));
        let rehearsal: Duration = rehearsed.map(visits).sum();
        before + round * self.rounds + rehearsal * REHEARSALS / self.batches
    }

    /// Returns the time for start, preflight, calibration and warm-up of one case.
    fn before_rounds(&self, case: &Case) -> Duration {
        // Twice: once for the preflight, and again for the timing.
        const START: Duration = Duration::from_millis(2 * 40);
        START
            + if case.is_managed() {
                self.managed_least + self.managed_batch * 3
            } else {
                self.warm_batch * 14
            }
    }

    /// Returns the number of planned rounds that fit the remaining time, if one takes `round`.
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

    /// Returns how much longer than its work the next round may take; `None` if there is no time for
    /// it, or no spare time: a subject on a shared core could then not be measured again.
    #[must_use]
    pub fn spare(&self, left: Duration, work: Duration, finished: u32) -> Option<Duration> {
        let needed = FEWEST_ROUNDS.min(self.rounds).saturating_sub(finished);
        if needed == 0 && left < work + work / LEAST_SPARE {
            return None;
        }
        let spare = left.saturating_sub(work * needed.max(1));
        Some(spare.min(work * MOST_SPARE))
    }
}

/// Reports whether each visit to this case has a new process. Memory layout makes a process constantly
/// faster or slower: two processes of one program differed in every round. Runtimes that compile or
/// collect garbage keep their process, because each new process would need a warm-up.
pub(super) fn restarts_each_visit(case: &Case) -> bool {
    !case.collects_garbage()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_round_leaves_time_for_minimum_rounds() {
        let seconds = Duration::from_secs;
        let spare = |left, finished| Pace::QUICK.spare(seconds(left), seconds(4), finished);
        assert_eq!(spare(60, 0), Some(seconds(8)));
        assert_eq!(spare(28, 0), Some(seconds(4)));
        assert_eq!(spare(20, 0), Some(Duration::ZERO));
        // The minimum number of rounds ignores the time limit.
        assert_eq!(spare(0, FEWEST_ROUNDS - 1), Some(Duration::ZERO));
        assert_eq!(spare(4, FEWEST_ROUNDS), None);
        assert_eq!(spare(5, FEWEST_ROUNDS), Some(seconds(1)));
    }

    #[test]
    fn pace_publish_restarts_twice() {
        let begins = |pace: &Pace, of| -> Vec<u32> {
            let rounds = 1..=of;
            rounds.filter(|&n| pace.restarts_processes(n, of)).collect()
        };
        assert_eq!(begins(&Pace::PUBLISH, 30), [11, 21]);
        assert_eq!(begins(&Pace::PUBLISH, 8), [4, 7]);
        assert!(begins(&Pace::FULL, 12).is_empty());
    }
}
