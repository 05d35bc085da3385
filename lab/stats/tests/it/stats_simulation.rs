//! The statistics on synthetic noise. Every promise in the documentation of `stats` is simulated
//! here with 2,000 runs for each figure.
//!
//! There are no timings: the noise comes from seeds, and every figure is the same on every machine.
//! `-- --nocapture` prints the tables of `stats/mod.rs`.
#![allow(clippy::unwrap_used, clippy::panic)]

use jeton_lab_model::result::VerdictKind;
use jeton_lab_stats::groups::groups;
use jeton_lab_stats::interval::{Ratio, estimate, table};
use jeton_lab_stats::median::{median, median_interval, round_value};
use jeton_lab_stats::noise::{IdenticalPair, floor, judge_each};
use jeton_lab_stats::settle::{WINDOW, settled};
use jeton_lab_stats::verdict::{Band, judge, more_rounds};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RUNS: u64 = 2_000;
const ROUNDS: [usize; 3] = [8, 12, 30];
/// Subjects of the table; the first is the baseline.
const SUBJECTS: usize = 7;
/// The number of A/A pairs, as in a run of the lab whose subjects are all of one kind.
const PAIRS: usize = 9;
const IDENTICAL: [f64; SUBJECTS] = [0.0; SUBJECTS];

/// The noise of the rounds.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Gaussian noise of this size for every visit.
    Gaussian(f64),
    /// 2 %, on a machine that becomes 30 % slower during the run and varies by 5 % per round.
    Drift,
    /// 2 %, and every tenth batch (of three per round) takes 5 to 50 % longer.
    Spikes,
    /// The same, but a round's value is the median of its batches.
    SpikesAndMedian,
    /// 1 %, and every other visit is 4 % slower.
    TwoModes,
    /// 2 % for the table, and 2 % times a factor of about e^±0.4 for each pair.
    Unequal,
    /// 1 %, and every process is constantly about 1 % faster or slower.
    Layout,
    /// As `Layout`, with new processes for each third of the rounds.
    Restarts,
    /// As `Layout`, with new processes for each round.
    Lives,
}

/// One simulated run: the rounds of each process.
struct Run {
    table: Vec<Vec<f64>>,
    pairs: Vec<[Vec<f64>; 2]>,
}

impl Run {
    fn new(seed: u64, noise: Noise, rounds: usize, effects: &[f64; SUBJECTS]) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let processes = SUBJECTS + 2 * PAIRS;
        let mut times = vec![Vec::new(); processes];
        let mut order: Vec<usize> = (0..processes).collect();
        let mut offsets = vec![0.0; processes];
        let mut factors = vec![1.0; processes];
        if let Noise::Unequal = noise {
            for pair in factors[SUBJECTS..].chunks_mut(2) {
                pair.fill((0.4 * gaussian(&mut rng)).exp());
            }
        }
        for round in 0..rounds {
            order.shuffle(&mut rng);
            let starts = match noise {
                Noise::Layout => round == 0,
                Noise::Restarts => round % rounds.div_ceil(3) == 0,
                Noise::Lives => true,
                _ => false,
            };
            if starts {
                offsets.fill_with(|| 0.01 * gaussian(&mut rng));
            }
            let wander = 0.05 * gaussian(&mut rng);
            for (slot, &process) in order.iter().enumerate() {
                let along = (round as f64 + slot as f64 / processes as f64) / rounds as f64;
                let disturbance = match noise {
                    Noise::Gaussian(deviation) => deviation * gaussian(&mut rng),
                    Noise::Unequal => 0.02 * factors[process] * gaussian(&mut rng),
                    Noise::Drift => 0.02 * gaussian(&mut rng) + 0.30 * along + wander,
                    Noise::Spikes => spiky_visit(&mut rng, round_value),
                    Noise::SpikesAndMedian => spiky_visit(&mut rng, median),
                    Noise::TwoModes => {
                        0.01 * gaussian(&mut rng) + if rng.random_bool(0.5) { 0.04 } else { 0.0 }
                    }
                    Noise::Layout | Noise::Restarts | Noise::Lives => {
                        0.01 * gaussian(&mut rng) + offsets[process]
                    }
                };
                let effect = effects.get(process).copied().unwrap_or(0.0);
                times[process].push(1_000.0 * (effect + disturbance).exp());
            }
        }
        let mut aa_pairs = times.split_off(SUBJECTS).into_iter();
        let pairs = std::iter::from_fn(|| Some([aa_pairs.next()?, aa_pairs.next()?])).collect();
        Self {
            table: times,
            pairs,
        }
    }

    fn pairs(&self) -> Vec<IdenticalPair<'_>> {
        self.pairs
            .iter()
            .map(|[first, second]| IdenticalPair { first, second })
            .collect()
    }

    fn band(&self) -> Band {
        Band::new(floor(&self.pairs(), &[]).unwrap())
    }

    /// Returns the table's comparisons with its baseline.
    fn ratios(&self) -> Vec<Ratio> {
        let subjects: Vec<&[f64]> = self.table[1..].iter().map(Vec::as_slice).collect();
        table(&self.table[0], &subjects).unwrap()
    }

    /// Returns one of them, corrected for this number of comparisons.
    fn ratio(&self, comparisons: usize) -> Ratio {
        estimate(&self.table[1], &self.table[0], comparisons).unwrap()
    }
}

