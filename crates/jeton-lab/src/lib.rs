//! The lab: measures token formats, algorithms and libraries on one machine.
//!
//! A [`result::RunResult`] contains everything that one run measured. Every table, chart and page is a
//! function of it.
//!
//! The measurement pipeline: [`suite`] selects the subjects, [`driver`] builds their drivers,
//! [`runner`] talks to them over [`protocol`], [`host`] watches the machine, [`stats`] computes
//! verdicts, [`result`] stores the result, [`recommendation`] recommends tokens, and [`report`] formats
//! it. [`multi_run`] compares, gates and merges results of several runs. [`attack`] sends tokens that
//! libraries must reject, [`interop`] verifies tokens across libraries, and [`servers`] loads gRPC
//! servers that issue tokens.

pub mod attack;
pub mod driver;
mod grpc;
pub mod host;
pub mod interop;
pub mod multi_run;
pub mod protocol;
pub mod published;
pub mod recommendation;
pub mod report;
pub mod result;
pub mod runner;
pub mod servers;
pub mod stats;
mod stop;
pub mod suite;
mod verdicts;

pub use stop::Stop;
