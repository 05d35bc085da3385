//! Moves all records of a store to another one: from a data folder to an etcd, or back.
//!
//! Every record is copied byte for byte, so private keys stay encrypted under the same key-encryption key, and the
//! counter of revocation rules keeps its epoch and number. Until the end, no server opens the target.

mod batch;
mod copy;
mod merge;
mod target;

use jeton_store::{Revision, Store, Txn, block_on};

use crate::audit::{Act, Chain, store_name, verify_audit};
use crate::check::{RecordCounts, count_records};
use crate::error::{MigrateError, Result};
use crate::record::audit_head_key;
use crate::settings::name;

pub use target::{Found, MigrationTarget};

/// A store to migrate. Every record and the audit chain have been checked.
#[derive(Debug)]
pub struct MigrationSource<'s> {
    store: &'s dyn Store,
    name: String,
    counts: RecordCounts,
}

/// What to do with a target that has a part of the records, from an interrupted migration of the same source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfUnfinished {
    /// Fail with [`MigrateError::Unfinished`].
    Refuse,
    /// Write what is missing or differs.
    Continue,
    /// Delete the part, and begin again.
    StartOver,
}

/// A step of a migration, for progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationStep {
    /// Deletes what an interrupted migration wrote.
    Delete,
    /// Copies the records.
    Copy,
    /// Compares every record of both stores.
    Compare,
}

impl<'s> MigrationSource<'s> {
    /// Reads every record and the audit chain, and counts the records.
    ///
    /// # Errors
    ///
    /// [`MigrateError::Empty`], and as [`count_records`] and [`verify_audit`].
    pub fn check(store: &'s dyn Store) -> Result<MigrationSource<'s>> {
        let counts = block_on(count_records(store))?;
        block_on(verify_audit(store))?;
        let name = store_name(store)?.ok_or(MigrateError::Empty)?;
        Ok(MigrationSource {
            store,
            name,
            counts,
        })
    }

    /// Returns the numbers of records.
    pub fn counts(&self) -> &RecordCounts {
        &self.counts
    }

    /// Returns a name that no other store has, and that the store keeps when it is moved.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Copies every record to the target in bounded transactions, and compares every record of both stores. Then
    /// adds an audit entry with the description of the source, and lets servers open the target.
    ///
    /// The source must not change meanwhile. `progress` receives the number of records that a step has passed. `at`
    /// is the time, seconds since 1970. Returns the number of compared records.
    ///
    /// # Errors
    ///
    /// [`MigrateError`]; [`Error::Store`](crate::Error::Store). Except for [`MigrateError::OtherKey`] and
    /// [`MigrateError::FinishedElsewhere`], the migration can be continued after any error. If the answer to its
    /// last transaction is lost, and the store cannot be read either, it may have finished: then continuing is
    /// [`AlreadyThere`](jeton_store::Error::AlreadyThere), and the audit log of the target has `store.migrate`.
    pub fn copy_to(
        &self,
        target: MigrationTarget,
        if_unfinished: IfUnfinished,
        entry: MigrationEntry<'_>,
        progress: &mut dyn FnMut(MigrationStep, u64),
    ) -> Result<u64> {
        name("actor", entry.actor)?;
        let store = target.store();
        if copy::has_records(store)? {
            match if_unfinished {
                IfUnfinished::Refuse => return Err(MigrateError::Unfinished.into()),
                IfUnfinished::Continue => copy::check_keys(store)?,
                IfUnfinished::StartOver => {
                    copy::check_keys(store)?;
                    copy::delete(store, progress)?;
                }
            }
        }
        let copied: Revision = copy::copy(self.store, store, progress)?;
        let compared = copy::compare(self.store, store, copied, progress)?;
        let head = block_on(store.read(&[audit_head_key()?]))?;
        let act = Act {
            at: entry.at,
            actor: entry.actor,
            act: "store.migrate",
            iss: "",
            about: vec![
                format!("from {}", entry.from),
                format!("{compared} records"),
            ],
        };
        let txn = Chain::read(head.entries[0].as_ref())?.append(Txn::new(), act)?;
        target.finish(txn)?;
        Ok(compared)
    }
}

/// The audit entry of a migration.
#[derive(Debug, Clone, Copy)]
pub struct MigrationEntry<'e> {
    /// The actor.
    pub actor: &'e str,
    /// Seconds since 1970.
    pub at: i64,
    /// The folder or the address of the source, without credentials.
    pub from: &'e str,
}
