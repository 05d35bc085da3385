//! What a run measures, and how it is narrowed to what somebody asked for.

use std::fmt;

use super::{Case, Comparison, Operation, Suite};

/// What a run measures.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Every cell once, with the name of the first suite that asked for it.
    pub cases: Vec<(Case, &'static str)>,
    /// What is set side by side.
    pub comparisons: Vec<Comparison>,
}

/// Why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// No suite has that name.
    NoSuite {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: Nearest,
    },
    /// No contract has that name.
    NoOperation {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: Nearest,
    },
    /// Nothing is left over under these contracts.
    Nothing(String),
    /// No subject matches.
    NoSubject {
        /// What was asked for.
        pattern: String,
        /// What may have been meant.
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
                    "there is no suite `{name}`{nearest} (suites: {})",
                    all.join(", ")
                )
            }
            Self::NoOperation { name, nearest } => {
                let all: Vec<_> = Operation::ALL.into_iter().map(Operation::name).collect();
                write!(
                    f,
                    "there is no contract `{name}`{nearest} (contracts: {})",
                    all.join(", ")
                )
            }
            Self::Nothing(operations) => write!(
                f,
                "no subject of these suites is measured under {operations} (`jeton lab list` shows all)"
            ),
            Self::NoSubject { pattern, nearest } => write!(
                f,
                "no subject of these suites matches `{pattern}`{nearest} (`jeton lab list` shows all)"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Adds the cells, and their comparison if there are two or more: one alone is still a row.
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
        // Answering from a cache is other work, and so is a reference: a row, and in no comparison.
        cases.retain(|case| !case.caches && !case.is_reference());
        if let [baseline, others @ ..] = cases.as_slice() {
            let made = Comparison::new(suite, title, baseline.clone(), others.to_vec());
            // Every call above filters by one contract and leaves references out.
            self.comparisons.extend(made.ok());
        }
    }

    pub(super) fn add_references<'a>(
        &mut self,
        suite: &'static str,
        cases: impl Iterator<Item = &'a Case>,
    ) {
        cases.for_each(|case| self.add_case(suite, case));
    }

    /// The same plan with each of these claims sets on each of these numbers of threads.
    pub(super) fn with_each(&self, claims: &[String], threads: &[u32]) -> Self {
        let mut all = Self::default();
        for claims in claims {
            for &threads in threads {
                let with = |case: &Case| {
                    let mut case = case.clone();
                    // A key knows nothing of claims.
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

/// Whether `pattern` is somewhere in `id`; `*` stands for anything between its parts.
pub(crate) fn matches(pattern: &str, id: &str) -> bool {
    let mut rest = id;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// What may have been meant by a word that is not known: as an error says it behind that word, and
/// nothing where no known word is like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest(Option<String>);

/// The known word that is most like a given one, if it is like it at all.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Nearest {
    /// By Jaro and Winkler: two letters changed places, or an ending was forgotten, and not much more.
    const LIKE: f64 = 0.75;
    let closest = known
        .map(|word| (strsim::jaro_winkler(name, word), word))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    Nearest(
        closest
            .filter(|(like, _)| *like >= LIKE)
            .map(|(_, word)| word.to_owned()),
    )
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(word) => write!(f, "; did you mean `{word}`?"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_that_is_like_it_may_have_been_meant() {
        let meant = |name: &str, known: &[&str]| nearest(name, known.iter().copied()).to_string();
        let known = ["go/golang-jwt", "python/joserfc", "rust/jeton"];
        assert_eq!(meant("nosuch", &["joserfc", "jeton"]), "");
        assert_eq!(meant("nosuch", &known), "");
        assert_eq!(
            meant("joserfx", &["joserfc", "jeton"]),
            "; did you mean `joserfc`?"
        );
        assert_eq!(meant("x", &[]), "");
    }

    #[test]
    fn a_pattern_matches_anywhere_and_a_star_matches_anything() {
        let id = "go/golang-jwt:jwt:HS256:prepared";
        assert!(matches("golang-jwt", id));
        assert!(matches("go/*:HS256", id));
        assert!(!matches("HS256*golang", id));
        assert!(!matches("node/*", id));
    }
}
