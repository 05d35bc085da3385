//! Who accepts what must be refused? Every driver under every attack that applies to what it
//! offers.
//!
//! A way through: [`catalogue`](Attack) says what is attacked, `forger` makes keys and wrong tokens,
//! each beside a control that must be accepted; `session` asks a driver and starts it again when it
//! died; `verdict` says what the trials of one attack come to. `endpoint` does the same over HTTP
//! to a live server, and `differential` looks for what nobody thought of: it asks all drivers at once.

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

pub use catalogue::{Attack, Demand, Family, Kind, WithoutKey};
pub use differential::{
    CASES_MAX, Changed, CorpusEntry, Fuzzed, Replayed, add_to_corpus, fuzz, read_corpus, replay,
};
pub use endpoint::{Message, Protocol, Reach, Target, TargetOptions, run as run_target};
pub use estimate::{Estimate, estimate};
pub use fixtures::Operator;
pub use listing::listing;
pub use run::{Event, Extent, Options, run};
