//! The suites: from the offers of drivers to the cases of a run and their comparisons.

use std::num::NonZero;

use super::offered::{Offered, cases};
use super::plan::narrow;
use super::quick::quick_cases;
use super::{Plan, PlanError, algorithms, formats, libraries};
use crate::driver::Driver;
use jeton_lab_model::Operation;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::nearest;
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

    /// Finds a suite by name.
    ///
    /// # Errors
    /// [`PlanError::NoSuite`].
    pub fn named(name: &str) -> Result<Self, PlanError> {
        let found = Self::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| PlanError::NoSuite {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(Self::name).into_iter()),
        })
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

/// What to measure.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The suites.
    pub suites: Vec<Suite>,
    /// How much of each suite.
    pub extent: Extent,
    /// Filters of subject ids; `*` matches anything. Empty: all subjects.
    pub subjects: Vec<String>,
    /// Filter of operations. Empty: all.
    pub operations: Vec<Operation>,
    /// The claims sets; each is combined with all subjects.
    pub claims: Vec<String>,
    /// The thread counts; each is combined with all subjects.
    pub threads: Vec<u32>,
    /// The thread counts for the reports' concurrent measurements.
    pub concurrency: u32,
}

impl Choice {
    /// Creates a choice of suites with the claims `standard` on one thread. The reports' concurrent
    /// measurements use the number of available threads, at least two.
    #[must_use]
    pub fn of(suites: &[Suite], extent: Extent) -> Self {
        Self {
            suites: suites.to_vec(),
            extent,
            subjects: Vec::new(),
            operations: Vec::new(),
            claims: vec![STANDARD.to_owned()],
            threads: vec![1],
            concurrency: cores().max(2),
        }
    }

    /// Reports whether the reports' own claims and threads are included: only if no others were
    /// requested.
    fn has_reports(&self) -> bool {
        self.claims == [STANDARD] && self.threads == [1]
    }
}

fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(u32::MAX)
}

/// Plans a run over the offers of `drivers`. The suites repeat the `published` works, which must be for the
/// choice's `concurrency`.
///
/// # Errors
/// [`PlanError::NoSubject`], and [`PlanError::Nothing`] if no case is left.
pub fn plan(
    drivers: &[Driver],
    choice: &Choice,
    published: &[PublishedWork],
) -> Result<Plan, PlanError> {
    // Subjects requested by name are measured in any extent.
    let by_name = !choice.subjects.is_empty();
    let mut offered = cases(drivers);
    if choice.extent < Extent::Usual && !by_name {
        // This extent has no report's own pair, so it needs no older version.
        offered.retain(|case| case.superseded_by.is_none());
    }
    if choice.extent == Extent::Glance && !by_name {
        offered = quick_cases(offered);
    }
    let order = Order {
        extent: choice.extent,
        by_name,
        by_operation: !choice.operations.is_empty(),
        concurrency: choice.has_reports().then_some(choice.concurrency),
        published,
    };
    let offered = Offered::new(offered);
    let mut plan = Plan::default();
    for suite in Suite::ALL.into_iter().filter(|s| choice.suites.contains(s)) {
        match suite {
            Suite::Libraries => libraries::plan(&offered, order, &mut plan),
            Suite::Formats => formats::plan(&offered, order, &mut plan),
            Suite::Algorithms => algorithms::plan(&offered, order, &mut plan),
        }
    }
    narrow(&mut plan, &choice.subjects, &choice.operations)?;
    Ok(if choice.has_reports() {
        plan
    } else {
        plan.with_each(&choice.claims, &choice.threads)
    })
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
    published: &'p [PublishedWork],
}

impl<'p> Order<'p> {
    /// Returns the works of a published report.
    pub(super) fn works(&self, report: u8) -> impl Iterator<Item = &'p RowId> + use<'p> {
        let of_report = self.published.iter().filter(move |w| w.report == report);
        of_report.map(|work| &work.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_unknown_name_suggests_nearest() {
        let error = Suite::named("librarys").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
