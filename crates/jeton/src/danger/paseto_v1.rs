//! PASETO version 1: AES-256-CTR with HMAC-SHA-384, and RSA of 2,048 bits (PASETO, "Version 1").
//!
//! Legacy: [version 3](crate::paseto::v3) replaced it in 2021. It has no implicit assertions; passing one to
//! a verifier or to a token returns [`InvalidUse::ImplicitAssertion`](crate::error::InvalidUse::ImplicitAssertion).
//! Use it only to exchange tokens with legacy systems.
//!
//! ```
//! use jeton::danger::paseto_v1;
//! use jeton::paseto::TokenContext;
//!
//! let key = paseto_v1::LocalKey::generate()?;
//! let token = key.encrypt(b"old", TokenContext::new())?;
//! assert!(token.starts_with("v1.local."));
//! assert_eq!(key.decrypt(&token, b"")?.message(), b"old");
//! # Ok::<_, jeton::Error>(())
//! ```

pub use crate::paseto::v1::{LocalKey, PublicKey, SecretKey, V1};
