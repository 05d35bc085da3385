//! Revocations of more than one token: few, each with the moment until which it counts.

use std::collections::HashMap;
use std::sync::Arc;

use jeton_store::Entry;
use serde::{Deserialize, Serialize};

use super::named_hash;
use crate::error::{Error, Result};
use crate::record;

/// A rule as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    /// Tokens issued in this second or before are no longer honoured.
    pub(crate) not_before: i64,
    /// No such token can be valid from this second on.
    pub(crate) until: i64,
}

/// A rule in force, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RevocationRule {
    /// `token`, `subject`, `client` or `key`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Tokens issued in this second or before are no longer honoured; none: whenever it was issued.
    pub not_before: Option<i64>,
    /// From this second on no such token can be valid, and the rule goes.
    pub until: i64,
}

impl RevocationRule {
    pub(crate) fn read(entry: &Entry) -> Result<RevocationRule> {
        let mut parts = entry.key.parts().skip(2);
        let (Some(kind), Some(name)) = (parts.next(), parts.next()) else {
            return Err(Error::Record(entry.key.to_string()));
        };
        Ok(RevocationRule::new(kind, name, record::read(entry)?))
    }

    pub(crate) fn new(kind: String, name: String, rule: RuleRecord) -> RevocationRule {
        RevocationRule {
            kind,
            name,
            not_before: (rule.not_before != i64::MAX).then_some(rule.not_before),
            until: rule.until,
        }
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<RevocationRule>() + self.kind.len() + self.name.len()
    }
}

/// The rules of all issuers. A clone is a pointer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules(Arc<HashMap<u128, RuleRecord>>);

/// What a token is looked up by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Revoked<'t> {
    pub(crate) iss: &'t str,
    pub(crate) issued_at: Option<i64>,
}

impl Rules {
    pub(crate) fn put(&mut self, iss: &str, kind: &str, name: &str, rule: RuleRecord) {
        Arc::make_mut(&mut self.0).insert(named_hash(kind, iss, name), rule);
    }

    pub(crate) fn remove(&mut self, iss: &str, kind: &str, name: &str) {
        Arc::make_mut(&mut self.0).remove(&named_hash(kind, iss, name));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, iss: &str, kind: &str, name: &str) -> Option<RuleRecord> {
        self.0.get(&named_hash(kind, iss, name)).copied()
    }

    pub(crate) fn has(&self, iss: &str, kind: &str, name: &str) -> bool {
        self.0.contains_key(&named_hash(kind, iss, name))
    }

    /// Whether a rule of that kind and name refuses the token. One that does not say when it was
    /// issued is older than every rule.
    pub(crate) fn refuse(&self, token: Revoked<'_>, kind: &str, name: &str) -> bool {
        self.0
            .get(&named_hash(kind, token.iss, name))
            .is_some_and(|rule| token.issued_at.is_none_or(|at| at <= rule.not_before))
    }
}
