//! What a store exports and drops: segments, as parts for a [folder](super::AuditFolder).

use std::collections::BTreeMap;

use jeton_store::limits::{READ_KEYS, TXN_OPERATIONS};
use jeton_store::{Key, Outcome, Prefix, Store, Txn, block_on};

use super::entry::{Act, AuditHead, Chain, DROP, MAIN, broken, chain_of, entry_key, hash};
use super::log::{Base, LogState, checkpoint, store_name};
use crate::conflict;
use crate::error::{Error, Result};
use crate::limits::{ATTEMPTS, AUDIT_SEALS_PER_CHECKPOINT, AUDIT_SEGMENT_ENTRIES};
use crate::record::{audit_base_key, audit_head_key, audit_log, node_head_key};
use crate::settings::name;

/// An entry of each of several chains of a store: the last one that a folder has, or the last one that was dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditPositions {
    /// The name of the store. Empty: it has no entry, or the folder has no file.
    pub store: String,
    /// By the names of the chains.
    pub chains: BTreeMap<String, AuditHead>,
}

/// A part of an export. Each segment is a `Begin`, its entries, and an `End`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditPart {
    /// A segment of a chain.
    Begin {
        /// The name of the store.
        store: String,
        /// The name of the chain.
        chain: String,
        /// The entry before the segment.
        before: AuditHead,
    },
    /// An entry as stored.
    Entry(Vec<u8>),
    /// The end of the segment.
    End,
}

/// Returns the chains in the store, each with the last entry that was dropped.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`].
pub fn audit_bases(store: &dyn Store) -> Result<AuditPositions> {
    let state = LogState::load(store)?;
    let chains = state.heads.keys().map(String::as_str).chain([MAIN]);
    Ok(AuditPositions {
        store: store_name(store)?.unwrap_or_default(),
        chains: chains
            .map(|chain| (chain.to_owned(), state.base(chain)))
            .collect(),
    })
}

/// Writes a checkpoint at that time (seconds since 1970), and passes every segment to `each` that the folder with
/// these ends does not have: full ones, and the rest of sealed chains.
///
/// # Errors
///
/// [`Error::AuditExport`] if the ends are those of another store, or of another history of this one;
/// [`Error::Audit`] if the log is broken; [`Error::Contended`]; [`Error::Store`]; and the errors of `each`.
pub fn export_audit(
    store: &dyn Store,
    ends: &AuditPositions,
    at: i64,
    each: &mut dyn FnMut(AuditPart) -> Result<()>,
) -> Result<()> {
    let Some(name) = store_of(store, ends)? else {
        return Ok(());
    };
    join_all(store, at)?;
    let state = LogState::load(store)?;
    let main = main_head(store)?.head.number;
    let chains = state.heads.iter().map(|(chain, head)| {
        let joined = state.joined.heads.get(chain).map_or(0, |head| head.number);
        let limit = if head.is_sealed {
            head.last.number
        } else {
            joined
        };
        (chain.as_str(), limit, head.is_sealed)
    });
    // The main chain last: it has the checkpoints of the others. Its last entry stays.
    for (chain, limit, is_sealed) in chains.chain([(MAIN, main.saturating_sub(1), false)]) {
        let base = state.base(chain);
        let mut last = match ends.chains.get(chain) {
            Some(end) => {
                check_end(store, chain, &base, end)?;
                end.clone()
            }
            None => base,
        };
        loop {
            let full = (last.number / AUDIT_SEGMENT_ENTRIES + 1) * AUDIT_SEGMENT_ENTRIES;
            let end = match full {
                full if full <= limit => full,
                _ if is_sealed && last.number < limit => limit,
                _ => break,
            };
            each(AuditPart::Begin {
                store: name.clone(),
                chain: chain.to_owned(),
                before: last.clone(),
            })?;
            read_entries(store, chain, last.number + 1, end, &mut |value| {
                last = AuditHead {
                    number: last.number + 1,
                    hash: hash(&value),
                };
                each(AuditPart::Entry(value))
            })?;
            each(AuditPart::End)?;
        }
    }
    Ok(())
}

/// Returns the name of the store, which must be that of the ends. None: the store has no entry.
fn store_of(store: &dyn Store, ends: &AuditPositions) -> Result<Option<String>> {
    let name = store_name(store)?;
    if ends.store.is_empty() || name.as_ref() == Some(&ends.store) {
        return Ok(name);
    }
    Err(other_store())
}

/// The error for entries that no file has.
pub(super) fn missing(chain: &str, first: u64, last: u64) -> Error {
    Error::AuditExport(format!(
        "entries {first} to {last} of chain {chain} are neither in the folder nor in the store: add the files that have \
         them"
    ))
}

pub(super) fn other_store() -> Error {
    Error::AuditExport("the folder has the log of another store: name another folder".to_owned())
}

/// Writes checkpoints until every chain that was there is joined.
fn join_all(store: &dyn Store, at: i64) -> Result<()> {
    let mut joined = 0;
    for attempt in 0..ATTEMPTS {
        conflict::pause(attempt);
        let state = LogState::load(store)?;
        let Some(txn) = checkpoint(store, &state, at)? else {
            return Ok(());
        };
        if let Outcome::Committed(_) = block_on(store.commit(txn))? {
            joined += AUDIT_SEALS_PER_CHECKPOINT;
            if state.heads.len() <= joined {
                return Ok(());
            }
        }
    }
    Err(Error::Contended)
}

