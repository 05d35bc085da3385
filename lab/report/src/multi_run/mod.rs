//! Results of several runs: compare, gate, merge.
//!
//! Two runs are not interleaved, so effects that cancel within a round do not cancel between them.
//! [`compare`] accounts for this in its intervals and its band, [`gate()`] decides by the same figures,
//! and [`merge()`] makes one result of several runs of the same plan, with rows of attacks and interop.

mod aa_pairs;
mod band;
mod check;
mod compare;
mod gate;
mod inputs;
mod machine;
mod merge;
mod recompute;
mod same;
mod servers;
mod untimed;

pub use band::{ControlsShow, Farthest, Kind, SetBy, ShiftKept};
pub use check::{Checked, Contradiction, check};
pub use compare::{AcrossCpus, Change, RunComparison, Side, Unjudged, compare};
pub use gate::{Disturbed, Gate, Judged, Outcome, Question, Regression, Ruling, Unjudgeable, gate};
pub use inputs::{Named, Unmergeable};
pub use machine::Difference;
pub(crate) use machine::{Machines, machines};
pub(crate) use merge::is_same_run;
pub use merge::{RUN_VALUES_MIN, merge};
pub use recompute::recomputed;
