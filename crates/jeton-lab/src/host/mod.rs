//! The machine: what it is, which core does what, and what else happened while the lab measured.

mod cores;
mod environment;
mod processes;
mod processor;
mod settings;
mod witness;
mod yardstick;

pub(crate) use cores::Bench;
pub use cores::Cores;
pub use environment::describe;
pub use processes::Processes;
pub use settings::{Setting, State, settings};
pub use witness::Witness;
pub use yardstick::{Beside, SHARED_BEYOND, Seen, Yardstick};
