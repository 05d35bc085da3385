//! How long everything takes: batches, warm-up, rounds, and the estimate made of them.

use std::time::Duration;

use crate::suite::Case;

/// Passes that nobody counts, before the first round of a process's life; none for who lives for a visit.
pub(super) const REHEARSALS: u32 = 2;

/// How long the yardstick is not looked at, about.
const SLICE: Duration = Duration::from_millis(4);

/// How long a process works in each visit before anybody counts, about: the caches that it finds are those
/// of the others, or of nobody where it is new.
pub(super) const LEAD: Duration = Duration::from_millis(2);

/// The same for a driver that does so itself, without waiting for anything before its clock is read: the
/// watchdog of Go's runtime takes so long to look seldom.
pub(super) const OWN_LEAD: Duration = Duration::from_millis(10);

/// Fewer rounds than this prove next to nothing; a budget does not go below.
const FEWEST_ROUNDS: u32 = 6;

/// A round may take so many times its work beyond it, at most, to have a core of its own: one that is shared
/// for longer is not waited for.
const MOST_SPARE: u32 = 2;

/// One that need not be is not begun without a part of its work to spare: one in so many.
const LEAST_SPARE: u32 = 5;

/// The time a run may take when it was asked to be quick: 90 seconds, less what a core that is shared all the
/// time adds to its last round.
pub const QUICK_BUDGET: Duration = Duration::from_secs(87);

/// The time that the three suites may take.
pub const FULL_BUDGET: Duration = Duration::from_secs(58 * 60);

/// How a run spends its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Batches that a round's value is made of: their lower quartile, or that of their slices.
    pub batches: u32,
    /// How long one timed batch takes, about.
    pub batch: Duration,
    /// How long one timed batch takes, about, where memory is collected.
    pub collected_batch: Duration,
    /// To hold a collection of memory, a batch becomes so long, at most. One that would hold none all the
    /// same takes no longer than where nothing is collected, or than that of a managed runtime.
    pub longest_batch: Duration,
    /// How long one timed batch of a managed runtime takes, about: it collects as well, and what it
    /// compiled may be thrown away.
    pub managed_batch: Duration,
    /// How long one batch of the warm-up takes, about. A managed runtime's are
    /// longer: a third of its timed ones.
    pub warm_batch: Duration,
    /// How long a managed runtime works before it is asked whether it has settled: its compiler
    /// may wait, look settled, and then make everything faster.
    pub managed_least: Duration,
    /// When a subject that has not settled is taken as it is.
    pub warm_limit: Duration,
    /// Rounds.
    pub rounds: u32,
    /// How often every process is put out and a new one put in its place, evenly over the rounds:
    /// where it lies in memory is then a part of the spread.
    pub restarts: u32,
    /// Subjects that run twice under two names: enough for three pairs of every language,
    /// because a pair is judged by the others of its kind.
    pub aa_pairs: usize,
}

impl Pace {
    /// The pace of a run that is to be believed.
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

    /// The pace of a run whose figures are shown to others: every process has three lives.
    pub const PUBLISH: Self = Self {
        rounds: 30,
        restarts: 2,
        ..Self::FULL
    };

    /// The pace of a run that somebody waits for.
    pub const QUICK: Self = Self {
        batches: 2,
        batch: Duration::from_millis(12),
        collected_batch: Duration::from_millis(24),
        longest_batch: Duration::from_millis(60),
        managed_batch: Duration::from_millis(30),
        warm_batch: Duration::from_millis(5),
        managed_least: Duration::from_millis(600),
        warm_limit: Duration::from_millis(2500),
        rounds: 12,
        restarts: 0,
        aa_pairs: 9,
    };

    /// How long one batch of that cell takes.
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

    /// The same where it is known that a batch holds no collection of memory.
    #[must_use]
    pub fn batch_without_collection(&self, case: &Case) -> Duration {
        match case.is_managed() {
            true => self.managed_batch,
            false => self.batch,
        }
    }

    /// In how many slices one batch of that cell is timed. One, where memory is collected: a slice of a
    /// few milliseconds holds no collection, or one too many.
    #[must_use]
    pub fn slices_of(&self, case: &Case) -> u64 {
        if case.collects_garbage() {
            return 1;
        }
        let slices = self.batch_of(case).as_micros() / SLICE.as_micros();
        u64::try_from(slices).unwrap_or(u64::MAX).max(1)
    }

