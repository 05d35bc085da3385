//! What can go wrong with a store, parted by what is to be done about it.

use std::fmt;
use std::io;

use crate::entry::Revision;
use crate::limits;
use crate::private::Exposed;

/// The error of every operation of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Another process has the store open. Two on one folder would fork it.
    InUse,
    /// What is there is not a store of jeton.
    NotAStore,
    /// There is a store where another was to be put. It has been left as it is.
    AlreadyThere,
    /// A newer jeton wrote the store. It has been left as it is.
    Newer {
        /// The format that it has.
        found: u64,
        /// The newest format that this version reads.
        known: u64,
    },
    /// The store is damaged: restore a backup. What was found is in words, without values.
    Damaged(String),
    /// No room on the disk, or the store's quota is used up. Nothing of the transaction is
    /// acknowledged.
    Full,
    /// The disk or the network failed.
    Io(io::ErrorKind, String),
    /// An earlier write failed, and nothing is written until the store has found out that it can be:
    /// [`check_writable`](crate::Store::check_writable). After a flush that failed it never does, and the store
    /// must be opened anew.
    Failed,
    /// Other users of the machine could change the store, or have.
    Unsafe(Exposed),
    /// More is waiting to be written than the store takes. This has not happened: try again later.
    Overloaded,
    /// The store has been closed.
    Closed,
    /// The history that far back is gone: load everything again, and follow from there.
    Compacted {
        /// A watch from here on, or later, can be had.
        oldest: Revision,
    },
    /// More changed while everything was loaded than is kept:
    /// [`LOADING_BYTES`](crate::limits::LOADING_BYTES). Load again.
    ChangedTooMuch {
        /// What changed, bytes.
        bytes: usize,
    },
    /// The call asks for what no store takes.
    Invalid(Problem),
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A key has no parts, or an empty one, or is not written as keys are.
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
    /// A watch from a revision that the store has not reached: it was another store's.
    FutureRevision,
    /// The address of an etcd that is not written as one.
    Address,
    /// An etcd beyond this machine, without TLS.
    WithoutTls,
    /// An etcd older than 3.6.
    OldEtcd,
    /// An etcd over TLS, without the authorities that may have signed for it.
    NoAuthority,
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether a transaction that ended like this may nonetheless have happened. Read before trying
    /// again.
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
                "the store is in use by another process: stop it, or ask it through its admin listener",
            ),
            Error::AlreadyThere => {
                f.write_str("there is a store already, and it is never overwritten; it has been left as it is")
            }
            Error::NotAStore => f.write_str("this is not a store of jeton; it has been left as it is"),
            Error::Newer { found, known } => write!(
                f,
                "the store has format {found}, and this jeton knows formats up to {known}: use the \
                 version that wrote it, or a newer one; it has been left as it is"
            ),
            Error::Damaged(what) => write!(f, "the store is damaged ({what}): restore a backup"),
            Error::Full => f.write_str(
                "no room left for the store: free some and try again; nothing acknowledged is lost",
            ),
            Error::Io(_, what) => write!(f, "the store could not be read or written: {what}"),
            Error::Failed => {
                f.write_str(
                    "an earlier write to the store failed: try again later, and restart the server if that lasts; \
                     nothing acknowledged is lost",
                )
            }
            Error::Unsafe(exposed) => exposed.fmt(f),
            Error::Overloaded => f.write_str("the store has too much to write: try again later"),
            Error::Closed => f.write_str("the store is closed"),
            Error::Compacted { oldest } => write!(
                f,
                "the history before revision {oldest} is gone: load everything again and follow from there"
            ),
            Error::ChangedTooMuch { bytes } => write!(
                f,
                "{bytes} bytes changed while the store was loaded, and at most {} are kept: load everything \
                 again when less is written",
                limits::LOADING_BYTES
            ),
            Error::Invalid(problem) => write!(f, "no store takes this: {problem}"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::KeyPart => "a key needs parts, and none of them empty",
            Problem::KeyTooLong => "the key is too long",
            Problem::ValueTooLong => "the value is too long",
            Problem::TooManyOperations => "too many operations in one transaction",
            Problem::TooManyBytes => "too many bytes in one transaction",
            Problem::KeyTwice => "a transaction may change and compare a key only once",
            Problem::NothingToDo => "a transaction without a change",
            Problem::TooManyKeys => "too many keys read at once",
            Problem::FutureRevision => "a revision that this store has not reached",
            Problem::Address => {
                "an etcd is written etcd://HOST:PORT[,HOST:PORT…][/ROOT], or etcds:// over TLS"
            }
            Problem::WithoutTls => "an etcd beyond this machine wants TLS: write etcds://",
            Problem::OldEtcd => "the etcd is older than 3.6",
            Problem::NoAuthority => "an etcd over TLS wants the authority that signed for it",
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
