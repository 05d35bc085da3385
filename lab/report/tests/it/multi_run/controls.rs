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

#[test]
fn gate_shift_that_own_control_denies_is_kept() {
    for (node, jeton, threshold) in [(0.90, 1.01, 0.05), (0.70, 1.01, 0.05), (1.111, 1.20, 0.15)] {
        let [before, after] = mixed(node, 1.0, jeton);
        let found = judged(&before, &after, threshold).unwrap();
        assert_eq!(found.outcome, Outcome::Undecided, "{node}: {found:?}");
        assert!(!found.between_runs[0].shift_removed, "{node}");
        let said = gate_summary(&found, 1_000);
        let why = "the control of the same kind does not show it";
        assert!(said.contains(why), "{said}");
    }
    // Go shows it too, and a little more or less of it.
    for go in [0.895, 0.9, 0.91] {
        let [before, after] = mixed(0.9, go, 0.9);
        let found = judged(&before, &after, 0.05).unwrap();
        assert_eq!(found.outcome, Outcome::NoRegression, "{go}");
        assert!(found.between_runs[0].shift_removed, "{go}");
    }
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
fn gate_shift_on_other_threads_is_kept() {
    for (shift, jeton) in [(0.90, 1.0), (1.11, 1.15)] {
        let gate_of = |also_on_four: &[&str], jeton: f64| {
            let [before, after] = [(1, 1.0), (2, shift)].map(|(seed, shift)| {
                let mut result = run(seed);
                for library in [&["jeton"], also_on_four].concat() {
                    on_four(&mut result, library);
                }
                let rows = result.rows.measured.iter_mut();
                rows.for_each(|row| scale_rounds(row, |_| shift));
                result
            });
            let mut after = after;
            change(&mut after, "jeton", jeton / shift);
            judged(&before, &after, 0.05).unwrap()
        };
        let alone = gate_of(&[], jeton);
        assert_eq!(alone.outcome, Outcome::Undecided, "{shift}: {alone:?}");
        let json = serde_json::to_value(&alone).unwrap();
        let shown = json["between_runs"].as_array().unwrap();
        let on_four = shown.iter().find(|one| one["threads"] == 4).unwrap();
        assert_eq!(on_four["shift_removed"], false);
        let on_one = shown.iter().find(|one| one["threads"] == 1).unwrap();
        assert_eq!(on_one["shift_removed"], true);
        let said = gate_summary(&alone, 1_000);
        assert!(
            said.contains("For compiled subjects on 4 threads: ")
                && said.contains("no control of the same kind on 4 threads"),
            "{said}"
        );
        // One control on four threads that shows it is enough.
        let shown = gate_of(&["a"], shift);
        assert_eq!(shown.outcome, Outcome::NoRegression, "{shift}: {shown:?}");
        assert!((shown.rows[0].ratio - 1.0).abs() < 0.01);
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

#[test]
fn gate_wide_row_without_noise_floor_is_open() {
    let gate_of = |spread: f64, control: f64| {
        let (mut before, mut after) = (run(1), run(2));
        scale_rounds(&mut after.rows.measured[2], |_| control);
        before.rows.measured[0].threads = 2;
        after.rows.measured[0].threads = 2;
        scale_rounds(&mut after.rows.measured[0], |round| {
            1.0 + if round % 2 == 0 { spread } else { -spread }
        });
        change(&mut after, "jeton", 1.0);
        change(&mut after, "a", 1.0);
        judged(&before, &after, 0.05).unwrap()
    };
    let wide = gate_of(0.3, 1.0);
    let jeton = wide.rows.iter().find(|row| row.subject.contains("jeton"));
    let jeton = jeton.unwrap();
    assert!(!jeton.exceeds_threshold && jeton.interval[1] > 1.05);
    assert_eq!((wide.passed, wide.undecided), (1, 1));
    assert_eq!(wide.outcome, Outcome::Undecided, "{jeton:?}");
    // The controls may set a band that is wider still.
    let wider = gate_of(0.3, 0.1);
    let jeton = wider.rows.iter().find(|row| row.subject.contains("jeton"));
    let jeton = jeton.unwrap();
    assert!(jeton.is_open && matches!(jeton.band_set_by, SetBy::Controls { .. }));
    // Its interval ends below the threshold.
    let narrow = gate_of(0.0, 1.0);
    assert_eq!(ruling_on(&narrow, "jeton"), Ruling::Undecided);
    assert_eq!(narrow.outcome, Outcome::NoRegression);
}

#[test]
fn gate_slow_control_is_said_to_be_a_control() {
    let (before, mut after) = (run(1), run(2));
    scale_rounds(&mut after.rows.measured[0], |_| 2.0);
    let said = gate_summary(&judged(&before, &after, 0.05).unwrap(), 1_000);
    assert!(
        said.contains("; 1 control undecided: unchanged code takes 50 % longer or more")
            && !said.contains("interval wider"),
        "{said}"
    );
}

#[test]
fn compare_one_run_twice_is_reported() {
    let shown = |after: &RunResult| {
        let names = ["before.json".to_owned(), "after.json".to_owned()];
        comparison(&compare(&run(1), after), &names, 1_000)
    };
    assert!(shown(&run(1)).contains("SAME RUN"));
    assert!(!shown(&run(2)).contains("SAME RUN"));
}
