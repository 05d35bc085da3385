//! What a step of the test is.

use super::areas::Area;
use crate::command::{Error, Workspace};

/// A check that runs as a process of its own.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) part: Part,
    /// The parts of the project that need it; empty for all.
    pub(super) areas: &'static [Area],
    pub(super) load: Load,
    /// The steps that it waits for, if they run too. One that builds is done for it when everything is built.
    pub(super) after: &'static [&'static str],
    pub(super) run: fn(&Context<'_>) -> Result<Outcome, Error>,
}

/// Which command runs a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// `cargo xtask test`
    First,
    /// `cargo xtask test --rest`
    Rest,
}

/// What a step keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Cargo, in the folder where one cargo at a time builds.
    Compiles,
    /// A core.
    Computes,
    /// Little: it waits for servers, clocks or the network most of the time.
    Waits,
}

/// What a step is given.
pub(super) struct Context<'a> {
    pub(super) workspace: &'a Workspace,
    /// The chosen parts of the project; empty for all.
    pub(super) areas: &'a [Area],
}

/// How a step ended that did not fail.
pub(super) enum Outcome {
    Passed,
    /// Something is missing. The summary repeats it: a skipped step is not a pass.
    Skipped(String),
}
