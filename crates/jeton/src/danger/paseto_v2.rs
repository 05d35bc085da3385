//! PASETO version 2: XChaCha20-Poly1305, and Ed25519 (PASETO, "Version 2").
//!
//! Legacy: [version 4](crate::paseto::v4) replaced it in 2021. It has no implicit assertions; passing one to
//! a verifier or to a token returns [`InvalidUse::ImplicitAssertion`](crate::error::InvalidUse::ImplicitAssertion).
//! Use it only to exchange tokens with legacy systems.
//!
//! ```
//! use jeton::danger::paseto_v2;
//! use jeton::paseto::TokenContext;
//!
//! let key = paseto_v2::SecretKey::generate()?;
//! let token = key.sign(b"old", TokenContext::new())?;
//! assert!(token.starts_with("v2.public."));
//! assert_eq!(key.public_key().verify(&token, b"")?.message(), b"old");
//! # Ok::<_, jeton::Error>(())
//! ```

pub use crate::paseto::v2::{LocalKey, PublicKey, SecretKey, V2};
