//! Which edits of a result file the check detects.

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{
    AaPair, Disturbance, NoiseFloor, RunResult, Verdict, VerdictKind, to_bytes,
};
use jeton_lab_report::multi_run::{Named, check, merge, recomputed};
use jeton_lab_report::recommendation::recommend;

use super::run;
use crate::stored;

/// A result whose figures follow from its rounds.
fn sound(runs: u64) -> RunResult {
    if runs == 1 {
        return recomputed(&run(1));
    }
    let named = |seed| Named {
        name: format!("run {seed}"),
        result: run(seed),
    };
    let mut result = merge((1..=runs).map(named).collect(), "jeton-lab merge").unwrap();
    let requirements = Requirements::parse(&["weight=sign"]).unwrap();
    result.recommendation = Some(recommend(&result, &requirements, true));
    result
}

fn lines(result: &RunResult) -> Vec<String> {
    let found = check(result).into_iter();
    found
        .map(|one| format!("{}: {}", one.about, one.what))
        .collect()
}

/// Returns what the check says about an edited result.
fn said(edit: impl FnOnce(&mut RunResult)) -> Vec<String> {
    let mut result = sound(2);
    edit(&mut result);
    lines(&result)
}

#[test]
fn check_figures_that_follow_are_accepted() {
    for runs in [2, 6] {
        let result = sound(runs);
        assert_eq!(check(&result), [], "{runs} runs");
        assert!(!result.verdicts.is_empty() && !result.claims_answered.is_empty());
    }
}

#[test]
fn check_stored_runs_are_accepted() {
    for kind in ["full", "sdks", "servers"] {
        let result = stored::run(kind);
        assert_eq!(lines(&result), [""; 0], "{kind}");
    }
}

/// An edited file becomes a sound one again, with its rounds.
#[test]
fn recomputed_file_is_accepted() {
    let sound = sound(2);
    let mut edited = sound.clone();
    edited.verdicts[0].group = 9;
    edited.rows.measured[1].ns_per_op.as_mut().unwrap().median = 1.0;
    edited.noise_floor.floor = Some(0.2);
    edited.claims_answered[3].why = "because".to_owned();
    let again = recomputed(&edited);
    assert_eq!(to_bytes(&again), to_bytes(&recomputed(&sound)));
    assert_eq!(lines(&again), [""; 0]);
}

