//! What of a round counts: not the time in which the drivers' core was somebody else's too.
//!
//! A batch is timed in slices, and the yardstick is read before and after every slice; beside a batch
//! that cannot be cut it is read every few milliseconds. A core is shared for some tens or hundreds of
//! milliseconds and then is not, and each core at its own time: so a slice that would begin on a shared
//! core waits until one of the drivers' two is not, as long as the round has time to spare. Where a
//! reading is longer than the round's shortest ones by more than [`SHARED_BEYOND`] allows all the same,
//! the slice is left out, unless its subject has no other of that round. Who is left with too few is
//! visited again, a few times at most, and while there is time to
//! spare. What a slice measured has no say in any of it, so this is not a way to choose figures: a slow
//! one on an undisturbed core stays, and a fast one on a shared core goes. The share is in the result.

use std::collections::VecDeque;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use super::case_run::CaseRun;
use crate::host::{ConcurrentReadings, ReferenceWorkload, SHARED_BEYOND};
use crate::result::Disturbance;
use crate::stats::median::round_value;

/// More of the measured time than this on a shared core taints a run: too little is left to choose
/// from.
const SHARED_LIMIT: f64 = 0.5;

/// Slices on a core of its own that make a value which two disturbances do not move: the yardstick does
/// not see what begins and ends between two readings.
const ENOUGH: usize = 3;

/// How often the core is looked at beside a batch that is not cut. Each look takes a hundredth of that.
const READ_EVERY: Duration = Duration::from_millis(8);

/// Passes over those that lack them, at most: a core that is shared for long is not waited for.
pub(super) const EXTRA_PASSES: u32 = 4;

/// What an undisturbed core reads: this far up the sorted readings.
const SHORTEST: f64 = 0.1;

/// So many of the last readings say what is short now: a clock may change with the heat.
const RECENT: usize = 512;

/// Fewer readings say nothing.
const FEWEST_READINGS: usize = 32;

/// Looks at the drivers' core, and waits until it is theirs alone.
#[derive(Debug)]
pub(super) struct Watch<'c> {
    /// `None` where the drivers have no core of their own: nothing is seen, and nobody waits.
    reference_workload: Option<ReferenceWorkload<'c>>,
    /// Readings around slices. Those of a wait would make a shared core the usual one.
    recent: VecDeque<Duration>,
    last: Option<Duration>,
    patience: Duration,
}

impl<'c> Watch<'c> {
    pub(super) fn with(reference_workload: Option<ReferenceWorkload<'c>>) -> Self {
        Self {
            reference_workload,
            recent: VecDeque::with_capacity(RECENT),
            last: None,
            patience: Duration::ZERO,
        }
    }

    /// From now on it waits so long, in all.
    pub(super) fn be_patient(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// How long it would still wait.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// In how many slices a batch is timed that could be timed in so many.
    pub(super) fn slices(&self, possible: u64) -> u64 {
        if self.reference_workload.is_some() {
            possible
        } else {
            1
        }
    }

    /// How many slices of a round must have had a core of their own, where each of its batches could be
    /// timed in so many: more than half of them, so that not all are of one process, and all where they are
    /// few.
    pub(super) fn enough(&self, batches: u32, possible: u64) -> usize {
        let planned = self.slices(possible) * u64::from(batches);
        let planned = usize::try_from(planned).unwrap_or(ENOUGH);
        (planned / 2 + 1).max(ENOUGH.min(planned))
    }

    /// Looks on while a batch is timed that is not cut.
    pub(super) fn during<T>(&self, batch: impl FnOnce() -> T) -> (T, ConcurrentReadings) {
        match &self.reference_workload {
            Some(reference_workload) => reference_workload.during(READ_EVERY, batch),
            None => (batch(), ConcurrentReadings::default()),
        }
    }

    /// A reading behind a slice.
    pub(super) fn look(&mut self) -> Option<Duration> {
        let reading = self.reference_workload.as_ref()?.read();
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(reading);
        self.last = Some(reading);
        self.last
    }

    /// Reads until nobody else has a part of the drivers' core, or patience ends; a core that is shared at
    /// two readings is left for the other one. The last reading: what a slice begins with, and what the one
    /// before it ended with, where nothing had to be waited for.
    pub(super) fn await_lone_core(&mut self) -> Option<Duration> {
        let limit = limit_of(self.recent.iter().copied().collect(), FEWEST_READINGS)?;
        let reference_workload = self.reference_workload.as_ref()?;
        let shared = |reading: Option<Duration>| reading.is_none_or(|reading| reading > limit);
        while shared(self.last) && !self.patience.is_zero() {
            let began = Instant::now();
            self.last = Some(reference_workload.read());
            if shared(self.last) {
                reference_workload.cores().change();
                self.last = Some(reference_workload.read());
            }
            self.patience = self.patience.saturating_sub(began.elapsed());
        }
        self.last
    }

    /// Brings a bench's process to the core that was read last. Whether it was elsewhere.
    pub(super) fn bring(&self, case_run: &mut CaseRun) -> bool {
        let reference_workload = self.reference_workload.as_ref();
        reference_workload
            .is_some_and(|reference_workload| case_run.follow(reference_workload.cores()))
    }
}

/// The longest reading of a core that is not shared, if these are enough to tell.
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

/// The slices of one round, by bench.
#[derive(Debug)]
pub(super) struct Slices(Vec<Vec<Slice>>);

/// A part of a batch, between two readings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub operations: u64,
    pub ns_per_op: f64,
    /// The longest of the readings around it and beside it.
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

    /// How many each bench has on a core of its own.
    pub(super) fn lone(&self) -> Vec<usize> {
        let limit = self.limit();
        let lone = |slices: &Vec<Slice>| slices.iter().filter(|s| !s.is_shared(limit)).count();
        self.0.iter().map(lone).collect()
    }

