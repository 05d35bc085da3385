//! Revocations: of tokens, by rules, and as feeds.

mod feeds;
mod revocable;
mod revoke_token;
mod rules;
