//! What a PASETO verifier must survive: one test for each known attack, on local and public alike,
//! with keys made here. Each first sees the untampered token accepted.
#![allow(clippy::unwrap_used, clippy::panic)]

mod claims;
#[path = "../effort/mod.rs"]
mod effort;
mod keys;
mod paserks;
mod support;
mod tokens;
mod versions;
