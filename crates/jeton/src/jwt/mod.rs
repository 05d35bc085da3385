//! JWT (RFC 7519): claims in a JWS, optionally inside a JWE.
//!
//! ```
//! use std::time::Duration;
//! use jeton::{Claims, Policy, Verified, jwt};
//! use jeton::key::SigAlg;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Visit { page: String }
//!
//! let key = jwt::SigningKey::generate(SigAlg::ES256)?;
//! let token = key.issue(
//!     &Claims::new(Visit { page: "/".into() })
//!         .issuer("https://id.example")
//!         .audience("api")
//!         .expires_in(Duration::from_mins(15)),
//! )?;
//!
//! let verifier = jwt::Verifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
//! let visit: Verified<Visit> = verifier.verify(&token)?;
//! assert_eq!(visit.page, "/");
//! # Ok::<(), jeton::Error>(())
//! ```

mod batch;
mod encrypted;
mod issue;
mod issuer;
pub(crate) mod issuer_wrapping_key;
mod nested;
mod verifier;

pub use crate::key::{MacKey, SigningKey, VerifyingKey};
pub use batch::{BatchIssuer, TokenClaims};
pub use encrypted::{EncryptedIssuer, EncryptedVerifier, SharedKey};
pub use issuer::Issuer;
pub use nested::{NestedIssuer, NestedVerifier};
pub use verifier::Verifier;
