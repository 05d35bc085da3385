//! What a running node says about itself in the store: who it is, its clock, its version, its view.
//!
//! A record is written again at intervals, and counts for a lease after it was last heard. So a node that has ended
//! counts no longer, whatever the clocks say. An older version ignores these records.

use serde::{Deserialize, Serialize};

/// The record of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    /// Its name, for operators.
    pub(crate) name: String,
    /// Its version of jeton.
    pub(crate) version: String,
    /// The newest schema of a record that it reads.
    pub(crate) reads: u64,
    /// When it was written, by the clock of the node.
    pub(crate) at: i64,
    /// When the node started.
    pub(crate) started: i64,
    /// The revision that the node had applied.
    pub(crate) revision: u64,
    /// How long the record counts, seconds.
    pub(crate) lease_seconds: u64,
}
