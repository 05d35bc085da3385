//! Whose tokens does whom verify?
//!
//! Every driver stays up as one process. For each [`Dialect`](crate::suite::Dialect) (a JWS
//! algorithm, a JWE algorithm with its content encryption, a PASETO version and purpose) the lab
//! makes one key, every driver that mints makes a token under it, and every driver that verifies is
//! given every token. What it accepts must have the claims that went in, and it is given the same
//! token again with one bit changed: who takes that one verifies nothing, and all that it accepted
//! is void.
//!
//! Keys go over as JWK or PASERK, and as PEM where they have one and the verifier's library reads
//! it. `explain` says of what did not go well why it did not, where the lab knows.

mod driver_handle;
mod exchange;
mod explain;
mod plan;
mod run;

pub use plan::{Choice, Exchange, Extent, Plan, PlanError, Role, plan};
pub use run::{Event, Options, run};
