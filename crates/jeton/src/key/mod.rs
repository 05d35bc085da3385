//! Keys with a fixed algorithm, use and id.
//!
//! - A [`MacKey`] signs and verifies (HS256, HS384, HS512).
//! - A [`SigningKey`] signs, and its [`VerifyingKey`] verifies.
//! - A [`DecryptionKey`] decrypts what was encrypted with its [`EncryptionKey`].
//! - A [`WrappingKey`] and a [`ContentKey`] are shared keys that encrypt and decrypt.
//!
//! These are different types, so a public key cannot be used as an HMAC secret. Encryption keys do not sign,
//! and signing keys do not encrypt.
//!
//! The algorithm is fixed when a key is generated or loaded. The header of a token is only compared with it.
//!
//! If the encoding of a key is not known, load it with [`AnyKey`]: JWK, JWK Set, PEM, DER or PASERK. Several keys for
//! verification are a [`KeySet`](crate::jwk::KeySet). The page [`guide::keys`](crate::guide::keys) has examples.
//!
//! # Share a key
//!
//! Secrets are wiped when dropped, and do not appear in `Debug` output. A [`SigningKey`], a [`MacKey`], a
//! [`DecryptionKey`] and the keys of a verifier are not `Clone`, so that no copy of a secret is made by accident. To share
//! one, put it into an `Arc`: a [`JwtIssuer`](crate::jwt::JwtIssuer) takes an `Arc<SigningKey>`, and `Arc<JwtVerifier>`
//! implements [`Verify`](crate::Verify). Public keys and key sets are `Clone`; the clones share the key material.
//!
//! # Keep a key and what uses it
//!
//! A [`JwtIssuer`](crate::jwt::JwtIssuer), a [`RemoteSigner`](crate::remote::RemoteSigner) and all verifiers own their
//! keys: keep one for the life of a service. [`JwsSigner`](crate::jws::JwsSigner),
//! `Encrypter`, `NestedIssuer`, `EncryptedIssuer` and `BoundIssuer` borrow the key and only hold options. Create one for
//! each call: it costs no cryptographic work.
//!
//! ```
//! use std::sync::Arc;
//! use jeton::jws::JwsSigner;
//! use jeton::jwt::JwtIssuer;
//! use jeton::key::{SigAlg, SigningKey};
//!
//! struct Service { key: Arc<SigningKey>, issuer: JwtIssuer }
//!
//! impl Service {
//!     fn sign(&self, payload: &[u8]) -> jeton::Result<String> {
//!         JwsSigner::new(&*self.key).typ("note").sign(payload)
//!     }
//! }
//!
//! let key = Arc::new(SigningKey::generate(SigAlg::ES256)?);
//! let issuer = JwtIssuer::builder(Arc::clone(&key)).issuer("https://id.example").build()?;
//! let service = Service { key, issuer };
//! assert!(service.sign(b"hello").is_ok());
//! # Ok::<(), jeton::Error>(())
//! ```

mod algorithm;
#[cfg(feature = "jwe")]
mod decryption;
#[cfg(feature = "jwe")]
mod decryption_keys;
#[cfg(feature = "pem")]
mod der_form;
#[cfg(any(feature = "pem", all(feature = "paseto", feature = "legacy")))]
mod encoding;
#[cfg(feature = "jwe")]
mod encryption;
#[cfg(feature = "jwe")]
pub(crate) mod encryption_algorithm;
#[cfg(feature = "jwe")]
mod encryption_ref;
mod headers;
mod id;
pub(crate) mod jwk;
#[cfg(feature = "_der")]
mod key_text;
mod keys;
#[cfg(feature = "hmac")]
mod mac;
mod mismatch;
mod not_json;
mod other_input;
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub(crate) mod password;
pub(crate) mod remote;
pub(crate) mod set;
#[cfg(feature = "jwe")]
mod shared_key;
#[cfg(feature = "jwe")]
mod shared_secret;
mod signing;
mod signing_ref;
mod verifying;
pub(crate) mod weak;

pub use crate::crypto::RsaSize;
pub use algorithm::{Alg, MacAlg, SigAlg, UnknownAlgorithm};
#[cfg(feature = "jwe")]
pub use decryption::DecryptionKey;
#[cfg(feature = "jwe")]
pub use decryption_keys::DecryptionKeys;
#[cfg(feature = "pem")]
pub use encoding::{AnyKey, KeyFormat, KeyHalf, Pkcs8Limits};
#[cfg(feature = "jwe")]
pub use encryption::EncryptionKey;
#[cfg(feature = "jwe")]
pub use encryption_algorithm::{ContentEnc, KeyManagementAlg, KeyWrapAlg};
#[cfg(feature = "jwe")]
pub use encryption_ref::EncryptionKeyRef;
pub use jwk::IgnoredMember;
pub use keys::{Keys, VerificationKey};
#[cfg(feature = "hmac")]
pub use mac::MacKey;
#[cfg(feature = "jwe")]
pub use shared_key::{ContentKey, WrappingKey};
pub use signing::SigningKey;
pub use signing_ref::SigningKeyRef;
pub use verifying::VerifyingKey;

pub(crate) use algorithm::Scheme;
#[cfg(feature = "jwe")]
pub(crate) use decryption::Private;
#[cfg(feature = "jwe")]
pub(crate) use decryption_keys::DecryptWith;
#[cfg(any(feature = "pem", all(feature = "paseto", feature = "legacy")))]
pub(crate) use encoding::rsa_parts_from_pkcs1;
#[cfg(feature = "jwe")]
pub(crate) use encryption::{Public, crv, group, public_bytes};
#[cfg(feature = "jwe")]
pub(crate) use encryption_algorithm::{Cipher, Management, Wrapping};
#[cfg(feature = "jwe")]
pub(crate) use encryption_ref::EncryptWith;
pub(crate) use headers::{Headers, KnownHeader};
pub(crate) use id::KeyId;
#[cfg(feature = "_secrets")]
pub(crate) use key_text::is_key_text;
#[cfg(all(feature = "jwe", feature = "legacy"))]
pub(crate) use password::{Password, invalid_rounds};
#[cfg(feature = "jwe")]
pub(crate) use shared_secret::{KeyOps, PermittedUse, algorithm as shared_algorithm};