fn main_head(store: &dyn Store) -> Result<Chain> {
    let read = block_on(store.read(&[audit_head_key()?]))?;
    Chain::read(read.entries.first().and_then(Option::as_ref))
}

/// Checks that the store has that entry, or dropped it last.
fn check_end(store: &dyn Store, chain: &str, base: &AuditHead, end: &AuditHead) -> Result<()> {
    if end.number < base.number {
        return Err(missing(chain, end.number + 1, base.number));
    }
    let mut is_equal = end == base;
    if end.number > base.number {
        let read = read_entries(store, chain, end.number, end.number, &mut |value| {
            is_equal = hash(&value) == end.hash;
            Ok(())
        });
        match read {
            Ok(()) | Err(Error::Audit(_)) => {}
            Err(error) => return Err(error),
        }
    }
    if is_equal {
        return Ok(());
    }
    Err(Error::AuditExport(format!(
        "the folder has another entry {} of chain {chain} than the store, or the store has none: it was restored from an \
         older backup; name another folder",
        end.number
    )))
}

/// Passes entries as stored to `each`.
fn read_entries(
    store: &dyn Store,
    chain: &str,
    first: u64,
    last: u64,
    each: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut next = first;
    loop {
        let until = last.min(next.saturating_add(READ_KEYS as u64 - 1));
        let keys = (next..=until).map(|number| entry_key(chain, number));
        let read = block_on(store.read(&keys.collect::<Result<Vec<_>>>()?))?;
        for (number, entry) in (next..=until).zip(read.entries) {
            each(entry.ok_or_else(|| broken(chain, number))?.value)?;
        }
        if until == last {
            return Ok(());
        }
        next = until + 1;
    }
}

/// Drops the entries up to these ends, which a folder has. The drop of a chain has an entry itself, of this actor and
/// time. Returns the number of dropped entries.
///
/// # Errors
///
/// As [`export_audit`].
pub fn drop_audit(store: &dyn Store, ends: &AuditPositions, actor: &str, at: i64) -> Result<u64> {
    name("actor", actor)?;
    let Some(store_name) = store_of(store, ends)? else {
        return Ok(0);
    };
    let state = LogState::load(store)?;
    let mut dropped = 0;
    for (chain, end) in &ends.chains {
        let base = state.base(chain);
        let is_here = chain == MAIN || state.heads.contains_key(chain);
        if !is_here || end.number <= base.number {
            continue;
        }
        check_end(store, chain, &base, end)?;
        set_base(store, chain, &store_name, end, actor, at)?;
        dropped += end.number - base.number;
    }
    // Also what an interrupted call left.
    sweep(store)?;
    Ok(dropped)
}

/// Records that the entries up to that one are dropped.
fn set_base(
    store: &dyn Store,
    chain: &str,
    store_name: &str,
    last: &AuditHead,
    actor: &str,
    at: i64,
) -> Result<()> {
    let base = Base {
        last: last.clone(),
        store: if chain == MAIN {
            store_name.to_owned()
        } else {
            String::new()
        },
    };
    for attempt in 0..ATTEMPTS {
        conflict::pause(attempt);
        let txn = Txn::new().put(audit_base_key(chain)?, base.write());
        let act = Act {
            at,
            actor,
            act: DROP,
            iss: "",
            about: vec![last.told(chain)],
        };
        let txn = main_head(store)?.append(txn, act)?;
        if let Outcome::Committed(_) = block_on(store.commit(txn))? {
            return Ok(());
        }
    }
    Err(Error::Contended)
}

/// Deletes the entries up to the bases, oldest first, and the heads of chains that were dropped as a whole.
fn sweep(store: &dyn Store) -> Result<()> {
    let state = LogState::load(store)?;
    for (chain, base) in &state.bases {
        let end = entry_key(chain, base.last.number)?;
        let is_gone = |key: &Key| *key <= end && chain_of(key).as_ref() == Some(chain);
        let prefix = match chain.as_str() {
            MAIN => audit_log()?,
            chain => Prefix::of(["a", chain])?,
        };
        let mut pages = block_on(store.scan(&prefix))?;
        while let Some(page) = block_on(pages.next())? {
            let keys: Vec<&Key> = page.iter().map(|entry| &entry.key).collect();
            let gone = keys.iter().take_while(|key| is_gone(key)).count();
            for keys in keys[..gone].chunks(TXN_OPERATIONS) {
                let txn = (keys.iter()).fold(Txn::new(), |txn, key| txn.delete((*key).clone()));
                block_on(store.commit(txn))?;
            }
            if gone < page.len() {
                break;
            }
        }
        let head = state.heads.get(chain);
        if head.is_some_and(|head| head.is_sealed && head.last == base.last) {
            let txn = Txn::new().delete(node_head_key(chain)?);
            block_on(store.commit(txn.delete(audit_base_key(chain)?)))?;
        }
    }
    Ok(())
}
