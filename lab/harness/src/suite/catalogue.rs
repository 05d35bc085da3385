//! The suites: from the offers of drivers to the cases of a run and their comparisons.

use std::num::NonZero;

use super::offered::{Offered, cases};
use super::order::{Extent, Order, Suite};
use super::plan::narrow;
use super::quick::quick_cases;
use super::{Plan, algorithms, formats, libraries};
use crate::driver::Driver;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::PublishedWork;
use jeton_lab_model::{Case, Operation};

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
/// If a name is unknown, or no case is left.
pub fn plan(
    drivers: &[Driver],
    choice: &Choice,
    published: &[PublishedWork],
) -> Result<Plan, String> {
    // Subjects requested by name are measured in any extent.
    let by_name = !choice.subjects.is_empty();
    let everything = Offered::new(cases(drivers));
    let reported: Vec<(u8, Case)> = if choice.has_reports() {
        published
            .iter()
            .filter_map(|work| Some((work.report, everything.doing(&work.row)?)))
            .collect()
    } else {
        Vec::new()
    };
    let mut offered = everything.cases();
    if choice.extent < Extent::Usual && !by_name {
        // Older versions belong to the reports' own pairs.
        offered.retain(|case| case.superseded_by.is_none());
    }
    if choice.extent == Extent::Glance && !by_name {
        offered = quick_cases(offered);
    }
    let order = Order {
        extent: choice.extent,
        by_name,
        by_operation: !choice.operations.is_empty(),
        reported: &reported,
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
