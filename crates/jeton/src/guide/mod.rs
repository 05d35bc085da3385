//! How to use jeton, one task a page. Every Rust example runs as a test.
//!
//! | you want to | page |
//! |---|---|
//! | choose between JWT and PASETO | [`jwt_or_paseto`] |
//! | issue tokens and verify them | [`issue_and_verify`] |
//! | change keys without refusing anybody | [`rotate_keys`] |
//! | hide what a token says | [`encrypt`] |
//! | come from Rust's jsonwebtoken | [`from_jsonwebtoken`] |
//! | come from josekit | [`from_josekit`] |
//! | come from golang-jwt | [`from_golang_jwt`] |
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
