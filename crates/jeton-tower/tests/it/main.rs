//! The layer, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod require_token;
mod scopes_and_errors;
