//! Two runs with synthetic noise: simulates the promises in the documentation of `stats::unpaired`.
//!
//! There are no timings: the noise comes from seeds, and every figure is the same on every machine.
#![allow(clippy::unwrap_used)]

use jeton_lab_model::result::VerdictKind;
use jeton_lab_stats::unpaired::{CommonShift, between_runs, estimate};
use jeton_lab_stats::verdict::{Band, judge};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RUNS: u64 = 2_000;

/// Returns a standard normal value (Box–Muller).
fn gaussian(rng: &mut impl Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    let v: f64 = rng.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Returns one subject's rounds in one run, with a constant `offset`.
fn rounds(rng: &mut impl Rng, count: usize, spread: f64, offset: f64) -> Vec<f64> {
    (0..count)
        .map(|_| 1_000.0 * (offset + spread * gaussian(rng)).exp())
        .collect()
}

fn share(of: impl Fn(&mut ChaCha8Rng) -> bool) -> f64 {
    let hits = (0..RUNS).filter(|&seed| of(&mut ChaCha8Rng::seed_from_u64(seed)));
    100.0 * hits.count() as f64 / RUNS as f64
}

#[test]
fn interval_covers_the_true_ratio_in_95_of_100_runs() {
    for (before, after, spreads) in [
        (8, 8, [0.02, 0.02]),
        (12, 12, [0.02, 0.02]),
        (30, 30, [0.02, 0.02]),
        (8, 30, [0.04, 0.01]),
    ] {
        let covered = share(|rng| {
            let earlier = rounds(rng, before, spreads[0], 0.0);
            let later = rounds(rng, after, spreads[1], 0.05);
            let [low, high] = estimate(&later, &earlier, 1).unwrap().log_interval();
            low <= 0.05 && 0.05 <= high
        });
        assert!(
            (93.0..=97.0).contains(&covered),
            "{before} and {after}: {covered} %"
        );
    }
}

#[test]
fn twenty_intervals_hold_together() {
    let covered = share(|rng| {
        (0..20).all(|_| {
            let (a, b) = (rounds(rng, 12, 0.02, 0.0), rounds(rng, 12, 0.02, 0.0));
            let [low, high] = estimate(&a, &b, 20).unwrap().log_interval();
            low <= 0.0 && 0.0 <= high
        })
    });
    assert!(covered >= 93.0, "{covered} %");
}

/// Every process of every run has a constant shift of about 1 %. Subjects whose code did not change
/// keep unchanged ones from being called different.
#[test]
fn floor_between_runs_hides_process_shifts() {
    let called_different = |with_floor: bool| {
        share(|rng| {
            let mut ratio = || {
                let offsets = [0.01 * gaussian(rng), 0.01 * gaussian(rng)];
                let earlier = rounds(rng, 12, 0.005, offsets[0]);
                let later = rounds(rng, 12, 0.005, offsets[1]);
                estimate(&later, &earlier, 8).unwrap()
            };
            let subject = ratio();
            let unchanged: Vec<_> = (0..7).map(|_| ratio()).collect();
            let between = between_runs(&unchanged, 1, CommonShift::Remove).unwrap();
            let verdict = if with_floor {
                judge(
                    &subject.without_shift(between.log_shift()),
                    Band::new(Some(between.spread())),
                )
            } else {
                judge(&subject, Band::new(Some(0.0)))
            };
            matches!(verdict, VerdictKind::Faster | VerdictKind::Slower)
        })
    };
    let (with, without) = (called_different(true), called_different(false));
    assert!(with <= 7.0, "{with} %");
    assert!(
        without >= 10.0,
        "without it the test would prove nothing: {without} %"
    );
}

/// The whole machine is off by about 10 % in the later run, and every process by a constant 1 %.
#[test]
fn common_shift_is_removed_without_false_changes() {
    let called_different = share(|rng| {
        let machine = 0.1 * gaussian(rng);
        let mut ratio = || {
            let offsets = [0.01 * gaussian(rng), machine + 0.01 * gaussian(rng)];
            let earlier = rounds(rng, 12, 0.005, offsets[0]);
            let later = rounds(rng, 12, 0.005, offsets[1]);
            estimate(&later, &earlier, 8).unwrap()
        };
        let subject = ratio();
        let unchanged: Vec<_> = (0..7).map(|_| ratio()).collect();
        let between = between_runs(&unchanged, 1, CommonShift::Remove).unwrap();
        let subject = subject.without_shift(between.log_shift());
        let verdict = judge(&subject, Band::new(Some(between.spread())));
        matches!(verdict, VerdictKind::Faster | VerdictKind::Slower)
    });
    assert!(called_different <= 6.0, "{called_different} %");
}

/// A real change of 15 % is found where runs differ by 1 %.
#[test]
fn real_change_is_found_above_the_floor() {
    let found = share(|rng| {
        let mut ratio = |effect: f64| {
            let offsets = [0.01 * gaussian(rng), effect + 0.01 * gaussian(rng)];
            let earlier = rounds(rng, 12, 0.005, offsets[0]);
            let later = rounds(rng, 12, 0.005, offsets[1]);
            estimate(&later, &earlier, 8).unwrap()
        };
        let subject = ratio(0.15);
        let unchanged: Vec<_> = (0..7).map(|_| ratio(0.0)).collect();
        let between = between_runs(&unchanged, 8, CommonShift::Remove).unwrap();
        let subject = subject.without_shift(between.log_shift());
        judge(&subject, Band::new(Some(between.spread()))) == VerdictKind::Slower
    });
    assert!(found >= 95.0, "{found} %");
}
