//! Revocations of more than one token: few, each with the moment until which it counts.

use std::collections::HashMap;
use std::sync::Arc;

use jeton_store::Entry;
use serde::{Deserialize, Serialize};

use super::named_hash;
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::limits::CLOCK_SKEW_SECONDS;
use crate::record;

/// A rule as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    /// When it was made, by the clock that was the furthest ahead of those that did. `i64::MAX`: it is about
    /// every token, whenever it was issued.
    pub(crate) not_before: i64,
    /// No token that was issued before it can be valid from this second on.
    pub(crate) until: i64,
    /// Tokens with a lower one are rejected. None: a version of jeton without the counter wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<Stamp>,
    /// In memory: the stamp of the rule that was known before one without a stamp. Tokens with a lower one are
    /// rejected too.
    #[serde(skip)]
    pub(crate) known: Option<Stamp>,
}

impl RuleRecord {
    /// Written over the one that is there, which it must not weaken: another clock may have been ahead, and
    /// a key that is compromised stays so.
    pub(crate) fn over(self, there: Option<RuleRecord>) -> RuleRecord {
        let Some(there) = there else { return self };
        RuleRecord {
            not_before: self.not_before.max(there.not_before),
            until: self.until.max(there.until),
            stamp: self.stamp.max(there.stamp),
            known: None,
        }
    }

    /// Told after the one that is known here. What is written is over what is stored, unless a node whose
    /// clock was ahead has deleted that: here it counts until it is over.
    pub(crate) fn over_known(self, known: Option<RuleRecord>) -> RuleRecord {
        match self.stamp {
            Some(_) => self.over(known),
            // It rejects by the time alone, also tokens with a higher stamp than the known one's.
            None => RuleRecord {
                stamp: None,
                known: known.and_then(|known| known.stamp.max(known.known)),
                ..self.over(known)
            },
        }
    }

    /// Whether it is about tokens that were issued later, too.
    fn is_endless(&self) -> bool {
        self.not_before == i64::MAX
    }

    /// The last second in which a token without a stamp may have been issued before the rule was made: its
    /// node's clock may have been ahead.
    fn unstamped_until(&self) -> i64 {
        self.not_before.saturating_add(CLOCK_SKEW_SECONDS)
    }

    /// Whether the token was issued by a node that had not seen the rule. Where one of the two has no stamp,
    /// their times decide; a token that does not say when it was issued is older than every rule.
    pub(super) fn rejects(&self, token: Revoked<'_>) -> bool {
        if self.is_endless() {
            return true;
        }
        let stamp = token.token_id.and_then(Stamp::of_token);
        match (self.stamp, stamp) {
            (Some(rule), Some(token)) => token < rule,
            _ => {
                let until = self.unstamped_until();
                let is_below_known = stamp.is_some_and(|stamp| Some(stamp) < self.known);
                is_below_known || token.issued_at.is_none_or(|at| at <= until)
            }
        }
    }
}

/// A rule in force, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RevocationRule {
    /// `token`, `subject`, `client` or `key`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// When it was made; none: it is about every token, whenever it was issued.
    pub not_before: Option<i64>,
    /// From this second on no such token can be valid, and the rule goes.
    pub until: i64,
    /// Tokens with a lower [`Stamp`] are rejected. None: a version of jeton without the counter wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
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
            not_before: (!rule.is_endless()).then_some(rule.not_before),
            until: rule.until,
            stamp: rule.stamp,
        }
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<RevocationRule>() + self.kind.len() + self.name.len()
    }

    /// A token without a stamp is rejected if it was issued in this second or before: see
    /// [`CLOCK_SKEW_SECONDS`].
    pub fn unstamped_until(&self) -> i64 {
        let made = self.not_before.unwrap_or(i64::MAX);
        made.saturating_add(CLOCK_SKEW_SECONDS)
    }
}

/// The rules of all issuers. A clone is a pointer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules(Arc<HashMap<u128, RuleRecord>>);

/// What a token is looked up by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Revoked<'t> {
    pub(crate) iss: &'t str,
    pub(crate) token_id: Option<&'t str>,
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

    /// Whether a rule of that kind and name rejects the token.
    pub(crate) fn reject(&self, token: Revoked<'_>, kind: &str, name: &str) -> bool {
        self.0
            .get(&named_hash(kind, token.iss, name))
            .is_some_and(|rule| rule.rejects(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: i64 = 1_800_000_000;

    fn rule(not_before: i64, number: Option<u64>) -> RuleRecord {
        RuleRecord {
            not_before,
            until: not_before.saturating_add(900),
            stamp: number.map(|number| Stamp { epoch: 1, number }),
            known: None,
        }
    }

    fn rejects(rule: RuleRecord, number: u64, issued_at: i64) -> bool {
        let id = format!("{:032x}-1-{number:x}", 7);
        rule.rejects(Revoked {
            iss: "i",
            token_id: Some(&id),
            issued_at: Some(issued_at),
        })
    }

    /// An older version wrote it, by a clock that is behind.
    #[test]
    fn rule_without_stamp_does_not_weaken_the_known_one() {
        let known = rule(MADE, Some(5));
        let told = rule(MADE - 30, None).over_known(Some(known));
        let later = MADE + CLOCK_SKEW_SECONDS + 1;
        assert!(rejects(known, 4, later));
        assert!(rejects(told, 4, later));
        assert!(!rejects(told, 5, later));
        assert!(rejects(told, 5, MADE - 30 + CLOCK_SKEW_SECONDS));
        assert_eq!(told.until, known.until);
        // And once more.
        let again = rule(MADE - 20, None).over_known(Some(told));
        assert!(rejects(again, 4, later));
        // A key that is compromised stays so.
        let endless = rule(i64::MAX, Some(5));
        let told = rule(MADE, None).over_known(Some(endless));
        assert!(rejects(told, 9, later));
        // The next one with a stamp counts as usual.
        let next = rule(MADE + 100, Some(8)).over_known(Some(again));
        assert!(rejects(next, 7, later) && !rejects(next, 8, MADE));
    }
}
