//! The heads of all chains, and the checkpoints that join them.

use std::collections::BTreeMap;

use aws_lc_rs::digest;
use jeton_store::{Condition, Entry, Key, Moment, Prefix, Store, Txn, block_on};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::entry::{Act, AuditHead, CHECKPOINT, Chain, MAIN, unchanged, written_at};
use super::node_chain::NodeHead;
use crate::error::Result;
use crate::hex::hex;
use crate::limits;
use crate::record::{
    self, AUDIT_SCHEMA, audit_base_key, audit_bases, audit_head_key, audit_joined_key,
    main_entry_key, node_head_key, node_heads,
};

/// Bytes of a hash that name a store.
const NAME_BYTES: usize = 16;

/// The last entry of a chain that was dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) last: AuditHead,
    /// The name of the store, which is the hash of its first entry. Only for the main chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) store: String,
}

impl Base {
    pub(super) fn write(&self) -> Vec<u8> {
        record::write_as(AUDIT_SCHEMA, self)
    }
}

/// The heads of open chains that a checkpoint has joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Joined {
    pub(super) heads: BTreeMap<String, AuditHead>,
}

/// The heads of all chains. A node keeps it up to date with the store.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogState {
    /// Number of the last entry of the main chain.
    main: u64,
    pub(super) heads: BTreeMap<String, NodeHead>,
    pub(super) bases: BTreeMap<String, Base>,
    pub(super) joined: Joined,
    /// When this node writes the next checkpoint.
    due: Option<Moment>,
}

impl LogState {
    pub(crate) fn load(store: &dyn Store) -> Result<LogState> {
        let mut state = LogState::default();
        for prefix in [audit_bases()?, node_heads()?] {
            let mut pages = block_on(store.scan(&prefix))?;
            while let Some(page) = block_on(pages.next())? {
                page.iter().for_each(|entry| state.put(entry));
            }
        }
        let read = block_on(store.read(&[audit_head_key()?, audit_joined_key()?]))?;
        (read.entries.iter().flatten()).for_each(|entry| state.put(entry));
        Ok(state)
    }

