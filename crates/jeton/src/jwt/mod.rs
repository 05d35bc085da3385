//! JWT (RFC 7519): claims in a JWS, optionally inside a JWE.
//!
//! ```
//! use std::time::Duration;
//! use jeton::{Claims, Policy, Verified, jwt::JwtVerifier};
//! use jeton::key::{SigAlg, SigningKey};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Visit { page: String }
//!
//! let key = SigningKey::generate(SigAlg::ES256)?;
//! let token = key.issue(
//!     &Claims::new(Visit { page: "/".into() })
//!         .issuer("https://id.example")
//!         .audience("api")
//!         .expires_in(Duration::from_secs(15 * 60)),
//! )?;
//!
//! let verifier = JwtVerifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
//! let visit: Verified<Visit> = verifier.verify(&token)?;
//! assert_eq!(visit.claims().page, "/");
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | issue with one key | [`SigningKey::issue`](crate::key::SigningKey::issue), [`MacKey::issue`](crate::key::MacKey::issue) |
//! | set issuer, audience, lifetime and type once | [`JwtIssuer`] |
//! | issue many tokens at one moment | [`BatchIssuer`] |
//! | verify the tokens of one issuer | [`JwtVerifier`] |
//! | verify the tokens of several issuers | [`MultiIssuerVerifier`] |
//! | encrypt with a shared key | [`EncryptedIssuer`], [`EncryptedVerifier`] |
//! | sign, then encrypt to a public key | [`NestedIssuer`], [`NestedVerifier`] |

mod batch;
#[cfg(feature = "jwe")]
mod encrypted;
mod issue;
mod issuer;
mod issuer_builder;
mod issuer_key;
#[cfg(feature = "jwe")]
pub(crate) mod issuer_wrapping_key;
mod multi_issuer;
#[cfg(feature = "jwe")]
mod nested;
pub(crate) mod unverified;
pub(crate) mod verifier;

pub use batch::{BatchIssuer, TokenClaims};
#[cfg(feature = "jwe")]
pub use encrypted::{EncryptedIssuer, EncryptedVerifier, SharedKey};
pub use issuer::{IssuerContent, JwtIssuer};
pub use issuer_builder::IssuerBuilder;
pub use issuer_key::IssuerKey;
pub use multi_issuer::MultiIssuerVerifier;
#[cfg(feature = "jwe")]
pub use nested::{NestedIssuer, NestedVerifier};
pub use verifier::JwtVerifier;

pub(crate) use issuer::check_access_token;
pub(crate) use issuer_builder::ACCESS_TOKEN_TYPE;
use unverified::UnverifiedJwt;
