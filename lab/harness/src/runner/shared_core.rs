//! Excludes time in which another virtual machine shared the drivers' core.
//!
//! A batch is timed in slices, and the reference workload runs before and after every slice; for a
//! batch that cannot be sliced it runs every few milliseconds. Cores are shared for tens or hundreds of
//! milliseconds, each at its own times. So a slice waits until one of the drivers' two cores is
//! unshared, as long as the round has spare time. If a reading still exceeds the round's shortest ones
//! by more than [`SHARED_BEYOND`], the slice is excluded, unless its subject has no other in this
//! round. A subject with too few slices is measured again a few times, while there is spare time. The
//! times of slices have no influence on this: a slow slice on an unshared core counts, and a fast one
//! on a shared core does not. The result contains the excluded share.
//! one on an undisturbed core stays, and a fast one on a shared core goes. The share is in the result.

use std::collections::VecDeque;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use super::case_run::CaseRun;
use crate::host::{ConcurrentReadings, ReferenceWorkload, SHARED_BEYOND, reasons_of_figures};
use jeton_lab_model::result::Disturbance;
use jeton_lab_stats::median::round_value;

/// The number of unshared slices per value. With these, two disturbances between readings do not change
/// the value.
const MIN_SLICES: usize = 3;

/// The interval of readings during a batch that is not sliced. Each reading takes a hundredth of it.
const READ_EVERY: Duration = Duration::from_millis(8);

/// The largest number of repeated passes for missing slices.
pub(super) const EXTRA_PASSES: u32 = 4;

/// The position of an unshared reading in the sorted readings.
const SHORTEST: f64 = 0.1;

/// The number of recent readings that define an unshared one; the clock may change with temperature.
const RECENT: usize = 512;

/// Fewer readings than this define nothing.
const FEWEST_READINGS: usize = 32;

/// Observes the drivers' core, and waits until it is unshared.
#[derive(Debug)]
pub(super) struct Watch<'c> {
    /// `None` if the drivers have no core of their own; then nothing is observed.
    reference_workload: Option<ReferenceWorkload<'c>>,
    /// Readings around slices. Readings while waiting are excluded: they would make a shared core look
    /// usual.
    recent: VecDeque<Duration>,
    last: Option<Duration>,
    max_wait: Duration,
}

impl<'c> Watch<'c> {
    pub(super) fn with(reference_workload: Option<ReferenceWorkload<'c>>) -> Self {
        Self {
            reference_workload,
            recent: VecDeque::with_capacity(RECENT),
            last: None,
            max_wait: Duration::ZERO,
        }
    }

    /// Sets the total maximum wait from now on.
    pub(super) fn set_max_wait(&mut self, max_wait: Duration) {
        self.max_wait = max_wait;
    }

    /// Returns the remaining maximum wait.
    pub(super) fn max_wait(&self) -> Duration {
        self.max_wait
    }

    /// Returns the number of slices of a batch, of the possible number.
    pub(super) fn slices(&self, possible: u64) -> u64 {
        if self.reference_workload.is_some() {
            possible
        } else {
            1
        }
    }

    /// Returns the required number of unshared slices per round: more than half, so that they are not
    /// all from one process, and all if there are few.
    pub(super) fn enough(&self, batches: u32, possible: u64) -> usize {
        let planned = self.slices(possible) * u64::from(batches);
        let planned = usize::try_from(planned).unwrap_or(MIN_SLICES);
        (planned / 2 + 1).max(MIN_SLICES.min(planned))
    }

    /// Takes readings during a batch that is not sliced.
    pub(super) fn during<T>(&self, batch: impl FnOnce() -> T) -> (T, ConcurrentReadings) {
        match &self.reference_workload {
            Some(reference_workload) => reference_workload.during(READ_EVERY, batch),
            None => (batch(), ConcurrentReadings::default()),
        }
    }

    /// Takes a reading after a slice.
    pub(super) fn look(&mut self) -> Option<Duration> {
        let reading = self.reference_workload.as_ref()?.read();
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(reading);
        self.last = Some(reading);
        self.last
    }

    /// Takes readings until the core is unshared or the maximum wait is over; after two shared readings
    /// it changes to the other core. Returns the last reading, which belongs to the next slice and,
    /// without a wait, to the previous one.
    pub(super) fn wait_for_free_core(&mut self) -> Option<Duration> {
        let limit = limit_of(self.recent.iter().copied().collect(), FEWEST_READINGS)?;
        let reference_workload = self.reference_workload.as_ref()?;
        let shared = |reading: Option<Duration>| reading.is_none_or(|reading| reading > limit);
        while shared(self.last) && !self.max_wait.is_zero() {
            let began = Instant::now();
            self.last = Some(reference_workload.read());
            if shared(self.last) {
                reference_workload.cores().change();
                self.last = Some(reference_workload.read());
            }
            self.max_wait = self.max_wait.saturating_sub(began.elapsed());
        }
        self.last
    }

