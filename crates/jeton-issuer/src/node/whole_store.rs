//! Operations on the whole store of a running node: backup, audit log, check.

use std::io::Write;

use jeton_store::{Status as StoreStatus, block_on};

use super::Node;
use crate::audit::{
    AuditEntry, AuditFilter, AuditPart, AuditPositions, audit_bases, audit_last_hash, drop_audit,
    export_audit, newest_audit, read_audit, verify_audit,
};
use crate::backup::{BackupSummary, back_up};
use crate::check::{check_records, sealed_under};
use crate::error::Result;

/// The result of a check of a whole store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreCheck {
    /// Number of records.
    pub records: u64,
    /// Number of audit entries among them.
    pub audit_entries: u64,
    /// The hash of the last audit entry, hexadecimal.
    pub last_hash: Option<String>,
}

impl Node {
    /// Writes a backup of the store at one revision, while the node runs. It contains every change that was
    /// acknowledged before this call.
    ///
    /// # Errors
    ///
    /// As [`back_up`].
    pub fn back_up(&self, out: &mut dyn Write) -> Result<BackupSummary> {
        back_up(&*self.inner.store, self.inner.now(), out)
    }

    /// Passes the matching entries of the audit log to `each`, oldest first, until `each` returns false.
    ///
    /// # Errors
    ///
    /// As [`read_audit`].
    pub fn audit(
        &self,
        filter: &AuditFilter,
        each: &mut (dyn FnMut(AuditEntry) -> bool + Send),
    ) -> Result<()> {
        block_on(read_audit(&*self.inner.store, filter, each))
    }

    /// Returns the newest entries of the audit log, up to ten, the newest first. It reads few records, however long the
    /// log is.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store), [`Error::Record`](crate::Error::Record).
    pub fn newest_audit(&self) -> Result<Vec<AuditEntry>> {
        newest_audit(&*self.inner.store)
    }

    /// Returns the chains of the audit log, as [`audit_bases`].
    ///
    /// # Errors
    ///
    /// As [`audit_bases`].
    pub fn audit_bases(&self) -> Result<AuditPositions> {
        audit_bases(&*self.inner.store)
    }

    /// Exports the audit log, as [`export_audit`].
    ///
    /// # Errors
    ///
    /// As [`export_audit`].
    pub fn export_audit(
        &self,
        ends: &AuditPositions,
        each: &mut dyn FnMut(AuditPart) -> Result<()>,
    ) -> Result<()> {
        export_audit(&*self.inner.store, ends, self.inner.now(), each)
    }

    /// Drops exported entries of the audit log, as [`drop_audit`].
    ///
    /// # Errors
    ///
    /// As [`drop_audit`].
    pub fn drop_audit(&self, actor: &str, ends: &AuditPositions) -> Result<u64> {
        drop_audit(&*self.inner.store, ends, actor, self.inner.now())
    }

    /// Checks every record and the audit chain.
    ///
    /// # Errors
    ///
    /// As [`check_records`] and [`verify_audit`].
    pub fn check_store(&self) -> Result<StoreCheck> {
        let store = &*self.inner.store;
        Ok(StoreCheck {
            records: block_on(check_records(store))?,
            audit_entries: block_on(verify_audit(store))?,
            last_hash: block_on(audit_last_hash(store))?,
        })
    }

    /// Returns the status of the store.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub fn store_status(&self) -> Result<StoreStatus> {
        Ok(block_on(self.inner.store.status())?)
    }

    /// Returns the ids of the key-encryption keys that are in use in the store.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store), [`Error::Record`](crate::Error::Record).
    pub fn sealed_under(&self) -> Result<Vec<String>> {
        sealed_under(&*self.inner.store)
    }
}
