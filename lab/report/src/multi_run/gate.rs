//! The gate: checks whether a result is slower than a baseline.

use std::fmt;

use serde::Serialize;

use super::band::{ControlsShow, SetBy};
use super::compare::{AcrossCpus, Change, Open, RunComparison, compare, first_few};
use super::machine::{Difference, joined};
use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_model::{Nearest, matches, nearest};
use jeton_lab_stats::verdict::{Band, UNMEASURED_FLOOR, judge};

/// The question to a gate.
#[derive(Debug, Clone)]
pub struct Question {
    /// The largest accepted increase: 0.05 is 5 %.
    pub threshold: f64,
    /// Whether disturbed runs are accepted.
    pub disturbed: Disturbed,
    /// Whether different CPUs are accepted.
    pub across_cpus: AcrossCpus,
    /// Filters of subject ids, `*` matches anything; empty for all. The other subjects still count as
    /// controls.
    pub subjects: Vec<String>,
}

/// The findings of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The outcome.
    pub outcome: Outcome,
    /// The largest accepted increase: 0.05 is 5 %.
    pub threshold: f64,
    /// The regressions.
    pub regressions: Vec<Regression>,
    /// The number of subjects that are not slower by more than the threshold.
    pub passed: usize,
    /// The number of undecided subjects.
    pub undecided: usize,
    /// The number of controls.
    pub controls: usize,
    /// The common shift and spread of the controls, by kind and threads.
    pub between_runs: Vec<ControlsShow>,
    /// The differences between the machines, if they were accepted.
    pub another_machine: Vec<Difference>,
    /// All rows of both results, the largest change first and controls last.
    pub rows: Vec<Judged>,
    /// Subjects that could not be compared, as `subject: reason`.
    pub unjudged: Vec<String>,
    /// The number of these that the baseline measured and whose code may have changed.
    pub unjudged_changed: usize,
    /// Those whose rows contradict each other in one result: they leave the outcome undecided.
    pub contradictory: Vec<String>,
}

/// The outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// No subject is slower by more than the threshold.
    NoRegression,
    /// At least one subject is.
    Regression,
    /// A row is open, rows of one result contradict each other, or no changed subject could be decided.
    Undecided,
}

/// One row of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The operation and subject.
    pub what: String,
    /// The subject's id.
    pub subject: String,
    /// True for a control: unchanged code, as far as the results show.
    pub is_control: bool,
    /// The ruling.
    pub ruling: Ruling,
    /// True if the row came out slower than the threshold, with or without the common shift of the
    /// controls.
    pub exceeds_threshold: bool,
    /// True if this row alone leaves the outcome undecided: it is undecided, and it came out slower than
    /// the threshold or, with a band of a factor of three or more, may be.
    pub is_open: bool,
    /// The ratio of later to earlier, without the common shift.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: [f64; 2],
    /// The measured ratio of later to earlier.
    pub measured_ratio: f64,
    /// The noise band around one, as a ratio minus one.
    pub band: f64,
    /// What set the band.
    pub band_set_by: SetBy,
}

/// The ruling on one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// Slower beyond the threshold and the noise band.
    Slower,
    /// Not slower by more than the threshold.
    NotSlower,
    /// Undecided: the band is wider than the threshold, or the interval ends beyond it. A control is
    /// undecided if its time increased by 50 %: something changed that the results do not record.
    Undecided,
    /// Unchanged code, as far as the results show.
    SameCode,
}

/// A regression.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Regression {
    /// The time increased beyond the threshold and the noise band.
    Slower {
        /// The operation and subject.
        what: String,
        /// The ratio of later to earlier.
        ratio: f64,
        /// The interval of the ratio.
        interval: [f64; 2],
        /// The limit: the threshold, or the noise band if that is wider.
        beyond: f64,
    },
    /// The earlier run measured it, and it failed in the later one.
    Broken {
        /// The operation and subject.
        what: String,
        /// The status and reason.
        reason: String,
    },
}

/// The reason why a gate cannot decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjudgeable {
    /// The runs come from different machines.
    AnotherMachine(Vec<Difference>),
    /// A run was disturbed.
    Disturbed {
        /// The run: `baseline` or `result`.
        run: &'static str,
        /// The reasons, one sentence each.
        reasons: Vec<String>,
    },
    /// Both results have times of the same run.
    SameRun,
    /// No subject can be compared.
    NothingInCommon {
        /// The subjects of one or both results, as `subject: reason`.
        unjudged: Vec<String>,
    },
    /// No subject matches the filter.
    NoSubject {
        /// The given pattern.
        pattern: String,
        /// The nearest known name.
        nearest: Nearest,
    },
}

impl fmt::Display for Unjudgeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherMachine(differences) => write!(
                f,
                "the results come from different machines ({}); measure the baseline on this machine, or pass --across-cpus",
                joined(differences)
            ),
            Self::Disturbed { run, reasons } => write!(
                f,
                "the {run} is a disturbed run ({}); measure it again, or pass --allow-noisy",
                reasons.join("; ")
            ),
            Self::SameRun => f.write_str(
                "both files hold the same run; measure again, and pass the earlier result as the baseline",
            ),
            Self::NothingInCommon { unjudged } => {
                f.write_str("the results have no subject in common that can be compared")?;
                if !unjudged.is_empty() {
                    write!(f, " ({})", first_few(unjudged.clone()).join("; "))?;
                }
                f.write_str("; measure the same suites with the same claims")
            }
            Self::NoSubject { pattern, nearest } => {
                write!(f, "no subject of the two results matches `{pattern}`{nearest}")
            }
        }
    }
}