    /// Each bench's value of the round, from those of its slices that count, and how much of
    /// all was on a shared core.
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

/// How long was watched, in nanoseconds, and how much of it was on a shared core.
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
    /// Adds what was seen to what the machine says.
    pub(super) fn record_in(self, disturbance: &mut Disturbance) {
        if self.watched <= 0.0 {
            return;
        }
        let share = self.shared / self.watched;
        disturbance.shared = Some(share);
        if share > SHARED_LIMIT {
            disturbance.reasons.push(format!(
                "another machine had a part of the drivers' core during {:.0} % of the measured time \
                 (limit {:.0} %)",
                share * 100.0,
                SHARED_LIMIT * 100.0
            ));
            disturbance.disturbed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::host::Cores;

    const ALONE: Duration = Duration::from_micros(60);
    const SHARED: Duration = Duration::from_micros(100);

    /// Ten operations that took so long each.
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
    fn slices_on_a_shared_core_are_left_out() {
        let slices = round(&[
            &[
                (10.0, ALONE),
                (16.0, SHARED),
                (17.0, SHARED),
                (18.0, SHARED),
            ],
            &[(10.0, ALONE), (11.0, ALONE), (12.0, ALONE), (99.0, SHARED)],
        ]);
        assert_eq!(slices.lone(), [1, 3]);
        let (values, sharing) = slices.values();
        assert_eq!(values, [Some(10.0), Some(10.0)]);
        assert_eq!((sharing.watched, sharing.shared), (1930.0, 1500.0));
    }

    #[test]
    fn what_a_slice_measured_has_no_say() {
        // Far off on a core of its own: it stays. As expected on a shared one: it goes.
        let (values, _) = round(&[&[(50.0, ALONE), (60.0, ALONE), (10.0, SHARED)]]).values();
        assert_eq!(values, [Some(50.0)]);
    }

    #[test]
    fn who_met_nothing_but_a_shared_core_keeps_all() {
        let slices = round(&[
            &[(16.0, SHARED), (17.0, SHARED), (19.0, SHARED)],
            &[(10.0, ALONE), (10.0, ALONE), (10.0, ALONE)],
            // It failed.
            &[],
        ]);
        assert_eq!(slices.lone(), [0, 3, 0]);
        assert_eq!(slices.values().0, [Some(16.0), Some(10.0), None]);
    }

    #[test]
    fn without_a_yardstick_every_slice_counts() {
        let unseen = |ns_per_op| Slice {
            reading: None,
            ..slice(&(ns_per_op, ALONE))
        };
        let mut slices = Slices::of(1);
        slices.add(0, [1.0, 2.0, 6.0].map(unseen).into());
        assert_eq!(slices.lone(), [3]);
        let (values, sharing) = slices.values();
        assert_eq!((values, sharing), (vec![Some(1.0)], Sharing::default()));
        let mut disturbance = Disturbance::default();
        sharing.record_in(&mut disturbance);
        assert_eq!(disturbance, Disturbance::default());
    }

    #[test]
    fn without_a_core_of_its_own_nobody_waits() {
        let mut watch = Watch::with(None);
        watch.be_patient(Duration::from_secs(3600));
        assert_eq!((watch.slices(7), watch.enough(3, 7)), (1, 3));
        assert_eq!(watch.enough(2, 7), 2);
        assert_eq!(watch.during(|| 5), (5, ConcurrentReadings::default()));
        assert_eq!((watch.await_lone_core(), watch.look()), (None, None));
    }

    #[test]
    fn a_shared_core_is_left_for_the_other_and_a_lone_one_is_kept() {
        let cores = Cores::split();
        if cores.driver_core().is_none() {
            return; // A machine with one core.
        }
        let mut watch = Watch::with(ReferenceWorkload::of_drivers(&cores));
        let mut wait = |short: Duration, patience: Duration| {
            watch.recent = vec![short; FEWEST_READINGS].into();
            watch.be_patient(patience);
            (watch.await_lone_core(), watch.patience())
        };
        // No reading is as short as that: it looks here and there until its patience ends.
        let (reading, left) = wait(Duration::from_nanos(1), Duration::from_millis(20));
        assert!(reading.is_some() && left.is_zero());
        // And there at once.
        let before = cores.driver_core();
        wait(Duration::from_nanos(1), Duration::from_nanos(1));
        assert_ne!(cores.driver_core(), before);
        // All are shorter than that.
        let before = cores.driver_core();
        let (reading, left) = wait(Duration::from_secs(1), Duration::from_secs(9));
        assert!(
            reading.is_some() && left == Duration::from_secs(9),
            "{left:?}"
        );
        assert_eq!(cores.driver_core(), before);
        // The first look of all: nothing is known of any core yet.
        watch.last = None;
        cores.change();
        let before = cores.driver_core();
        assert!(watch.await_lone_core().is_some());
        assert_eq!(cores.driver_core(), before);
        cores.release();
    }

    #[test]
    fn what_is_short_is_told_by_enough_readings() {
        let readings = |shared, alone| [vec![SHARED; shared], vec![ALONE; alone]].concat();
        let limit = |shared, alone| limit_of(readings(shared, alone), FEWEST_READINGS);
        assert_eq!(limit(10, FEWEST_READINGS - 11), None);
        assert_eq!(limit(10, 30), Some(ALONE.mul_f64(SHARED_BEYOND)));
        // So few have been alone that it is not believed.
        assert_eq!(limit(95, 5), Some(SHARED.mul_f64(SHARED_BEYOND)));
    }

    #[test]
    fn a_core_that_was_shared_most_of_the_time_taints() {
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
