//! The names and extents of suites, and the request to a suite.

use jeton_lab_model::result::{PublishedWork, RowId};

/// A named set of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// JWT or PASETO.
    Formats,
    /// The cost of each algorithm.
    Algorithms,
    /// The comparison of libraries.
    Libraries,
}

impl Suite {
    /// All suites, in the order of measuring and reporting.
    pub const ALL: [Self; 3] = [Self::Libraries, Self::Formats, Self::Algorithms];

    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Algorithms => "algorithms",
            Self::Libraries => "libraries",
        }
    }

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
    /// A selection of all suites with few libraries, for 90 seconds.
    Glance,
    /// One algorithm of each kind, issued and verified; for runs with many claims sets.
    Narrow,
    /// The core of a suite.
    Quick,
    /// Everything that the suite's question needs.
    Usual,
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
    /// The threads of the reports' concurrent measurements; `None` if other claims were requested.
    pub(super) concurrency: Option<u32>,
    /// The works of the published reports.
    pub(super) published: &'p [PublishedWork],
}

impl<'p> Order<'p> {
    /// Returns the works of a published report.
    pub(super) fn works(&self, report: u8) -> impl Iterator<Item = &'p RowId> + use<'p> {
        let of_report = self.published.iter().filter(move |w| w.report == report);
        of_report.map(|work| &work.row)
    }
}
