//! One test for each known attack on JWS verifiers, for every algorithm that it applies to, with generated keys.
//! Each test first checks that the original token is accepted.

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