    /// Moves the process of a case to the last core read. Reports whether it moved.
    pub(super) fn bring(&self, case_run: &mut CaseRun) -> bool {
        let reference_workload = self.reference_workload.as_ref();
        reference_workload
            .is_some_and(|reference_workload| case_run.follow(reference_workload.cores()))
    }
}

/// Returns the longest reading of an unshared core, if there are enough readings.
fn limit_of(mut readings: Vec<Duration>, fewest: usize) -> Option<Duration> {
    if readings.len() < fewest {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a count is an index"
    )]
    let shortest = (readings.len() as f64 * SHORTEST) as usize;
    let (_, reading, _) = readings.select_nth_unstable(shortest);
    Some(reading.mul_f64(SHARED_BEYOND))
}

/// The slices of one round, by case.
#[derive(Debug)]
pub(super) struct Slices(Vec<Vec<Slice>>);

/// A part of a batch, between two readings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub operations: u64,
    pub ns_per_op: f64,
    /// The longest reading around and during the slice.
    pub reading: Option<Duration>,
}

impl Slice {
    fn is_shared(&self, limit: Option<Duration>) -> bool {
        self.reading.zip(limit).is_some_and(|(r, l)| r > l)
    }

    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn ns(&self) -> f64 {
        self.ns_per_op * self.operations as f64
    }
}

impl Slices {
    pub(super) fn of(case_runs: usize) -> Self {
        Self(vec![Vec::new(); case_runs])
    }

    pub(super) fn add(&mut self, case_run: usize, slices: Vec<Slice>) {
        self.0[case_run].extend(slices);
    }

    /// Counts the unshared slices of each case.
    pub(super) fn unshared(&self) -> Vec<usize> {
        let limit = self.limit();
        let lone = |slices: &Vec<Slice>| slices.iter().filter(|s| !s.is_shared(limit)).count();
        self.0.iter().map(lone).collect()
    }

    /// Returns each case's value of the round from its counted slices, and the shared share.
    pub(super) fn values(self) -> (Vec<Option<f64>>, Sharing) {
        let limit = self.limit();
        let mut sharing = Sharing::default();
        for slice in self.all().filter(|slice| slice.reading.is_some()) {
            sharing.watched += slice.ns();
            sharing.shared += f64::from(slice.is_shared(limit)) * slice.ns();
        }
        let values = self.0.iter().map(|slices| {
            let lone = slices.iter().filter(|slice| !slice.is_shared(limit));
            let lone: Vec<f64> = lone.map(|slice| slice.ns_per_op).collect();
            let all = || -> Vec<f64> { slices.iter().map(|slice| slice.ns_per_op).collect() };
            round_value(&lone).or_else(|| round_value(&all()))
        });
        (values.collect(), sharing)
    }

    fn all(&self) -> impl Iterator<Item = &Slice> {
        self.0.iter().flatten()
    }

    fn limit(&self) -> Option<Duration> {
        limit_of(self.all().filter_map(|slice| slice.reading).collect(), 1)
    }
}

/// The observed time in nanoseconds, and the shared part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sharing {
    watched: f64,
    shared: f64,
}

impl AddAssign for Sharing {
    fn add_assign(&mut self, other: Self) {
        self.watched += other.watched;
        self.shared += other.shared;
    }
}

