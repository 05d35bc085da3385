//! The layer, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod layers_and_metadata;
mod require_token;
mod scopes_and_errors;
