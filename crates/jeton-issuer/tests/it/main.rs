//! Issuers and their nodes, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod access_tokens;
mod audit;
mod configuration;
mod failing_store;
// Other crates use it too.
#[allow(dead_code)]
mod fake_hsm;
mod intercepted_store;
mod keys;
mod manual_clock;
mod members;
mod migration;
mod nodes;
mod revocations;
