//! Comparisons of cases, and the factors that differ.

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

impl Comparison {
    /// Compares `others` with `baseline`.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub fn new(
        suite: &str,
        title: &str,
        baseline: Case,
        others: Vec<Case>,
    ) -> Result<Self, String> {
        if others.is_empty() {
            return Err("a comparison requires two subjects".to_owned());
        }
        let operation = baseline.operation;
        let mut cases = vec![baseline];
        cases.extend(others);
        for (i, case) in cases.iter().enumerate() {
            let (first, id) = (&cases[0], case.subject_id());
            if case.operation != operation {
                let other = case.operation;
                return Err(format!("{operation} and {other} are different operations"));
            }
            if case.is_reference() {
                return Err(format!("{id} is a reference: it makes no token"));
            }
            if case.caches {
                return Err(format!("{id} answers from a cache and does not verify"));
            }
            if case.claims != first.claims {
                let (ours, theirs) = (&first.claims, &case.claims);
                return Err(format!("the claims sets {ours} and {theirs} differ"));
            }
            if case.threads != first.threads {
                let (ours, theirs) = (first.threads, case.threads);
                return Err(format!("the thread counts {ours} and {theirs} differ"));
            }
            if cases[..i].contains(case) {
                return Err(format!("{id} is duplicate"));
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
