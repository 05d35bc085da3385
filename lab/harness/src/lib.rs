//! Builds drivers, runs them and measures them, on this machine.
//!
//! [`suite`] selects what is compared, [`driver`] builds the drivers, [`runner`] measures them over [`protocol`],
//! and [`host`] records disturbances.

pub mod driver;
pub mod grpc;
pub mod host;
pub mod protocol;
pub mod runner;
mod stop;
pub mod suite;
mod workspace;

pub use stop::Stop;
