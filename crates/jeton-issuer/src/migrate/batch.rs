//! Writes many records in bounded transactions, several at a time.

use std::collections::VecDeque;

use jeton_store::{Entry, Key, Outcome, Pending, Store, Txn, block_on, limits as store_limits};

use crate::error::{MigrateError, Result};
use crate::limits;

/// Concurrent transactions, which share flushes.
const AT_ONCE: usize = 16;

/// Bytes of a transaction that leave space for the largest record.
const BYTES: usize = store_limits::TXN_BYTES - store_limits::VALUE_BYTES - store_limits::KEY_BYTES;

/// Changes that wait to be written.
pub(super) struct Batch<'t> {
    target: &'t dyn Store,
    txn: Txn,
    bytes: usize,
    under_way: VecDeque<Pending<'t, Outcome>>,
}

impl<'t> Batch<'t> {
    pub(super) fn new(target: &'t dyn Store) -> Batch<'t> {
        Batch {
            target,
            txn: Txn::new(),
            bytes: 0,
            under_way: VecDeque::new(),
        }
    }

    pub(super) fn put(&mut self, entry: Entry) -> Result<()> {
        let Entry { key, value, .. } = entry;
        self.bytes += key.as_str().len() + value.len();
        self.txn = std::mem::take(&mut self.txn).put(key, value);
        self.send_if_full()
    }

    pub(super) fn delete(&mut self, key: Key) -> Result<()> {
        self.bytes += key.as_str().len();
        self.txn = std::mem::take(&mut self.txn).delete(key);
        self.send_if_full()
    }

    /// Writes what is left, and waits until everything is durable.
    pub(super) fn finish(mut self) -> Result<()> {
        self.send()?;
        self.wait_for_all_but(0)
    }

    fn send_if_full(&mut self) -> Result<()> {
        let operations = self.txn.operations().len();
        if operations >= limits::REVOCATIONS_PER_TXN || self.bytes >= BYTES {
            self.send()
        } else {
            Ok(())
        }
    }

    fn send(&mut self) -> Result<()> {
        if self.txn.operations().is_empty() {
            return Ok(());
        }
        self.wait_for_all_but(AT_ONCE - 1)?;
        let txn = std::mem::take(&mut self.txn);
        self.bytes = 0;
        self.under_way.push_back(self.target.commit(txn));
        Ok(())
    }

    fn wait_for_all_but(&mut self, left: usize) -> Result<()> {
        while self.under_way.len() > left
            && let Some(oldest) = self.under_way.pop_front()
        {
            match block_on(oldest)? {
                Outcome::Committed(_) => {}
                // There are no conditions but that the target is still being filled.
                Outcome::Conflict(_) => return Err(MigrateError::FinishedElsewhere.into()),
            }
        }
        Ok(())
    }
}
