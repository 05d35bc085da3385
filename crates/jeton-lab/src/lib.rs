//! The lab: measures token formats, algorithms and libraries side by side, on this machine.
//!
//! A [`result::RunResult`] is everything one run saw; every table, chart and page is a function
//! of it.

pub mod result;
pub mod stats;
