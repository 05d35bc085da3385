//! The machine: identification, assignment of cores, and disturbances.

mod cores;
mod disturbance;
mod environment;
mod memory;
mod processes;
mod processor;
mod reference_workload;
mod settings;

pub use cores::{Cores, ServerCores};
pub use disturbance::{DisturbanceMonitor, is_of_figures, names_load, reasons_of_figures};
pub use environment::describe;
pub(crate) use memory::shortage;
pub use processes::Processes;
pub use reference_workload::{ConcurrentReadings, ReferenceWorkload, SHARED_BEYOND, Seen};
pub use settings::{Setting, State, settings};