    /// Takes a record of the log. One that cannot be read is left to the verification of the log: it must not
    /// stop a node.
    pub(crate) fn put(&mut self, entry: &Entry) {
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["a", "_head"] => self.main = readable::<AuditHead>(entry).number,
            ["a", "_joined"] => self.joined = readable(entry),
            ["a", "_base", chain] => {
                self.bases.insert((*chain).to_owned(), readable(entry));
            }
            ["a", "_chain", chain] => {
                if let Ok(head) = record::read(entry) {
                    self.heads.insert((*chain).to_owned(), head);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn delete(&mut self, key: &Key) {
        let parts: Vec<String> = key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["a", "_base", chain] => drop(self.bases.remove(*chain)),
            ["a", "_chain", chain] => drop(self.heads.remove(*chain)),
            _ => {}
        }
    }

    /// Returns the last entry of a chain that was dropped.
    pub(super) fn base(&self, chain: &str) -> AuditHead {
        self.bases
            .get(chain)
            .map(|base| base.last.clone())
            .unwrap_or_default()
    }

    /// Returns the number of entries in the store.
    pub(crate) fn entries(&self) -> u64 {
        let dropped = |chain: &str| self.base(chain).number;
        let of_nodes = self.heads.iter();
        let of_nodes =
            of_nodes.map(|(chain, head)| head.last.number.saturating_sub(dropped(chain)));
        of_nodes.sum::<u64>() + self.main.saturating_sub(dropped(MAIN))
    }

    /// Returns whether this node should write a checkpoint now. Nodes wait for different times, so that one of
    /// them writes it and the others see it.
    pub(crate) fn is_due(&mut self, at: i64, now: Moment) -> bool {
        if self.to_join(at).is_empty() {
            self.due = None;
            return false;
        }
        let due = *self.due.get_or_insert_with(|| {
            let longest = limits::AUDIT_CHECKPOINT_EVERY / 2;
            now + limits::AUDIT_CHECKPOINT_EVERY + longest.mul_f64(rand::random())
        });
        now >= due
    }

    /// Returns the chains for the next checkpoint: those with entries that no checkpoint has joined, and those
    /// to seal.
    fn to_join(&self, at: i64) -> Vec<String> {
        let seals = self.to_seal(at);
        let is_new = |chain: &String, head: &NodeHead| {
            let joined = self.joined.heads.get(chain);
            joined.is_none_or(|joined| joined.number < head.last.number)
        };
        let open = self.heads.iter().filter(|(_, head)| !head.is_sealed);
        let new = open.filter(|(chain, head)| !seals.contains(*chain) && is_new(chain, head));
        let new: Vec<String> = new.map(|(chain, _)| chain.clone()).collect();
        let all = seals.into_iter().chain(new);
        all.take(limits::AUDIT_CHAINS_PER_CHECKPOINT).collect()
    }

    /// Returns the open chains whose nodes have gone, and beyond a number those that have not grown for longest.
    fn to_seal(&self, at: i64) -> Vec<String> {
        let open = self.heads.iter().filter(|(_, head)| !head.is_sealed);
        let mut open: Vec<(&String, i64)> = open.map(|(chain, head)| (chain, head.at)).collect();
        open.sort_by_key(|(_, at)| *at);
        let beyond = open.len().saturating_sub(limits::AUDIT_OPEN_CHAINS);
        let idle = (open.iter()).take_while(|(_, last)| at - last >= limits::AUDIT_IDLE_SECONDS);
        let count = (idle.count().max(beyond)).min(limits::AUDIT_SEALS_PER_CHECKPOINT);
        open.iter()
            .take(count)
            .map(|(chain, _)| (*chain).clone())
            .collect()
    }
}

fn readable<T: DeserializeOwned + Default>(entry: &Entry) -> T {
    record::read(entry).unwrap_or_default()
}

/// Returns the transaction of a checkpoint, if there is something to join. It conflicts if the main chain has
/// grown, or if a chain that it seals has.
pub(crate) fn checkpoint(store: &dyn Store, state: &LogState, at: i64) -> Result<Option<Txn>> {
    let chains = state.to_join(at);
    if chains.is_empty() {
        return Ok(None);
    }
    let mut names = vec![audit_head_key()?, audit_joined_key()?];
    for chain in &chains {
        names.push(node_head_key(chain)?);
    }
    let read = block_on(store.read(&names))?;
    let [main, before, heads @ ..] = read.entries.as_slice() else {
        return Ok(None);
    };
    let mut joined: Joined = before
        .as_ref()
        .map(record::read)
        .transpose()?
        .unwrap_or_default();
    let seals = state.to_seal(at);
    let (mut txn, mut about) = (Txn::new(), Vec::new());
    for (chain, entry) in chains.iter().zip(heads) {
        // One that has been dropped since is of no interest, and one that has been sealed is joined.
        let Some(entry) = entry else { continue };
        let head: NodeHead = record::read(entry)?;
        if head.is_sealed {
            continue;
        }
        about.push(head.last.told(chain));
        // Unless it has grown meanwhile.
        if seals.contains(chain) && state.heads.get(chain) == Some(&head) {
            joined.heads.remove(chain);
            let sealed = NodeHead {
                is_sealed: true,
                ..head
            };
            txn = txn
                .when(entry.key.clone(), Condition::Unchanged(entry.changed))
                .put(entry.key.clone(), sealed.write());
        } else {
            joined.heads.insert(chain.clone(), head.last);
        }
    }
    if about.is_empty() {
        return Ok(None);
    }
    let act = Act {
        at,
        actor: "jeton",
        act: CHECKPOINT,
        iss: "",
        about,
    };
    let key = audit_joined_key()?;
    let txn = txn
        .when(
            key.clone(),
            unchanged(before.as_ref().map(|entry| entry.changed)),
        )
        .put(key, record::write_as(AUDIT_SCHEMA, &joined));
    Chain::read(main.as_ref())?.append(txn, act).map(Some)
}

/// Returns a name that no other store has, and that a store keeps when it is moved or restored. None: the store
/// has no entry.
pub(crate) fn store_name(store: &dyn Store) -> Result<Option<String>> {
    let read = block_on(store.read(&[main_entry_key(1)?, audit_base_key(MAIN)?]))?;
    let [first, base] = read.entries.as_slice() else {
        return Ok(None);
    };
    if let Some(base) = base {
        return record::read::<Base>(base).map(|base| Some(base.store));
    }
    // It has the time and the random key ids of the first issuer, so it differs between stores.
    let hash = |entry: &Entry| digest::digest(&digest::SHA256, &entry.value);
    Ok(first
        .as_ref()
        .map(|first| hex(&hash(first).as_ref()[..NAME_BYTES])))
}

/// Returns the time of the newest entry of all chains, by the clock of its writer.
pub(crate) fn newest_time(store: &dyn Store) -> Result<Option<i64>> {
    let mut newest = None;
    let read = block_on(store.read(&[audit_head_key()?]))?;
    if let Some(head) = read.entries.first().and_then(Option::as_ref) {
        let last = main_entry_key(record::read::<AuditHead>(head)?.number)?;
        let read = block_on(store.read(&[last]))?;
        let last = read.entries.first().and_then(Option::as_ref);
        newest = last.and_then(written_at).map(|at| (head.changed, at));
    }
    let heads: Prefix = node_heads()?;
    let mut pages = block_on(store.scan(&heads))?;
    while let Some(page) = block_on(pages.next())? {
        for entry in page {
            let head: NodeHead = record::read(&entry)?;
            // A head that was sealed has not grown.
            if !head.is_sealed {
                newest = newest.max(Some((entry.changed, head.at)));
            }
        }
    }
    Ok(newest.map(|(_, at)| at))
}
