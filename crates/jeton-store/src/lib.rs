//! Where issuers, keyrings and revocations last.
//!
//! [`Store`] is what the service asks of a store, and no more: read several keys at one moment, scan
//! in order, change several keys or none, and follow changes from a revision on. [`RedbStore`] keeps
//! it in a folder of one machine. [`MemoryStore`] keeps it nowhere and is for tests. One conformance
//! suite (`tests/conformance`) is what every engine passes.
//!
//! ```
//! use jeton_store::{Condition, Key, MemoryStore, Outcome, Store, Txn, block_on};
//!
//! let store = MemoryStore::new();
//! let key = Key::of(["k", "https://id.example", "_set"])?;
//!
//! // N nodes that start together make one: the second finds that it is no longer absent.
//! let make = |value: &str| {
//!     Txn::new().when(key.clone(), Condition::Absent).put(key.clone(), value.as_bytes())
//! };
//! assert!(matches!(block_on(store.commit(make("first")))?, Outcome::Committed(_)));
//! assert!(matches!(block_on(store.commit(make("second")))?, Outcome::Conflict(_)));
//!
//! let read = block_on(store.read(&[key]))?;
//! assert_eq!(read.entries[0].as_ref().map(|entry| entry.value.as_slice()), Some(&b"first"[..]));
//! # Ok::<(), jeton_store::Error>(())
//! ```
//!
//! # Why futures, and why without a runtime
//!
//! etcd's client is asynchronous; blocking on it inside a current-thread runtime would stop the very
//! reactor it waits for. So every operation is a [`Pending`]: a boxed [`Future`]
//! of the standard library. An engine completes it from wherever it works: redb from its writer
//! thread. Whoever has no runtime calls [`block_on`], which parks the thread. This crate therefore
//! needs no runtime, and one that needs a reactor brings its own: a `Pending` may be polled on any
//! thread by any executor. The box costs an allocation an operation, and no operation is on the path
//! of issuing or verifying.
//!
//! # What etcd asked of the trait
//!
//! - A transaction has at most [`limits::TXN_OPERATIONS`] operations, names a key once, and compares
//!   revisions, not values.
//! - There are no leases: what expires has its minute in its key, and
//!   [`Txn::delete_prefix`] drops a minute with one operation.
//! - There are no locks: a lock that a paused process still believes in protects nothing, a
//!   comparison within the transaction does.
//! - History is compacted: a watch that asks for too old a revision gets [`Error::Compacted`], and a scan
//!   that takes too long does too. [`load`] does not: it follows from its first page on.
//! - A watch reports progress, so that a follower can tell quiet from cut off. It says as of when, on a
//!   clock that counts while the machine is suspended: a [`Moment`].

// What is kept, and how it is named
mod entry;
mod key;
pub mod limits;

// What can be asked
mod store;
mod txn;

// Engines
#[cfg(feature = "etcd")]
mod etcd;
mod memory;
mod redb;

// What everything stands on
mod changes;
mod error;
mod follow;
mod load;
mod moment;
mod pending;
mod private;

pub use entry::{Entry, Event, Mirror, Revision};
pub use error::{Error, Problem, Result};
#[cfg(feature = "etcd")]
pub use etcd::{EtcdAccess, EtcdAddress, EtcdStore};
pub use key::{Key, Prefix};
pub use load::{Loaded, load};
pub use memory::MemoryStore;
pub use moment::Moment;
pub use pending::{Completer, Pending, block_on, completion};
pub use private::{Exposed, Exposure, check_folder, check_private, open_private};
pub use redb::{RedbStore, StorageBackend};
pub use store::{Outcome, Pages, Read, Status, Store, Update, Watch};
pub use txn::{Condition, Operation, Txn};
