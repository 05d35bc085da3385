//! Every bound of a store, by name. Engines may be narrower nowhere and wider nowhere: what one takes,
//! all take.

use std::time::Duration;

/// Operations and conditions of a transaction, together. etcd's `--max-txn-ops` is 128 unless raised.
pub const TXN_OPERATIONS: usize = 128;

/// Keys and values of a transaction, together. etcd refuses requests above 1.5 MiB.
pub const TXN_BYTES: usize = 1024 * 1024;

/// A value. The largest thing stored is a private key with its public half: under 16 KiB.
pub const VALUE_BYTES: usize = 256 * 1024;

/// A key, as it is written. An issuer's URL and a key id fit, each escaped.
pub const KEY_BYTES: usize = 4096;

/// Entries in a page of a scan.
pub const PAGE_ENTRIES: usize = 1024;

/// Keys that one [`read`](crate::Store::read) asks for.
pub const READ_KEYS: usize = 128;

/// Commits that can be followed again. A watch that asks for older ones gets
/// [`Error::Compacted`](crate::Error::Compacted).
pub const HISTORY_COMMITS: u64 = 65_536;

/// What changes while a prefix is [loaded](crate::load) and is kept until the last page has been read, bytes:
/// 128 MiB, which hold a minute of half a million revocations that is deleted in an etcd. A key that changes
/// again and again counts once.
pub const LOADING_BYTES: usize = 128 * 1024 * 1024;

/// Transactions that share one flush of the embedded engine.
pub const GROUP_TXNS: usize = 4096;

/// Transactions that wait for an engine. One more is
/// [`Error::Overloaded`](crate::Error::Overloaded).
pub const WAITING_TXNS: usize = 16_384;

/// A watch hears at least this often where its store stands.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// The least bound on the age of a view that an idle store keeps: [`PROGRESS_EVERY`], and a second for a
/// report to come.
pub const FRESHNESS_LEAST: Duration = Duration::from_secs(PROGRESS_EVERY.as_secs() + 1);

/// After a write that failed the embedded engine looks for the first time, and never sooner, after this
/// long whether it can write again.
pub const WRITABLE_AGAIN_FIRST: Duration = Duration::from_secs(1);

/// Each time twice as long as before, and at most this long.
pub const WRITABLE_AGAIN_LAST: Duration = Duration::from_secs(8);

/// Room that a full disk must have before the embedded engine writes again, bytes: a transaction with
/// [`TXN_BYTES`], with its key and history. What redb makes of it is twice that.
pub const ROOM_BYTES: usize = TXN_BYTES;

/// Memory that the embedded engine keeps pages in, bytes.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// Transactions that are under way to an etcd at once; the others wait for these.
pub const ETCD_UNDER_WAY: usize = 512;

/// How long an etcd may take to answer. It acknowledges after a majority has the log on disk: within
/// milliseconds, and within seconds when a leader is elected.
pub const ETCD_ANSWER: Duration = Duration::from_secs(5);

/// Members that a call to an etcd is offered to, until one takes it: some may not be there.
pub const ETCD_TRIES: u32 = 8;

/// How long one member may take to answer what changes nothing. Then another is asked, within
/// [`ETCD_ANSWER`].
pub const ETCD_READ: Duration = Duration::from_secs(1);

/// What all keys in an etcd begin with, bytes.
pub const ETCD_ROOT_BYTES: usize = 256;

/// A message of an etcd: a full page of the longest values, or a minute of revocations that are deleted.
pub const ETCD_MESSAGE_BYTES: usize = 2 * PAGE_ENTRIES * VALUE_BYTES;
