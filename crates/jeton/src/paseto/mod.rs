//! PASETO: tokens whose version fixes every algorithm
//! (<https://github.com/paseto-standard/paseto-spec>).
//!
//! A PASETO has no algorithm to choose and none to confuse: `v4.local.` or `v4.public.` stands
//! before it, and a key of one version and purpose takes nothing else. Version and purpose are in
//! the key's type, so that a mistake does not compile:
//!
//! ```compile_fail
//! use jeton::paseto::{v3, v4};
//!
//! fn issue_with(_: &v4::LocalKey) {}
//! issue_with(&v3::LocalKey::generate().unwrap()); // expected `LocalKey<V4>`, found `LocalKey<V3>`
//! ```
//!
//! [`v4`] is the version to choose, [`v3`] the one for who is bound to NIST's algorithms. Versions 1
//! and 2 were superseded; they are in [`danger`](crate::danger), to talk to what is old.
//!
//! # Local or public
//!
//! **`local`** encrypts with a key that both sides share. Choose it when the one who issues is also
//! the one who verifies, or the two trust each other fully: whoever can read such a token can also
//! make one. The claims are hidden from the bearer and from everyone between.
//!
//! **`public`** signs with a secret key and verifies with a public one. Choose it when others
//! verify: they can read and check, and cannot issue. The claims are in plain sight.
//!
//! # Footer and implicit assertion
//!
//! Both are authenticated with the token, and neither is encrypted. Changing one breaks the token.
//!
//! A **footer** travels in the token: a key id, say. It can only be had from a token that has been
//! verified, so nothing can be decided on one that somebody made up.
//!
//! An **implicit assertion** does not travel. Both sides know it already (the tenant of a request,
//! the id of the user whose session it is), and a token that was issued under another one is
//! refused. It keeps a good token from being used in the wrong place, and costs no byte.
//!
//! ```
//! use std::time::Duration;
//! use jeton::paseto::{Binding, v4};
//! use jeton::{Claims, Policy, Verified};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Visit { page: String }
//!
//! let key = v4::LocalKey::generate()?;
//! let claims = Claims::new(Visit { page: "/".into() })
//!     .issuer("https://id.example")
//!     .audience("api")
//!     .expires_in(Duration::from_mins(15));
//! let token = key.issue_with(&claims, Binding::new().implicit_assertion("tenant-7"))?;
//!
//! let policy = Policy::new("https://id.example", "api");
//! let verifier = v4::Verifier::new(&key, policy).implicit_assertion("tenant-7");
//! let visit: Verified<Visit> = verifier.verify(&token)?;
//! assert_eq!(visit.page, "/");
//! # Ok::<_, jeton::Error>(())
//! ```

mod binding;
mod bound;
mod key_set;
mod local;
mod open;
mod public;
mod remote;
mod verifier;
mod version;

// The versions, and what they are made of
pub(crate) mod aes_ctr_hmac;
pub(crate) mod ed25519;
pub(crate) mod suite;
pub mod v3;
pub mod v4;

// The same for every version
mod frame;
mod issue;
pub(crate) mod pae;
mod token;

pub use binding::Binding;
pub use bound::{BoundIssuer, IssueBound};
pub use key_set::KeySet;
pub use local::LocalKey;
pub use open::{Keys, Opened};
pub use public::{PublicKey, SecretKey};
pub use remote::{RemoteKey, RemotePublicKey, RemoteSigner};
pub use verifier::Verifier;
pub use version::Version;

pub(crate) use token::attach;
