//! Cells that may stand side by side, and what differs between them.

use std::fmt;

use super::{Case, Operation};

/// Cells of one contract, and the one that the others are measured against.
///
/// There is no way to make one of cells with different contracts, nor with a reference line in
/// it: what is not alike is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    suite: String,
    title: String,
    /// The title without what all its cells have in common.
    stem: String,
    operation: Operation,
    /// The baseline first.
    cases: Vec<Case>,
}

/// Why cells may not stand side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomparable {
    /// Two cells do different work.
    Operations(Operation, Operation),
    /// A cell is a reference line: it makes no token.
    Reference(String),
    /// A cell answers from a cache of tokens: it does not verify them.
    Cache(String),
    /// Two cells work on different claims.
    Claims(String, String),
    /// Two cells work on another number of threads.
    Threads(u32, u32),
    /// The same cell twice: that is an A/A pair, which has a place of its own.
    Twice(String),
    /// Fewer than two cells.
    TooFew,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(a, b) => write!(f, "{a} and {b} are different work"),
            Self::Reference(id) => write!(f, "{id} is a reference line: it makes no token"),
            Self::Cache(id) => write!(f, "{id} answers from a cache: it does not verify"),
            Self::Claims(a, b) => write!(f, "the claims {a} and {b} are different work"),
            Self::Threads(a, b) => write!(f, "{a} and {b} threads are different work"),
            Self::Twice(id) => write!(f, "{id} is there twice"),
            Self::TooFew => f.write_str("a comparison needs two subjects"),
        }
    }
}

impl std::error::Error for Incomparable {}

impl Comparison {
    /// Sets `others` beside `baseline`.
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

    /// The same comparison of other cells, each made of one of these: with other claims, say.
    #[must_use]
    pub(super) fn with(&self, change: impl Fn(&Case) -> Case) -> Self {
        let cases: Vec<Case> = self.cases.iter().map(change).collect();
        Self {
            title: full_title(&self.stem, &cases[0]),
            cases,
            ..self.clone()
        }
    }

    /// The suite it belongs to.
    #[must_use]
    pub fn suite(&self) -> &str {
        &self.suite
    }

    /// Its title, unique in a result.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The contract of all its cells.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Its cells, the baseline first.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The claims set of all its cells.
    #[must_use]
    pub fn claims(&self) -> &str {
        &self.cases[0].claims
    }

    /// The threads of all its cells.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.cases[0].threads
    }

    /// The same comparison of the cells that `keep` lets through; the first of them is the
    /// baseline. `None` if fewer than two are left.
    #[must_use]
    pub fn narrowed(&self, keep: impl Fn(&Case) -> bool) -> Option<Self> {
        let cases: Vec<Case> = self.cases.iter().filter(|c| keep(c)).cloned().collect();
        (cases.len() > 1).then(|| Self {
            cases,
            ..self.clone()
        })
    }

    /// What differs between two cells, by the words of the result file. More than one: no cause
    /// can be named, the pair is confounded.
    ///
    /// A library's language and version come with it and are no factors of their own.
    #[must_use]
    pub fn factors(a: &Case, b: &Case) -> Vec<&'static str> {
        let differs = [
            ("format", a.format != b.format),
            ("algorithm", a.effective_alg() != b.effective_alg()),
            (
                "library",
                (&a.library, &a.version, &a.language) != (&b.library, &b.version, &b.language),
            ),
            // Another language has another runtime anyway.
            (
                "runtime",
                a.language == b.language && a.runtime != b.runtime,
            ),
            // Between algorithms, the key's kind and its size come with the algorithm.
            (
                "key size",
                a.key_bits != b.key_bits && a.effective_alg() == b.effective_alg(),
            ),
            ("key handling", a.key_handling != b.key_handling),
        ];
        let named = differs.into_iter().filter(|(_, differs)| *differs);
        named.map(|(name, _)| name).collect()
    }
}

/// A title that is unique in a result: with the claims and threads, if they are not the usual
/// ones, and the contract.
fn full_title(stem: &str, case: &Case) -> String {
    let operation = case.operation;
    match case.factors_beside_the_usual() {
        Some(factors) => format!("{stem} ({factors}), {operation}"),
        None => format!("{stem}, {operation}"),
    }
}
