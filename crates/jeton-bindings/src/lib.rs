//! Keys, key sets, issuers and verifiers for jeton's libraries in other languages. Settings are JSON text, or values
//! where that text would take longer than the call.
//!
//! The C interface (`jeton-ffi`) and the libraries for Node, Python and Java are built on this crate.
//!
//! Rust programs use `jeton` itself.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jeton::{RawClaims, Scratch, SystemClock, Verified};
//! use jeton_bindings::{Fault, Issuer, Key, ReadVerified, Verifier, VerifierKeys};
//!
//! struct Json;
//!
//! impl ReadVerified for Json {
//!     type Output = String;
//!
//!     fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> String {
//!         verified.json().into()
//!     }
//! }
//!
//! let key = Key::generate("ES256", "")?;
//! let settings = r#"{"issuer": "https://id.example", "audience": "api", "lifetime": 900}"#;
//! let issuer = Issuer::new(Some(&key), None, Arc::new(SystemClock), settings)?;
//! let mut token = String::with_capacity(issuer.length_bound(13));
//! issuer.issue_onto(r#"{"page": "/"}"#, &mut token)?;
//!
//! let public = key.public()?;
//! let keys = VerifierKeys { key: Some(&public), ..VerifierKeys::default() };
//! let settings = r#"{"issuer": "https://id.example", "audience": "api"}"#;
//! let verifier = Verifier::new(keys, Arc::new(SystemClock), settings)?;
//! let json = verifier.verify(&token, &mut Scratch::new(), Json)?;
//! assert!(json.contains(r#""page":"#));
//! # Ok::<(), Fault>(())
//! ```

mod ascii;
mod bytes;
mod clock;
mod fault;
mod format;
mod issuer;
mod key;
mod key_export;
mod key_import;
mod key_set;
mod paseto_bytes;
mod prepared;
mod remote_keys;
pub mod settings;
pub mod thread_memory;
mod unverified;
mod verifier;

pub use ascii::is_ascii;
pub use clock::SetClock;
pub use fault::Fault;
pub use issuer::Issuer;
pub use key::Key;
pub use key_import::KeySettings;
pub use key_set::KeySet;
pub use prepared::Prepared;
pub use remote_keys::RemoteKeys;
pub use unverified::unverified;
pub use verifier::{ReadVerified, Verifier, VerifierKeys};
