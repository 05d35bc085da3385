//! Stores issuers, keyrings and revocations durably.
//!
//! [`Store`] is the interface that the service needs: read several keys at one revision, scan in order,
//! change several keys atomically, and watch changes from a revision. [`RedbStore`] stores data in a folder
//! on one machine. [`MemoryStore`] is for tests and stores nothing durably. Every engine passes one
//! conformance suite (`tests/conformance`).
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
//! The client of etcd is asynchronous. Blocking on it inside a current-thread runtime would stop the
//! reactor that it waits for. So every operation returns a [`Pending`], a boxed [`Future`] of the standard
//! library, and the engine completes it from its own thread. Callers without a runtime use [`block_on`],
//! which parks the thread. This crate therefore needs no runtime, and a `Pending` may be polled on any
//! thread by any executor. The box costs one allocation per operation. No operation is on the request path
//! of issuing or verifying.
//!
//! # What etcd asked of the trait
//!
//! - A transaction has at most [`limits::TXN_OPERATIONS`] operations, names each key once, and compares
//!   revisions, not values.
//! - There are no leases. A key that expires contains its minute, and [`Txn::delete_prefix`] deletes a
//!   minute with one operation.
//! - There are no locks. A paused process could believe that it still holds a lock. Conditions in the
//!   transaction prevent this.
//! - History is compacted. A watch from a revision that is too old returns [`Error::Compacted`], and so
//!   does a scan that takes too long. [`load`] does not: it watches from its first page on.
//! - A watch reports progress, so that a follower can distinguish a quiet store from a lost connection. The
//!   report carries a [`Moment`], from a clock that counts while the machine is suspended.

// Data model
mod entry;
mod key;
pub mod limits;
mod revision;

// Interface
mod store;
mod txn;

// Engines
mod etcd;
mod memory;
mod redb;

// Shared building blocks
mod changes;
mod error;
mod exposure;
mod follow;
mod load;
mod mirror;
mod moment;
mod pending;
mod private;

pub use entry::{Entry, Event};
pub use error::{Error, Problem, Result};
pub use etcd::{EtcdAccess, EtcdAddress, EtcdStore};
pub use exposure::{Exposed, Exposure};
pub use key::{Key, Prefix};
pub use load::{Loaded, load, load_after};
pub use memory::MemoryStore;
pub use mirror::Mirror;
pub use moment::Moment;
pub use pending::{Completer, Pending, block_on, completion};
pub use private::{check_folder, check_private, open_private};
pub use redb::{RedbStore, StorageBackend};
pub use revision::Revision;
pub use store::{Outcome, Pages, Read, Status, Store, Update, Watch};
pub use txn::{Condition, Operation, Txn};
