//! Whether a result is slower than another: for a pipeline that must say yes or no.

use std::fmt;

use serde::Serialize;

use super::compare::{Change, RunComparison, compare};
use super::machine::Difference;
use crate::result::{Judgement, RunResult};
use crate::stats::verdict::{Band, judge};
use crate::suite::{Nearest, matches, nearest};

/// What a gate came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// Slower by less than this is let through: 0.05 is 5 %.
    pub threshold: f64,
    /// What does not get through.
    pub regressions: Vec<Regression>,
    /// Judged, and no slower beyond the threshold and the noise.
    pub passed: usize,
    /// Of those, how many the rounds cannot tell from a regression beyond the threshold.
    pub undecided: usize,
    /// What could not be judged, as `subject: why`.
    pub unjudged: Vec<String>,
}

/// What does not get through a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Regression {
    /// It takes longer, beyond the threshold and the noise.
    Slower {
        /// Contract and subject.
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
        /// Contract and subject.
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
    /// The rounds are so few or so noisy that nothing could be told from a regression.
    NothingDecided {
        /// Subjects that both measured.
        subjects: usize,
    },
}

impl fmt::Display for Unjudgeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherMachine(differences) => {
                let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "the two were measured on different machines ({}): measure the baseline on this one",
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
            Self::NothingDecided { subjects } => write!(
                f,
                "none of the {subjects} in common can be told from a regression, the rounds are too few or too noisy: measure more of them"
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

/// Judges `after` by `before`. A subject is a regression if it is slower beyond all of: the
/// threshold, both noise floors, and what unchanged subjects differ by between the runs; or if it
/// was measured before and fails now. What did not change has not become slower.
///
/// With `subjects` (parts of their ids, `*` stands for anything) only those are judged; the others
/// still show what the runs themselves differ by.
///
/// # Errors
/// [`Unjudgeable`], if there is neither a yes nor a no.
pub fn gate(
    before: &RunResult,
    after: &RunResult,
    threshold: f64,
    disturbed: Disturbed,
    subjects: &[String],
) -> Result<Gate, Unjudgeable> {
    let mut compared = compare(before, after);
    narrow(&mut compared, subjects)?;
    if !compared.another_machine.is_empty() {
        return Err(Unjudgeable::AnotherMachine(compared.another_machine));
    }
    if disturbed == Disturbed::Refuse {
        let sides = [("baseline", &compared.before), ("result", &compared.after)];
        for (run, side) in sides {
            if !side.disturbed.is_empty() {
                let reasons = side.disturbed.clone();
                return Err(Unjudgeable::Disturbed { run, reasons });
            }
        }
    }
    judged(&compared, threshold)
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

fn judged(compared: &RunComparison, threshold: f64) -> Result<Gate, Unjudgeable> {
    let mut gate = Gate {
        threshold,
        regressions: Vec::new(),
        passed: 0,
        undecided: 0,
        unjudged: Vec::new(),
    };
    for unjudged in &compared.unjudged {
        let (what, reason) = (unjudged.what.clone(), unjudged.reason.clone());
        if unjudged.broken.is_some() {
            gate.regressions.push(Regression::Broken { what, reason });
        } else {
            gate.unjudged.push(format!("{what}: {reason}"));
        }
    }
    for change in &compared.changes {
        let beyond = threshold.max(change.band);
        match ruling(change, beyond) {
            Ruling::Slower => gate.regressions.push(Regression::Slower {
                what: change.what(),
                ratio: change.ratio,
                interval: change.interval,
                beyond,
            }),
            Ruling::Undecided => {
                gate.passed += 1;
                gate.undecided += 1;
            }
            Ruling::NotSlower => gate.passed += 1,
        }
    }
    if !gate.regressions.is_empty() {
        return Ok(gate);
    }
    match gate.passed {
        0 => Err(Unjudgeable::NothingInCommon),
        subjects if subjects == gate.undecided => Err(Unjudgeable::NothingDecided { subjects }),
        _ => Ok(gate),
    }
}

enum Ruling {
    Slower,
    NotSlower,
    Undecided,
}

fn ruling(change: &Change, beyond: f64) -> Ruling {
    let [_, high] = change.interval;
    if change.unchanged {
        // The same code: whatever it differs by is not its doing.
        Ruling::NotSlower
    } else if judge(&change.estimate, Band::new(Some(beyond))) == Judgement::Slower {
        Ruling::Slower
    } else if high <= 1.0 + beyond {
        Ruling::NotSlower
    } else {
        Ruling::Undecided
    }
}
