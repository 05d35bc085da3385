//! Tests of the C interface, as Rust calls it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, and one comment is for all calls"
)]

mod api;
mod bad_input;
mod cases;
mod codes;
mod handles;
mod header;
mod operations;
mod remote_keys;
#[cfg(feature = "test-hooks")]
mod scripts;
mod settings;
