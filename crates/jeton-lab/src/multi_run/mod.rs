//! Results of several runs: set side by side, guarded, made one.
//!
//! Two runs are not one: nothing cancels between them that cancels within a round. [`compare`] says
//! so in its intervals and its band, [`gate()`] decides by the same figures, and [`merge()`] makes one
//! result of several runs of the same plan, with the rows of attacks and interop beside them.

mod band;
mod compare;
mod gate;
mod machine;
mod merge;
mod same;
mod servers;
mod untimed;

pub use band::{ControlsShow, Farthest, Kind, SetBy};
pub use compare::{AcrossCpus, Change, RunComparison, Side, Unjudged, compare};
pub use gate::{Disturbed, Gate, Judged, Outcome, Question, Regression, Ruling, Unjudgeable, gate};
pub use machine::Difference;
pub use merge::{LIVES, Named, Unmergeable, merge};
