//! PASERK: text encodings of PASETO keys, and key ids (<https://github.com/paseto-standard/paserk>).
//!
//! A PASERK states its version and purpose: `k4.local.` is a version 4 key for encrypted tokens. So a key
//! cannot be loaded for another version or purpose. The keys of [`paseto`](crate::paseto) read and write
//! PASERKs (`from_paserk`, `to_paserk`). Use this module to process PASERKs without using the key: to find
//! the kind of a text, to encode raw bytes, or to compute an id.
//!
//! | kind | contents | id |
//! |---|---|---|
//! | `k4.local` | 32 secret bytes | `k4.lid` |
//! | `k4.secret` | 64 secret bytes: the seed and the public key | `k4.sid` |
//! | `k4.public` | the 32 bytes of the public key | `k4.pid` |
//! | `k3.local` | 32 secret bytes | `k3.lid` |
//! | `k3.secret` | 48 secret bytes: the scalar | `k3.sid` |
//! | `k3.public` | 49 bytes: the compressed point | `k3.pid` |
//!
//! `k1` and `k2` have the same forms, for the versions in [`danger`](crate::danger). `k1.secret` is PKCS#1 in
//! DER, and `k1.public` a SubjectPublicKeyInfo.
//!
//! An id is a hash of the PASERK. It is not secret, even for a secret key, and may appear in a footer.
//!
//! # Encrypted keys
//!
//! An encrypted key may be stored where others can read it:
//!
//! | kind | encrypted with | methods |
//! |---|---|---|
//! | `local-wrap`, `secret-wrap` | a [`PaserkWrappingKey`] | `to_wrapped_paserk`, `from_wrapped_paserk` |
//! | `local-pw`, `secret-pw` | a password, with a [`PasswordCost`] | `to_password_paserk`, `from_password_paserk` |
//! | `seal` (not `k1`) | a public key | `to_sealed_paserk`, `from_sealed_paserk` |
//!
//! A key that is encrypted with a password states the cost of decrypting it. Nothing in the text is
//! authenticated before that work is done, so [`PasswordLimits`] limits the cost.
//!
//! PASERK allows ids, wrapped keys and sealed keys in a footer. Unencrypted keys and keys encrypted with a
//! password must not be in a footer. Nor must public keys, because the creator of the token chose them.
//!
//! ```
//! use jeton::paserk::{Kind, Paserk};
//!
//! let text = "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8";
//! let paserk = Paserk::parse(text)?;
//! assert_eq!(paserk.kind(), Kind::K4_PUBLIC);
//! assert_eq!(*paserk.to_text(), text);
//! assert_eq!(paserk.id().to_string(), "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs");
//! # Ok::<_, jeton::Error>(())
//! ```

mod encrypted;
mod key_cipher;
mod password;
mod password_limits;
mod seal;
mod wrapping;

pub use crate::paserk_kind::{Form, Kind, PaserkVersion};
pub use crate::paseto::paserk::{Id, Paserk};
pub use password::PasswordCost;
pub use password_limits::PasswordLimits;
pub use wrapping::PaserkWrappingKey;
