//! Reads whole stores: whether every record can be read, and which key-encryption keys are in use.

use jeton_store::{Entry, Key, Prefix, Store, block_on};

use crate::audit::AuditEntry;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::node_record::NodeRecord;
use crate::record::{self, IssuerRecord, SealedKey};
use crate::revocation::{Counter, RuleRecord};

/// The number of records of a store by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Issuers with their settings.
    pub issuers: u64,
    /// Keyrings: the states of the keys of an issuer.
    pub keyrings: u64,
    /// Encrypted private keys.
    pub private_keys: u64,
    /// Revoked tokens with a known expiry.
    pub revoked_tokens: u64,
    /// Revocation rules: of subjects, clients, keys, and of tokens without an expiry.
    pub rules: u64,
    /// The counter of revocation rules: 1, or 0 before the first rule.
    pub rule_counters: u64,
    /// Ids that were used once.
    pub used_ids: u64,
    /// The same ids, by their hash.
    pub used_hashes: u64,
    /// Entries of the audit log.
    pub audit_entries: u64,
    /// The head of the audit log: 1, or 0 before the first entry.
    pub audit_heads: u64,
    /// What the audit log needs for the chains of nodes: their heads, and what joins them.
    pub audit_chains: u64,
    /// What nodes say about themselves while they run.
    pub nodes: u64,
}

impl RecordCounts {
    /// Returns the number of all records.
    pub fn total(&self) -> u64 {
        self.by_kind().iter().map(|(_, count)| count).sum()
    }

    /// Returns the kinds with their numbers.
    pub fn by_kind(&self) -> [(&'static str, u64); 12] {
        [
            ("issuers", self.issuers),
            ("keyrings", self.keyrings),
            ("private keys", self.private_keys),
            ("revoked tokens", self.revoked_tokens),
            ("revocation rules", self.rules),
            ("rule counter", self.rule_counters),
            ("used ids", self.used_ids),
            ("hashes of used ids", self.used_hashes),
            ("audit log entries", self.audit_entries),
            ("audit log head", self.audit_heads),
            ("audit log chains", self.audit_chains),
            ("nodes", self.nodes),
        ]
    }
}

/// Reads every record of a store and returns their number. Does not decrypt private keys.
///
/// # Errors
///
/// As [`count_records`].
pub async fn check_records(store: &dyn Store) -> Result<u64> {
    Ok(count_records(store).await?.total())
}

/// Reads every record of a store and counts them by kind. Does not decrypt private keys.
///
/// # Errors
///
/// [`Error::Record`] with the first record that is damaged or unknown, [`Error::NewerRecord`],
/// [`Error::Store`].
pub async fn count_records(store: &dyn Store) -> Result<RecordCounts> {
    let mut counts = RecordCounts::default();
    let mut pages = store.scan(&Prefix::all()).await?;
    while let Some(page) = pages.next().await? {
        for entry in &page {
            *kind(entry, &mut counts)? += 1;
        }
    }
    Ok(counts)
}

/// Returns the ids of the key-encryption keys that are in use in a store.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`], [`Error::NewerRecord`].
pub fn sealed_under(store: &dyn Store) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let mut pages = block_on(store.scan(&Prefix::of(["k"])?))?;
    while let Some(page) = block_on(pages.next())? {
        for entry in page {
            if entry.key.parts().last().is_some_and(|part| part == "_set") {
                continue;
            }
            let sealed: SealedKey = record::read(&entry)?;
            if !ids.contains(&sealed.under) {
                ids.push(sealed.under);
            }
        }
    }
    Ok(ids)
}

/// Returns whether the key is of a kind that jeton writes.
pub(crate) fn is_of_jeton(key: &Key) -> bool {
    Kind::of(key).is_some()
}

#[derive(Clone, Copy)]
enum Kind {
    Issuer,
    Keyring,
    PrivateKey,
    RevokedToken,
    UsedId,
    UsedHash,
    Rule,
    RuleCounter,
    AuditHead,
    AuditChain,
    AuditEntry,
    Node,
}

impl Kind {
    fn of(key: &Key) -> Option<Kind> {
        let parts: Vec<String> = key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Some(match parts.as_slice() {
            ["i", _] => Kind::Issuer,
            ["k", _, "_set"] => Kind::Keyring,
            ["k", _, named] if record::kid_of(named).is_some() => Kind::PrivateKey,
            ["r", _, _, _] => Kind::RevokedToken,
            ["u", _, _, _] => Kind::UsedId,
            ["o", _, _] => Kind::UsedHash,
            ["rule", _, _, _] => Kind::Rule,
            ["c", "rules"] => Kind::RuleCounter,
            ["a", "_head"] => Kind::AuditHead,
            ["a", "_joined"] | ["a", "_chain" | "_base", _] => Kind::AuditChain,
            ["n", _] => Kind::Node,
            ["a", first] | ["a", first, _] if !first.starts_with('_') => Kind::AuditEntry,
            _ => return None,
        })
    }
}

/// Reads a record, and returns the count of its kind.
fn kind<'c>(entry: &Entry, counts: &'c mut RecordCounts) -> Result<&'c mut u64> {
    let kind = Kind::of(&entry.key).ok_or_else(|| Error::Record(entry.key.to_string()))?;
    match kind {
        Kind::Issuer => IssuerRecord::read(entry).map(|_| &mut counts.issuers),
        Kind::Keyring => record::read::<Keyring>(entry).map(|_| &mut counts.keyrings),
        Kind::PrivateKey => record::read::<SealedKey>(entry).map(|_| &mut counts.private_keys),
        Kind::RevokedToken => record::read::<i64>(entry).map(|_| &mut counts.revoked_tokens),
        Kind::UsedId => record::read::<i64>(entry).map(|_| &mut counts.used_ids),
        Kind::UsedHash => record::read::<i64>(entry).map(|_| &mut counts.used_hashes),
        Kind::Rule => record::read::<RuleRecord>(entry).map(|_| &mut counts.rules),
        Kind::Node => record::read::<NodeRecord>(entry).map(|_| &mut counts.nodes),
        Kind::RuleCounter => record::read::<Counter>(entry).map(|_| &mut counts.rule_counters),
        Kind::AuditHead => {
            record::check_schema(&entry.key, &entry.value).map(|_| &mut counts.audit_heads)
        }
        Kind::AuditChain => {
            record::check_schema(&entry.key, &entry.value).map(|_| &mut counts.audit_chains)
        }
        Kind::AuditEntry => record::read::<AuditEntry>(entry).map(|_| &mut counts.audit_entries),
    }
}
