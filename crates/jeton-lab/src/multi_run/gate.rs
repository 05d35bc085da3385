//! Whether a result is slower than another: for a pipeline that must say yes or no.

use std::fmt;

use serde::Serialize;

use super::band::{ControlsShow, SetBy};
use super::compare::{AcrossCpus, Change, RunComparison, compare};
use super::machine::Difference;
use crate::result::{RunResult, VerdictKind};
use crate::stats::verdict::{Band, judge};
use crate::suite::{Nearest, matches, nearest};

/// What a gate is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Slower by less than this is let through: 0.05 is 5 %.
    pub threshold: f64,
    /// What is done with runs that other work disturbed.
    pub disturbed: Disturbed,
    /// What is done with runs of different CPUs.
    pub across_cpus: AcrossCpus,
    /// Parts of the ids of the subjects that are judged, `*` stands for anything; all if there are
    /// none. The others still show what the runs themselves differ by.
    pub subjects: Vec<String>,
}

/// What a gate came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The answer.
    pub outcome: Outcome,
    /// Slower by less than this is let through: 0.05 is 5 %.
    pub threshold: f64,
    /// What does not get through.
    pub regressions: Vec<Regression>,
    /// Judged, and no slower beyond the threshold.
    pub passed: usize,
    /// Judged, and neither shown to be slower beyond the threshold nor shown not to be.
    pub undecided: usize,
    /// The same code in both runs.
    pub controls: usize,
    /// What the controls of each kind differ by together, and how far apart they lie.
    pub between_runs: Vec<ControlsShow>,
    /// What makes it another machine, if they were judged all the same.
    pub another_machine: Vec<Difference>,
    /// Every row that both measured, the largest change first and controls last.
    pub rows: Vec<Judged>,
    /// What could not be judged, as `subject: why`.
    pub unjudged: Vec<String>,
}

/// The answer of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing is slower beyond the threshold.
    NoRegression,
    /// Something is.
    Regression,
    /// A row came out slower beyond the threshold, and the noise is so wide that it cannot be said
    /// whether it is. Or nothing that changed could be decided.
    Undecided,
}

/// One row, as a gate judged it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Operation and subject.
    pub what: String,
    /// The subject's id.
    pub subject: String,
    /// Whether it is the same code in both, as far as the results know.
    pub is_control: bool,
    /// What is said of it.
    pub ruling: Ruling,
    /// Whether it came out slower beyond the threshold, as it was measured or without what the
    /// controls differ by together.
    pub exceeds_threshold: bool,
    /// Later over earlier, without what all controls differ by together.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: [f64; 2],
    /// Later over earlier as it was measured.
    pub measured_ratio: f64,
    /// What is not believed around one, as a ratio above one.
    pub band: f64,
    /// What made the band so wide.
    pub band_set_by: SetBy,
}

/// What is said of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// It is slower beyond the threshold and the noise.
    Slower,
    /// It is not slower beyond the threshold.
    NotSlower,
    /// It may be either: its band is wider than the threshold, or its interval ends beyond it. A control
    /// is undecided if it takes half as long again: something changed that the results do not know of.
    Undecided,
    /// The same code in both runs, as far as the results know.
    SameCode,
}

/// What does not get through a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Regression {
    /// It takes longer, beyond the threshold and the noise.
    Slower {
        /// Operation and subject.
        what: String,
        /// Later over earlier.
        ratio: f64,
        /// The interval of the ratio.
        interval: [f64; 2],
        /// What it was held against: the threshold, or the noise where that is wider.
        beyond: f64,
    },
    /// The earlier run measured it, and in the later one it failed.
    Broken {
        /// Operation and subject.
        what: String,
        /// Its status and reason.
        reason: String,
    },
}

/// Why a gate can say neither yes nor no.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjudgeable {
    /// The runs were on different machines.
    AnotherMachine(Vec<Difference>),
    /// Something disturbed a run.
    Disturbed {
        /// Which one: `baseline` or `result`.
        run: &'static str,
        /// Why, a sentence each.
        reasons: Vec<String>,
    },
    /// No subject is in both.
    NothingInCommon,
    /// Neither has such a subject.
    NoSubject {
        /// What was asked for.
        pattern: String,
        /// What may have been meant.
        nearest: Nearest,
    },
}

impl fmt::Display for Unjudgeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherMachine(differences) => {
                let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "the two were measured on different machines ({}): measure the baseline on this one, or say --across-cpus",
                    list.join("; ")
                )
            }
            Self::Disturbed { run, reasons } => write!(
                f,
                "the {run} was disturbed while it was measured ({}): measure it again, or say --allow-noisy",
                reasons.join("; ")
            ),
            Self::NothingInCommon => f.write_str(
                "the two have no subject in common: measure the same suites with the same claims",
            ),
            Self::NoSubject { pattern, nearest } => write!(
                f,
                "no subject of the two results matches `{pattern}`{nearest}"
            ),
        }
    }
}

impl std::error::Error for Unjudgeable {}

/// Whether runs that other work disturbed are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbed {
    /// They cannot be judged.
    Refuse,
    /// They are judged as they are.
    Allow,
}

/// The same code does not take half as long again on the same machine: if it does, something changed
/// that the results do not know of.
const IMPLAUSIBLE: f64 = 1.5;

