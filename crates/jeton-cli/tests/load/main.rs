//! The service under load.
//!
//! A program of its own, so that no other test runs on the same cores at the same time.

#![allow(clippy::unwrap_used, clippy::panic)]

#[cfg(target_os = "linux")]
mod overload;
#[cfg(target_os = "linux")]
#[path = "../it/serving.rs"]
#[allow(dead_code)]
mod serving;