    /// Whether all processes are put out before this round, counted from one, of so many.
    #[must_use]
    pub fn restarts_processes(&self, number: u32, of: u32) -> bool {
        let life = of.div_ceil(self.restarts + 1);
        number > 1 && (number - 1).is_multiple_of(life)
    }

    /// The same before it is known after how many operations that cell's memory is collected.
    fn likely_batch_of(&self, case: &Case) -> Duration {
        /// About the mean over Go's libraries.
        const UNTIL_COLLECTED: Duration = Duration::from_millis(45);
        let batch = self.batch_of(case);
        match case.collects_garbage() && !case.is_managed() {
            true => batch.max(UNTIL_COLLECTED),
            false => batch,
        }
    }

    /// How long a round's visits to that cell take, about, when one of its batches takes `batch`: with the
    /// talk around them, and the new processes.
    pub(super) fn visits(&self, case: &Case, batch: Duration) -> Duration {
        const TALK: Duration = Duration::from_millis(1);
        const START: Duration = Duration::from_millis(5);
        let lead = match case.collects_garbage() && !case.is_managed() {
            true => OWN_LEAD,
            false => LEAD,
        };
        let renewal = match lives_for_a_visit(case) {
            true => START,
            false => Duration::ZERO,
        };
        (renewal + lead + batch + TALK) * self.batches
    }

    /// How long all this takes, once the drivers are built.
    #[must_use]
    pub fn estimate(&self, cases: &[Case]) -> Duration {
        let before: Duration = cases.iter().map(|c| self.before_rounds(c)).sum();
        let before = before * (1 + self.restarts);
        // Which cells have twins is not known yet; they are like the rest.
        let aa_pairs = cases.iter().rev().take(self.aa_pairs);
        let visited = || cases.iter().chain(aa_pairs.clone());
        let visits = |case| self.visits(case, self.likely_batch_of(case));
        let round: Duration = visited().map(visits).sum();
        let rehearsed = visited().filter(|case| !lives_for_a_visit(case));
        let rehearsal: Duration = rehearsed.map(visits).sum();
        before + round * self.rounds + rehearsal * REHEARSALS / self.batches
    }

    /// Start, preflight, calibration and warm-up of one cell.
    fn before_rounds(&self, case: &Case) -> Duration {
        // Twice: once for the checks, and afresh for the timing.
        const START: Duration = Duration::from_millis(2 * 40);
        START
            + if case.is_managed() {
                self.managed_least + self.managed_batch * 3
            } else {
                self.warm_batch * 14
            }
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

    /// How much longer than its work the next round may take, of which so many are finished, when one
    /// works for `work` and so much is left of a budget. `None` where there is no time for it, or none
    /// beyond its work: whoever met a shared core in such a round would have no second visit.
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

/// Whether each visit to that cell has a new process. Where it lies in memory makes a process faster or
/// slower for its whole life: two of one program were apart in every round of a run, and of those that
/// lived for a round, now and then one was far off. Who compiles or collects while it works would have to
/// be warmed up every time, and is less apart than its rounds are.
pub(super) fn lives_for_a_visit(case: &Case) -> bool {
    !case.collects_garbage()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_leaves_time_for_those_that_must_follow() {
        let seconds = Duration::from_secs;
        let spare = |left, finished| Pace::QUICK.spare(seconds(left), seconds(4), finished);
        assert_eq!(spare(60, 0), Some(seconds(8)));
        assert_eq!(spare(28, 0), Some(seconds(4)));
        assert_eq!(spare(20, 0), Some(Duration::ZERO));
        // So few rounds there are whatever the time.
        assert_eq!(spare(0, FEWEST_ROUNDS - 1), Some(Duration::ZERO));
        assert_eq!(spare(4, FEWEST_ROUNDS), None);
        assert_eq!(spare(5, FEWEST_ROUNDS), Some(seconds(1)));
    }

    #[test]
    fn a_published_run_has_three_lives_of_ten_rounds() {
        let begins = |pace: &Pace, of| -> Vec<u32> {
            let rounds = 1..=of;
            rounds.filter(|&n| pace.restarts_processes(n, of)).collect()
        };
        assert_eq!(begins(&Pace::PUBLISH, 30), [11, 21]);
        assert_eq!(begins(&Pace::PUBLISH, 8), [4, 7]);
        assert!(begins(&Pace::FULL, 12).is_empty());
    }
}
