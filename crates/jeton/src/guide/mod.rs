//! The guide: one page per task. All Rust examples run as tests.
//!
//! # Start
//!
//! | task | page |
//! |---|---|
//! | choose between JWT and PASETO | [`jwt_or_paseto`] |
//! | issue and verify tokens | [`issue_and_verify`] |
//! | load, generate and publish keys | [`keys`] |
//! | read and write claims: typed, registered, JSON text | [`claims`] |
//! | handle errors and use their codes | [`errors`] |
//! | test with a fixed clock | [`testing`] |
//!
//! # In a service
//!
//! | task | page |
//! |---|---|
//! | accept the tokens of several issuers | [`several_issuers`] |
//! | issue and verify access tokens, check scopes | [`access_tokens`] |
//! | rotate keys without rejecting valid tokens | [`rotate_keys`] |
//! | set limits and options | [`limits`] |
//! | sign with a key in a KMS or an HSM | [`remote`](crate::remote) |
//! | verify the same token many times | [`Cached`](crate::Cached) |
//!
//! # Other formats
//!
//! | task | page |
//! |---|---|
//! | use PASETO and PASERK | [`paseto`] |
//! | encrypt tokens | [`encrypt`] |
//!
//! # Migrate from another library
//!
//! | from | page |
//! |---|---|
//! | jsonwebtoken (Rust) | [`from_jsonwebtoken`] |
//! | josekit (Rust) | [`from_josekit`] |
//! | golang-jwt (Go) | [`from_golang_jwt`] |

#[doc = include_str!("access_tokens.md")]
pub mod access_tokens {}

#[doc = include_str!("claims.md")]
pub mod claims {}

#[doc = include_str!("encrypt.md")]
pub mod encrypt {}

#[doc = include_str!("errors.md")]
pub mod errors {}

#[doc = include_str!("from_golang_jwt.md")]
pub mod from_golang_jwt {}

#[doc = include_str!("from_josekit.md")]
pub mod from_josekit {}

#[doc = include_str!("from_jsonwebtoken.md")]
pub mod from_jsonwebtoken {}

#[doc = include_str!("issue_and_verify.md")]
pub mod issue_and_verify {}

#[doc = include_str!("jwt_or_paseto.md")]
pub mod jwt_or_paseto {}

#[doc = include_str!("keys.md")]
pub mod keys {}

#[doc = include_str!("limits.md")]
pub mod limits {}

#[doc = include_str!("paseto.md")]
pub mod paseto {}

#[doc = include_str!("rotate_keys.md")]
pub mod rotate_keys {}

#[doc = include_str!("several_issuers.md")]
pub mod several_issuers {}

#[doc = include_str!("testing.md")]
pub mod testing {}
