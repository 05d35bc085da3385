//! The lab: measures token formats, algorithms and libraries side by side, on this machine.
//!
//! A [`result::RunResult`] is everything one run saw; every table, chart and page is a function
//! of it.
//!
//! A measurement's way: [`suite`] says which subjects meet, [`driver`] builds them, [`runner`]
//! speaks with them over [`protocol`], [`host`] watches the machine meanwhile, [`stats`] judges the
//! rounds, [`result`] keeps everything, [`recommendation`] says which token to take, and [`report`]
//! shows it. [`multi_run`] is for results of several runs: compare, gate, merge. [`interop`] measures no
//! time: it lets every driver open every other's tokens. [`servers`] loads gRPC servers that issue tokens.

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
