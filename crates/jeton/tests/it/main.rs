//! The library, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod algorithms_table;
mod any_format;
mod cached_tokens;
mod claims;
mod effort;
mod error_codes;
mod external_types;
mod jwe;
mod jws;
mod jwt;
mod key;
mod macro_items;
mod paseto;
mod public_api;
mod readme;
mod report_sizes;
