//! JWT: claims, signed.

mod access_tokens;
mod batch_issuer;
mod issuer;
mod multi_issuer;
