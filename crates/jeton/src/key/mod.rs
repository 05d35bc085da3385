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
//! Secrets are wiped when dropped, cannot be cloned, and do not appear in `Debug` output.

mod algorithm;
mod any_key;
mod content;
mod decryption;
mod decryption_keys;
mod der_form;
mod encrypted;
mod encryption;
pub(crate) mod encryption_algorithm;
mod encryption_ref;
mod id;
mod ignored_member;
mod key_text;
mod keys;
mod mac;
mod mismatch;
mod oid;
pub(crate) mod password;
mod pem;
mod pkix;
mod pkix_encryption;
mod private_key_info;
mod rsa_size;
mod shared_secret;
mod signing;
mod signing_ref;
mod verifying;
pub(crate) mod weak;
mod wrapping;

pub use algorithm::{Alg, MacAlg, SigAlg, UnknownAlgorithm};
pub use any_key::{AnyKey, KeyFormat, KeyHalf};
pub use content::ContentKey;
pub use decryption::DecryptionKey;
pub use decryption_keys::DecryptionKeys;
pub use encrypted::Pkcs8Limits;
pub use encryption::EncryptionKey;
pub use encryption_algorithm::{ContentEnc, KeyManagementAlg, KeyWrapAlg};
pub use encryption_ref::EncryptionKeyRef;
pub use ignored_member::IgnoredMember;
pub use keys::{Keys, VerificationKey};
pub use mac::MacKey;
pub use rsa_size::RsaSize;
pub use signing::SigningKey;
pub use signing_ref::SigningKeyRef;
pub use verifying::VerifyingKey;
pub use wrapping::WrappingKey;

pub(crate) use algorithm::Scheme;
pub(crate) use decryption::Private;
pub(crate) use decryption_keys::DecryptWith;
pub(crate) use encryption::{Public, crv, group, public_bytes};
pub(crate) use encryption_algorithm::{Cipher, Management, Wrapping};
pub(crate) use encryption_ref::EncryptWith;
pub(crate) use id::KeyId;
pub(crate) use key_text::is_key_text;
pub(crate) use mismatch::wrong_jwk_type;
pub(crate) use password::Password;
pub(crate) use pem::not_json;
#[cfg(test)]
pub(crate) use private_key_info::rsa_parts;
pub(crate) use private_key_info::{
    parts_from_pkcs1 as rsa_parts_from_pkcs1, pkcs1_in as rsa_pkcs1_in,
};
pub(crate) use shared_secret::{KeyOps, PermittedUse, algorithm as shared_algorithm};
