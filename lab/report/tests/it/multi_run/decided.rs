//! What a gate may pass, on synthetic pairs of runs. The noise comes from seeds; no test uses a
//! clock.

use jeton_lab_model::result::{Row, RunResult, ThreadsFloor};
use jeton_lab_report::multi_run::{Farthest, Gate, Kind, Outcome, Ruling, SetBy};
use jeton_lab_report::terminal::describe_set_by;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{change, judged, run, scale_rounds};
use crate::sample;

const RUNS: u64 = 2_000;

/// Adds eight controls in Node to the six compiled subjects, each with its time multiplied.
pub(super) fn with_node(mut result: RunResult, factors: [f64; 8]) -> RunResult {
    for (index, factor) in factors.iter().enumerate() {
        let mut row = node(&mut result, index);
        scale_rounds(&mut row, |round| {
            factor * (1.0 + 0.003 * ((result.seed as usize + index * 3 + round * 5) % 7) as f64)
        });
        result.rows.measured.push(row);
    }
    result
}

fn node(result: &mut RunResult, index: usize) -> Row {
    let library = format!("node-{index}");
    let subject = sample::subject("node", &library, "1.0.0", "jwt", Some("HS256"));
    let driver = subject.driver().to_owned();
    let environment = &mut result.environment;
    environment.drivers.insert(driver, "5c24".repeat(16));
    environment.runtimes.insert("node".into(), "v26.0.0".into());
    let mut row = sample::row("libraries", "sign", subject);
    row.ns_per_op = Some(sample::timing(9_000.0, 0.01));
    row
}

/// Removes the compiled subjects except jeton.
fn only_jeton(mut result: RunResult) -> RunResult {
    let kept = |row: &Row| row.subject.library == "jeton" || row.subject.language == "node";
    result.rows.measured.retain(kept);
    result
}

pub(super) fn ruling_on(gate: &Gate, library: &str) -> Ruling {
    let id = format!("/{library}:");
    let mut rows = gate.rows.iter();
    rows.find(|row| row.subject.contains(&id)).unwrap().ruling
}

#[test]
fn gate_twice_as_slow_with_noisy_node_controls_is_undecided() {
    let wild = [2.5, 0.4, 2.3, 0.45, 2.6, 0.38, 2.4, 0.42];
    let before = only_jeton(with_node(run(1), [1.0; 8]));
    let mut after = only_jeton(with_node(run(2), wild));
    change(&mut after, "jeton", 2.0);
    let found = judged(&before, &after, 0.05).unwrap();
    assert_eq!(found.outcome, Outcome::Undecided);
    assert_eq!(
        (found.passed, found.undecided, found.rows.len()),
        (0, 1 + 4, 9)
    );
    let jeton = &found.rows[0];
    assert!(jeton.is_open && jeton.band > 5.0, "{jeton:?}");
    let SetBy::Controls {
        count: 8,
        of: Kind::Any,
        control,
    } = &jeton.band_set_by
    else {
        panic!("the controls must set the band: {jeton:?}")
    };
    assert_eq!(control.what, "sign node/node-5:jwt:HS256:prepared");
}

#[test]
fn gate_twice_as_slow_with_shifted_node_controls_is_undecided() {
    // The shift of all Node subjects says nothing about compiled code, in either direction.
    for (shift, by) in [(2.47, 2.0), (0.5, 1.0), (1.3, 1.3)] {
        let before = only_jeton(with_node(run(1), [1.0; 8]));
        let mut after = only_jeton(with_node(run(2), [shift; 8]));
        change(&mut after, "jeton", by);
        let found = judged(&before, &after, 0.05).unwrap();
        assert_eq!(found.outcome, Outcome::Undecided, "{shift}");
        assert!(!found.between_runs[0].shift_removed);
        assert!((found.between_runs[0].shift / shift).ln().abs() < 0.02);
    }
}

#[test]
fn gate_common_shift_is_removed() {
    let slowed = |by: f64| {
        let (before, mut after) = (run(1), run(2));
        for row in &mut after.rows.measured {
            scale_rounds(row, |_| 1.12);
        }
        change(&mut after, "jeton", by);
        judged(&before, &after, 0.05).unwrap()
    };
    let same = slowed(1.0);
    assert_eq!(same.outcome, Outcome::NoRegression);
    assert_eq!((same.passed, same.undecided), (1, 0));
    assert!((same.rows[0].measured_ratio - 1.12).abs() < 0.005);
    assert_eq!(slowed(2.0).outcome, Outcome::Regression);
    assert_eq!(slowed(1.0 / 1.12).outcome, Outcome::NoRegression);
}

#[test]
fn gate_very_different_speed_is_undecided() {
    for shift in [0.5, 2.0] {
        let (before, mut after) = (run(1), run(2));
        for row in &mut after.rows.measured {
            scale_rounds(row, |_| shift);
        }
        change(&mut after, "jeton", 1.0 / shift);
        let found = judged(&before, &after, 0.05).unwrap();
        let open = found.rows.iter().any(|row| row.is_open);
        assert!(
            open && found.outcome == Outcome::Undecided,
            "{shift}: {found:?}"
        );
    }
}