fn gaussian(rng: &mut impl Rng) -> f64 {
    // Box–Muller. One minus a number below one is above zero.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

fn spiky_visit(rng: &mut impl Rng, value: fn(&[f64]) -> Option<f64>) -> f64 {
    let visit = 0.02 * gaussian(rng);
    let batches: [f64; 3] = std::array::from_fn(|_| {
        let spike = if rng.random_bool(0.1) {
            rng.random_range(0.05..0.5)
        } else {
            0.0
        };
        1.0 + spike
    });
    visit + value(&batches).unwrap().ln()
}

fn covers(ratio: &Ratio, log: f64) -> bool {
    let [low, high] = ratio.log_interval();
    low <= log && log <= high
}

fn different(verdict: VerdictKind) -> bool {
    matches!(verdict, VerdictKind::Faster | VerdictKind::Slower)
}

/// Returns the share of runs in which `holds`.
fn share(
    noise: Noise,
    rounds: usize,
    effects: &[f64; SUBJECTS],
    holds: impl Fn(&Run) -> bool,
) -> f64 {
    let held = (0..RUNS).filter(|&seed| holds(&Run::new(seed, noise, rounds, effects)));
    held.count() as f64 / RUNS as f64
}

/// The results for identical subjects, as shares of runs, comparisons or pairs.
#[derive(Debug, Default)]
struct Identical {
    /// A single 95 % interval covers one.
    covers: f64,
    /// All six simultaneous intervals of the table contain one.
    all_cover: f64,
    /// At least one of the six is found faster or slower.
    called_different: f64,
    /// A subject of the table is found equivalent to the baseline.
    equivalent: f64,
    /// An A/A pair is called equivalent, by the noise floor of the others.
    pair_equivalent: f64,
    /// An A/A pair is called faster or slower.
    pair_different: f64,
    /// All seven are in group 1.
    one_group: f64,
    /// The mean noise floor, as a ratio above one.
    floor: f64,
}

impl Identical {
    fn simulate(noise: Noise, rounds: usize) -> Self {
        let mut sum = Self::default();
        let one = |holds: bool| if holds { 1.0 / RUNS as f64 } else { 0.0 };
        for seed in 0..RUNS {
            let run = Run::new(seed, noise, rounds, &IDENTICAL);
            let seen_floor = floor(&run.pairs(), &[]).unwrap();
            let band = Band::new(seen_floor);
            let ratios = run.ratios();
            sum.covers += one(covers(&run.ratio(1), 0.0));
            sum.all_cover += one(ratios.iter().all(|ratio| covers(ratio, 0.0)));
            let verdicts: Vec<_> = ratios.iter().map(|ratio| judge(ratio, band)).collect();
            sum.called_different += one(verdicts.iter().copied().any(different));
            for verdict in &verdicts {
                sum.equivalent += one(*verdict == VerdictKind::Equivalent) / verdicts.len() as f64;
            }
            for (_, verdict) in judge_each(&run.pairs(), &[]).unwrap() {
                sum.pair_equivalent += one(verdict == VerdictKind::Equivalent) / PAIRS as f64;
                sum.pair_different += one(different(verdict)) / PAIRS as f64;
            }
            let table: Vec<&[f64]> = run.table.iter().map(Vec::as_slice).collect();
            sum.one_group += one(groups(&table, |_, _| band)
                .unwrap()
                .iter()
                .all(|&group| group == 1));
            sum.floor += seen_floor.unwrap() / RUNS as f64;
        }
        println!(
            "{:16} {rounds:2} rounds | one covers {:5.1} % | all cover {:5.1} % | called different \
             {:4.1} % | one group {:5.1} % | equivalent {:5.1} % | pair equivalent {:5.1} %, \
             different {:4.1} % | floor {:4.1} %",
            format!("{noise:?}"),
            100.0 * sum.covers,
            100.0 * sum.all_cover,
            100.0 * sum.called_different,
            100.0 * sum.one_group,
            100.0 * sum.equivalent,
            100.0 * sum.pair_equivalent,
            100.0 * sum.pair_different,
            100.0 * sum.floor,
        );
        sum
    }
}

#[test]
fn identical_subjects_with_gaussian_noise_are_equivalent() {
    for deviation in [0.005, 0.01, 0.02] {
        for rounds in ROUNDS {
            let seen = Identical::simulate(Noise::Gaussian(deviation), rounds);
            let case = format!("{deviation} {rounds} {seen:?}");
            assert!((0.93..=0.97).contains(&seen.covers), "{case}");
            // Bonferroni is conservative for comparisons that share a baseline.
            assert!((0.94..=0.98).contains(&seen.all_cover), "{case}");
            assert!(seen.called_different <= 0.05, "{case}");
            assert!(seen.one_group >= 0.95, "{case}");
            assert!(seen.pair_equivalent >= 0.945, "{case}");
            assert!(seen.pair_different <= 0.01, "{case}");
        }
    }
}

#[test]
fn identical_subjects_with_common_drift_are_equivalent() {
    for rounds in ROUNDS {
        let seen = Identical::simulate(Noise::Drift, rounds);
        let case = format!("{rounds} {seen:?}");
        assert!((0.93..=0.97).contains(&seen.covers), "{case}");
        assert!((0.94..=0.98).contains(&seen.all_cover), "{case}");
        assert!(
            seen.called_different <= 0.05 && seen.one_group >= 0.95,
            "{case}"
        );
        assert!(seen.pair_equivalent >= 0.94, "{case}");
    }
}

#[test]
fn identical_subjects_with_spikes_and_modes_are_equivalent() {
    for rounds in ROUNDS {
        for noise in [Noise::Spikes, Noise::TwoModes] {
            let seen = Identical::simulate(noise, rounds);
            let case = format!("{noise:?} {rounds} {seen:?}");
            assert!((0.93..=0.985).contains(&seen.covers), "{case}");
            assert!((0.94..=0.99).contains(&seen.all_cover), "{case}");
            assert!(
                seen.called_different <= 0.05 && seen.one_group >= 0.95,
                "{case}"
            );
            assert!(seen.pair_equivalent >= 0.94, "{case}");
        }
        // The reason for the lower quartile.
        let [quartile, median] = [Noise::Spikes, Noise::SpikesAndMedian]
            .map(|noise| Identical::simulate(noise, rounds).floor);
        assert!(median > 2.0 * quartile, "{rounds} {median} {quartile}");
    }
}

/// Some operations are noisier than others; a pool of the pairs' spreads alone does not cover this.
#[test]
fn identical_subjects_with_unequal_noise_are_equivalent() {
    for rounds in ROUNDS {
        let seen = Identical::simulate(Noise::Unequal, rounds);
        let case = format!("{rounds} {seen:?}");
        assert!(seen.pair_equivalent >= 0.91, "{case}");
        assert!(seen.pair_different <= 0.02, "{case}");
        assert!(
            seen.called_different <= 0.05 && seen.one_group >= 0.95,
            "{case}"
        );
    }
}

/// A constant shift of a process is not in its spread: the known weakness, with its size.
#[test]
fn constant_process_shift_is_the_known_weakness() {
    for rounds in [12, 30] {
        let layout = Identical::simulate(Noise::Layout, rounds);
        assert!(layout.covers < 0.60, "documented as worthless: {layout:?}");
        assert!(
            layout.called_different <= 0.10,
            "the floor bounds it: {layout:?}"
        );
        assert!(layout.pair_different <= 0.05, "{layout:?}");
        // The floor takes constant ratios into account; without their half widths it is 86 %.
        assert!(layout.pair_equivalent >= 0.94, "{layout:?}");
        // The intervals need new processes for each round.
        let lives = Identical::simulate(Noise::Lives, rounds);
        assert!((0.93..=0.97).contains(&lives.covers), "{lives:?}");
        let restarts = Identical::simulate(Noise::Restarts, rounds);
        assert!(restarts.covers < 0.90, "{restarts:?}");
        assert!(restarts.called_different <= 0.05, "{restarts:?}");
    }
}

/// Returns the share of runs in which effects of 3, 5 and 10 % are found, in both directions, among
/// seven subjects.
fn power(noise: Noise, rounds: usize, pairs: usize) -> [f64; 3] {
    power_beside(noise, rounds, pairs, 0)
}

/// The same, with this number of pairs of another kind.
fn power_beside(noise: Noise, rounds: usize, pairs: usize, others: usize) -> [f64; 3] {
    let sizes = [0.03f64, 0.05, 0.10];
    let [three, five, ten] = sizes.map(f64::ln_1p);
    let mut found = [0.0; 3];
    for seed in 0..RUNS {
        let effects = [0.0, three, five, ten, -three, -five, -ten];
        let run = Run::new(seed, noise, rounds, &effects);
        let all = run.pairs();
        let (own, rest) = all.split_at(pairs);
        let band = Band::new(floor(own, &rest[..others]).unwrap());
        for (index, ratio) in run.ratios().iter().enumerate() {
            let right = if index < 3 {
                VerdictKind::Slower
            } else {
                VerdictKind::Faster
            };
            if judge(ratio, band) == right {
                found[index % 3] += 0.5 / RUNS as f64;
            }
        }
    }
    let [three, five, ten] = found.map(|share| 100.0 * share);
    println!(
        "{:16} {rounds:2} rounds, {pairs} pairs beside {others} | found: 3 % {three:5.1} % | 5 % {five:5.1} % | \
         10 % {ten:5.1} %",
        format!("{noise:?}")
    );
    found
}

#[test]
fn effect_of_five_percent_is_found() {
    for rounds in ROUNDS {
        let [_, five, ten] = power(Noise::Gaussian(0.01), rounds, PAIRS);
        assert!(five >= 0.99 && ten >= 0.99, "{rounds} {five} {ten}");
        let [_, five, ten] = power(Noise::Gaussian(0.02), rounds, PAIRS);
        assert!(rounds < 12 || five >= 0.90, "{rounds} {five}");
        assert!(ten >= 0.99, "{rounds} {ten}");
    }
    for noise in [Noise::Drift, Noise::Spikes, Noise::TwoModes, Noise::Layout] {
        power(noise, 12, PAIRS);
    }
}

#[test]
fn four_pairs_are_enough_and_two_are_not() {
    let [two, four, six, nine] =
        [2, 4, 6, 9].map(|pairs| power(Noise::Gaussian(0.02), 12, pairs)[1]);
    assert!(
        two < 0.80 && four >= 0.87 && six >= 0.90 && nine >= 0.90,
        "{two} {four} {six} {nine}"
    );
    // A run with libraries of both kinds: no promise needs nine pairs of one kind.
    let [_, six_of_nine, _] = power_beside(Noise::Gaussian(0.02), 12, 6, 3);
    assert!(six_of_nine >= 0.90, "{six_of_nine}");
}

#[test]
fn requested_rounds_decide_in_four_of_five_runs() {
    // The first 8 rounds are judged; the run then continues for the requested number.
    const LONGEST: usize = 100;
    for effect in [0.0, 0.03, 0.05] {
        let effects = [0.0, f64::ln_1p(effect), 0.0, 0.0, 0.0, 0.0, 0.0];
        let (mut asked, mut decided, mut sum) = (0.0, 0.0, 0.0);
        for seed in 0..RUNS {
            let long = Run::new(seed, Noise::Gaussian(0.02), LONGEST, &effects);
            let after = |rounds: usize| {
                let cut = |times: &Vec<f64>| times[..rounds].to_vec();
                let run = Run {
                    table: long.table[..2].iter().map(cut).collect(),
                    pairs: long
                        .pairs
                        .iter()
                        .map(|pair| pair.each_ref().map(cut))
                        .collect(),
                };
                (run.ratio(SUBJECTS - 1), run.band())
            };
            let (ratio, band) = after(8);
            let Some(more) = more_rounds(&ratio, band) else {
                continue;
            };
            let Some(long_enough) = Some(8 + more as usize).filter(|&all| all <= LONGEST) else {
                continue;
            };
            let (ratio, band) = after(long_enough);
            asked += 1.0;
            sum += f64::from(more);
            if judge(&ratio, band) != VerdictKind::Undecided {
                decided += 1.0;
            }
        }
        let (share, mean): (f64, f64) = (decided / asked, sum / asked);
        println!("{effect} effect | asked {asked} times for {mean:.1} rounds, decided {share:.3}");
        assert!(asked > 100.0 && share > 0.75, "{effect} {asked} {share}");
    }
}

#[test]
fn flat_batches_are_settled_and_warming_ones_are_not() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // The share of checks that find a runtime settled whose batches become faster by `slope` each.
    let mut looks = |deviation: f64, slope: f64| {
        let held = (0..RUNS).filter(|_| {
            let batches: Vec<f64> = (0..WINDOW)
                .map(|batch| (deviation * gaussian(&mut rng) - slope * batch as f64).exp())
                .collect();
            settled(&batches)
        });
        let share = held.count() as f64 / RUNS as f64;
        println!("{deviation} noise, {slope} a batch | settled in {share:.3}");
        share
    };
    assert!(looks(0.005, 0.0) > 0.99);
    assert!(looks(0.02, 0.0) > 0.60);
    assert!(looks(0.10, 0.0) > 0.10);
    assert!(looks(0.01, 0.01) < 0.01);
    assert!(looks(0.02, 0.01) < 0.01);
}

