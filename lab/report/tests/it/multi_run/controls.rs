//! Which controls and noise floors apply to a row.

use jeton_lab_model::result::{NoiseFloor, RunResult, ThreadsFloor};
use jeton_lab_report::multi_run::{Outcome, Ruling, SetBy};
use jeton_lab_report::terminal::{comparison, describe_set_by, gate_summary};

use super::decided::{ruling_on, with_node};
use super::{change, compare, judged, run, scale_rounds};

/// Returns two runs with eight Node controls and one Go control that take this many times as long, and
/// with a changed jeton.
fn mixed(node: f64, go: f64, jeton: f64) -> [RunResult; 2] {
    let [before, mut after] = [(1, 1.0), (2, node)].map(|(seed, node)| {
        let mut result = with_node(run(seed), [node; 8]);
        let kept = |library: &str| ["jeton", "a"].contains(&library) || library.starts_with("node");
        let rows = &mut result.rows.measured;
        rows.retain(|row| kept(&row.subject.library));
        result
    });
    scale_rounds(&mut after.rows.measured[1], |_| go);
    change(&mut after, "jeton", jeton);
    [before, after]
}

/// Moves a library to four threads, with a noise floor of pairs on as many.
fn on_four(result: &mut RunResult, library: &str) {
    let mut rows = result.rows.measured.iter_mut();
    let row = rows.find(|row| row.subject.library == library).unwrap();
    row.threads = 4;
    let noise = &mut result.noise_floor;
    if noise.threads.is_empty() {
        noise.threads.push(ThreadsFloor {
            threads: 4,
            floor: 0.03,
        });
        let mut pair = noise.pairs[0].clone();
        pair.threads = 4;
        noise.pairs.push(pair);
    }
}

#[test]
fn compare_noise_floor_without_pairs_is_none() {
    let band_of = |edit: &dyn Fn(&mut NoiseFloor)| {
        let (before, mut after) = (run(1), run(2));
        change(&mut after, "jeton", 1.5);
        edit(&mut after.noise_floor);
        let compared = compare(&before, &after);
        let jeton = &compared.changes[0];
        (jeton.band, describe_set_by(&jeton.band_set_by))
    };
    let none = |(band, set_by): (f64, String)| {
        assert_eq!(band, 2.0, "{set_by}");
        assert!(
            set_by.starts_with("the after run has no noise floor on 1 thread"),
            "{set_by}"
        );
    };
    none(band_of(&|noise| {
        *noise = NoiseFloor {
            floor: Some(0.0),
            ..NoiseFloor::default()
        };
    }));
    // Pairs on more threads only.
    none(band_of(&|noise| {
        noise.pairs.iter_mut().for_each(|pair| pair.threads = 2);
    }));
    // A floor for managed code without pairs of managed code.
    let (before, mut after) = [1, 2].map(|seed| with_node(run(seed), [1.0; 8])).into();
    change(&mut after, "node-0", 1.5);
    after.noise_floor.floor = None;
    after.noise_floor.managed = Some(0.0);
    assert_eq!(compare(&before, &after).changes[0].band, 2.0);
}

#[test]
fn compare_threads_floor_without_pairs_is_none() {
    let (mut before, mut after) = (run(1), run(2));
    on_four(&mut before, "jeton");
    on_four(&mut after, "jeton");
    after.noise_floor.threads[0].floor = 0.0;
    after.noise_floor.pairs.retain(|pair| pair.threads == 1);
    change(&mut after, "jeton", 1.5);
    let jeton = &compare(&before, &after).changes[0];
    let none = SetBy::NoNoiseFloor {
        run: "after",
        threads: 4,
    };
    assert_eq!((jeton.band, &jeton.band_set_by), (2.0, &none));
}
