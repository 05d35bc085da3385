//! JWT: claims, signed.

mod batch_issuer;
mod issuer;
mod multi_issuer;
