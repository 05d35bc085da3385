//! Suites: which subjects are compared with which operations.
//!
//! A [`Case`](jeton_lab_model::Case) is one subject with one operation; each case has a process and a row. A [`Comparison`]
//! contains cases with the same operation, claims and thread count.

mod algorithms;
mod catalogue;
mod comparison;
mod formats;
mod libraries;
mod offered;
mod order;
mod plan;
mod quick;

pub use catalogue::{Choice, plan};
pub use comparison::Comparison;
pub use order::{Extent, Suite};
pub use plan::{Plan, operation_named, suite_named};