#[test]
fn median_interval_holds_for_any_distribution() {
    // Two modes are symmetric around their centre, so the true median is known.
    for (noise, log_median) in [(Noise::Gaussian(0.02), 0.0f64), (Noise::TwoModes, 0.02)] {
        for rounds in ROUNDS {
            let truth = 1_000.0 * log_median.exp();
            let covered = share(noise, rounds, &IDENTICAL, |run| {
                let [low, high] = median_interval(&run.table[0]).unwrap().interval;
                low <= truth && truth <= high
            });
            println!("{noise:?} {rounds} rounds | median covered {covered:.3}");
            assert!(covered >= 0.94, "{noise:?} {rounds} {covered}");
        }
    }
}

// Controls: each removes one part of the method, and the promise that depends on it fails.

#[test]
fn control_without_correction_intervals_do_not_cover() {
    for rounds in ROUNDS {
        let all_cover = |family| {
            share(Noise::Gaussian(0.02), rounds, &IDENTICAL, |run| {
                run.table[1..]
                    .iter()
                    .all(|subject| covers(&estimate(subject, &run.table[0], family).unwrap(), 0.0))
            })
        };
        let (corrected, uncorrected) = (all_cover(SUBJECTS - 1), all_cover(1));
        println!(
            "{rounds} rounds | all cover: corrected {corrected:.3}, uncorrected {uncorrected:.3}"
        );
        assert!(corrected >= 0.93, "{corrected}");
        assert!(uncorrected < 0.85, "{uncorrected}");
    }
}

