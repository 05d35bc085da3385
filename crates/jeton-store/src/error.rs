//! Errors of a store, grouped by what the caller can do.

use std::fmt;
use std::io;

use crate::exposure::Exposed;
use crate::limits;
use crate::revision::Revision;

/// An error of a store operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Another process has the store open.
    InUse,
    /// The file is not a jeton store.
    NotAStore,
    /// The etcd has no store under this root.
    NoStore(String),
    /// The target already has a store, which was not changed.
    AlreadyThere,
    /// The store is being filled, or this was interrupted. It is not changed, and not opened until it is complete.
    Unfinished,
    /// The store is being filled from another source.
    OtherSource,
    /// A newer version of jeton wrote the store, which was not changed.
    Newer {
        /// Format of the store.
        found: u64,
        /// Newest format that this version reads.
        known: u64,
    },
    /// The store is damaged: restore a backup. The text describes what was found, without values.
    Damaged(String),
    /// The disk or the quota is full. Nothing of the transaction is acknowledged.
    Full,
    /// The disk or the network failed.
    Io(io::ErrorKind, String),
    /// An earlier write failed, and the store does not write until
    /// [`check_writable`](crate::Store::check_writable) succeeds. After a failed flush it never does: open
    /// the store again.
    Failed,
    /// Other users can change the store.
    Unsafe(Exposed),
    /// Too many transactions wait. This one was not made: retry later.
    Overloaded,
    /// The store has been closed.
    Closed,
    /// The history no longer has that revision: load again and watch from there.
    Compacted {
        /// The oldest revision from which a watch can start.
        oldest: Revision,
    },
    /// More than [`LOADING_BYTES`](crate::limits::LOADING_BYTES) changed during a load: load again.
    ChangedTooMuch {
        /// Bytes that changed.
        bytes: usize,
    },
    /// The address leads to another etcd than when the store was opened, or its data was replaced. Nothing of it was
    /// used or changed.
    OtherStore,
    /// The call is invalid for every store.
    Invalid(Problem),
}

/// Why a call is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A key has no parts, an empty part, or is not encoded correctly.
    KeyPart,
    /// A key is longer than [`KEY_BYTES`](crate::limits::KEY_BYTES).
    KeyTooLong,
    /// A value is longer than [`VALUE_BYTES`](crate::limits::VALUE_BYTES).
    ValueTooLong,
    /// More than [`TXN_OPERATIONS`](crate::limits::TXN_OPERATIONS) in one transaction.
    TooManyOperations,
    /// More than [`TXN_BYTES`](crate::limits::TXN_BYTES) in one transaction.
    TooManyBytes,
    /// A transaction changes a key twice, or has two conditions on it.
    KeyTwice,
    /// A transaction without a change.
    NothingToDo,
    /// More than [`READ_KEYS`](crate::limits::READ_KEYS) read at once.
    TooManyKeys,
    /// A watch from a revision that the store has not reached. It belongs to another store.
    FutureRevision,
    /// An address of etcd that cannot be parsed.
    Address,
    /// An etcd on another machine, without TLS.
    WithoutTls,
    /// An etcd older than 3.6.
    OldEtcd,
    /// An etcd over TLS, without certificate authorities.
    NoAuthority,
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns whether a transaction with this error may have been made. Read before retrying.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(
            self,
            Error::Io(..) | Error::Full | Error::Failed | Error::Closed
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InUse => f.write_str(
                "another process has the store open: stop it, or use its admin listener",
            ),
            Error::AlreadyThere => {
                f.write_str("a store already exists, and it is never overwritten: nothing was changed")
            }
            Error::NoStore(root) => write!(f, "the etcd has no store under {root}: nothing was changed"),
            Error::Unfinished => f.write_str(
                "a migration to this store has not finished, so it is incomplete: nothing was changed",
            ),
            Error::OtherSource => f.write_str(
                "a migration of another store to this one has not finished: nothing was changed",
            ),
            Error::NotAStore => f.write_str("not a jeton store: nothing was changed"),
            Error::Newer { found, known } => write!(
                f,
                "the store has format {found}, and this version reads formats up to {known}: use the \
                 version that wrote it, or a newer one; nothing was changed"
            ),
            Error::Damaged(what) => write!(f, "the store is damaged ({what}): restore a backup"),
            Error::Full => f.write_str(
                "no space left for the store: free space and retry; nothing acknowledged is lost",
            ),
            Error::Io(_, what) => write!(f, "reading or writing the store failed: {what}"),
            Error::Failed => {
                f.write_str(
                    "an earlier write to the store failed: retry later, and restart the server if this persists; \
                     nothing acknowledged is lost",
                )
            }
            Error::Unsafe(exposed) => exposed.fmt(f),
            Error::Overloaded => f.write_str("too many writes are waiting: retry later"),
            Error::Closed => f.write_str("the store is closed"),
            Error::OtherStore => f.write_str(
                "the etcd at this address is another cluster than at the start, or its data was replaced: nothing of it \
                 was used or changed; check the address in `store` and the data folders of its members, then restart",
            ),
            Error::Compacted { oldest } => write!(
                f,
                "the history before revision {oldest} was compacted: load again and watch from there"
            ),
            Error::ChangedTooMuch { bytes } => write!(
                f,
                "{bytes} bytes changed while the store was loaded, the limit is {}: load again when less is \
                 written",
                limits::LOADING_BYTES
            ),
            Error::Invalid(problem) => write!(f, "invalid store call: {problem}"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::KeyPart => "a key needs at least one part, and no part may be empty",
            Problem::KeyTooLong => "the key is longer than 4096 bytes",
            Problem::ValueTooLong => "the value is longer than 262144 bytes",
            Problem::TooManyOperations => {
                "a transaction has more than 128 operations and conditions"
            }
            Problem::TooManyBytes => "a transaction has more than 1048576 bytes",
            Problem::KeyTwice => "a transaction changes or compares a key more than once",
            Problem::NothingToDo => "a transaction has no change",
            Problem::TooManyKeys => "more than 128 keys in one read",
            Problem::FutureRevision => "the store has not reached this revision",
            Problem::Address => {
                "not an etcd address: use etcd://HOST:PORT[,HOST:PORT…][/ROOT], or etcds:// for TLS"
            }
            Problem::WithoutTls => "etcd on another machine requires TLS: use etcds://",
            Problem::OldEtcd => "etcd is older than 3.6",
            Problem::NoAuthority => "etcd over TLS requires a certificate authority",
        })
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::Invalid(problem)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Error::Full,
            kind => Error::Io(kind, error.to_string()),
        }
    }
}
