//! The statistics, simulated.

mod stats_simulation;
mod unpaired_simulation;
