//! Tests of the C interface, as Rust calls it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and one comment covers all calls"
)]

mod algorithms;
mod api;
mod bad_input;
mod cases;
mod codes;
mod handles;
mod header;
mod messages;
mod operations;
mod remote_keys;
#[cfg(feature = "test-hooks")]
mod scripts;
mod settings;
mod settings_files;
