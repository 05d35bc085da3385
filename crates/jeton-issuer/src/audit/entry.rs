//! Entries, and the main chain.

use aws_lc_rs::digest;
use jeton_store::{Condition, Entry, Key, Revision, Txn};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hex::hex;
use crate::record::{self, audit_head_key, main_entry_key, node_entry_key};

/// The name of the main chain in files, messages and filters.
pub(super) const MAIN: &str = "main";

/// The operation that joins chains: `<chain> <number> <hash>` for each.
pub(super) const CHECKPOINT: &str = "audit.checkpoint";

/// The operation that drops exported entries: `<chain> <number> <hash>` of the last one.
pub(super) const DROP: &str = "audit.drop";

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Number of the entry in its chain, from 1.
    pub number: u64,
    /// Seconds since 1970, by the clock of the node that wrote it.
    pub at: i64,
    /// The actor.
    pub actor: String,
    /// The operation, for example `key.rotate`.
    pub act: String,
    /// The issuer.
    pub iss: String,
    /// What the operation affected: ids and hashes, no secrets or tokens.
    pub about: Vec<String>,
    /// SHA-256 of the previous entry of the chain as stored, hexadecimal. Empty for the first entry.
    pub previous: String,
    /// The chain of a node. Empty: the main chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub chain: String,
}

impl AuditEntry {
    /// Returns what the operation affected in words: `subject user-7`, `key 2026-11 removed`. Names are not escaped.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.about.iter().map(|text| self.words_of(text)).collect()
    }

    fn words_of(&self, text: &str) -> String {
        let key = Key::parse(text).ok();
        let parts: Vec<String> = key.iter().flat_map(Key::parts).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["rule", _, "key", name] => return format!("tokens signed by {name}"),
            ["rule", _, kind, name] => return format!("{kind} {name}"),
            ["r", _, _, hash] => return format!("token with the hash {hash}"),
            _ => {}
        }
        // These name the key without a sign, and an id may begin with one.
        if matches!(self.act.as_str(), "issuer.create" | "key.reseal") {
            return format!("key {text}");
        }
        let signs = [('+', "added"), ('-', "removed"), ('~', "changed")];
        let found = signs
            .into_iter()
            .find_map(|(sign, what)| Some((text.strip_prefix(sign)?, what)));
        found.map_or_else(
            || text.to_owned(),
            |(kid, what)| format!("key {kid} {what}"),
        )
    }

    /// Returns the name of its chain.
    pub(super) fn chain_name(&self) -> &str {
        if self.chain.is_empty() {
            MAIN
        } else {
            &self.chain
        }
    }
}

/// An entry of a chain, often the last one. The default is before the first entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    /// Its number.
    pub number: u64,
    /// SHA-256 of the entry as stored, hexadecimal.
    pub hash: String,
}

/// An operation to append.
pub(crate) struct Act<'a> {
    pub(crate) at: i64,
    pub(crate) actor: &'a str,
    pub(crate) act: &'a str,
    pub(crate) iss: &'a str,
    pub(crate) about: Vec<String>,
}

impl AuditHead {
    /// Returns the next entry as stored, and the head with it.
    pub(super) fn next(&self, chain: &str, act: Act<'_>) -> (Vec<u8>, AuditHead) {
        let entry = AuditEntry {
            number: self.number + 1,
            at: act.at,
            actor: act.actor.to_owned(),
            act: act.act.to_owned(),
            iss: act.iss.to_owned(),
            about: act.about,
            previous: self.hash.clone(),
            chain: if chain == MAIN {
                String::new()
            } else {
                chain.to_owned()
            },
        };
        let bytes = record::write(&entry);
        let head = AuditHead {
            number: entry.number,
            hash: hash(&bytes),
        };
        (bytes, head)
    }

    /// Returns the text of a checkpoint about the chain.
    pub(super) fn told(&self, chain: &str) -> String {
        format!("{chain} {} {}", self.number, self.hash)
    }

    /// Reads such a text.
    pub(super) fn read_told(text: &str) -> Option<(&str, AuditHead)> {
        let mut words = text.split(' ');
        let (chain, number, hash) = (words.next()?, words.next()?, words.next()?);
        let head = AuditHead {
            number: number.parse().ok()?,
            hash: hash.to_owned(),
        };
        words.next().is_none().then_some((chain, head))
    }
}

/// The head of the main chain in the store.
pub(crate) struct Chain {
    pub(super) head: AuditHead,
    changed: Option<Revision>,
}

impl Chain {
    pub(crate) fn read(entry: Option<&Entry>) -> Result<Chain> {
        Ok(Chain {
            head: entry.map(record::read).transpose()?.unwrap_or_default(),
            changed: entry.map(|entry| entry.changed),
        })
    }

