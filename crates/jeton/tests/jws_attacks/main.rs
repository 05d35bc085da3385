//! What a JWS verifier must survive: one test for each known attack, on every algorithm that it can
//! apply to, with keys made here. Each first sees the untampered token accepted.

#![allow(clippy::unwrap_used, clippy::panic)]

mod claims;
#[path = "../effort/mod.rs"]
mod effort;
mod extensions;
mod headers;
mod json_form;
mod keys;
mod secrets;
mod signatures;
mod support;
mod unprotected;
