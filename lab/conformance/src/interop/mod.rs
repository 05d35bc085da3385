//! Tests which libraries verify each other's tokens.
//!
//! Every driver stays running as one process. A [`Dialect`](jeton_lab_model::Dialect) is a JWS
//! algorithm, a JWE algorithm with its content encryption, or a PASETO version and purpose. For
//! each one the lab makes a key, every issuing driver makes a token with it, and every verifying
//! driver gets every token. An accepted token must have the signed claims. The driver then gets the
//! same token with one bit changed. A driver that accepts it verifies nothing, and everything it
//! accepted is void.
//!
//! Keys are sent as JWK or PASERK, and also as PEM if the key has a PEM form that the verifier's
//! library reads. `explain` explains failures where the lab knows the reason.

mod driver_handle;
mod exchange;
mod explain;
mod plan;
mod run;

pub use plan::{Choice, Exchange, Extent, Plan, Role, plan};
pub use run::{Event, Options, run};
