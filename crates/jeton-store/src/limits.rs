//! Limits of a store. All engines have the same.

use std::time::Duration;

/// Maximum operations and conditions of a transaction, together. The default of `--max-txn-ops` in etcd is
/// 128.
pub const TXN_OPERATIONS: usize = 128;

/// Maximum bytes of keys and values of a transaction. etcd rejects requests above 1.5 MiB.
pub const TXN_BYTES: usize = 1024 * 1024;

/// Maximum bytes of a value. The largest stored value is a private key with its public half, under 16 KiB.
pub const VALUE_BYTES: usize = 256 * 1024;

/// Maximum bytes of an encoded key. The URL of an issuer and a key id fit.
pub const KEY_BYTES: usize = 4096;

/// Maximum entries in a page of a scan.
pub const PAGE_ENTRIES: usize = 1024;

/// Maximum keys of one [`read`](crate::Store::read).
pub const READ_KEYS: usize = 128;

/// Commits that the history keeps. A watch from an older revision returns
/// [`Error::Compacted`](crate::Error::Compacted).
pub const HISTORY_COMMITS: u64 = 65_536;

/// Maximum bytes of changes that are kept while a prefix is [loaded](crate::load): 128 MiB. That is enough
/// for a deleted minute of half a million revocations in etcd. A key that changes repeatedly counts once.
pub const LOADING_BYTES: usize = 128 * 1024 * 1024;

/// Maximum transactions that share one flush of the embedded engine.
pub const GROUP_TXNS: usize = 4096;

/// Maximum transactions that wait for an engine. Further ones return
/// [`Error::Overloaded`](crate::Error::Overloaded).
pub const WAITING_TXNS: usize = 16_384;

/// Maximum time between two reports of a watch.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Minimum freshness bound that an idle store can meet: [`PROGRESS_EVERY`] plus one second for delivery.
pub const FRESHNESS_LEAST: Duration = Duration::from_secs(PROGRESS_EVERY.as_secs() + 1);

/// Delay after a failed write before the embedded engine first checks whether it can write again.
pub const WRITABLE_AGAIN_FIRST: Duration = Duration::from_secs(1);

/// Maximum delay between these checks. Each delay is twice the previous one.
pub const WRITABLE_AGAIN_LAST: Duration = Duration::from_secs(8);

/// Free space that a full disk needs before the embedded engine writes again, bytes: a transaction of
/// [`TXN_BYTES`] with its key and history. redb needs twice that.
pub const ROOM_BYTES: usize = TXN_BYTES;

/// Page cache of the embedded engine, bytes.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// Maximum concurrent transactions to etcd. Others wait.
pub const ETCD_UNDER_WAY: usize = 512;

/// Timeout of a call to etcd. etcd acknowledges after a majority has written its log: within milliseconds,
/// or within seconds during a leader election.
pub const ETCD_ANSWER: Duration = Duration::from_secs(5);

/// Maximum members of etcd that are tried for one call.
pub const ETCD_TRIES: u32 = 8;

/// Timeout of one member for a read. Another member is then tried, within [`ETCD_ANSWER`].
pub const ETCD_READ: Duration = Duration::from_secs(1);

/// Maximum bytes of the root, the common prefix of all keys in etcd.
pub const ETCD_ROOT_BYTES: usize = 256;

/// Maximum bytes of a message from etcd: a full page of the longest values, or a deleted minute of
/// revocations.
pub const ETCD_MESSAGE_BYTES: usize = 2 * PAGE_ENTRIES * VALUE_BYTES;
