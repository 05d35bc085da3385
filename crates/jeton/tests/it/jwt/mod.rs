//! JWT: claims, signed.

mod access_tokens;
mod batch_issuer;
mod header_members;
mod issuer;
mod multi_issuer;
mod times;
