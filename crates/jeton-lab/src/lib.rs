//! The lab: measures token formats, algorithms and libraries side by side, on this machine.
//!
//! A [`result::RunResult`] is everything one run saw; every table, chart and page is a function
//! of it.
//!
//! A measurement's way: [`suite`] says which subjects meet, [`driver`] builds them, [`runner`]
//! speaks with them over [`wire`], [`host`] watches the machine meanwhile, [`stats`] judges the
//! rounds, [`result`] keeps everything, and [`report`] shows it. [`across`] is for results of several
//! runs: compare, gate, merge.

pub mod across;
pub mod driver;
pub mod host;
mod judging;
pub mod report;
pub mod result;
pub mod runner;
pub mod stats;
mod stop;
pub mod suite;
pub mod wire;

pub use stop::Stop;
