//! Options of a node.

use std::sync::Arc;
use std::time::Duration;

#[cfg(debug_assertions)]
use super::protection::Protection;
use super::protection::Protections;
use crate::limits;
use crate::record::newest_schema;
use crate::remote_keys::{KeyReader, RemoteKeys};
use crate::seal::KeyEncryptionKey;

/// Options of a node.
#[derive(Debug)]
pub struct Options {
    pub(super) keys: KeyReader,
    pub(super) freshness: Duration,
    pub(super) stale: StalePolicy,
    pub(super) issue_without_store: Duration,
    pub(super) token_bytes: usize,
    pub(super) compare_every: Option<Duration>,
    pub(super) rules_per_client: usize,
    pub(super) record: Option<RecordOptions>,
    pub(super) is_command: bool,
    pub(super) trusts_clock: bool,
    pub(super) protections: Protections,
}

/// How a node writes its record.
#[derive(Debug)]
pub(super) struct RecordOptions {
    pub(super) name: String,
    pub(super) every: Duration,
    pub(super) reads: u64,
}

/// What a node does when its view of the store is older than the freshness bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StalePolicy {
    /// Rejects requests to verify: a revocation may have been missed.
    Refuse,
    /// Verifies, counts these calls, and reports that it is not ready.
    Verify,
}

impl Options {
    /// Creates options with this key-encryption key, a freshness bound of 15 s and [`StalePolicy::Refuse`].
    pub fn new(key: KeyEncryptionKey) -> Options {
        Options {
            keys: KeyReader {
                keks: vec![key],
                remote: None,
            },
            freshness: Duration::from_secs(15),
            stale: StalePolicy::Refuse,
            issue_without_store: limits::ISSUE_WITHOUT_STORE,
            token_bytes: limits::TOKEN_BYTES,
            compare_every: None,
            rules_per_client: limits::RULES,
            record: None,
            is_command: false,
            trusts_clock: false,
            protections: Protections::default(),
        }
    }

    /// Sets the maximum size of a token, bytes. It applies to issuing, verifying, introspecting and
    /// revoking, so that every issued token can be revoked. Default [`limits::TOKEN_BYTES`], from
    /// [`limits::TOKEN_BYTES_MIN`] to [`limits::TOKEN_BYTES_MAX`].
    #[must_use]
    pub fn token_bytes(mut self, limit: usize) -> Options {
        self.token_bytes = limit.clamp(limits::TOKEN_BYTES_MIN, limits::TOKEN_BYTES_MAX);
        self
    }

    /// Sets the interval of comparisons of the view with the whole store. Each reads every record once, and a
    /// difference is repaired by loading everything again. Default: none.
    #[must_use]
    pub fn compare_every(mut self, interval: Duration) -> Options {
        self.compare_every = Some(interval);
        self
    }

    /// Sets how many revocation rules that one actor made may be in force. Default: [`limits::RULES`].
    #[must_use]
    pub fn rules_per_client(mut self, limit: usize) -> Options {
        self.rules_per_client = limit;
        self
    }

    /// Writes a record of this node to the store, at that interval: its name, version, clock and view. So the nodes
    /// of a store know each other, and compare their clocks and versions. Default: none.
    #[must_use]
    pub fn run_as(mut self, name: &str, every: Duration) -> Options {
        self.record = Some(RecordOptions {
            name: name.to_owned(),
            every,
            reads: newest_schema(),
        });
        self
    }

    /// Tells the other nodes that this one reads records up to that schema only. For tests of two versions.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_up_to(mut self, schema: u64) -> Options {
        if let Some(record) = &mut self.record {
            record.reads = schema;
        }
        self
    }

    /// Removes a protection. For tests, which must notice; a release has no such call.
    #[cfg(debug_assertions)]
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, protection: Protection) -> Options {
        self.protections.remove(protection);
        self
    }

    /// Sets that the node runs for one command of an operator, maybe on another machine than the servers. Then a key is
    /// not published by a clock that is behind the newest entry of the audit log.
    #[must_use]
    pub fn for_a_command(mut self) -> Options {
        self.is_command = true;
        self
    }

    /// Publishes keys by the clock of this node, whatever other clocks say. The operator has checked it.
    #[must_use]
    pub fn trust_clock(mut self) -> Options {
        self.trusts_clock = true;
        self
    }

    /// Adds an older key-encryption key, for private keys that are still encrypted under it.
    #[must_use]
    pub fn also_reads(mut self, older: KeyEncryptionKey) -> Options {
        self.keys.keks.push(older);
        self
    }

    /// Sets the keys that sign outside the store.
    #[must_use]
    pub fn remote_keys(mut self, keys: Arc<dyn RemoteKeys>) -> Options {
        self.keys.remote = Some(keys);
        self
    }

    /// Sets the freshness bound and the policy beyond it. Below
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST) a node on an idle store becomes stale
    /// between two reports.
    #[must_use]
    pub fn freshness(mut self, bound: Duration, stale: StalePolicy) -> Options {
        self.freshness = bound;
        self.stale = stale;
        self
    }

    /// Sets how long a node issues without contact to the store. The pre-publication period of an issuer is
    /// a further limit. Default [`limits::ISSUE_WITHOUT_STORE`], at most
    /// [`limits::ISSUE_WITHOUT_STORE_MAX`].
    #[must_use]
    pub fn issue_without_store(mut self, bound: Duration) -> Options {
        self.issue_without_store = bound.min(limits::ISSUE_WITHOUT_STORE_MAX);
        self
    }
}
