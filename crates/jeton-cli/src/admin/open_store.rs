//! An open store: a data folder or an etcd.

use std::sync::Arc;

use jeton_issuer::{DataFolder, Error, sealed_under};
use jeton_store::Store;

use super::failure::{etcd_failure, failure};
use crate::exit::{Failure, Outcome};
use crate::output;

/// An open store.
pub(super) enum OpenStore {
    Folder(DataFolder),
    Etcd {
        store: Arc<dyn Store>,
        address: String,
    },
}

impl OpenStore {
    pub(super) fn store(&self) -> Arc<dyn Store> {
        match self {
            OpenStore::Folder(folder) => folder.store(),
            OpenStore::Etcd { store, .. } => store.clone(),
        }
    }

    /// Returns whether servers on other machines may run on it.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, OpenStore::Etcd { .. })
    }

    /// Returns the path of the folder or the address of the etcd.
    pub(super) fn name(&self) -> String {
        match self {
            OpenStore::Folder(folder) => folder.path().display().to_string(),
            OpenStore::Etcd { address, .. } => address.clone(),
        }
    }

    /// Returns the failure with a hint for this kind of store.
    pub(super) fn failure(&self, error: Error) -> Failure {
        match self {
            OpenStore::Folder(_) => failure(error),
            OpenStore::Etcd { .. } => etcd_failure(error),
        }
    }

    /// Says which key-encryption key a new folder needs.
    pub(super) fn note_key(&self) -> Outcome {
        let needed = sealed_under(&*self.store()).map_err(failure)?;
        if needed.is_empty() {
            return Ok(());
        }
        let needed = needed.join(" and ");
        match self {
            OpenStore::Folder(folder) if folder.has_key_file() => {}
            OpenStore::Folder(folder) => output::note(format_args!(
                "the private keys are encrypted under {needed}: copy this key-encryption key to {}",
                folder.key_file().display()
            )),
            OpenStore::Etcd { .. } => output::note(format_args!(
                "the private keys are encrypted under {needed}: give this key-encryption key to every server"
            )),
        }
        Ok(())
    }
}
