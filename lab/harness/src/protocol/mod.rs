//! The driver protocol (`drivers/PROTOCOL.md`): messages, limits, and the driver's process.

mod pipes;
mod process;

pub use process::{Fault, Process, Spawn};

use std::time::Duration;

/// The time limit of `hello`: a JVM starts slowly.
pub const HELLO_LIMIT: Duration = Duration::from_secs(20);

/// The time limit of `prepare`, `token` and `verify`.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The smallest time limit of a `run`.
pub const RUN_LIMIT: Duration = Duration::from_secs(20);
