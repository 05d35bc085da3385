//! The plan of a run, and its filters.

use super::{Comparison, Suite};
use jeton_lab_model::{Case, Operation, matches, nearest};

/// The plan of a run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Every case once, with the name of its first suite.
    pub cases: Vec<(Case, &'static str)>,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
}

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
/// An unknown name, with the nearest known one.
pub fn suite_named(name: &str) -> Result<Suite, String> {
    let unknown = || unknown("suite", name, &Suite::ALL.map(Suite::name));
    Suite::named(name).ok_or_else(unknown)
}

/// Finds an operation by name.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn operation_named(name: &str) -> Result<Operation, String> {
    let unknown = || unknown("operation", name, &Operation::ALL.map(Operation::name));
    Operation::named(name).ok_or_else(unknown)
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let (nearest, all) = (nearest(name, known.iter().copied()), known.join(", "));
    format!("unknown {what} `{name}`{nearest}; expected one of: {all}")
}

pub(super) fn narrow(
    plan: &mut Plan,
    patterns: &[String],
    operations: &[Operation],
) -> Result<(), String> {
    let ids: Vec<String> = plan.cases.iter().map(|(c, _)| c.subject_id()).collect();
    for pattern in patterns {
        if !ids.iter().any(|id| matches(pattern, id)) {
            let cases = plan.cases.iter();
            let names = cases.flat_map(|(c, _)| [c.driver.as_str(), c.library.as_str()]);
            let nearest = nearest(pattern, names);
            return Err(format!(
                "no subject of these suites matches `{pattern}`{nearest}; list all with `jeton-lab list`"
            ));
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
        let operations = names.join(", ");
        return Err(format!(
            "no subject of these suites has the operation {operations}; list all with `jeton-lab list`"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_unknown_name_suggests_nearest() {
        let error = suite_named("librarys");
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
