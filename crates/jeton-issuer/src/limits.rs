//! Limits of an issuer. Times are in seconds, unless they are durations.

use std::time::Duration;

/// Maximum keys of an issuer, in all states.
pub const KEYS_PER_ISSUER: usize = 20;
/// Ids of remote keys that an issuer remembers after their last token has expired.
pub const FORMER_REMOTE_KEYS: usize = 200;
/// Maximum profiles of an issuer.
pub const PROFILES_PER_ISSUER: usize = 64;
/// Maximum audiences of a profile.
pub const AUDIENCES_PER_PROFILE: usize = 64;
/// Maximum issuers of a node.
pub const ISSUERS: usize = 4096;
/// Default pre-publication period: how long a key is published before it signs.
pub const PUBLISH_BEFORE_USE_SECONDS: i64 = 3600;
/// Minimum pre-publication period.
pub const PUBLISH_BEFORE_USE_SECONDS_MIN: i64 = 600;
/// Default cache lifetime of the key set.
pub const MAX_AGE_SECONDS: i64 = 300;
/// Default signing period of a key: 30 days.
pub const ROTATE_EVERY_SECONDS: i64 = 30 * 24 * 3600;
/// Maximum token lifetime: a year.
pub const LIFETIME_SECONDS: i64 = 366 * 24 * 3600;
/// Maximum clock difference of two nodes. The same value applies to verification, rotation, revocation and
/// cleanup.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// Leeway of verification: a token is accepted this long after its expiry and before its issue time, so
/// that each node accepts the tokens of the others.
pub const LEEWAY_SECONDS: i64 = CLOCK_SKEW_SECONDS;
/// Maximum time from a change on one node to the key set of another. A node without contact to the store
/// for longer serves key sets that must not be cached.
pub const PROPAGATION_SECONDS: i64 = 60;
/// How long a clock must run without a jump before the node publishes or deletes keys, or deletes
/// revocations, by it. A step of up to this many seconds does not count as a jump.
pub const STEADY_SECONDS: i64 = 600;
/// How long a node remembers that another clock differs.
pub const CLOCKS_APART_SECONDS: u64 = 24 * 3600;
/// How long a key may stay in the key set after its last token has expired: leeway, clock differences, and
/// the time without a jump before the key is deleted.
pub const GONE_AFTER_SECONDS: i64 = LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS + 2 * STEADY_SECONDS;
/// Default time for which a node issues without contact to the store, see
/// [`Options`](crate::Options::issue_without_store). It allows to restart or move etcd. It also bounds how
/// long such a node issues tokens for a subject revoked elsewhere, or signs with a key retired elsewhere.
pub const ISSUE_WITHOUT_STORE: Duration = Duration::from_secs(900);
/// Maximum of that time. Revocation rules are kept for as much longer.
pub const ISSUE_WITHOUT_STORE_MAX: Duration = Duration::from_secs(3600);
/// How long a revocation rule is kept beyond the longest token lifetime. A node that does not know the rule
/// issues for a while, its clock may be ahead, and the clock of the verifying node may be behind.
pub const RULE_AFTER_SECONDS: i64 =
    ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed() + LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS;
/// How far the expiry that a caller claims for a token id may be from the `exp` of the token. A token is found by its id
/// within this time, and its revocation is kept for as much longer.
pub const CLAIMED_EXPIRY_SECONDS: i64 = 3600;
/// How often a node looks for due work: keys to publish or delete, ended revocations to delete.
pub const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum revocations of one transaction. With its audit entry, the rule counter and a condition, it stays
/// below 128 operations. The transaction is decided from one read of at most as many keys.
pub const REVOCATIONS_PER_TXN: usize = 100;
/// How long the store may send nothing: two heartbeats. Then it is said not to answer.
pub const STORE_SILENT: Duration =
    Duration::from_secs(2 * jeton_store::limits::PROGRESS_EVERY.as_secs());
