//! Key sets at an address (RFC 7517): fetched, kept, and fetched again, so that verifying does not wait.
//!
//! ```no_run
//! use jeton::{Policy, Verified};
//! use jeton_jwks::{RemoteKeySet, Verifier};
//!
//! #[derive(serde::Deserialize)]
//! struct Session { tenant: String }
//!
//! # async fn example(token: &str) -> Result<(), jeton_jwks::Error> {
//! // Once.
//! let keys = RemoteKeySet::at("https://id.example/.well-known/jwks.json")?;
//! let verifier = Verifier::new(&keys, Policy::new("https://id.example", "api"));
//!
//! // For every token.
//! let session: Verified<Session> = verifier.verify(token).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # When it asks
//!
//! | what happens | what is done |
//! |---|---|
//! | nothing was fetched yet | the first verification asks, and all others wait with it |
//! | the answer is old ([`Schedule::fresh_for`], or the answer's own `max-age`) | tokens are verified with it, and behind them it is asked again |
//! | a token's `kid` is not in the set | it is asked with `Cache-Control: no-cache`, unless that was done within [`Schedule::cooldown`]: whoever invents names cannot have it asked more often |
//! | it cannot be asked | what was fetched stays in force for [`Schedule::kept_for`]; it is asked again after a second, two, four, up to the cooldown |
//! | it was not asked with success for that long | no token verifies: keys that were withdrawn must not live on |
//!
//! One question is under way at a time, however many wait for it, and a caller that goes away does not
//! end it. A token whose key is known never waits for a question.
//!
//! Caches on the way may answer from their copy, except where a `kid` is unknown: then the copy may be
//! older than the key. A cache that ignores `no-cache`, as nginx does unless it is told not to, answers
//! with its copy all the same. The token is then rejected ([`UnknownKey`]), the set is asked for again
//! after the cooldown, and the key is found when the copy has expired. If the answer has an `Age`, a
//! warning in the log says so.
//!
//! [`UnknownKey`]: jeton::error::Rejection::UnknownKey
//!
//! # What it takes
//!
//! Public keys only. A symmetric or private key in a published set could be used by anybody who reads
//! it: it is left out, and so are keys that [`KeySet`](jeton::jwk::KeySet) leaves out. A set replaces the
//! one before as a whole. Addresses are `https`, or `http` on this machine; redirects are not followed; an
//! answer has [`PATIENCE`] and at most [`KEY_SET_BYTES`](jeton::limits::KEY_SET_BYTES).

mod error;
mod fetch;
mod remote;
mod schedule;
mod verifier;

pub use error::{Error, FetchError, Result};
pub use fetch::{Answer, Asking, Fetch, Https, PATIENCE, Question};
pub use remote::RemoteKeySet;
pub use schedule::Schedule;
pub use verifier::Verifier;
