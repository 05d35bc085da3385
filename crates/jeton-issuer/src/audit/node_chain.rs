//! The chain of a node. Only that node appends to it.

use jeton_store::{Outcome, Revision, Store, Txn, block_on};
use serde::{Deserialize, Serialize};

use super::entry::{Act, AuditHead, unchanged};
use crate::error::Result;
use crate::hex::hex;
use crate::record::{self, AUDIT_SCHEMA, node_entry_key, node_head_key};

/// The stored head of the chain of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeHead {
    pub(super) last: AuditHead,
    /// The time of the first entry.
    pub(super) began: i64,
    /// The time of the last entry.
    pub(super) at: i64,
    /// No entry follows. The checkpoint that sealed the chain has its last entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_sealed: bool,
}

impl NodeHead {
    pub(super) fn write(&self) -> Vec<u8> {
        record::write_as(AUDIT_SCHEMA, self)
    }
}

/// The chain of this node.
#[derive(Debug)]
pub(crate) struct OwnChain {
    name: String,
    head: Option<NodeHead>,
    changed: Option<Revision>,
    /// Whether the head is the stored one. Not after an error, nor after a conflict.
    is_known: bool,
}

impl OwnChain {
    /// A chain that no node has. It appears with its first entry.
    pub(crate) fn new() -> OwnChain {
        OwnChain {
            name: format!("n{}", hex(&rand::random::<[u8; 8]>())),
            head: None,
            changed: None,
            is_known: true,
        }
    }

    /// Commits a transaction with an entry about it. None: the head has changed, and the next attempt reads it.
    pub(crate) fn append(
        &mut self,
        store: &dyn Store,
        txn: Txn,
        act: Act<'_>,
        commit: impl FnOnce(Txn) -> Result<Outcome>,
    ) -> Result<Option<Revision>> {
        if !self.is_known {
            self.read(store)?;
        }
        let (txn, head) = self.extended(txn, act)?;
        // If the commit fails, the store may have the entry.
        self.is_known = false;
        match commit(txn)? {
            Outcome::Committed(revision) => {
                self.head = Some(head);
                self.changed = Some(revision);
                self.is_known = true;
                Ok(Some(revision))
            }
            Outcome::Conflict(_) => Ok(None),
        }
    }

    /// Adds an entry to a transaction, which conflicts if the head is not the known one.
    fn extended(&self, txn: Txn, act: Act<'_>) -> Result<(Txn, NodeHead)> {
        let at = act.at;
        let before = self.head.as_ref();
        let last = before.map(|head| head.last.clone()).unwrap_or_default();
        let (bytes, last) = last.next(&self.name, act);
        let head = NodeHead {
            began: before.map_or(at, |head| head.began),
            at,
            is_sealed: false,
            last,
        };
        let key = node_head_key(&self.name)?;
        let txn = txn
            .when(key.clone(), unchanged(self.changed))
            .put(key, head.write())
            .put(node_entry_key(&self.name, head.last.number)?, bytes);
        Ok((txn, head))
    }

    /// Reads the head. A node whose chain was sealed begins another one.
    fn read(&mut self, store: &dyn Store) -> Result<()> {
        let read = block_on(store.read(&[node_head_key(&self.name)?]))?;
        let entry = read.entries.first().and_then(Option::as_ref);
        let head: Option<NodeHead> = entry.map(record::read).transpose()?;
        // A head that has gone was sealed, exported and dropped. One that has not come may still do so, and no other
        // entry may have its place.
        if head.as_ref().is_none_or(|head| head.is_sealed) {
            *self = OwnChain::new();
            return Ok(());
        }
        self.changed = entry.map(|entry| entry.changed);
        self.head = head;
        self.is_known = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::ErrorKind;

    use jeton_store::{Error as StoreError, Key, MemoryStore};

    use super::*;
    use crate::audit::{LogState, checkpoint, verify_audit};
    use crate::limits::AUDIT_IDLE_SECONDS;

    const NOW: i64 = 1_800_000_000;

    fn act() -> Act<'static> {
        Act {
            at: NOW,
            actor: "me",
            act: "revoke",
            iss: "i",
            about: Vec::new(),
        }
    }

    fn txn() -> Txn {
        Txn::new().put(Key::of(["t"]).unwrap(), "")
    }

    #[test]
    fn commit_without_an_answer_does_not_break_the_chain() {
        let store = MemoryStore::new();
        let mut own = OwnChain::new();
        let append = |own: &mut OwnChain, is_made: bool, is_told: bool| {
            own.append(&store, txn(), act(), |txn| {
                let outcome = if is_made {
                    block_on(store.commit(txn))?
                } else {
                    Outcome::Conflict(Revision::START)
                };
                if is_told {
                    Ok(outcome)
                } else {
                    Err(StoreError::Io(ErrorKind::TimedOut, String::new()).into())
                }
            })
        };
        // The first entry too: the head is absent, or it is there.
        for (number, (is_made, is_told)) in [
            (false, false),
            (true, false),
            (true, true),
            (true, false),
            (false, false),
            (true, true),
        ]
        .into_iter()
        .enumerate()
        {
            let appended = append(&mut own, is_made, is_told);
            assert_eq!(appended.is_ok(), is_told, "{number}: {appended:?}");
        }
        assert_eq!(block_on(verify_audit(&store)), Ok(4));
        assert_eq!(own.head.unwrap().last.number, 4);
    }

    #[test]
    fn node_of_a_sealed_chain_begins_another() {
        let store = MemoryStore::new();
        let mut own = OwnChain::new();
        let append = |own: &mut OwnChain| {
            let commit = |txn| Ok(block_on(store.commit(txn))?);
            own.append(&store, txn(), act(), commit).unwrap()
        };
        assert!(append(&mut own).is_some());
        let first = own.name.clone();
        let state = LogState::load(&store).unwrap();
        let later = NOW + AUDIT_IDLE_SECONDS;
        let seals = checkpoint(&store, &state, later).unwrap().unwrap();
        block_on(store.commit(seals)).unwrap();
        // Once a conflict, and then the chain with a new name.
        assert!(append(&mut own).is_none());
        assert!(append(&mut own).is_some());
        assert_ne!(own.name, first);
        // Two entries of nodes, and the checkpoint.
        assert_eq!(block_on(verify_audit(&store)), Ok(3));
    }
}
