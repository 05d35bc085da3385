//! Loads of servers: calls, algorithms, scenarios and latencies.

mod algorithm;
mod call;
mod latencies;
mod scenario;

pub use algorithm::Algorithm;
pub use call::{BATCH, Call, Way};
pub use latencies::Latencies;
pub use scenario::Scenario;
