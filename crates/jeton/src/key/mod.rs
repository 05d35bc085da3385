//! Keys: each knows its algorithm, its use and its id.
//!
//! A [`MacKey`] signs and verifies (HS256, HS384, HS512); a [`SigningKey`] signs, and its
//! [`VerifyingKey`] verifies. They are different types, so a public key can never be taken for an
//! HMAC secret. The algorithm is fixed when the key is made or loaded; a token's header is only ever
//! compared with it.
//!
//! Secrets are wiped when dropped, cannot be cloned and print nothing.

mod algorithm;
mod id;
mod keys;
mod mac;
mod pkix;
mod signing;
mod signing_ref;
mod verifying;

pub use algorithm::{Alg, MacAlg, SigAlg, UnknownAlgorithm};
pub use keys::Keys;
pub use mac::MacKey;
pub use signing::SigningKey;
pub use signing_ref::SigningKeyRef;
pub use verifying::VerifyingKey;

pub(crate) use id::KeyId;
pub(crate) use keys::VerificationKey;
