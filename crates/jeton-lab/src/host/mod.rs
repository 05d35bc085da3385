//! The machine: what it is, which core does what, and what else happened while the lab measured.

mod cores;
mod environment;
mod settings;
mod witness;
mod yardstick;

pub use cores::Cores;
pub use environment::describe;
pub use settings::{Setting, State, settings};
pub use witness::Witness;
pub use yardstick::{SHARED_BEYOND, Yardstick};