/// Judges `after` by `before`. A subject is a regression if it is slower beyond all of: the
/// threshold, both noise floors, and what controls differ by between the runs; or if it was measured
/// before and fails now. Where that noise is wider than the threshold, what is not a regression is
/// undecided. What did not change has not become slower; if it takes half as long again all the same, it is
/// undecided.
///
/// # Errors
/// [`Unjudgeable`], if the two cannot be set side by side.
pub fn gate(
    before: &RunResult,
    after: &RunResult,
    question: &Question,
) -> Result<Gate, Unjudgeable> {
    let mut compared = compare(before, after, question.across_cpus);
    narrow(&mut compared, &question.subjects)?;
    if question.across_cpus == AcrossCpus::Refuse && !compared.another_machine.is_empty() {
        return Err(Unjudgeable::AnotherMachine(compared.another_machine));
    }
    if question.disturbed == Disturbed::Refuse {
        let sides = [("baseline", &compared.before), ("result", &compared.after)];
        for (run, side) in sides {
            if !side.disturbed.is_empty() {
                let reasons = side.disturbed.clone();
                return Err(Unjudgeable::Disturbed { run, reasons });
            }
        }
    }
    judged(compared, question.threshold)
}

fn narrow(compared: &mut RunComparison, subjects: &[String]) -> Result<(), Unjudgeable> {
    let ids: Vec<&str> = compared
        .changes
        .iter()
        .map(|change| change.subject.as_str())
        .chain(compared.unjudged.iter().map(|u| u.subject.as_str()))
        .collect();
    for pattern in subjects {
        if !ids.iter().any(|id| matches(pattern, id)) {
            let drivers = ids.iter().filter_map(|id| id.split(':').next());
            let names = drivers.flat_map(|d| [d, d.split('/').next_back().unwrap_or(d)]);
            return Err(Unjudgeable::NoSubject {
                pattern: pattern.clone(),
                nearest: nearest(pattern, names),
            });
        }
    }
    let asked = |id: &str| subjects.is_empty() || subjects.iter().any(|p| matches(p, id));
    compared.changes.retain(|change| asked(&change.subject));
    compared
        .unjudged
        .retain(|unjudged| asked(&unjudged.subject));
    Ok(())
}

fn judged(compared: RunComparison, threshold: f64) -> Result<Gate, Unjudgeable> {
    let (mut regressions, mut unjudged) = (Vec::new(), Vec::new());
    for one in compared.unjudged {
        let (what, reason) = (one.what, one.reason);
        if one.broken.is_some() {
            regressions.push(Regression::Broken { what, reason });
        } else {
            unjudged.push(format!("{what}: {reason}"));
        }
    }
    let rows: Vec<Judged> = (compared.changes.into_iter())
        .map(|change| row(change, threshold))
        .collect();
    if rows.is_empty() && regressions.is_empty() {
        return Err(Unjudgeable::NothingInCommon);
    }
    let slower = rows.iter().filter(|row| row.ruling == Ruling::Slower);
    regressions.extend(slower.map(|row| Regression::Slower {
        what: row.what.clone(),
        ratio: row.ratio,
        interval: row.interval,
        beyond: threshold.max(row.band),
    }));
    let count = |ruling: Ruling| rows.iter().filter(|row| row.ruling == ruling).count();
    let (passed, undecided) = (count(Ruling::NotSlower), count(Ruling::Undecided));
    let is_open = rows.iter().any(Judged::is_open);
    let outcome = match regressions.is_empty() {
        false => Outcome::Regression,
        true if is_open || (undecided > 0 && passed == 0) => Outcome::Undecided,
        true => Outcome::NoRegression,
    };
    Ok(Gate {
        outcome,
        threshold,
        regressions,
        passed,
        undecided,
        controls: count(Ruling::SameCode),
        between_runs: compared.between_runs,
        another_machine: compared.another_machine,
        rows,
        unjudged,
    })
}

impl Judged {
    /// Whether it came out slower beyond the threshold, and nothing says whether it is.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ruling == Ruling::Undecided && self.exceeds_threshold
    }
}

fn row(change: Change, threshold: f64) -> Judged {
    let readings = [
        change.ratio,
        change.measured_ratio,
        change.measured_ratio * (-change.log_shift_seen).exp(),
    ];
    let slowest = readings.into_iter().fold(f64::MIN, f64::max);
    Judged {
        what: change.what(),
        ruling: ruling(&change, threshold, slowest),
        exceeds_threshold: slowest > 1.0 + threshold,
        is_control: change.unchanged,
        subject: change.subject,
        ratio: change.ratio,
        interval: change.interval,
        measured_ratio: change.measured_ratio,
        band: change.band,
        band_set_by: change.band_set_by,
    }
}

fn ruling(change: &Change, threshold: f64, slowest: f64) -> Ruling {
    if change.unchanged {
        // The same code: what it differs by is not its doing, as far as that can be.
        return match slowest >= IMPLAUSIBLE && slowest > 1.0 + threshold {
            true => Ruling::Undecided,
            false => Ruling::SameCode,
        };
    }
    let beyond = |width: f64| judge(&change.estimate, Band::new(Some(width)));
    let [_, high] = change.interval;
    let is_decided = change.band <= threshold && high <= 1.0 + threshold;
    if beyond(threshold.max(change.band)) == VerdictKind::Slower {
        Ruling::Slower
    } else if is_decided || beyond(change.band) == VerdictKind::Faster {
        Ruling::NotSlower
    } else {
        Ruling::Undecided
    }
}
