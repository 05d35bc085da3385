//! Whether results can be merged, and what all merged results share: their environment.

use std::fmt;

use super::machine::{Difference, joined, machine, settings};
use super::runs::{Named, in_common};
use jeton_lab_model::result::{Disturbance, Environment, MergedRun, RunResult};

/// The reason why results cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmergeable {
    /// Fewer than two results.
    TooFew,
    /// None of them has timed rows.
    NothingTimed,
    /// No row was measured in all of them.
    NothingMeasured,
    /// What is wrong with one of them, or differs between two, with their names.
    Unfit(String),
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFew => "a merge requires at least two results",
            Self::NothingTimed => {
                "none of the results is from `jeton-lab run`; results of attack and interop can only be added to a run"
            }
            Self::NothingMeasured => "no row was measured in all of them",
            Self::Unfit(why) => why,
        })
    }
}

impl std::error::Error for Unmergeable {}

/// Fails with this obstacle, if there is one.
pub(super) fn without(obstacle: Option<String>) -> Result<(), Unmergeable> {
    obstacle.map_or(Ok(()), |why| Err(Unmergeable::Unfit(why)))
}

/// Checks that none of the earlier results has one of these runs.
pub(super) fn not_twice(
    earlier: &[Named],
    later: &Named,
    runs: fn(&RunResult) -> Vec<MergedRun>,
) -> Result<(), Unmergeable> {
    let twice = earlier
        .iter()
        .find(|one| in_common(runs, &one.result, &later.result));
    without(twice.map(|one| {
        format!(
            "{} and {} are the same run; pass it once",
            one.name, later.name
        )
    }))
}

/// Checks that both come from the same machine with the same settings.
pub(super) fn same_machine(first: &Named, other: &Named) -> Result<(), Unmergeable> {
    let (a, b) = (&first.result.environment, &other.result.environment);
    let differences = [machine(a, b), settings(a, b)].concat();
    without((!differences.is_empty()).then(|| {
        format!(
            "{} and {} come from different machines ({}); compare them with `jeton-lab compare --across-cpus`",
            first.name,
            other.name,
            joined(&differences)
        )
    }))
}

/// Checks that one result has each of these works of the other; `lacks` names a work that it has not.
pub(super) fn same_works(
    a: &Named,
    b: &Named,
    lacks: impl Fn(&RunResult, &RunResult) -> Option<String>,
) -> Result<(), Unmergeable> {
    for (with, without) in [(a, b), (b, a)] {
        let lacked = lacks(&with.result, &without.result);
        self::without(lacked.map(|row| {
            let (with, without) = (&with.name, &without.name);
            format!("{with} and {without} have different plans: only {with} has {row}")
        }))?;
    }
    Ok(())
}

/// Checks that two results do not differ in work or code.
pub(super) fn not_different(
    a: &str,
    b: &str,
    difference: Option<Difference>,
) -> Result<(), Unmergeable> {
    without(difference.map(|difference| {
        format!("{a} and {b} differ ({difference}); compare them with `jeton-lab compare`")
    }))
}

/// Says in which run something happened, and why.
pub(super) fn in_run(index: usize, results: &[Named], why: Option<&str>) -> String {
    let why = why.unwrap_or("no reason recorded");
    format!("in run {} of {}: {why}", index + 1, results.len())
}

/// Merges the environments: all disturbances, and the code of all.
pub(super) fn environment(results: &[Named]) -> Environment {
    let all = || results.iter().map(|n| &n.result.environment);
    let mut merged = results[0].result.environment.clone();
    merged.elapsed_s = all().map(|e| e.elapsed_s).sum();
    merged.complete = all().all(|e| e.complete);
    merged.rounds_planned = all().map(|e| e.rounds_planned).sum();
    merged.rounds_finished = all().map(|e| e.rounds_finished).sum();
    let weights: Vec<f64> = all().map(|e| e.elapsed_s).collect();
    let share = |value: fn(&Disturbance) -> Option<f64>| {
        let values: Vec<Option<f64>> = all().map(|e| value(&e.disturbance)).collect();
        mean(&values, &weights).filter(|m| m.is_finite())
    };
    let mut disturbance = Disturbance {
        disturbed: all().any(|e| e.disturbance.disturbed),
        reasons: Vec::new(),
        steal: share(|t| t.steal),
        load: share(|t| t.load),
        shared: share(|t| t.shared),
        pressure: share(|t| t.pressure),
        throttled: all().map(|e| e.disturbance.throttled).sum(),
        unwatched: Vec::new(),
    };
    for (i, e) in all().enumerate() {
        merged.runtimes.extend(e.runtimes.clone());
        merged.drivers.extend(e.drivers.clone());
        let run = |reason: &String| format!("run {} of {}: {reason}", i + 1, results.len());
        disturbance
            .reasons
            .extend(e.disturbance.reasons.iter().map(run));
        for line in &e.disturbance.unwatched {
            if !disturbance.unwatched.contains(line) {
                disturbance.unwatched.push(line.clone());
            }
        }
    }
    merged.disturbance = disturbance;
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