impl Sharing {
    /// Adds the observation to the recorded disturbance.
    pub(super) fn record_in(self, disturbance: &mut Disturbance) {
        if self.watched <= 0.0 {
            return;
        }
        disturbance.shared = Some(self.shared / self.watched);
        for reason in reasons_of_figures(disturbance) {
            if !disturbance.reasons.contains(&reason) {
                disturbance.reasons.push(reason);
            }
        }
        disturbance.disturbed = !disturbance.reasons.is_empty();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::host::Cores;

    const ALONE: Duration = Duration::from_micros(60);
    const SHARED: Duration = Duration::from_micros(100);

    /// Ten operations with this duration each.
    fn slice(&(ns_per_op, reading): &(f64, Duration)) -> Slice {
        Slice {
            operations: 10,
            ns_per_op,
            reading: Some(reading),
        }
    }

    fn round(case_runs: &[&[(f64, Duration)]]) -> Slices {
        let mut slices = Slices::of(case_runs.len());
        for (case_run, all) in case_runs.iter().enumerate() {
            slices.add(case_run, all.iter().map(slice).collect());
        }
        slices
    }

    #[test]
    fn slices_on_shared_core_are_excluded() {
        let slices = round(&[
            &[
                (10.0, ALONE),
                (16.0, SHARED),
                (17.0, SHARED),
                (18.0, SHARED),
            ],
            &[(10.0, ALONE), (11.0, ALONE), (12.0, ALONE), (99.0, SHARED)],
        ]);
        assert_eq!(slices.unshared(), [1, 3]);
        let (values, sharing) = slices.values();
        assert_eq!(values, [Some(10.0), Some(10.0)]);
        assert_eq!((sharing.watched, sharing.shared), (1930.0, 1500.0));
    }

    #[test]
    fn slices_are_selected_without_regard_to_time() {
        // An outlier on an unshared core counts; an expected value on a shared core does not.
        let (values, _) = round(&[&[(50.0, ALONE), (60.0, ALONE), (10.0, SHARED)]]).values();
        assert_eq!(values, [Some(50.0)]);
    }

    #[test]
    fn slices_all_shared_are_kept() {
        let slices = round(&[
            &[(16.0, SHARED), (17.0, SHARED), (19.0, SHARED)],
            &[(10.0, ALONE), (10.0, ALONE), (10.0, ALONE)],
            // It failed.
            &[],
        ]);
        assert_eq!(slices.unshared(), [0, 3, 0]);
        assert_eq!(slices.values().0, [Some(16.0), Some(10.0), None]);
    }

    #[test]
    fn slices_without_reference_workload_all_count() {
        let unseen = |ns_per_op| Slice {
            reading: None,
            ..slice(&(ns_per_op, ALONE))
        };
        let mut slices = Slices::of(1);
        slices.add(0, [1.0, 2.0, 6.0].map(unseen).into());
        assert_eq!(slices.unshared(), [3]);
        let (values, sharing) = slices.values();
        assert_eq!((values, sharing), (vec![Some(1.0)], Sharing::default()));
        let mut disturbance = Disturbance::default();
        sharing.record_in(&mut disturbance);
        assert_eq!(disturbance, Disturbance::default());
    }

    #[test]
    fn watch_without_own_core_does_not_wait() {
        let mut watch = Watch::with(None);
        watch.set_max_wait(Duration::from_secs(3600));
        assert_eq!((watch.slices(7), watch.enough(3, 7)), (1, 3));
        assert_eq!(watch.enough(2, 7), 2);
        assert_eq!(watch.during(|| 5), (5, ConcurrentReadings::default()));
        assert_eq!((watch.wait_for_free_core(), watch.look()), (None, None));
    }

    #[test]
    fn watch_shared_core_changes_to_the_other() {
        let cores = Cores::split();
        if cores.driver_core().is_none() {
            return; // A machine with one core.
        }
        let mut watch = Watch::with(ReferenceWorkload::of_drivers(&cores));
        let mut wait = |short: Duration, max_wait: Duration| {
            watch.recent = vec![short; FEWEST_READINGS].into();
            watch.set_max_wait(max_wait);
            (watch.wait_for_free_core(), watch.max_wait())
        };
        // No reading is that short: it tries both cores until the maximum wait is over.
        let (reading, left) = wait(Duration::from_nanos(1), Duration::from_millis(20));
        assert!(reading.is_some() && left.is_zero());
        // And then returns at once.
        let before = cores.driver_core();
        wait(Duration::from_nanos(1), Duration::from_nanos(1));
        assert_ne!(cores.driver_core(), before);
        // All readings are shorter than that.
        let before = cores.driver_core();
        let (reading, left) = wait(Duration::from_secs(1), Duration::from_secs(9));
        assert!(
            reading.is_some() && left == Duration::from_secs(9),
            "{left:?}"
        );
        assert_eq!(cores.driver_core(), before);
        // The first reading: no core is known yet.
        watch.last = None;
        cores.change();
        let before = cores.driver_core();
        assert!(watch.wait_for_free_core().is_some());
        assert_eq!(cores.driver_core(), before);
        cores.release();
    }

    #[test]
    fn unshared_needs_enough_readings() {
        let readings = |shared, alone| [vec![SHARED; shared], vec![ALONE; alone]].concat();
        let limit = |shared, alone| limit_of(readings(shared, alone), FEWEST_READINGS);
        assert_eq!(limit(10, FEWEST_READINGS - 11), None);
        assert_eq!(limit(10, 30), Some(ALONE.mul_f64(SHARED_BEYOND)));
        // Too few unshared readings.
        assert_eq!(limit(95, 5), Some(SHARED.mul_f64(SHARED_BEYOND)));
    }

    #[test]
    fn sharing_most_of_the_time_disturbs_run() {
        let mut disturbance = Disturbance::default();
        let sharing = |shared| Sharing {
            watched: 10.0,
            shared,
        };
        sharing(5.0).record_in(&mut disturbance);
        assert_eq!(
            (disturbance.shared, disturbance.disturbed),
            (Some(0.5), false)
        );
        sharing(6.0).record_in(&mut disturbance);
        assert!(
            disturbance.disturbed && disturbance.reasons.len() == 1,
            "{disturbance:?}"
        );
    }
}
