//! Comparisons of cases, and the factors that differ.

use std::fmt;

use jeton_lab_model::{Case, Operation};

/// Cases with the same operation, and their baseline.
///
/// The constructor rejects cases with different operations, and references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    suite: String,
    title: String,
    /// The title without the parts that all cases have in common.
    stem: String,
    operation: Operation,
    /// The baseline first.
    cases: Vec<Case>,
}

/// The reason why cases cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomparable {
    /// Two cases have different operations.
    Operations(Operation, Operation),
    /// A case is a reference: it makes no token.
    Reference(String),
    /// A case answers from a cache: it does not verify tokens.
    Cache(String),
    /// Two cases have different claims.
    Claims(String, String),
    /// Two cases have different thread counts.
    Threads(u32, u32),
    /// The same case twice: this is an A/A pair, which is not a comparison.
    Twice(String),
    /// Fewer than two cases.
    TooFew,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(a, b) => write!(f, "{a} and {b} are different operations"),
            Self::Reference(id) => write!(f, "{id} is a reference: it makes no token"),
            Self::Cache(id) => write!(f, "{id} answers from a cache and does not verify"),
            Self::Claims(a, b) => write!(f, "the claims sets {a} and {b} differ"),
            Self::Threads(a, b) => write!(f, "the thread counts {a} and {b} differ"),
            Self::Twice(id) => write!(f, "{id} is duplicate"),
            Self::TooFew => f.write_str("a comparison requires two subjects"),
        }
    }
}

impl std::error::Error for Incomparable {}

impl Comparison {
    /// Compares `others` with `baseline`.
    ///
    /// # Errors
    /// [`Incomparable`].
    pub fn new(
        suite: &str,
        title: &str,
        baseline: Case,
        others: Vec<Case>,
    ) -> Result<Self, Incomparable> {
        if others.is_empty() {
            return Err(Incomparable::TooFew);
        }
        let operation = baseline.operation;
        let mut cases = vec![baseline];
        cases.extend(others);
        for (i, case) in cases.iter().enumerate() {
            if case.operation != operation {
                return Err(Incomparable::Operations(operation, case.operation));
            }
            if case.is_reference() {
                return Err(Incomparable::Reference(case.subject_id()));
            }
            if case.caches {
                return Err(Incomparable::Cache(case.subject_id()));
            }
            if case.claims != cases[0].claims {
                let (ours, theirs) = (cases[0].claims.clone(), case.claims.clone());
                return Err(Incomparable::Claims(ours, theirs));
            }
            if case.threads != cases[0].threads {
                return Err(Incomparable::Threads(cases[0].threads, case.threads));
            }
            if cases[..i].contains(case) {
                return Err(Incomparable::Twice(case.subject_id()));
            }
        }
        Ok(Self {
            suite: suite.to_owned(),
            title: full_title(title, &cases[0]),
            stem: title.to_owned(),
            operation,
            cases,
        })
    }

    /// Applies a change to every case, for example other claims.
    #[must_use]
    pub(super) fn with(&self, change: impl Fn(&Case) -> Case) -> Self {
        let cases: Vec<Case> = self.cases.iter().map(change).collect();
        Self {
            title: full_title(&self.stem, &cases[0]),
            cases,
            ..self.clone()
        }
    }

    /// Returns the suite.
    #[must_use]
    pub fn suite(&self) -> &str {
        &self.suite
    }

    /// Returns the title, unique in a result.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the operation of all cases.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the cases, the baseline first.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Returns the claims set of all cases.
    #[must_use]
    pub fn claims(&self) -> &str {
        &self.cases[0].claims
    }

    /// Returns the thread count of all cases.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.cases[0].threads
    }

    /// Keeps the cases that `keep` accepts; the first is the new baseline. Returns `None` if fewer than
    /// two are left.
    #[must_use]
    pub fn narrowed(&self, keep: impl Fn(&Case) -> bool) -> Option<Self> {
        let cases: Vec<Case> = self.cases.iter().filter(|c| keep(c)).cloned().collect();
        (cases.len() > 1).then(|| Self {
            cases,
            ..self.clone()
        })
    }

    /// Returns the factors that differ between two cases, with the names of the result file.
    #[must_use]
    pub fn factors(a: &Case, b: &Case) -> Vec<&'static str> {
        a.subject().factors(&b.subject())
    }
}

/// Makes a title unique: adds unusual claims and threads, and the operation.
fn full_title(stem: &str, case: &Case) -> String {
    let operation = case.operation;
    match case.unusual_factors() {
        Some(factors) => format!("{stem} ({factors}), {operation}"),
        None => format!("{stem}, {operation}"),
    }
}
