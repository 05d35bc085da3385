//! The results to merge, and the reasons why they cannot be merged.

use std::fmt;

use super::contradiction::Contradiction;
use super::machine::{Difference, machine, settings};
use jeton_lab_model::result::{Disturbance, Environment, RunResult};

/// A result with its name, such as the file name.
#[derive(Debug, Clone)]
pub struct Named {
    /// The name for messages.
    pub name: String,
    /// The result.
    pub result: RunResult,
}

/// The reason why results cannot be merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmergeable {
    /// Fewer than two results.
    TooFew,
    /// The first has server rows, and the second also or only other rows.
    ServersBeside(String, String),
    /// None of them has timed rows.
    NothingTimed,
    /// Two of them have rows of the same attack on the same library, or of the same interop pair.
    Overlap(String, String, String),
    /// Two of them are the same run.
    Twice(String, String),
    /// They come from different machines or settings.
    AnotherMachine(String, String, Vec<Difference>),
    /// One has a row that another lacks.
    AnotherPlan {
        /// The result with the row.
        with: String,
        /// The result without the row.
        without: String,
        /// The row.
        row: String,
    },
    /// A row differs in work or code.
    AnotherSubject(String, String, Difference),
    /// A result has rows with different numbers of rounds.
    Ragged(String, String),
    /// A result contradicts itself.
    Contradicts(String, Contradiction),
    /// No row was measured in all of them.
    NothingMeasured,
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => f.write_str("a merge requires at least two results"),
            Self::ServersBeside(servers, other) => write!(
                f,
                "{servers} has server rows, and {other} has other rows; results of `jeton-lab servers` \
                 merge only with each other"
            ),
            Self::NothingTimed => f.write_str(
                "none of the results is from `jeton-lab run`; results of attack and interop can only be added to a run",
            ),
            Self::Overlap(a, b, what) => {
                write!(f, "{a} and {b} both have rows of {what}; omit one of them")
            }
            Self::Twice(a, b) => write!(f, "{a} and {b} are the same run; pass it once"),
            Self::AnotherMachine(a, b, differences) => {
                let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{a} and {b} come from different machines ({}); compare them with `jeton-lab compare --across-cpus`",
                    list.join("; ")
                )
            }
            Self::AnotherPlan { with, without, row } => write!(
                f,
                "{with} and {without} have different plans: only {with} has {row}"
            ),
            Self::AnotherSubject(a, b, difference) => write!(
                f,
                "{a} and {b} differ ({difference}); compare them with `jeton-lab compare`"
            ),
            Self::Ragged(name, row) => write!(
                f,
                "{name} has a different number of rounds of {row} than of its other rows"
            ),
            Self::Contradicts(name, Contradiction { about, what }) => write!(
                f,
                "{name} contradicts itself: {about}: {what}; see `jeton-lab check`"
            ),
            Self::NothingMeasured => f.write_str("no row was measured in all of them"),
        }
    }
}

impl std::error::Error for Unmergeable {}

/// Checks that both come from the same machine with the same settings.
pub(super) fn same_machine(first: &Named, other: &Named) -> Result<(), Unmergeable> {
    let (a, b) = (&first.result.environment, &other.result.environment);
    let mut differences = machine(a, b);
    differences.extend(settings(a, b));
    if differences.is_empty() {
        return Ok(());
    }
    let (a, b) = (first.name.clone(), other.name.clone());
    Err(Unmergeable::AnotherMachine(a, b, differences))
}

/// Returns a driver or server of both results whose code differs.
pub(super) fn code(a: &Environment, b: &Environment, kind: &str) -> Option<Difference> {
    let both = a.drivers.iter().filter_map(|(driver, hash)| {
        let other = b.drivers.get(driver)?;
        (other != hash).then_some((driver, hash, other))
    });
    let short = |hash: &String| hash.chars().take(8).collect();
    let mut differ = both.map(|(driver, before, after)| Difference {
        what: format!("sources or lockfile of the {kind} {driver}"),
        before: short(before),
        after: short(after),
    });
    differ.next()
}

pub(super) fn environment(results: &[Named]) -> Environment {
    let all = || results.iter().map(|n| &n.result.environment);
    let mut merged = results[0].result.environment.clone();
    merged.elapsed_s = all().map(|e| e.elapsed_s).sum();
    merged.complete = all().all(|e| e.complete);
    merged.rounds_planned = all().map(|e| e.rounds_planned).sum();
    merged.rounds_finished = all().map(|e| e.rounds_finished).sum();
    for e in all() {
        merged.runtimes.extend(e.runtimes.clone());
        merged.drivers.extend(e.drivers.clone());
    }
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
