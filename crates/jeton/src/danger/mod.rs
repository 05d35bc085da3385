//! Insecure and legacy options, in one module, so that one search finds every use.
//!
//! | need | item |
//! |---|---|
//! | weak HMAC secrets or RSA keys | [`weak_mac_key`], [`weak_rsa_key_from_pem`], [`weak_key_set`] |
//! | the contents of an unverified token | [`peek`] |
//! | `alg` or `enc` in an unprotected header | [`allow_unprotected_alg`], [`allow_unprotected_enc`] |
//! | a header as text | [`RawHeaderSigner`], [`encrypt_under`] |
//! | compressed JWEs | [`allow_zip`], [`compress`] |
//! | RSA1_5, passwords in a JWE | [`RSA1_5`], [`Password`] |
//! | encrypted JWTs under a wrapping key | [`IssuerWrappingKey`] |
//! | PASETO version 1 and 2 | [`paseto_v1`], [`paseto_v2`] |
//!
//! Each option is implemented beside its format. This module only re-exports it.

#[cfg(all(feature = "paseto", feature = "legacy"))]
pub mod paseto_v1;
#[cfg(all(feature = "paseto", feature = "legacy"))]
pub mod paseto_v2;

#[cfg(feature = "jwe")]
pub use crate::jwe::insecure::{allow_unprotected_enc, encrypt_under};
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub use crate::jwe::insecure::{allow_zip, compress};
pub use crate::jws::insecure::{Unverified, allow_unprotected_alg, peek};
pub use crate::jws::raw_header::RawHeaderSigner;
#[cfg(feature = "jwe")]
pub use crate::jwt::issuer_wrapping_key::IssuerWrappingKey;
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub use crate::key::encryption_algorithm::{LegacyOptIn, RSA1_5};
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub use crate::key::password::{Password, Pbes2Alg};
pub use crate::key::set::weak_key_set;
pub use crate::key::weak::weak_rsa_key_from_jwk;
#[cfg(feature = "hmac")]
pub use crate::key::weak::{weak_mac_key, weak_mac_key_from_jwk};
#[cfg(feature = "pem")]
pub use crate::key::weak::{weak_rsa_key_from_der, weak_rsa_key_from_pem};
