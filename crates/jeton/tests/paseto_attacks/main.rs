//! One test for each known attack on PASETO verifiers, for local and public tokens, with generated keys. Each
//! test first checks that the original token is accepted.
#![allow(clippy::unwrap_used, clippy::panic)]

mod claims;
#[path = "../effort/mod.rs"]
mod effort;
mod keys;
mod paserks;
mod support;
mod tokens;
mod versions;