#[test]
fn gate_slow_unchanged_code_is_undecided() {
    let (before, mut after) = (run(1), run(2));
    scale_rounds(&mut after.rows.measured[0], |_| 2.0);
    let found = judged(&before, &after, 0.05).unwrap();
    assert_eq!(found.outcome, Outcome::Undecided);
    assert_eq!(ruling_on(&found, "jeton"), Ruling::Undecided);
    assert_eq!((found.controls, found.undecided), (5, 1));
}

#[test]
fn gate_band_wider_than_the_threshold_is_undecided() {
    let (before, mut after) = (run(1), run(2));
    after.noise_floor.floor = Some(0.15);
    change(&mut after, "a", 1.0);
    change(&mut after, "b", 0.7);
    let within = |by: f64| {
        let mut after = after.clone();
        change(&mut after, "jeton", by);
        judged(&before, &after, 0.05).unwrap()
    };
    // Nothing is slower than the threshold, so no regression can be stated.
    let inside = within(1.03);
    assert_eq!(inside.outcome, Outcome::NoRegression);
    assert_eq!(ruling_on(&inside, "jeton"), Ruling::Undecided);
    assert_eq!(ruling_on(&inside, "b"), Ruling::NotSlower, "it is faster");
    assert_eq!(within(1.12).outcome, Outcome::Undecided);
    assert_eq!(within(1.30).outcome, Outcome::Regression, "beyond the band");
    // The pair that sets the floor is named, with its run.
    let SetBy::NoiseFloor {
        run: "after",
        pair: Farthest { what, .. },
    } = &inside.rows[0].band_set_by
    else {
        panic!("the floor must set the band: {:?}", inside.rows[0])
    };
    assert!(what.starts_with("sign go/"), "{what}");
    let json = serde_json::to_value(&inside).unwrap();
    assert_eq!(json["outcome"], "no-regression");
    assert_eq!(json["rows"][0]["band_set_by"]["kind"], "noise-floor");
    assert_eq!(json["rows"][0]["band_set_by"]["run"], "after");
}

/// Threads that share cores are noisier than one thread: see `noise_floor.threads`.
#[test]
fn row_on_several_threads_has_the_band_of_pairs_on_as_many() {
    let on_four = |seed: u64, floor: Option<f64>| {
        let mut result = run(seed);
        for row in &mut result.rows.measured {
            row.threads = 4;
        }
        let own = floor.map(|floor| ThreadsFloor { threads: 4, floor });
        result.noise_floor.threads = own.into_iter().collect();
        let mut pair = result.noise_floor.pairs[0].clone();
        pair.threads = 4;
        pair.interval = [0.7, 1.1];
        result.noise_floor.pairs.push(pair);
        result
    };
    let gate_of = |floors: [Option<f64>; 2], by: f64| {
        let (before, mut after) = (on_four(1, floors[0]), on_four(2, floors[1]));
        change(&mut after, "jeton", by);
        judged(&before, &after, 0.05).unwrap()
    };
    let measured = gate_of([Some(0.03), Some(0.5)], 1.3);
    assert_eq!(measured.outcome, Outcome::Undecided);
    assert_eq!(measured.rows[0].band, 0.5);
    let SetBy::NoiseFloor { run: "after", pair } = &measured.rows[0].band_set_by else {
        panic!("{:?}", measured.rows[0])
    };
    assert_eq!(pair.interval, [0.7, 1.1], "the pair on four threads");
    let quiet = gate_of([Some(0.03), Some(0.03)], 1.3);
    assert_eq!(quiet.outcome, Outcome::Regression);
    for (floors, missing) in [
        ([None, Some(0.03)], "before"),
        ([Some(0.03), None], "after"),
    ] {
        let unknown = gate_of(floors, 2.0);
        assert_eq!(unknown.outcome, Outcome::Undecided, "{missing}");
        let said = describe_set_by(&unknown.rows[0].band_set_by);
        let expected = format!("the {missing} run has no noise floor on 4 threads");
        assert!(said.starts_with(&expected), "{said}");
        let four_times = gate_of(floors, 4.0);
        assert_eq!(four_times.outcome, Outcome::Regression, "{missing}");
    }
}

