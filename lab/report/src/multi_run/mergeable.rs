//! Whether results can be merged, and what all merged results share: their environment.

use super::machine::{Difference, joined, machine, settings};
use super::runs::{Named, code, in_common};
use crate::grouped::distinct;
use jeton_lab_model::result::{Disturbance, Environment, MergedRun, RunResult};

/// The reason to refuse a merge without a figure.
pub(super) const NOTHING_MEASURED: &str = "no row was measured in all of them";

pub(super) fn without(obstacle: Option<String>) -> Result<(), String> {
    obstacle.map_or(Ok(()), Err)
}

/// Says that one of the earlier results has one of these runs.
pub(super) fn twice(
    earlier: &[Named],
    later: &Named,
    runs: fn(&RunResult) -> Vec<MergedRun>,
) -> Option<String> {
    let is_same = |one: &&Named| in_common(runs, &one.result, &later.result);
    let (one, later) = (&earlier.iter().find(is_same)?.name, &later.name);
    Some(format!("{one} and {later} are the same run; pass it once"))
}

/// Says that both do not come from the same machine with the same settings.
pub(super) fn other_machine(first: &Named, other: &Named) -> Option<String> {
    let (a, b) = (&first.result.environment, &other.result.environment);
    let differences = joined(&[machine(a, b), settings(a, b)].concat());
    let (first, other) = (&first.name, &other.name);
    (!differences.is_empty()).then(|| {
        format!(
            "{first} and {other} come from different machines ({differences}); compare them with `jeton-lab compare --across-cpus`"
        )
    })
}

/// Says that one result has not each work of the other, or other code. `lacks` names a work that it has not.
pub(super) fn other_plan(
    a: &Named,
    b: &Named,
    kind: &str,
    lacks: fn(&RunResult, &RunResult) -> Option<String>,
    of_rows: impl Fn(&RunResult, &RunResult) -> Option<Difference>,
) -> Option<String> {
    let mut both = [(a, b), (b, a)].into_iter();
    let works = both.find_map(|(with, without)| {
        let row = lacks(&with.result, &without.result)?;
        let (with, without) = (&with.name, &without.name);
        Some(format!(
            "{with} and {without} have different plans: only {with} has {row}"
        ))
    });
    let (own, other) = (&a.result, &b.result);
    let code = || code(&own.environment, &other.environment, kind);
    let difference = || code().or_else(|| of_rows(own, other));
    works.or_else(|| differ(&a.name, &b.name, difference()))
}

pub(super) fn differ(a: &str, b: &str, difference: Option<Difference>) -> Option<String> {
    let difference = difference?;
    Some(format!(
        "{a} and {b} differ ({difference}); compare them with `jeton-lab compare`"
    ))
}

pub(super) fn in_run(index: usize, results: &[Named], why: Option<&str>) -> String {
    let why = why.unwrap_or("no reason recorded");
    format!("in run {} of {}: {why}", index + 1, results.len())
}

pub(super) fn environment(results: &[Named]) -> Environment {
    let all = || results.iter().map(|n| &n.result.environment);
    let mut merged = results[0].result.environment.clone();
    merged.commit = (merged.commit).filter(|own| all().all(|e| e.commit.as_ref() == Some(own)));
    merged.elapsed_s = all().map(|e| e.elapsed_s).sum();
    merged.complete = all().all(|e| e.complete);
    merged.rounds_planned = all().map(|e| e.rounds_planned).sum();
    merged.rounds_finished = all().map(|e| e.rounds_finished).sum();
    let weights: Vec<f64> = all().map(|e| e.elapsed_s).collect();
    let share = |value: fn(&Disturbance) -> Option<f64>| {
        let values: Vec<Option<f64>> = all().map(|e| value(&e.disturbance)).collect();
        mean(&values, &weights).filter(|m| m.is_finite())
    };
    let reasons = |(i, e): (usize, &Environment)| {
        let of_run = format!("run {} of {}", i + 1, results.len());
        let reasons = e.disturbance.reasons.clone().into_iter();
        reasons.map(move |reason| format!("{of_run}: {reason}"))
    };
    merged.disturbance = Disturbance {
        disturbed: all().any(|e| e.disturbance.disturbed),
        reasons: all().enumerate().flat_map(reasons).collect(),
        steal: share(|t| t.steal),
        load: share(|t| t.load),
        shared: share(|t| t.shared),
        pressure: share(|t| t.pressure),
        throttled: all().map(|e| e.disturbance.throttled).sum(),
        unwatched: distinct(all().flat_map(|e| e.disturbance.unwatched.iter().cloned())),
    };
    for e in all() {
        merged.runtimes.extend(e.runtimes.clone());
        merged.drivers.extend(e.drivers.clone());
    }
    merged
}

/// Returns the mean over all rounds; `None` if one of the runs did not count.
pub(super) fn mean(values: &[Option<f64>], weights: &[f64]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    let first = *values.first()?;
    if values.iter().all(|v| *v == first) {
        return Some(first);
    }
    let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
    Some(sum / weights.iter().sum::<f64>())
}