/// Maximum waiting revocations.
pub const WAITING_REVOCATIONS: usize = 16_384;
/// Maximum rejected tokens that wait to be revoked until the node knows all keys.
pub const WAITING_TOKENS: usize = 1024;
/// Maximum revocation rules (subjects, clients, keys) of a node. Half of them is divided between the issuers: an
/// issuer that is new when the others use everything still has its part.
pub const RULES: usize = 100_000;
/// Default maximum of revocation rules in force that one client made, of all issuers, on a server.
pub const RULES_PER_CLIENT: usize = 25_000;
/// Memory for recent revocations that feeds can still read, bytes. A slower reader must begin a new feed.
pub const FEED_HISTORY_BYTES: usize = 16 * 1024 * 1024;
/// Target size of one update of a feed, bytes in memory. One transaction may exceed it.
pub const FEED_MESSAGE_BYTES: usize = 32 * 1024;
/// A feed reports progress when the node's view is this much newer than its last update.
pub const FEED_PROGRESS: Duration = Duration::from_secs(1);
/// Maximum bytes of a name: of a profile, an actor, a token, a subject or a client. Tokens with longer
/// names could not be revoked, so they are neither issued nor verified.
pub const NAME_BYTES: usize = 1024;
/// Default maximum size of a token, bytes, see [`Options`](crate::Options).
pub const TOKEN_BYTES: usize = 256 * 1024;
/// Upper bound of that setting.
pub const TOKEN_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Lower bound of that setting: registered claims with short names fit.
pub const TOKEN_BYTES_MIN: usize = 1024;
/// Maximum nesting of claims.
pub const CLAIMS_DEPTH: u32 = 32;
/// Maximum bytes of the names that one transaction revokes: its audit entry lists them.
pub const NAMES_PER_TXN_BYTES: usize = 64 * 1024;
/// Maximum nesting of settings.
pub const SETTINGS_DEPTH: u32 = 32;
/// Maximum bytes of a settings value in the logs. Longer ones are cut.
pub const SHOWN_VALUE_BYTES: usize = 256;
/// Maximum changed fields in one audit entry.
pub const DIFFERENCES_PER_ENTRY: usize = 64;
/// Maximum attempts of a decision after conflicts with other nodes.
pub const ATTEMPTS: usize = 64;
/// Longest pause before the second attempt. It doubles with each conflict, up to [`PAUSE_LAST`]. A pause has a
/// random part, so that nodes that conflicted do not meet again.
pub const PAUSE_FIRST: Duration = Duration::from_millis(2);
/// Upper bound of that pause.
pub const PAUSE_LAST: Duration = Duration::from_millis(250);
/// Entries of a segment of the audit log. A full segment of a chain can be exported and dropped.
pub const AUDIT_SEGMENT_ENTRIES: u64 = 4096;
/// A node writes a checkpoint of the audit log if entries of chains are not joined after this time.
pub const AUDIT_CHECKPOINT_EVERY: Duration = Duration::from_secs(60);
/// Chains that one checkpoint joins.
pub const AUDIT_CHAINS_PER_CHECKPOINT: usize = 100;
/// Chains that one checkpoint seals.
pub const AUDIT_SEALS_PER_CHECKPOINT: usize = 40;
/// A chain without entries for this long is sealed: its node has gone. If not, the node begins a new chain.
pub const AUDIT_IDLE_SECONDS: i64 = 24 * 3600;
/// How long the record of a node counts after it was heard.
pub const NODE_LEASE: Duration = Duration::from_secs(45);
/// How often a node of a shared store writes its record.
pub const NODE_RECORD_EVERY: Duration = Duration::from_secs(10);
/// After this time without a new one, another node deletes the record of a node.
pub const NODE_FORGOTTEN: Duration = Duration::from_secs(3600);
/// Open chains of the audit log. Beyond, those that have not grown for the longest time are sealed.
pub const AUDIT_OPEN_CHAINS: usize = 1000;

// A verifier may fetch a key set just before a key is added, from a node that does not know the key. It
// must fetch again before a node whose clock is ahead signs with the key. Settings ensure `max_age <=
// publish_before_use / 2`, so the other half must cover clock difference and propagation.
const _: () =
    assert!(PUBLISH_BEFORE_USE_SECONDS_MIN / 2 >= CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS);