impl std::error::Error for Unjudgeable {}

/// Whether disturbed runs are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbed {
    /// Disturbed runs are an error.
    Refuse,
    /// Disturbed runs are accepted.
    Allow,
}

/// A control with this increase is undecided: unchanged code on the same machine does not take 50 %
/// longer, so something changed that the results do not record.
const IMPLAUSIBLE: f64 = 1.5;

/// Compares `after` with `before`. A subject regressed if it is slower beyond the threshold, both noise
/// floors, and the spread of the controls. It also regressed if it was measured before, and now fails or does
/// not build. If that noise is wider than the threshold, a subject without a regression is undecided. Controls
/// cannot regress; with an increase of 50 % they are undecided.
///
/// # Errors
/// [`Unjudgeable`], if the results cannot be compared.
pub fn gate(
    before: &RunResult,
    after: &RunResult,
    question: &Question,
) -> Result<Gate, Unjudgeable> {
    let mut compared = compare(before, after, question.across_cpus);
    if compared.same_run {
        return Err(Unjudgeable::SameRun);
    }
    narrow(&mut compared, &question.subjects)?;
    if question.across_cpus == AcrossCpus::Refuse && !compared.another_machine.is_empty() {
        return Err(Unjudgeable::AnotherMachine(compared.another_machine));
    }
    let sides = [("baseline", &compared.before), ("result", &compared.after)];
    let disturbed = sides
        .into_iter()
        .find(|(_, side)| !side.disturbed.is_empty());
    if let Some((run, side)) = disturbed.filter(|_| question.disturbed == Disturbed::Refuse) {
        let reasons = side.disturbed.clone();
        return Err(Unjudgeable::Disturbed { run, reasons });
    }
    judged(compared, question.threshold)
}

fn narrow(compared: &mut RunComparison, subjects: &[String]) -> Result<(), Unjudgeable> {
    let changes = compared
        .changes
        .iter()
        .map(|change| change.subject.as_str());
    let unjudged = compared
        .unjudged
        .iter()
        .map(|unjudged| unjudged.subject.as_str());
    let ids: Vec<&str> = changes.chain(unjudged).collect();
    let unknown = subjects
        .iter()
        .find(|pattern| !ids.iter().any(|id| matches(pattern, id)));
    if let Some(pattern) = unknown {
        let drivers = ids.iter().filter_map(|id| id.split(':').next());
        let names = drivers.flat_map(|d| [d, d.split('/').next_back().unwrap_or(d)]);
        return Err(Unjudgeable::NoSubject {
            pattern: pattern.clone(),
            nearest: nearest(pattern, names),
        });
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
    let (mut unjudged_changed, mut contradictory) = (0, Vec::new());
    for one in compared.unjudged {
        let (what, reason) = (one.what, one.reason);
        if one.broken.is_some() {
            regressions.push(Regression::Broken { what, reason });
            continue;
        }
        let line = format!("{what}: {reason}");
        unjudged_changed += usize::from(one.open != Open::Nothing);
        if one.open == Open::Undecided {
            contradictory.push(line.clone());
        }
        unjudged.push(line);
    }
    let rows = compared.changes.into_iter();
    let rows: Vec<Judged> = rows.map(|change| row(change, threshold)).collect();
    if rows.is_empty() && regressions.is_empty() {
        return Err(Unjudgeable::NothingInCommon { unjudged });
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
    let is_open = rows.iter().any(|row| row.is_open) || !contradictory.is_empty();
    let none_decided = passed == 0 && undecided + unjudged_changed > 0;
    let outcome = if !regressions.is_empty() {
        Outcome::Regression
    } else if is_open || none_decided {
        Outcome::Undecided
    } else {
        Outcome::NoRegression
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
        unjudged_changed,
        contradictory,
    })
}

fn row(change: Change, threshold: f64) -> Judged {
    let readings = [
        change.ratio,
        change.measured_ratio,
        change.measured_ratio * (-change.log_shift_seen).exp(),
    ];
    let slowest = readings.into_iter().fold(f64::MIN, f64::max);
    let ruling = ruling(&change, threshold, slowest);
    let exceeds_threshold = slowest > 1.0 + threshold;
    // If nothing is known about the noise, a ratio below the threshold is no evidence.
    let may_exceed = change.band >= UNMEASURED_FLOOR && change.interval[1] > 1.0 + threshold;
    Judged {
        what: change.what(),
        ruling,
        exceeds_threshold,
        is_open: ruling == Ruling::Undecided && (exceeds_threshold || may_exceed),
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
        // Unchanged code: a difference is attributed to the runs, within limits.
        return if slowest >= IMPLAUSIBLE && slowest > 1.0 + threshold {
            Ruling::Undecided
        } else {
            Ruling::SameCode
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