/// Uses the normal quantile instead of Student's: it ignores the uncertainty of a spread from few
/// rounds.
#[test]
fn control_with_normal_quantile_intervals_are_narrow() {
    const Z_95: f64 = 1.959_964;
    for rounds in [8, 12] {
        let cover = |quantile: Option<f64>| {
            share(Noise::Gaussian(0.02), rounds, &IDENTICAL, |run| {
                let ratio = run.ratio(1);
                let Some(z) = quantile else {
                    return covers(&ratio, 0.0);
                };
                let error = ratio.log_deviation() / (ratio.rounds() as f64).sqrt();
                ratio.log_mean().abs() <= z * error
            })
        };
        let (with_t, with_z) = (cover(None), cover(Some(Z_95)));
        println!("{rounds} rounds | one covers: with t {with_t:.3}, with z {with_z:.3}");
        assert!((0.93..=0.97).contains(&with_t), "{with_t}");
        assert!(with_z < 0.93, "{with_z}");
    }
}

#[test]
fn control_without_pairing_drift_hides_effects() {
    let five = 0.05f64.ln_1p();
    let effects = [0.0, five, five, five, five, five, five];
    // Rotating the subject's rounds by one against the baseline's removes the pairing.
    let found = |turn: usize| {
        share(Noise::Drift, 12, &effects, |run| {
            let mut subject = run.table[1].clone();
            subject.rotate_left(turn);
            let ratio = estimate(&subject, &run.table[0], SUBJECTS - 1).unwrap();
            judge(&ratio, run.band()) == VerdictKind::Slower
        })
    };
    let (paired, unpaired) = (found(0), found(1));
    println!("drift, 12 rounds, 5 % | found: paired {paired:.3}, unpaired {unpaired:.3}");
    assert!(paired >= 0.80, "{paired}");
    assert!(unpaired < 0.10, "{unpaired}");
}

