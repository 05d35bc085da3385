//! The target of a migration. No server opens it before the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jeton_store::{
    Error as StoreError, EtcdAccess, EtcdAddress, EtcdStore, Outcome, RedbStore, Store, Txn,
    block_on,
};

use super::{MigrateError, MigrationSource};
use crate::data_folder::retry_until;
use crate::error::{Error, Result};

/// The name of the folder in which the store of a data folder is built, before the name of the source.
const UNFINISHED: &str = "migrating-";

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
    /// A part of the records, from an interrupted migration.
    Unfinished,
}

impl MigrationTarget {
    /// Begins or continues to fill a data folder. It is built in a folder inside, and moved at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with [`AlreadyThere`](StoreError::AlreadyThere) if the folder has a store, with
    /// [`OtherSource`](StoreError::OtherSource), and as [`RedbStore::open`].
    pub fn folder(
        folder: &Path,
        source: &MigrationSource<'_>,
        timeout: Duration,
    ) -> Result<MigrationTarget> {
        let name = format!("{UNFINISHED}{}", source.name());
        if unfinished_in(folder)?.iter().any(|other| *other != name) {
            return Err(StoreError::OtherSource.into());
        }
        let unfinished = folder.join(name);
        let store = retry_until(timeout, || RedbStore::open(&unfinished))?;
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
    /// [`Error::Store`] with [`AlreadyThere`](StoreError::AlreadyThere) if it has a store.
    pub fn look_at_folder(folder: &Path) -> Result<Found> {
        Ok(match unfinished_in(folder)?.is_empty() {
            true => Found::Nothing,
            false => Found::Unfinished,
        })
    }

    /// Looks at an etcd. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with [`AlreadyThere`](StoreError::AlreadyThere) if it has a store, and as
    /// [`EtcdStore::find`].
    pub fn look_at_etcd(address: &EtcdAddress, access: EtcdAccess) -> Result<Found> {
        match EtcdStore::find(address, access) {
            Ok(_) => Err(StoreError::AlreadyThere.into()),
            Err(StoreError::NoStore(_)) => Ok(Found::Nothing),
            Err(StoreError::Unfinished) => Ok(Found::Unfinished),
            Err(error) => Err(error.into()),
        }
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
            Kind::Etcd { store, source } => match block_on(store.finish(&source, txn))? {
                Outcome::Committed(_) => Ok(()),
                Outcome::Conflict(_) => Err(MigrateError::FinishedElsewhere.into()),
            },
        }
    }
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
