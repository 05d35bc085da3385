//! Which subjects meet under which contracts, and why.
//!
//! A [`Cell`] is one subject under one contract: the unit that has a process and a row. A
//! [`Comparison`] sets cells side by side, and can only be made of cells that answer the same
//! question.

mod catalogue;
mod cell;
mod comparison;
mod standard;

pub use catalogue::{Plan, PlanError, Suite, plan};
pub use cell::{Cell, Contract, Format, KeyHandling};
pub use comparison::{Comparison, Incomparable};
pub use standard::{AUDIENCE, ISSUER, POOL_SIZE, Standard};
