//! Issues and verifies security tokens (JWT and PASETO) through one API that is hard to misuse.
//!
//! - A **key** has a fixed algorithm, use and id ([`key`]). A verifier only compares the header of a token
//!   with the key: the header never selects an algorithm. Secrets, private keys and public keys are different
//!   types.
//! - **Claims** are the registered claims and the caller's custom claims ([`Claims`]): a type or JSON text. The
//!   caller must choose an expiry.
//! - A **policy** states what a verifier requires ([`Policy`]): the issuer, the audience, an expiry and
//!   more. Only an explicit call drops a requirement.
//! - **Verified** is the result of a successful verification ([`Verified`]). Only a verifier creates it.
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
//! | load a key from any file | [`key::AnyKey`] |
//! | read, build and publish a key set | [`jwk::KeySet`] |
//! | set issuer, audience and lifetime once | [`jwt::JwtIssuer`] |
//! | accept several issuers | [`jwt::MultiIssuerVerifier`] |
//! | require access tokens (RFC 9068) | [`Policy::access_token`], [`Verified::has_scope`] |
//! | issue claims that are JSON text | [`Claims::from_json`] |
//! | use PASETO | [`paseto::v4`], the same API |
//! | encrypt | [`jwt::EncryptedIssuer`], [`jwt::NestedIssuer`], [`jwe`] |
//! | sign with a key in a KMS or an HSM | [`remote`] |
//! | write code for any format | [`Issue`], [`Verify`] |
//!
//! The [`guide`] has one page per task, and pages to migrate from jsonwebtoken, josekit and golang-jwt.
//!
//! Each error has a message for people, and a stable [code](error::codes) for programs.
//!
//! Only what this documentation shows is stable. The module `__private` serves the other crates of this project, which
//! require exactly this version; any release may change it.
//!
//! The library does no I/O and starts no threads. A [`Clock`] is its only source of time. Every size that
//! an attacker can choose has a limit in [`limits`]. Insecure and legacy options are in [`danger`].

#![cfg_attr(docsrs, feature(doc_cfg))]
// With fewer features, some of what they share has no user. The build with all features finds what is not used.
#![cfg_attr(
    not(all(
        feature = "hmac",
        feature = "jwe",
        feature = "legacy",
        feature = "paseto",
        feature = "pem"
    )),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_mut,
        unused_variables
    )
)]

// Claims, policies and verified claims
mod claims;
mod issue;
mod policy;
mod token_limits;
mod verified;
mod verify;

// Cache of verified tokens
mod cache;

// Guide
pub mod guide;

// Keys
pub mod jwk;
pub mod key;
#[cfg(feature = "paseto")]
pub mod paserk;
#[cfg(feature = "paseto")]
mod paserk_kind;
pub mod remote;

// Formats
#[cfg(feature = "jwe")]
pub mod jwe;
pub mod jws;
pub mod jwt;
#[cfg(feature = "paseto")]
pub mod paseto;

// Foundations
mod base64;
mod clock;
mod crypto;
pub mod danger;
pub mod error;
mod json;
pub mod limits;

// Explains why a signature was rejected, for the command line.
mod diagnose;

/// What the other crates of this project need, and nobody else. Any release may change or remove it.
#[doc(hidden)]
pub mod __private {
    pub use crate::claims::read_json_claims;
    pub use crate::diagnose::{SignatureCheck, check_signature};
    pub use crate::json::{JsonError, Member, read_members};
    pub use crate::jws::header_members::check_header_members;
    pub use crate::jwt::unverified::{UnverifiedJwt, read_unverified_header};
    pub use crate::jwt::verifier::verify_read;
    #[cfg(feature = "paseto")]
    pub use crate::paseto::unverified::UnverifiedPaseto;
    pub use crate::policy::same_type;
}

pub use cache::{Cached, Revocations};
pub use claims::{Claims, CustomClaims, JsonClaims, WithRegistered};
pub use clock::{Clock, FixedClock, SystemClock, Timestamp};
pub use error::any_error::{Error, Result};
pub use issue::{AnyClaims, Issue};
pub use policy::Policy;
pub use token_limits::Limits;
pub use verified::{RawClaims, RegisteredMember, Scratch, Verified, VerifiedHeader, VerifiedIn};
pub use verify::Verify;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
