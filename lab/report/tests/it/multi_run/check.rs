//! Which edits of a result file the check detects.

use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_report::multi_run::{Named, check, merge};

use super::run;

/// A result whose figures follow from its rounds.
fn sound(runs: u64) -> RunResult {
    let named = |seed| Named {
        name: format!("run {seed}"),
        result: run(seed),
    };
    merge((1..=runs).map(named).collect(), "jeton lab merge").unwrap()
}

/// Returns what the check says about an edited result.
fn said(edit: impl FnOnce(&mut RunResult)) -> Vec<String> {
    let mut result = sound(2);
    edit(&mut result);
    let found = check(&result).contradictions.into_iter();
    found
        .map(|one| format!("{}: {}", one.about, one.what))
        .collect()
}

#[test]
fn check_figures_that_follow_are_accepted() {
    for runs in [2, 6] {
        let result = sound(runs);
        let checked = check(&result);
        assert_eq!(checked.contradictions, [], "{runs} runs");
        assert_eq!(checked.rows, result.rows.measured.len());
        assert_eq!(checked.verdicts, result.verdicts.len());
        assert!(checked.verdicts > 0 && checked.pairs > 0);
    }
}

#[test]
fn check_edited_median_is_found() {
    let found = said(|result| {
        let timing = result.rows.measured[1].ns_per_op.as_mut().unwrap();
        timing.median *= 0.999;
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("the median is "), "{found:?}");
    assert!(found[0].ends_with("follows from the rounds"), "{found:?}");
}

#[test]
fn check_edited_interval_is_found() {
    let found = said(|result| {
        let timing = result.rows.measured[1].ns_per_op.as_mut().unwrap();
        timing.interval[1] = timing.median;
    });
    assert!(found[0].contains("upper end of the interval"), "{found:?}");
}

#[test]
fn check_edited_verdict_is_found() {
    let found = said(|result| result.verdicts[0].verdict = VerdictKind::Faster);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("verdict on "), "{found:?}");
    assert!(found[0].contains("the verdict is faster"), "{found:?}");
}

#[test]
fn check_edited_noise_floor_is_found() {
    let found = said(|result| result.noise_floor.floor = Some(0.2));
    assert!(
        found
            .iter()
            .any(|line| line.starts_with("noise_floor: the floor is 0.2;")),
        "{found:?}"
    );
}

/// The intervals of a table are simultaneous: they depend on the number of its subjects.
#[test]
fn check_removed_verdict_is_found() {
    let found = said(|result| drop(result.verdicts.remove(0)));
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|line| line.starts_with("verdict on ")),
        "{found:?}"
    );
}

#[test]
fn check_scaled_rounds_contradict_the_verdicts() {
    let found = said(|result| {
        let timing = result.rows.measured[1].ns_per_op.as_mut().unwrap();
        for round in &mut timing.rounds {
            *round *= 0.5;
        }
        timing.median *= 0.5;
        timing.interval = timing.interval.map(|end| end * 0.5);
    });
    assert!(
        found.iter().any(|line| line.starts_with("verdict on ")),
        "{found:?}"
    );
}

#[test]
fn check_edited_group_is_counted() {
    let mut result = sound(2);
    result.verdicts[0].group += 1;
    let checked = check(&result);
    assert_eq!((checked.groups, checked.contradictions.len()), (1, 0));
}
