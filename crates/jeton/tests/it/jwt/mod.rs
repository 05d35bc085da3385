//! JWT: claims, signed.

mod batch_issuer;
