//! The audit log: operations, in chains in which each entry contains the hash of the previous one.
//!
//! | chain | entries |
//! |---|---|
//! | the main chain | what depends on order: issuers, settings, keys, rules, checkpoints |
//! | one of each node | its revocations of single tokens, which depend on nothing |
//!
//! Only its node appends to the chain of a node, so nodes do not conflict. A checkpoint is an entry of the main
//! chain with the heads of other chains: it joins them. Every number of entries a chain is cut into segments.
//! A full segment, or the rest of a sealed chain, is exported to a file and then dropped.

mod entry;
mod export;
mod folder;
mod log;
#[cfg(test)]
mod model_test;
mod newest;
mod node_chain;
mod read;
mod verify;

pub use entry::{AuditEntry, AuditHead};
pub use export::{AuditPart, AuditPositions, audit_bases, drop_audit, export_audit};
pub use folder::AuditFolder;
pub use read::{AuditFilter, read_audit, read_audit_with};
pub use verify::{AuditCheck, audit_last_hash, check_audit, verify_audit};

pub(crate) use entry::{Act, Chain, written_at};
pub(crate) use log::{LogState, checkpoint, newest_time, store_name};
pub(crate) use newest::newest_audit;
pub(crate) use node_chain::OwnChain;
