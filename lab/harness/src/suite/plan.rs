//! The plan of a run, and its filters.

use std::fmt;

use super::{Comparison, Suite};
use jeton_lab_model::{Case, Nearest, Operation, matches, nearest};

/// The plan of a run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Every case once, with the name of its first suite.
    pub cases: Vec<(Case, &'static str)>,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
}

/// The reason why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// Unknown suite.
    NoSuite {
        /// The given name.
        name: String,
        /// The nearest known name.
        nearest: Nearest,
    },
    /// Unknown operation.
    NoOperation {
        /// The given name.
        name: String,
        /// The nearest known name.
        nearest: Nearest,
    },
    /// No case is left with these operations.
    Nothing(String),
    /// No subject matches.
    NoSubject {
        /// The given pattern.
        pattern: String,
        /// The nearest known name.
        nearest: Nearest,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuite { name, nearest } => {
                let all: Vec<_> = Suite::ALL.into_iter().map(Suite::name).collect();
                write!(
                    f,
                    "unknown suite `{name}`{nearest}; expected one of: {}",
                    all.join(", ")
                )
            }
            Self::NoOperation { name, nearest } => {
                let all: Vec<_> = Operation::ALL.into_iter().map(Operation::name).collect();
                write!(
                    f,
                    "unknown operation `{name}`{nearest}; expected one of: {}",
                    all.join(", ")
                )
            }
            Self::Nothing(operations) => write!(
                f,
                "no subject of these suites has the operation {operations}; list all with `jeton-lab list`"
            ),
            Self::NoSubject { pattern, nearest } => write!(
                f,
                "no subject of these suites matches `{pattern}`{nearest}; list all with `jeton-lab list`"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Adds the cases, and a comparison of them if there are at least two.
    pub(super) fn add<'a>(
        &mut self,
        suite: &'static str,
        title: &str,
        cases: impl Iterator<Item = &'a Case>,
    ) {
        let mut cases: Vec<Case> = cases.cloned().collect();
        for case in &cases {
            self.add_case(suite, case);
        }
        // A cache and a reference do different work: they get a row, but no comparison.
        cases.retain(|case| !case.caches && !case.is_reference());
        if let [baseline, others @ ..] = cases.as_slice() {
            let made = Comparison::new(suite, title, baseline.clone(), others.to_vec());
            // Every caller filters by one operation and excludes references. A report may repeat what a suite has.
            let made = made.ok().filter(|made| !self.comparisons.contains(made));
            self.comparisons.extend(made);
        }
    }

    pub(super) fn add_references<'a>(
        &mut self,
        suite: &'static str,
        cases: impl Iterator<Item = &'a Case>,
    ) {
        cases.for_each(|case| self.add_case(suite, case));
    }

    /// Repeats the plan with each of these claims sets and thread counts.
    pub(super) fn with_each(&self, claims: &[String], threads: &[u32]) -> Self {
        let mut all = Self::default();
        for claims in claims {
            for &threads in threads {
                let with = |case: &Case| {
                    let mut case = case.clone();
                    // Operations on keys do not depend on claims.
                    if !matches!(case.operation, Operation::GenerateKey | Operation::LoadKey) {
                        case.claims.clone_from(claims);
                    }
                    case.threads = threads;
                    case
                };
                for (case, suite) in &self.cases {
                    all.add_case(suite, &with(case));
                }
                for comparison in &self.comparisons {
                    let comparison = comparison.with(with);
                    if !all.comparisons.contains(&comparison) {
                        all.comparisons.push(comparison);
                    }
                }
            }
        }
        all
    }

    fn add_case(&mut self, suite: &'static str, case: &Case) {
        if !self.cases.iter().any(|(c, _)| c == case) {
            self.cases.push((case.clone(), suite));
        }
    }
}

/// Finds a suite by name.
///
/// # Errors
/// [`PlanError::NoSuite`].
pub fn suite_named(name: &str) -> Result<Suite, PlanError> {
    let found = Suite::ALL.into_iter().find(|s| s.name() == name);
    found.ok_or_else(|| PlanError::NoSuite {
        name: name.to_owned(),
        nearest: nearest(name, Suite::ALL.map(Suite::name).into_iter()),
    })
}

/// Finds an operation by name.
///
/// # Errors
/// [`PlanError::NoOperation`].
pub fn operation_named(name: &str) -> Result<Operation, PlanError> {
    Operation::named(name).ok_or_else(|| PlanError::NoOperation {
        name: name.to_owned(),
        nearest: nearest(name, Operation::ALL.map(Operation::name).into_iter()),
    })
}

pub(super) fn narrow(
    plan: &mut Plan,
    patterns: &[String],
    operations: &[Operation],
) -> Result<(), PlanError> {
    let ids: Vec<String> = plan.cases.iter().map(|(c, _)| c.subject_id()).collect();
    for pattern in patterns {
        if !ids.iter().any(|id| matches(pattern, id)) {
            let names = plan
                .cases
                .iter()
                .flat_map(|(c, _)| [c.driver.as_str(), c.library.as_str()]);
            return Err(PlanError::NoSubject {
                pattern: pattern.clone(),
                nearest: nearest(pattern, names),
            });
        }
    }
    let chosen = |c: &Case| {
        let subject = patterns.is_empty() || patterns.iter().any(|p| matches(p, &c.subject_id()));
        subject && (operations.is_empty() || operations.contains(&c.operation))
    };
    plan.cases.retain(|(c, _)| chosen(c));
    let narrowed = plan.comparisons.iter().filter_map(|c| c.narrowed(chosen));
    plan.comparisons = narrowed.collect();
    if plan.cases.is_empty() && !operations.is_empty() {
        let names: Vec<&str> = operations.iter().map(|c| c.name()).collect();
        return Err(PlanError::Nothing(names.join(", ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_unknown_name_suggests_nearest() {
        let error = suite_named("librarys").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
