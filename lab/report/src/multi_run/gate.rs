//! The gate: checks whether a result is slower than a baseline.

use std::fmt;

use serde::Serialize;

use super::band::{ControlsShow, SetBy};
use super::compare::{Change, Open, RunComparison, Unjudged, compare, first_few};
use super::machine::{Difference, joined};
use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_model::{matches, nearest};
use jeton_lab_stats::verdict::{Band, UNMEASURED_FLOOR, judge};

#[derive(Debug, Clone)]
pub struct Question {
    /// The largest accepted increase: 0.05 is 5 %.
    pub threshold: f64,
    pub allow_noisy: bool,
    pub across_cpus: bool,
    /// Filters of subject ids, `*` matches anything; empty for all. The other subjects still count as
    /// controls.
    pub subjects: Vec<String>,
}

/// The findings of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    pub outcome: Outcome,
    /// The largest accepted increase: 0.05 is 5 %.
    pub threshold: f64,
    pub regressions: Vec<Regression>,
    /// The number of subjects that are not slower by more than the threshold.
    pub passed: usize,
    pub undecided: usize,
    pub controls: usize,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// No subject is slower by more than the threshold.
    NoRegression,
    Regression,
    /// A row is open, rows of one result contradict each other, or no changed subject could be decided.
    Undecided,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub what: String,
    pub subject: String,
    /// True for a control: unchanged code, as far as the results show.
    pub is_control: bool,
    pub ruling: Ruling,
    /// True if the row came out slower than the threshold, with or without the common shift of the
    /// controls.
    pub exceeds_threshold: bool,
    /// True if this row alone leaves the outcome undecided: it is undecided, and it came out slower than
    /// the threshold or, with a band of a factor of three or more, may be.
    pub is_open: bool,
    /// The ratio of later to earlier, without the common shift.
    pub ratio: f64,
    pub interval: [f64; 2],
    /// The measured ratio of later to earlier.
    pub measured_ratio: f64,
    pub band: f64,
    pub band_set_by: SetBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// Slower beyond the threshold and the noise band.
    Slower,
    NotSlower,
    /// Undecided: the band is wider than the threshold, or the interval ends beyond it. A control is
    /// undecided if its time increased by 50 %: something changed that the results do not record.
    Undecided,
    /// Unchanged code, as far as the results show.
    SameCode,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Regression {
    /// The time increased beyond the threshold and the noise band.
    Slower {
        what: String,
        ratio: f64,
        interval: [f64; 2],
        /// The limit: the threshold, or the noise band if that is wider.
        beyond: f64,
    },
    /// The earlier run measured it, and it failed in the later one.
    Broken { what: String, reason: String },
}

/// The reason why a gate cannot decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjudgeable {
    AnotherMachine(Vec<Difference>),
    /// What is wrong with the runs or the question, and what to do.
    Unfit(String),
}

impl fmt::Display for Unjudgeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherMachine(differences) => write!(
                f,
                "the results come from different machines ({}); measure the baseline on this machine, or pass --across-cpus",
                joined(differences)
            ),
            Self::Unfit(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unjudgeable {}

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
        let why = "both files hold the same run; measure again, and pass the earlier result as the baseline";
        return Err(Unjudgeable::Unfit(why.to_owned()));
    }
    narrow(&mut compared, &question.subjects).map_err(Unjudgeable::Unfit)?;
    if !question.across_cpus && !compared.another_machine.is_empty() {
        return Err(Unjudgeable::AnotherMachine(compared.another_machine));
    }
    let sides = [("baseline", &compared.before), ("result", &compared.after)];
    let disturbed = sides
        .into_iter()
        .find(|(_, side)| !side.disturbed.is_empty());
    if let Some((run, side)) = disturbed.filter(|_| !question.allow_noisy) {
        let reasons = side.disturbed.join("; ");
        return Err(Unjudgeable::Unfit(format!(
            "the {run} is a disturbed run ({reasons}); measure it again, or pass --allow-noisy"
        )));
    }
    judged(compared, question.threshold).map_err(Unjudgeable::Unfit)
}

fn narrow(compared: &mut RunComparison, subjects: &[String]) -> Result<(), String> {
    let changes = compared.changes.iter().map(|one| &one.subject);
    let unjudged = compared.unjudged.iter().map(|one| &one.subject);
    let ids: Vec<&String> = changes.chain(unjudged).collect();
    let mut patterns = subjects.iter();
    if let Some(pattern) = patterns.find(|pattern| !ids.iter().any(|id| matches(pattern, id))) {
        let drivers = ids.iter().filter_map(|id| id.split(':').next());
        let names = drivers.flat_map(|d| [d, d.split('/').next_back().unwrap_or(d)]);
        let nearest = nearest(pattern, names);
        return Err(format!(
            "no subject of the two results matches `{pattern}`{nearest}"
        ));
    }
    let asked = |id: &str| subjects.is_empty() || subjects.iter().any(|p| matches(p, id));
    compared.changes.retain(|one| asked(&one.subject));
    compared.unjudged.retain(|one| asked(&one.subject));
    Ok(())
}

fn judged(compared: RunComparison, threshold: f64) -> Result<Gate, String> {
    let (broken, others): (Vec<_>, Vec<_>) =
        (compared.unjudged.into_iter()).partition(|one| one.broken.is_some());
    let line = |one: &Unjudged| format!("{}: {}", one.what, one.reason);
    let of = |open: Open| others.iter().filter(move |one| one.open == open);
    let unjudged: Vec<String> = others.iter().map(line).collect();
    let contradictory: Vec<String> = of(Open::Undecided).map(line).collect();
    let unjudged_changed = of(Open::Changed).count() + contradictory.len();
    let rows = compared.changes.into_iter();
    let rows: Vec<Judged> = rows.map(|change| row(change, threshold)).collect();
    if rows.is_empty() && broken.is_empty() {
        let why = match unjudged.as_slice() {
            [] => String::new(),
            _ => format!(" ({})", first_few(unjudged).join("; ")),
        };
        return Err(format!(
            "the results have no subject in common that can be compared{why}; measure the same suites with the same claims"
        ));
    }
    let broken = broken.into_iter().map(|one| Regression::Broken {
        what: one.what,
        reason: one.reason,
    });
    let slower = rows.iter().filter(|row| row.ruling == Ruling::Slower);
    let slower = slower.map(|row| Regression::Slower {
        what: row.what.clone(),
        ratio: row.ratio,
        interval: row.interval,
        beyond: threshold.max(row.band),
    });
    let regressions: Vec<Regression> = broken.chain(slower).collect();
    let count = |ruling: Ruling| rows.iter().filter(|row| row.ruling == ruling).count();
    let (passed, undecided) = (count(Ruling::NotSlower), count(Ruling::Undecided));
    let is_open = rows.iter().any(|row| row.is_open) || !contradictory.is_empty();
    let none_decided = passed == 0 && undecided + unjudged_changed > 0;
    Ok(Gate {
        outcome: match regressions.as_slice() {
            [] if is_open || none_decided => Outcome::Undecided,
            [] => Outcome::NoRegression,
            _ => Outcome::Regression,
        },
        threshold,
        passed,
        undecided,
        controls: count(Ruling::SameCode),
        between_runs: compared.between_runs,
        another_machine: compared.another_machine,
        regressions,
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
