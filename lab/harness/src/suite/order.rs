//! The names and extents of suites, and the request to a suite.

use jeton_lab_model::{Case, named};

named! {
    /// A named set of comparisons, in the order of measuring and reporting.
    Suite {
        /// The comparison of libraries.
        Libraries = "libraries",
        /// JWT or PASETO.
        Formats = "formats",
        /// The cost of each algorithm.
        Algorithms = "algorithms",
    }
}

impl Suite {
    /// Returns the question that the suite answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Formats => "JWT or PASETO, with the same claims?",
            Self::Algorithms => "What does each algorithm cost?",
            Self::Libraries => "Which library, doing the same work?",
        }
    }
}

/// How much of a suite to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// A selection of all suites with few libraries, and what the reports' conclusions are decided by: three minutes.
    Glance,
    /// One algorithm of each kind, issued and verified; for runs with many claims sets.
    Narrow,
    /// The core of a suite.
    Quick,
    /// Everything that the suite's question needs.
    Usual,
    /// The same, and what the reports measured with further libraries.
    Reports,
    /// All algorithms with all content encryptions, for the baseline and one library per language.
    Full,
}

/// The request to a suite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'p> {
    pub(super) extent: Extent,
    /// True to measure only subjects that were named.
    pub(super) by_name: bool,
    /// True if operations were named.
    pub(super) by_operation: bool,
    /// The cases of works of the published reports, with the number of the report: of all versions and, in a quick
    /// run too, of all drivers. Empty if other claims or threads were requested.
    pub(super) reported: &'p [(u8, Case)],
}

impl<'p> Order<'p> {
    /// Whether the pairs of libraries that reports compared are measured.
    pub(super) fn repeats_pairs(&self) -> bool {
        self.extent == Extent::Glance || self.extent >= Extent::Usual
    }

    /// Returns the cases of a published report.
    pub(super) fn cases(&self, report: u8) -> Vec<&'p Case> {
        let of_report = self.reported.iter().filter(|(number, _)| *number == report);
        of_report.map(|(_, case)| case).collect()
    }
}
