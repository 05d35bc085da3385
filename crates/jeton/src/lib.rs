//! Issue and verify security tokens, JWT and PASETO, behind one shape that cannot be held wrong.
//!
//! - A **key** knows its algorithm, its use and its id ([`key`]). A token's header is only ever
//!   compared with it. A secret, a private and a public key are different types.
//! - **Claims** are the registered names, and the caller's own type beside them ([`Claims`]). An
//!   expiry must be chosen.
//! - A **policy** is what a verifier demands ([`Policy`]): the issuer, the audience, an expiry and
//!   more; nothing is left out silently.
//! - **Verified** is the type that only a successful verification can make ([`Verified`]).
//!
//! ```
//! use std::time::Duration;
//! use jeton::{Claims, Policy, Verified, jwt};
//! use jeton::key::SigAlg;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Visit { page: String }
//!
//! let key = jwt::SigningKey::generate(SigAlg::ES256)?;
//! let token = key.issue(
//!     &Claims::new(Visit { page: "/".into() })
//!         .issuer("https://id.example")
//!         .audience("api")
//!         .expires_in(Duration::from_mins(15)),
//! )?;
//!
//! let verifier = jwt::Verifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
//! let visit: Verified<Visit> = verifier.verify(&token)?;
//! assert_eq!(visit.page, "/");
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! PASETO has the same two verbs: [`paseto::v4`]. Code that does not care which format it is, or where
//! the key lives, is written against [`Issue`] and [`Verify`].
//!
//! The [`guide`] takes one task at a time: issue and verify, rotate keys, encrypt, come from another
//! library.
//!
//! The library does no I/O, spawns nothing, and asks only a [`Clock`] for the time. Every number
//! that an attacker can choose has a name and a bound in [`limits`]. Whatever is questionable is in
//! [`danger`].

// What a token is about
mod claims;
mod issue;
mod policy;
mod verified;
mod verify;

// What is verified often
mod cache;

// How to use it
pub mod guide;

// Keys
pub mod jwk;
pub mod key;
pub mod paserk;
pub mod remote;

// Formats
pub mod jwe;
pub mod jws;
pub mod jwt;
pub mod paseto;

// What everything stands on
mod base64;
mod clock;
mod crypto;
pub mod danger;
pub mod error;
mod json;
pub mod limits;

/// How the service and the command line read the JSON of strangers. It may change with any version.
#[doc(hidden)]
pub mod strict {
    pub use crate::claims::{CustomClaims, CustomClaimsError};
    pub use crate::json::{JsonError, Member, read_members};
}

/// What the command line asks about a signature that a verifier rejects, to explain it. It may change with any
/// version.
#[doc(hidden)]
pub mod diagnose;

pub use cache::{Cached, Revocations};
pub use claims::Claims;
pub use clock::{Clock, FixedClock, SystemClock, Timestamp};
pub use error::{Error, Result};
pub use issue::{AnyClaims, Issue};
pub use limits::Limits;
pub use policy::Policy;
pub use verified::{Scratch, Untyped, Verified, VerifiedIn};
pub use verify::Verify;
