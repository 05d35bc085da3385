//! The driver protocol (`drivers/PROTOCOL.md`): messages, limits, and the driver's process.

mod message;
mod pipes;
mod process;

pub use message::{
    ClaimsPool, Hello, KeyText, Keys, Offered, Paserk, Policy, Prepare, RunReport, VerifyAnswer,
    Work,
};
pub use process::{Fault, Process, Spawn};

use std::time::Duration;

/// The protocol version of the lab.
pub const PROTOCOL: u32 = 1;

/// The longest line in either direction, in bytes. A driver that exceeds it is stopped.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// The time limit of `hello`: a JVM starts slowly.
pub const HELLO_LIMIT: Duration = Duration::from_secs(20);

/// The time limit of `prepare`, `token` and `verify`.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The smallest time limit of a `run`.
pub const RUN_LIMIT: Duration = Duration::from_secs(20);
