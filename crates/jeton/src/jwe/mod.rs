//! JWE (RFC 7516): bytes that only the recipients can read.
//!
//! ```
//! use jeton::jwe::{Decrypter, Encrypter};
//! use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg};
//!
//! let key = DecryptionKey::generate(KeyManagementAlg::EcdhEsA256Kw)?;
//! let token = Encrypter::new(&key.encryption_key(), ContentEnc::A256Gcm).encrypt(b"hello")?;
//! let decrypted = Decrypter::new(&key).decrypt(&token)?;
//! assert_eq!(decrypted.plaintext(), b"hello");
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! A token that was encrypted to a public key may come from anyone: decrypting says nothing about
//! who wrote it. Sign first, then encrypt: [`jwt::NestedIssuer`](crate::jwt::NestedIssuer).

mod content;
mod decrypter;
mod encrypter;
mod header;
mod recipient;
mod serialized;
mod unwrap;

pub use decrypter::{Decrypted, Decrypter};
pub use encrypter::Encrypter;

pub use crate::key::{ContentEnc, KeyManagementAlg, KeyWrapAlg};
