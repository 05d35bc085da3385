//! Servers under load.
//!
//! A program of its own, so that no other test runs on the same cores at the same time.

#![allow(clippy::unwrap_used, clippy::panic)]

#[cfg(unix)]
mod gateways;
#[cfg(unix)]
mod servers;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Allows one load at a time: parallel loads would disturb each other.
static CORES: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}
