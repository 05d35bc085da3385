//! Keys as PEM and DER, and keys whose encoding is not known.

#[cfg(feature = "pem")]
mod any_key;
#[cfg(feature = "pem")]
mod certificate;
#[cfg(feature = "pem")]
mod encrypted;
#[cfg(feature = "pem")]
mod oid;
#[cfg(feature = "pem")]
mod pem;
#[cfg(feature = "pem")]
mod pkix;
#[cfg(all(feature = "jwe", feature = "pem"))]
mod pkix_encryption;
#[cfg(feature = "pem")]
mod private_key_info;
mod rsa_private_key;

#[cfg(feature = "pem")]
pub use any_key::{AnyKey, KeyFormat, KeyHalf};
#[cfg(feature = "pem")]
pub use encrypted::Pkcs8Limits;

pub(crate) use rsa_private_key::parts_from_pkcs1 as rsa_parts_from_pkcs1;