#[test]
fn check_edited_median_is_found() {
    let found = said(|result| {
        let timing = result.rows.measured[1].ns_per_op.as_mut().unwrap();
        timing.median *= 0.999;
    });
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
fn check_edited_group_is_found() {
    let found = said(|result| result.verdicts[0].group += 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("the group is "), "{found:?}");
    let found = said(|result| result.verdicts[0].baseline_group = None);
    assert!(
        found[0].contains("group of the baseline is nothing"),
        "{found:?}"
    );
}

#[test]
fn check_edited_advice_is_found() {
    let found = said(|result| {
        let advice = result.recommendation.as_mut().unwrap();
        advice.choices[0].token = "JWT none".to_owned();
    });
    assert!(
        found[0].starts_with("recommendation: the choices[0].token is \"JWT none\""),
        "{found:?}"
    );
    let found = said(|result| {
        let advice = result.recommendation.as_mut().unwrap();
        advice.would_change.clear();
    });
    assert!(found[0].starts_with("recommendation: "), "{found:?}");
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

#[test]
fn check_noise_floor_without_rounds_is_found() {
    for edit in [
        |result: &mut RunResult| result.noise_floor.pairs.clear(),
        |result: &mut RunResult| {
            for pair in &mut result.noise_floor.pairs {
                pair.rounds = Default::default();
            }
        },
    ] {
        let found = said(edit);
        assert!(
            found.contains(&"noise_floor: no A/A pair has rounds that it follows from".to_owned()),
            "{found:?}"
        );
    }
}

#[test]
fn check_removed_answer_is_found() {
    let found = said(|result| drop(result.claims_answered.pop()));
    assert!(found[0].ends_with(": is missing"), "{found:?}");
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

/// The reasons of a disturbed run must be those of its figures.
#[test]
fn check_hidden_disturbance_is_found() {
    let single = |steal: f64, reasons: &[&str]| {
        let mut result = recomputed(&run(1));
        let disturbance = &mut result.environment.disturbance;
        disturbance.steal = Some(steal);
        disturbance.disturbed = !reasons.is_empty();
        disturbance.reasons = reasons.iter().map(|r| (*r).to_owned()).collect();
        lines(&result)
    };
    let stated = "the hypervisor took 4.0 % of the CPU time (limit 1 %)";
    assert_eq!(single(0.001, &[]), [""; 0]);
    assert_eq!(single(0.04, &[stated]), [""; 0]);
    let hidden = single(0.04, &[]);
    assert!(
        hidden[0].starts_with("environment.taint.reasons: do not say that the hypervisor took"),
        "{hidden:?}"
    );
    let invented = single(0.001, &[stated]);
    assert!(
        invented[0].ends_with("; the figures do not"),
        "{invented:?}"
    );
    let with = |edit: fn(&mut Disturbance)| {
        let mut result = recomputed(&run(1));
        edit(&mut result.environment.disturbance);
        lines(&result)
    };
    for (edit, reason) in [
        (
            (|d| d.pressure = Some(0.3)) as fn(&mut Disturbance),
            "work waited for a free core 30 %",
        ),
        (|d| d.throttled = Some(2), "the CPU was throttled 2 times"),
    ] {
        let found = with(edit);
        let said = format!("do not say that {reason}");
        assert!(found.iter().any(|line| line.contains(&said)), "{found:?}");
    }
    let without_figure = with(|d| {
        d.pressure = None;
        d.disturbed = true;
        d.reasons = vec!["work waited for a free core 12 % of the time (limit 10 %)".to_owned()];
    });
    assert!(
        without_figure[0].ends_with("; the figures do not"),
        "{without_figure:?}"
    );
    let merged = said(|result| result.environment.disturbance.steal = Some(0.04));
    assert!(
        merged[0].starts_with("environment.taint.reasons: is empty, although"),
        "{merged:?}"
    );
}

/// Rounds of a pair that no row has would choose the noise floor of a run.
#[test]
fn check_pair_with_rounds_of_no_row_is_found() {
    let first = "no row of this subject and operation has the rounds of its first measurement";
    for edit in [
        |pair: &mut AaPair| pair.rounds[0][0] *= 1.01,
        |pair: &mut AaPair| pair.subject = "rust/ghost:jwt:HS256:prepared".to_owned(),
        |pair: &mut AaPair| pair.operation = "verify".to_owned(),
    ] {
        let mut result = sound(1);
        edit(&mut result.noise_floor.pairs[1]);
        let found = lines(&recomputed_but_pairs(&result));
        assert!(found.iter().any(|line| line.ends_with(first)), "{found:?}");
        // Nothing of it stays in a file that is written again.
        let again = recomputed(&result);
        assert_eq!(again.noise_floor.pairs.len(), 3);
        assert_eq!(lines(&again), [""; 0]);
    }
}

/// The result with everything derived again, and the pairs as they are.
fn recomputed_but_pairs(result: &RunResult) -> RunResult {
    let mut own = recomputed(result);
    own.noise_floor.pairs.clone_from(&result.noise_floor.pairs);
    own
}

#[test]
fn check_repeated_pair_is_found() {
    let copy = "has the same rounds as another measurement of the A/A pairs";
    let mut repeated = sound(1);
    let quiet = repeated.noise_floor.pairs[0].clone();
    repeated.noise_floor.pairs.extend([quiet.clone(), quiet]);
    let mut flat = sound(1);
    let pair = &mut flat.noise_floor.pairs[0];
    pair.rounds[1] = pair.rounds[0].clone();
    let mut copied = sound(1);
    let second = copied.noise_floor.pairs[0].rounds[1].clone();
    copied.noise_floor.pairs[1].rounds[1] = second;
    for edited in [repeated, flat, copied] {
        let found = lines(&recomputed_but_pairs(&edited));
        assert!(found.iter().any(|line| line.ends_with(copy)), "{found:?}");
    }
}

/// A file without pairs must not have a narrower band than with them.
#[test]
fn check_removed_noise_floor_leaves_small_ratios_undecided() {
    let mut result = stored::run("sdks");
    result.noise_floor = NoiseFloor::default();
    assert!(!lines(&result).is_empty());
    let again = recomputed(&result);
    let small = |v: &&Verdict| (0.34..3.0).contains(&v.ratio);
    let decided = |kind| kind == VerdictKind::Faster || kind == VerdictKind::Slower;
    assert!(again.verdicts.iter().any(|v| small(&v)));
    for verdict in again.verdicts.iter().filter(small) {
        assert!(
            !decided(verdict.verdict),
            "{}: {}",
            verdict.subject,
            verdict.ratio
        );
    }
}
