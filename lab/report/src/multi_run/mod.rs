//! Results of several runs: compare, gate, merge.
//!
//! Two runs are not interleaved, so effects that cancel within a round do not cancel between them.
//! [`compare`] accounts for this in its intervals and its band, [`gate()`] decides by the same figures,
//! and [`merge()`] makes one result of several runs of the same plan, with rows of attacks and interop.

#![allow(
    missing_docs,
    reason = "a member has a comment if its name does not say what it is"
)]

mod band;
mod check;
mod compare;
mod gate;
mod machine;
mod merge;
mod mergeable;
mod pooled;
mod runs;
mod servers;

pub use band::{ControlsShow, Farthest, Kind, SetBy, ShiftKept};
pub use check::{Contradiction, check};
pub use compare::{Change, RunComparison, Side, Unjudged, compare};
pub use gate::{Gate, Judged, Outcome, Question, Regression, Ruling, Unjudgeable, gate};
pub use machine::Difference;
pub(crate) use machine::{Machines, joined, machines};
pub use merge::merge;
pub use pooled::{RUN_VALUES_MIN, recomputed};
pub use runs::Named;
pub(crate) use runs::is_same_run;