/// Returns a standard normal value (Box–Muller).
fn gaussian(rng: &mut ChaCha8Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    let v: f64 = rng.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The noise of a pair of runs, as natural logarithms.
struct Noise {
    /// The shift of the machine in the later run.
    machine: f64,
    /// The shift of all Node subjects in the later run, in addition.
    node: f64,
    /// The constant shift of each compiled process and of each Node process.
    process: [f64; 2],
    /// The noise from round to round.
    round: f64,
}

/// Returns two runs that differ only by noise. In the later one, some compiled and Node subjects
/// have changed code, and others are the same.
fn pair(
    rng: &mut ChaCha8Rng,
    noise: &Noise,
    changed: [usize; 2],
    same: [usize; 2],
) -> [RunResult; 2] {
    let machine = noise.machine * gaussian(rng);
    let shifts = [machine, machine + noise.node * gaussian(rng)];
    let mut runs = [sample::empty(), sample::empty()];
    for (index, result) in runs.iter_mut().enumerate() {
        result.seed = index as u64;
        result.noise_floor.floor = Some(0.02);
        result.noise_floor.managed = None;
        for (kind, language) in ["go", "node"].into_iter().enumerate() {
            for library in 0..changed[kind] + same[kind] {
                let name = format!("{language}-{library}");
                let subject = sample::subject(language, &name, "1.0.0", "jwt", Some("HS256"));
                let hash = if library < changed[kind] { index } else { 9 };
                let driver = subject.driver().to_owned();
                result.environment.drivers.insert(driver, hash.to_string());
                let mut row = sample::row("libraries", "sign", subject);
                let off = noise.process[kind] * gaussian(rng) + shifts[kind] * index as f64;
                let mut timing = sample::timing(1_000.0, 0.0);
                for round in &mut timing.rounds {
                    *round *= (off + noise.round * gaussian(rng)).exp();
                }
                row.ns_per_op = Some(timing);
                result.rows.measured.push(row);
            }
        }
    }
    runs
}

const QUIET: Noise = Noise {
    machine: 0.0,
    node: 0.0,
    process: [0.002, 0.005],
    round: 0.005,
};
const NOISY: Noise = Noise {
    machine: 0.1,
    node: 0.0,
    process: [0.01, 0.03],
    round: 0.02,
};
/// Something slows Node only, or speeds it up.
const OTHER_NODE: Noise = Noise {
    machine: 0.0,
    node: 0.15,
    process: [0.005, 0.005],
    round: 0.005,
};
const WILD_NODE: Noise = Noise {
    machine: 0.05,
    node: 0.0,
    process: [0.02, 0.8],
    round: 0.03,
};

/// Returns the outcomes of many pairs, when one subject takes `by` times as long.
fn outcomes(noise: &Noise, [changed, same]: [[usize; 2]; 2], by: f64) -> Vec<Outcome> {
    let outcome = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let [before, mut after] = pair(&mut rng, noise, changed, same);
        scale_rounds(&mut after.rows.measured[0], |_| by);
        judged(&before, &after, 0.05).unwrap().outcome
    };
    (0..RUNS).map(outcome).collect()
}

/// Returns the share of an outcome in %.
fn share(outcomes: &[Outcome], outcome: Outcome) -> f64 {
    let count = outcomes.iter().filter(|one| **one == outcome).count();
    100.0 * count as f64 / outcomes.len() as f64
}

#[test]
fn gate_identical_runs_regress_in_at_most_5_percent() {
    for (noise, changed, same) in [
        (QUIET, [3, 2], [3, 3]),
        (NOISY, [3, 2], [4, 6]),
        (NOISY, [1, 0], [1, 8]),
        (OTHER_NODE, [1, 0], [1, 8]),
        (OTHER_NODE, [3, 1], [3, 8]),
        (WILD_NODE, [3, 1], [3, 8]),
        (WILD_NODE, [1, 0], [0, 8]),
    ] {
        let regressions = share(&outcomes(&noise, [changed, same], 1.0), Outcome::Regression);
        println!("changed {changed:?}, same {same:?}: {regressions} %");
        assert!(regressions <= 5.0, "{changed:?} {same:?}: {regressions} %");
    }
    // With this noise, controls are required.
    let without = share(
        &outcomes(&NOISY, [[3, 2], [0, 0]], 1.0),
        Outcome::Regression,
    );
    assert!(without > 20.0, "{without} %");
}

#[test]
fn gate_twice_as_slow_is_never_no_regression() {
    for (noise, changed, same, found_in) in [
        (QUIET, [1, 0], [3, 8], 99.0),
        (NOISY, [2, 1], [4, 4], 95.0),
        (WILD_NODE, [1, 0], [0, 8], 0.0),
        (WILD_NODE, [1, 1], [1, 3], 0.0),
        (WILD_NODE, [1, 0], [0, 0], 95.0),
    ] {
        let outcomes = outcomes(&noise, [changed, same], 2.0);
        let missed = share(&outcomes, Outcome::NoRegression);
        assert_eq!(missed, 0.0, "{changed:?} {same:?}");
        // Not everything is undecided: what the noise allows is found.
        let found = share(&outcomes, Outcome::Regression);
        println!("changed {changed:?}, same {same:?}: found in {found} %");
        assert!(found >= found_in, "{changed:?} {same:?}: {found} %");
    }
}
