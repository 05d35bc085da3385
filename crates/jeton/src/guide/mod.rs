//! The guide: one page per task. All Rust examples run as tests.
//!
//! | task | page |
//! |---|---|
//! | choose between JWT and PASETO | [`jwt_or_paseto`] |
//! | issue and verify tokens | [`issue_and_verify`] |
//! | rotate keys without rejecting valid tokens | [`rotate_keys`] |
//! | encrypt tokens | [`encrypt`] |
//! | migrate from jsonwebtoken (Rust) | [`from_jsonwebtoken`] |
//! | migrate from josekit (Rust) | [`from_josekit`] |
//! | migrate from golang-jwt (Go) | [`from_golang_jwt`] |
//! | sign with a key in a KMS or an HSM | [`remote`](crate::remote) |
//! | verify the same token many times | [`Cached`](crate::Cached) |

#[doc = include_str!("issue_and_verify.md")]
pub mod issue_and_verify {}

#[doc = include_str!("rotate_keys.md")]
pub mod rotate_keys {}

#[doc = include_str!("encrypt.md")]
pub mod encrypt {}

#[doc = include_str!("from_jsonwebtoken.md")]
pub mod from_jsonwebtoken {}

#[doc = include_str!("from_josekit.md")]
pub mod from_josekit {}

#[doc = include_str!("from_golang_jwt.md")]
pub mod from_golang_jwt {}

#[doc = include_str!("jwt_or_paseto.md")]
pub mod jwt_or_paseto {}
