//! JWE (RFC 7516): encrypts bytes so that only the recipients can read them.
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
//! Anyone can encrypt to a public key, so decryption does not prove who wrote a token. To authenticate the
//! sender, sign first and then encrypt: [`jwt::NestedIssuer`](crate::jwt::NestedIssuer).

mod content;
mod decrypter;
mod encrypter;
mod header;
pub(crate) mod insecure;
mod recipient;
mod serialized;
mod unwrap;

pub use decrypter::{Decrypted, Decrypter};
pub use encrypter::Encrypter;
