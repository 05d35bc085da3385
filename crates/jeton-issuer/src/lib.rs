//! Keyrings, rotation, revocations and issuing profiles: what the token service decides.
//!
//! What decides is without I/O: [`keyring::decide`] takes a state, an event and a time, and says
//! which keys it needs made and what is to be written. [`Node`] is the thin shell that runs those
//! decisions on a [`Store`](jeton_store::Store), follows it, and answers from an immutable snapshot:
//! issuing and verifying take no lock and ask no store.
//!
//! ```
//! use std::sync::Arc;
//! use jeton::SystemClock;
//! use jeton_issuer::{IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke};
//! use jeton_store::{MemoryStore, block_on};
//!
//! let options = Options::new(KeyEncryptionKey::generate()?);
//! let node = Node::start(Arc::new(MemoryStore::new()), options, Arc::new(SystemClock))?;
//! node.create_issuer("setup", IssuerSettings::from_json(r#"{
//!     "iss": "https://id.example",
//!     "profiles": [{"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]}]
//! }"#)?)?;
//!
//! let issued = node.issue("https://id.example", &Request::new("access").subject("user-7"))?;
//! assert_eq!(node.verify("https://id.example", "api", &issued.token)?.subject(), Some("user-7"));
//!
//! block_on(node.revoke("me", "https://id.example", Revoke::token(&issued.token_id, issued.expires_at)))?;
//! assert!(node.verify("https://id.example", "api", &issued.token).is_err());
//! # Ok::<(), jeton_issuer::Error>(())
//! ```

// What an issuer is
mod custom_claims;
mod difference;
mod key_kind;
mod plain_value;
mod recipient;
mod secret_key;
mod settings;
mod token_id;

// What decides
mod audit;
pub mod keyring;
mod record;
mod seal;

// What answers
mod revocation;
mod snapshot;
mod verifiers;

// What runs it on a store
mod backup;
mod check;
mod data_folder;
mod decision;
mod node;
mod scribe;

// What everything stands on
mod error;
#[cfg(test)]
mod exhaustive;
pub mod limits;

pub use audit::{AuditEntry, audit_last_hash, verify_audit};
pub use backup::{BackedUp, back_up, restore};
pub use check::check_records;
pub use custom_claims::{CustomClaims, STATED_BY_INTROSPECTION};
pub use data_folder::{DataFolder, KEY_FILE, KEY_VARIABLE, KeySource, Missing};
pub use difference::Difference;
pub use error::{Error, Result, Rule};
pub use key_kind::KeyKind;
pub use node::{
    Configured, Desk, DeskSeries, Expectation, Issued, Lent, Node, Options, Request,
    RevocationFeed, RevocationNews, RevokeAnswer, Stale, Status,
};
pub use recipient::EncryptTo;
pub use record::SCHEMA as RECORD_SCHEMA;
pub use revocation::{RevocationIndex, RevocationRule, Revoke, Stamp, Subject, token_hash};
pub use seal::KeyEncryptionKey;
pub use settings::{IssuerSettings, Profile};
pub use snapshot::KeySetDocument;
