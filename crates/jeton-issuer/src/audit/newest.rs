//! The newest entries, by a bounded number of reads: a log may have millions.

use jeton_store::{Store, block_on};

use super::entry::{AuditEntry, AuditHead};
use super::node_chain::NodeHead;
use crate::error::Result;
use crate::record::{self, audit_head_key, main_entry_key, node_entry_key, node_heads};

/// Entries that [`newest_audit`] returns at most: with as many chains, one read has all of them.
const MOST: usize = 10;

/// Returns the newest entries of all chains in the store, up to ten, the newest first.
///
/// # Errors
///
/// [`Error::Store`](crate::Error::Store), [`Error::Record`](crate::Error::Record).
pub(crate) fn newest_audit(store: &dyn Store) -> Result<Vec<AuditEntry>> {
    block_on(newest(store))
}

async fn newest(store: &dyn Store) -> Result<Vec<AuditEntry>> {
    let mut chains: Vec<(String, NodeHead)> = Vec::new();
    let mut pages = store.scan(&node_heads()?).await?;
    while let Some(page) = pages.next().await? {
        for entry in page {
            let name = entry.key.parts().last().unwrap_or_default();
            chains.push((name, record::read(&entry)?));
        }
    }
    // Each of the others ends before the last entries of these.
    chains.sort_by_key(|(_, head)| std::cmp::Reverse(head.at));
    chains.truncate(MOST);
    let main = store.read(&[audit_head_key()?]).await?;
    let main = main.entries[0].as_ref().map(record::read::<AuditHead>);
    let mut keys = Vec::new();
    for number in last_numbers(main.transpose()?.map_or(0, |head| head.number)) {
        keys.push(main_entry_key(number)?);
    }
    for (chain, head) in &chains {
        for number in last_numbers(head.last.number) {
            keys.push(node_entry_key(chain, number)?);
        }
    }
    let read = store.read(&keys).await?;
    // What was exported and dropped is missing.
    let there = read.entries.iter().flatten();
    let entries: Result<Vec<AuditEntry>> = there.map(record::read).collect();
    let mut entries = entries?;
    // Those of one chain are in their order.
    entries.sort_by_key(|entry| std::cmp::Reverse((entry.at, entry.number)));
    entries.truncate(MOST);
    Ok(entries)
}

fn last_numbers(last: u64) -> impl Iterator<Item = u64> {
    let first = last.saturating_sub(MOST as u64 - 1).max(1);
    first..=last
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use jeton::SystemClock;
    use jeton_store::MemoryStore;

    use super::*;
    use crate::{
        AuditFilter, IssuerSettings, KeyEncryptionKey, Node, Options, Revoke, Subject, read_audit,
    };

    /// By all of the log, and by its newest entries alone.
    #[test]
    fn newest_entries_of_all_chains_are_the_last_of_the_log() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let start = || {
            let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
            Node::start(store.clone(), options, Arc::new(SystemClock)).unwrap()
        };
        let first = start();
        let settings = r#"{"iss": "i", "profiles":
            [{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#;
        let settings = IssuerSettings::from_json(settings).unwrap();
        first.create_issuer("me", settings).unwrap();
        assert_eq!(newest_audit(&*store).unwrap().len(), 1);
        let nodes = [first, start()];
        for number in 0..9 {
            let ends = nodes[0].now().unix_seconds() + 900;
            let token = Revoke::token(&format!("token-{number}"), ends);
            block_on(nodes[number % 2].revoke("me", "i", token)).unwrap();
            let subject = Revoke::all(Subject::Subject(format!("user-{number}")));
            block_on(nodes[0].revoke("me", "i", subject)).unwrap();
        }
        let mut all = Vec::new();
        let each = &mut |entry: AuditEntry| {
            all.push(entry);
            true
        };
        block_on(read_audit(&*store, &AuditFilter::default(), each)).unwrap();
        assert!(all.len() > MOST, "{}", all.len());
        let newest = newest_audit(&*store).unwrap();
        assert_eq!(newest.len(), MOST);
        let times = newest.iter().map(|entry| entry.at);
        assert!(times.clone().rev().is_sorted());
        // None that is left out is newer.
        let left_out = all.iter().filter(|entry| !newest.contains(entry));
        assert!(left_out.map(|entry| entry.at).max() <= times.min());
    }
}
