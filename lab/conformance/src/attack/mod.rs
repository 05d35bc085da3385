//! Tests which libraries accept tokens and keys that must be rejected. Runs every attack that
//! applies on every driver.
//!
//! [`catalogue`](Attack) defines the attacks. `fixtures` makes keys and negative controls, each
//! with a positive control that must be accepted. `session` sends requests to a driver and restarts
//! it after a crash. `verdict` combines the trials of one attack. `endpoint` attacks a live server
//! over HTTP. `differential` searches for unknown faults: it sends the same input to all drivers.

mod beacon;
mod catalogue;
mod cost;
mod differential;
mod endpoint;
mod estimate;
mod fixtures;
mod listing;
mod run;
mod run_trial;
mod session;
mod trial;
mod verdict;
mod withheld;

pub use catalogue::{Attack, Demand, Family, Kind, WithoutKey};
pub use differential::{
    CASES_MAX, Changed, CorpusEntry, Fuzzed, Replayed, add_to_corpus, fuzz, read_corpus, replay,
};
pub use endpoint::{Grant, Message, Protocol, Reach, Target, TargetOptions, run as run_target};
pub use estimate::{Estimate, estimate};
pub use fixtures::Operator;
pub use listing::listing;
pub use run::{Event, Extent, Options, run};
pub use withheld::withhold;
