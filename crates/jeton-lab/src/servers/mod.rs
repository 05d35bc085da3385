//! gRPC servers that issue tokens, side by side: what an issued token costs, and how long a caller
//! waits for it.
//!
//! A server is a folder with a `server.toml`: how it is built and started, and how it is given the
//! keys of the run. [`run`] starts each on cores of its own, looks at what it does before anything is
//! measured, and loads all in turns; [`loader`] makes the calls, from a process and a core of its own.

mod algorithm;
mod call;
pub mod export;
pub mod import;
mod keys;
pub mod loader;
mod loading;
mod manifest;
mod pacing;
mod plan;
mod preflight;
mod process;
mod public_keys;
mod row;
mod run;
mod scenario;
mod warming;

pub use algorithm::Algorithm;
pub use call::Call;
pub use manifest::{Manifest, SearchError, Server, find, folder};
pub use pacing::Pacing;
pub use plan::{Options, cache, estimate, ready, repetitions_within};
pub use run::{Event, run};
pub use scenario::Scenario;
