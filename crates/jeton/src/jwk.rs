//! JWK (RFC 7517): keys as JSON, and key sets.
//!
//! Reading is strict: members are unique, have the right type and canonical base64url, and do not
//! contradict each other. Errors name the wrong member and never contain its value. The key types are in
//! [`key`](crate::key); this module has the key set ([`KeySet`]): read, built and written. A key of a set that cannot
//! verify is [`Skipped`], with the reason.

pub use crate::key::set::{KeySet, Skipped};