#[test]
fn control_without_floor_identical_are_not_equivalent() {
    let equivalent = |band: fn(&Run) -> Band| {
        share(Noise::Gaussian(0.02), 8, &IDENTICAL, |run| {
            judge(&run.ratio(1), band(run)) == VerdictKind::Equivalent
        })
    };
    let (with, without) = (equivalent(Run::band), equivalent(|_| Band::new(Some(0.0))));
    println!("2 % noise, 8 rounds | equivalent: with floor {with:.3}, without {without:.3}");
    assert!(with >= 0.94, "{with}");
    assert!(without < 0.30, "{without}");
}

#[test]
fn control_without_floor_process_shift_is_called_different() {
    let wrong = |band: fn(&Run) -> Band| {
        share(Noise::Layout, 30, &IDENTICAL, |run| {
            run.ratios()
                .iter()
                .any(|ratio| different(judge(ratio, band(run))))
        })
    };
    let (with, without) = (wrong(Run::band), wrong(|_| Band::new(Some(0.0))));
    println!("layout, 30 rounds | called different: with floor {with:.3}, without {without:.3}");
    assert!(without > 0.40 && with < without / 2.0, "{with} {without}");
}

#[test]
fn control_stricter_rule_misses_five_percent() {
    let five = 0.05f64.ln_1p();
    let effects = [0.0, five, five, five, five, five, five];
    let found = share(Noise::Gaussian(0.02), 12, &effects, |run| {
        let [low, _] = run.ratio(SUBJECTS - 1).interval();
        low > 1.0 + run.band().believed_beyond()
    });
    // The same with the 2 % band alone, the smallest possible.
    let at_best = share(Noise::Gaussian(0.02), 12, &effects, |run| {
        run.ratio(SUBJECTS - 1).interval()[0] > 1.02
    });
    println!("whole interval beyond the band | 5 % found {found:.3}, with a 2 % band {at_best:.3}");
    assert!(found < 0.20 && at_best < 0.70, "{found} {at_best}");
}
