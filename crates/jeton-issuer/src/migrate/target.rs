//! The target of a migration. No server opens it before the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jeton_store::{
    Error as StoreError, EtcdAccess, EtcdAddress, EtcdStore, Key, Operation, Outcome, RedbStore,
    Result as StoreResult, Store, Txn, block_on, check_folder,
};

use super::MigrationSource;
use crate::data_folder::retry_until;
use crate::error::{Error, MigrateError, Result};

/// The name of the folder in which the store of a data folder is built, before the name of the source.
const UNFINISHED: &str = "migrating-";

/// Attempts to read whether the last transaction was made. Each ends within
/// [`ETCD_ANSWER`](jeton_store::limits::ETCD_ANSWER).
const READS: usize = 3;

/// A store that is being filled.
#[derive(Debug)]
pub struct MigrationTarget(Kind);

#[derive(Debug)]
enum Kind {
    Folder {
        folder: PathBuf,
        unfinished: PathBuf,
        store: RedbStore,
    },
    Etcd {
        store: EtcdStore,
        source: String,
    },
}

/// What a target has before a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A part of the records, from an interrupted migration of the same source.
    Unfinished,
}

impl MigrationTarget {
    /// Begins or continues to fill a data folder. It is built in a folder inside, and moved at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with [`AlreadyThere`](StoreError::AlreadyThere) if the folder has a store, with
    /// [`OtherSource`](StoreError::OtherSource), with [`Unsafe`](StoreError::Unsafe) if other users can write
    /// the folder, and as [`RedbStore::open`].
    pub fn folder(
        folder: &Path,
        source: &MigrationSource<'_>,
        timeout: Duration,
    ) -> Result<MigrationTarget> {
        MigrationTarget::look_at_folder(folder, source)?;
        let unfinished = folder.join(unfinished_name(source));
        let store = retry_until(timeout, || RedbStore::open(&unfinished))?;
        // If it is new, its parent folders have not been checked yet. The store is moved there at the end.
        check_folder(folder)?;
        Ok(MigrationTarget(Kind::Folder {
            folder: folder.to_owned(),
            unfinished,
            store,
        }))
    }

    /// Begins or continues to fill an etcd.
    ///
    /// # Errors
    ///
    /// As [`EtcdStore::fill`].
    pub fn etcd(
        address: &EtcdAddress,
        access: EtcdAccess,
        source: &MigrationSource<'_>,
    ) -> Result<MigrationTarget> {
        Ok(MigrationTarget(Kind::Etcd {
            store: EtcdStore::fill(address, access, source.name())?,
            source: source.name().to_owned(),
        }))
    }

    /// Looks at a data folder. Changes nothing.
    ///
    /// # Errors
    ///
    /// As [`folder`](MigrationTarget::folder).
    pub fn look_at_folder(folder: &Path, source: &MigrationSource<'_>) -> Result<Found> {
        let found = unfinished_in(folder)?;
        match check_folder(folder) {
            Err(StoreError::Io(io::ErrorKind::NotFound, _)) => {}
            checked => checked?,
        }
        if found.iter().any(|name| *name != unfinished_name(source)) {
            return Err(StoreError::OtherSource.into());
        }
        Ok(if found.is_empty() {
            Found::Nothing
        } else {
            Found::Unfinished
        })
    }

    /// Looks at an etcd. Changes nothing.
    ///
    /// # Errors
    ///
    /// As [`EtcdStore::look`].
    pub fn look_at_etcd(
        address: &EtcdAddress,
        access: EtcdAccess,
        source: &MigrationSource<'_>,
    ) -> Result<Found> {
        Ok(if !EtcdStore::look(address, access, source.name())? {
            Found::Nothing
        } else {
            Found::Unfinished
        })
    }

    pub(super) fn store(&self) -> &dyn Store {
        match &self.0 {
            Kind::Folder { store, .. } => store,
            Kind::Etcd { store, .. } => store,
        }
    }

    /// Makes the last changes, and lets servers open the store.
    pub(super) fn finish(self, txn: Txn) -> Result<()> {
        match self.0 {
            Kind::Folder {
                folder,
                unfinished,
                store,
            } => {
                if let Outcome::Conflict(_) = block_on(store.commit(txn))? {
                    return Err(MigrateError::FinishedElsewhere.into());
                }
                drop(store);
                RedbStore::move_in(&unfinished, &folder)?;
                // Only its lock is left.
                let _ = fs::remove_dir_all(unfinished);
                Ok(())
            }
            Kind::Etcd { store, source } => {
                let ended = block_on(store.finish(&source, txn.clone()));
                concluded(&store, &txn, ended)
            }
        }
    }
}

/// Returns how the last transaction has ended. If its answer was lost, its records tell whether it was made.
fn concluded(store: &dyn Store, txn: &Txn, ended: StoreResult<Outcome>) -> Result<()> {
    match ended {
        Ok(Outcome::Committed(_)) => Ok(()),
        Ok(Outcome::Conflict(_)) => Err(MigrateError::FinishedElsewhere.into()),
        Err(error) if error.is_outcome_unknown() && was_made(store, txn) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the store has a record as the transaction writes it. Servers may have changed others since.
fn was_made(store: &dyn Store, txn: &Txn) -> bool {
    let puts = txn.operations().iter().filter_map(|change| match change {
        Operation::Put(key, value) => Some((key.clone(), value)),
        _ => None,
    });
    let (keys, values): (Vec<Key>, Vec<&Vec<u8>>) = puts.unzip();
    (0..READS).any(|_| {
        block_on(store.read(&keys)).is_ok_and(|read| {
            let mut both = read.entries.iter().zip(&values);
            both.any(|(entry, value)| entry.as_ref().is_some_and(|it| it.value == **value))
        })
    })
}

/// Returns the name of the folder in which the store of this source is built.
fn unfinished_name(source: &MigrationSource<'_>) -> String {
    format!("{UNFINISHED}{}", source.name())
}

/// Returns the names of unfinished stores in a folder without a store.
fn unfinished_in(folder: &Path) -> Result<Vec<String>> {
    if RedbStore::is_in(folder)? {
        return Err(StoreError::AlreadyThere.into());
    }
    let unreadable = |error: io::Error| Error::Store(error.into());
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let name = entry.map_err(unreadable)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name.starts_with(UNFINISHED) {
            found.push(name);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_store::MemoryStore;

    use super::*;

    #[test]
    fn last_transaction_without_an_answer_is_looked_up() {
        let key = |name: &str| Key::of(["a", name]).unwrap();
        let txn = Txn::new().put(key("_head"), "2").put(key("2"), "entry");
        let lost = StoreError::Io(io::ErrorKind::TimedOut, "no answer".to_owned());
        let store = MemoryStore::new();
        let ended = || concluded(&store, &txn, Err(lost.clone()));
        assert_eq!(ended(), Err(lost.clone().into()));
        block_on(store.commit(txn.clone())).unwrap();
        assert_eq!(ended(), Ok(()));
        // A server has written since.
        let later = Txn::new().put(key("_head"), "3").put(key("3"), "entry");
        block_on(store.commit(later)).unwrap();
        assert_eq!(ended(), Ok(()));
        // An error that tells that it was not made.
        let refused = concluded(&store, &txn, Err(StoreError::Overloaded));
        assert_eq!(refused, Err(StoreError::Overloaded.into()));
    }
}
