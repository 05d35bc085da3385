//! The suites: from what the drivers offer to the cells of a run and their comparisons.

use std::num::NonZero;

use super::offered::{Offered, cases};
use super::plan::{narrow, nearest};
use super::quick::at_a_glance;
use super::{Operation, Plan, PlanError, STANDARD, algorithms, formats, libraries};
use crate::driver::Driver;

/// A named choice of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// JWT or PASETO?
    Formats,
    /// What does each algorithm cost?
    Algorithms,
    /// Which library?
    Libraries,
}

impl Suite {
    /// All of them, in the order in which they are measured and shown.
    pub const ALL: [Self; 3] = [Self::Libraries, Self::Formats, Self::Algorithms];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Algorithms => "algorithms",
            Self::Libraries => "libraries",
        }
    }

    /// The question it answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Formats => "JWT or PASETO, with the same claims?",
            Self::Algorithms => "What does each algorithm cost?",
            Self::Libraries => "Which library, doing the same work?",
        }
    }

    /// The suite of that name.
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

/// How much of a suite is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// A small choice of everything, from few libraries: what 90 seconds have time for.
    Glance,
    /// One algorithm of each kind, made and opened: for a run that repeats it with many claims.
    Narrow,
    /// The core of a suite, for somebody who waits.
    Quick,
    /// What answers the suite's question.
    Usual,
    /// All algorithms with all content encryptions, for the baseline and a peer of each language.
    Full,
}

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The suites.
    pub suites: Vec<Suite>,
    /// How much of them.
    pub extent: Extent,
    /// Only subjects whose id matches one of these; `*` stands for anything. Empty: all.
    pub subjects: Vec<String>,
    /// Only these contracts. Empty: all.
    pub operations: Vec<Operation>,
    /// The claims sets, each with everything.
    pub claims: Vec<String>,
    /// The numbers of threads, each with everything.
    pub threads: Vec<u32>,
    /// On how many threads the concurrent work of the reports is repeated.
    pub concurrency: u32,
}

impl Choice {
    /// Suites with the claims `standard` on one thread, nothing left out; and what the reports did at
    /// the same time on as many threads as this process may use, two at least.
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

    /// Whether the reports' own claims and threads are a part of it: they are, unless others were
    /// asked for.
    fn has_reports(&self) -> bool {
        self.claims == [STANDARD] && self.threads == [1]
    }
}

fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(u32::MAX)
}

/// Plans a run over what `drivers` offer.
///
/// # Errors
/// [`PlanError::NoSubject`], and [`PlanError::Nothing`] if a contract leaves nothing over.
pub fn plan(drivers: &[Driver], choice: &Choice) -> Result<Plan, PlanError> {
    // Who is asked for by name is measured, however little time there is.
    let by_name = !choice.subjects.is_empty();
    let mut offered = cases(drivers);
    if choice.extent < Extent::Usual && !by_name {
        // No report's own pair is in it, so nothing needs an older version.
        offered.retain(|case| case.superseded_by.is_none());
    }
    if choice.extent == Extent::Glance && !by_name {
        offered = at_a_glance(offered);
    }
    let order = Order {
        extent: choice.extent,
        by_name,
        by_operation: !choice.operations.is_empty(),
        concurrency: choice.has_reports().then_some(choice.concurrency),
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

/// What a suite is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    pub(super) extent: Extent,
    /// Whether only subjects that were named are wanted.
    pub(super) by_name: bool,
    /// Operations were asked for by name.
    pub(super) by_operation: bool,
    /// The threads of the reports' concurrent work; none if the reports' own claims are no part of
    /// it, because others were asked for.
    pub(super) concurrency: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_suite_names_the_nearest() {
        let error = Suite::named("librarys").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
