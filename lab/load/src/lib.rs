//! Compares gRPC servers that issue tokens: the cost of a token, and the latency of a call. Compares gateways that check
//! tokens: what the check adds.
//!
//! A server is a folder with a `server.toml` that says how it is built, started and given the keys
//! of the run. [`run`] starts each server on separate cores, checks it in a preflight, and loads
//! the servers interleaved. [`loader`] makes the calls from a separate process on a separate core.

pub mod export;
mod gateway;
pub mod import;
mod keys;
pub mod loader;
mod loading;
mod manifest;
mod pacing;
mod plan;
mod preflight;
mod process;
mod proxy;
mod public_keys;
mod row;
mod run;
mod warming;

pub use manifest::{Manifest, Server, find, folder};
pub use pacing::Pacing;
pub use plan::{Options, cache, estimate, ready, repetitions_within};
pub use proxy::Proxy;
pub use run::{Event, run};
