//! PASETO: tokens whose version fixes all algorithms (<https://github.com/paseto-standard/paseto-spec>).
//!
//! A PASETO has no choice of algorithm. It starts with its version and purpose, `v4.local.` or `v4.public.`,
//! and a key accepts only its own version and purpose. Both are part of the key type, so a mistake does not
//! compile:
//!
//! ```compile_fail
//! use jeton::paseto::{v3, v4};
//!
//! fn issue_with(_: &v4::LocalKey) {}
//! issue_with(&v3::LocalKey::generate().unwrap()); // expected `LocalKey<V4>`, found `LocalKey<V3>`
//! ```
//!
//! Use [`v4`]. Use [`v3`] if you must use NIST algorithms. Versions 1 and 2 are deprecated; they are in
//! [`danger`](crate::danger), for legacy systems.
//!
//! # Local and public
//!
//! **`local`** encrypts with a shared key. Choose it if the issuer also verifies the tokens, or if issuer and
//! verifier trust each other fully: anyone who can read such a token can also issue one. The bearer cannot
//! read the claims.
//!
//! **`public`** signs with a secret key and verifies with a public key. Choose it if other parties verify the
//! tokens: they can verify them, but not issue any. Anyone can read the claims.
//!
//! # Footer and implicit assertion
//!
//! Both are authenticated with the token, but not encrypted. Changing one invalidates the token.
//!
//! A **footer** is part of the token, for example a key id. It is only returned for a verified token, so no
//! decision can depend on a forged footer.
//!
//! An **implicit assertion** is not part of the token. Both sides must know it, for example the tenant of a
//! request or the user of a session. A token that was issued with another one is rejected. It prevents the use
//! of a valid token in the wrong context, and adds no bytes.
//!
//! ```
//! use std::time::Duration;
//! use jeton::paseto::{TokenContext, v4, PasetoVerifier};
//! use jeton::{Claims, Policy, Verified};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Visit { page: String }
//!
//! let key = v4::LocalKey::generate()?;
//! let claims = Claims::new(Visit { page: "/".into() })
//!     .issuer("https://id.example")
//!     .audience("api")
//!     .expires_in(Duration::from_secs(15 * 60));
//! let token = key.issue_with(&claims, TokenContext::new().implicit_assertion("tenant-7"))?;
//!
//! let policy = Policy::new("https://id.example", "api");
//! let verifier = PasetoVerifier::new(&key, policy).implicit_assertion("tenant-7");
//! let visit: Verified<Visit> = verifier.verify(&token)?;
//! assert_eq!(visit.claims().page, "/");
//! # Ok::<_, jeton::Error>(())
//! ```

mod bound;
mod context;
mod current_versions;
mod key_set;
mod keys;
mod local;
mod open;
pub(crate) mod paserk;
mod public;
mod remote;
pub(crate) mod unverified;
mod verifier;
mod version;
mod versions;

// The versions and their algorithms
pub(crate) mod aes_ctr_hmac;
pub(crate) mod ed25519;
pub(crate) mod suite;
#[cfg(feature = "legacy")]
pub(crate) mod v1;
#[cfg(feature = "legacy")]
pub(crate) mod v2;
pub mod v3;
pub mod v4;

// Shared by all versions
mod frame;
mod issue;
pub(crate) mod pae;
mod token;

pub use bound::{BoundIssuer, IssueBound};
pub use context::TokenContext;
pub use key_set::{PasetoKey, PasetoKeySet};
pub use keys::PasetoKeys;
pub use local::LocalKey;
pub use open::Message;
pub use public::{PublicKey, SecretKey};
pub use remote::{PasetoRemoteKey, PasetoRemoteSigner, RemotePublicKey};
pub use verifier::PasetoVerifier;
pub use version::Version;
