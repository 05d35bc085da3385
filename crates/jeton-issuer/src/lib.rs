//! Keyrings, rotation, revocations and profiles of the token service.
//!
//! [`keyring::decide`] contains the decisions and does no I/O. It takes a state, an event and a time, and
//! returns which keys must be created and what must be written. [`Node`] runs these decisions on a
//! [`Store`](jeton_store::Store), follows the store, and answers from an immutable snapshot. Issuing and
//! verifying take no lock and do not access the store.
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

// Settings and types
mod custom_claims;
mod difference;
mod key_kind;
mod plain_value;
mod recipient;
mod secret_key;
mod settings;
mod token_id;
mod token_type;

// Decisions and records
mod audit;
pub mod keyring;
mod node_record;
mod record;
mod remote_keys;
mod seal;

// Request path
mod revocation;
mod snapshot;
mod verifiers;

// Runtime on a store
mod backup;
mod check;
mod data_folder;
mod decision;
mod migrate;
mod node;

// Shared building blocks
mod conflict;
mod error;
mod hex;
pub mod limits;
#[cfg(test)]
mod model_checker;

pub use audit::{
    AuditCheck, AuditEntry, AuditFilter, AuditFolder, AuditHead, AuditPart, AuditPositions,
    audit_bases, audit_last_hash, check_audit, drop_audit, export_audit, read_audit,
    read_audit_with, verify_audit,
};
pub use backup::{BackupSummary, back_up, restore};
pub use check::{RecordCounts, check_records, count_records, sealed_under};
pub use custom_claims::{CustomClaims, STATED_BY_INTROSPECTION};
pub use data_folder::{DataFolder, KEY_FILE, KEY_VARIABLE, KeySource, Missing};
pub use difference::Difference;
pub use error::{Error, MigrateError, Result, Rule};
pub use key_kind::KeyKind;
pub use migrate::{
    Found, IfUnfinished, MigrationEntry, MigrationSource, MigrationStep, MigrationTarget,
};
#[doc(hidden)]
pub use node::Protection;
pub use node::{
    Cause, Configured, Issued, IssuedRef, Node, Options, ProfileBatch, ProfileIssuer, Ready,
    Request, ResumeToken, RevocationFeed, RevocationUpdate, RevokeAnswer, RunningNode, StalePolicy,
    Status, StoreCheck,
};
pub use recipient::EncryptTo;
pub use record::NEWEST_SCHEMA as RECORD_SCHEMA;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use record::play_next_version;
pub use remote_keys::{NamedKey, RemoteKeys};
pub use revocation::{RevocationIndex, RevocationRule, Revoke, Stamp, Subject, token_hash};
pub use seal::KeyEncryptionKey;
pub use settings::{IssuerSettings, Profile};
pub use snapshot::KeySetDocument;
pub use token_type::TokenType;