    /// Adds the operation to a transaction, which conflicts if the chain has grown.
    pub(crate) fn append(&self, txn: Txn, act: Act<'_>) -> Result<Txn> {
        let (bytes, head) = self.head.next(MAIN, act);
        Ok(txn
            .when(audit_head_key()?, unchanged(self.changed))
            .put(audit_head_key()?, record::write(&head))
            .put(main_entry_key(head.number)?, bytes))
    }
}

/// The condition that a head is as it was read.
pub(super) fn unchanged(changed: Option<Revision>) -> Condition {
    changed.map_or(Condition::Absent, Condition::Unchanged)
}

/// The key of an entry.
pub(super) fn entry_key(chain: &str, number: u64) -> Result<Key> {
    if chain == MAIN {
        main_entry_key(number)
    } else {
        node_entry_key(chain, number)
    }
}

/// The name of the chain of an entry with this key. None: another record of the log.
pub(super) fn chain_of(key: &Key) -> Option<String> {
    let mut parts = key.parts().skip(1);
    match (parts.next(), parts.next()) {
        (Some(first), None) if !first.starts_with('_') => Some(MAIN.to_owned()),
        (Some(first), Some(_)) if !first.starts_with('_') => Some(first),
        _ => None,
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Follows a chain, entry by entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Walk {
    chain: String,
    pub(super) last: AuditHead,
}

impl Walk {
    /// Begins after that entry.
    pub(super) fn after(chain: &str, last: AuditHead) -> Walk {
        Walk {
            chain: chain.to_owned(),
            last,
        }
    }

    /// Takes the next entry, and checks its number and the hash of the entry before.
    pub(super) fn step(&mut self, key: &Key, value: &[u8]) -> Result<AuditEntry> {
        let number = self.last.number + 1;
        let entry: Result<AuditEntry> = record::read_value(key, value);
        let entry = entry.ok().filter(|entry| {
            entry.number == number
                && entry.previous == self.last.hash
                && entry.chain_name() == self.chain
                && entry_key(&self.chain, number).as_ref() == Ok(key)
        });
        let entry = entry.ok_or_else(|| broken(&self.chain, number))?;
        self.last = AuditHead {
            number,
            hash: hash(value),
        };
        Ok(entry)
    }
}

/// The error for an entry that is missing, changed or unexpected.
pub(super) fn broken(chain: &str, number: u64) -> Error {
    Error::Audit(format!("entry {number} of chain {chain}"))
}

/// Returns the time of an entry, by the clock of its writer. None: not an entry, or one that
/// [`verify_audit`](super::verify_audit) reports as damaged.
pub(crate) fn written_at(entry: &Entry) -> Option<i64> {
    #[derive(Deserialize)]
    struct Written {
        record: At,
    }
    #[derive(Deserialize)]
    struct At {
        at: i64,
    }
    if !entry.key.as_str().starts_with("/a/") {
        return None;
    }
    chain_of(&entry.key)?;
    let written = serde_json::from_slice::<Written>(&entry.value).ok();
    written.map(|written| written.record.at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::record::{revocation_key, rule_key};

    #[test]
    fn entry_is_told_in_words() {
        const ISS: &str = "https://id.example";
        let words = |act: &str, about: &str| {
            let entry = AuditEntry {
                number: 1,
                at: 0,
                actor: "alice".to_owned(),
                act: act.to_owned(),
                iss: ISS.to_owned(),
                about: vec![about.to_owned()],
                previous: String::new(),
                chain: String::new(),
            };
            entry.words().remove(0)
        };
        let rule = |kind, name| rule_key(ISS, kind, name).unwrap().to_string();
        let token = revocation_key(ISS, 7, 11).unwrap().to_string();
        for (act, about, expected) in [
            ("revoke", rule("subject", "a/b"), "subject a/b"),
            (
                "revoke.end",
                rule("key", "2026-11"),
                "tokens signed by 2026-11",
            ),
            (
                "revoke",
                token,
                "token with the hash 0000000000000000000000000000000b",
            ),
            ("key.rotate", "+-k1".to_owned(), "key -k1 added"),
            ("key.compromised", "-k0".to_owned(), "key k0 removed"),
            ("key.tick", "~k1".to_owned(), "key k1 changed"),
            ("issuer.create", "-k1".to_owned(), "key -k1"),
            (
                "issuer.set",
                "max_age_seconds: 1 -> 2".to_owned(),
                "max_age_seconds: 1 -> 2",
            ),
            ("audit.checkpoint", "main 1 ab".to_owned(), "main 1 ab"),
        ] {
            assert_eq!(words(act, &about), expected, "{about}");
        }
    }
}
