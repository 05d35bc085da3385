//! The driver protocol (`drivers/PROTOCOL.md`): its messages, its limits, and the process at the
//! other end of the pipe.

mod message;
mod pipes;
mod process;

pub use message::{
    ClaimsPool, Hello, KeyText, Keys, Offered, Paserk, Policy, Prepare, RunReport, VerifyAnswer,
    Work,
};
pub use process::{Fault, Process, Spawn};

use std::time::Duration;

/// The version of the protocol that the lab speaks.
pub const PROTOCOL: u32 = 1;

/// The longest line either way, bytes. A driver that goes beyond it is ended.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// How long `hello` may take: a JVM starts slowly.
pub const HELLO_LIMIT: Duration = Duration::from_secs(20);

/// How long `prepare`, `token` and `verify` may take.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The least that a `run` is given, however short it was calibrated to be.
pub const RUN_LIMIT: Duration = Duration::from_secs(20);
