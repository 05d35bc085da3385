//! Revocation rules: revocations of several tokens, each with an end.

use std::hash::Hash;

use jeton_store::Entry;
use rpds::HashTrieMapSync;
use serde::{Deserialize, Serialize};

use super::named_hash;
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::limits::{self, CLOCK_SKEW_SECONDS, RULE_AFTER_SECONDS};
use crate::record;

/// A stored rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    /// Creation time, by the latest clock of its writers. `i64::MAX`: applies to every token, regardless of
    /// its issue time.
    pub(crate) not_before: i64,
    /// From this second on no affected token can be valid.
    pub(crate) until: i64,
    /// Rejects tokens with a lower stamp. None: written by a version without the counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<Stamp>,
    /// The [hash](super::actor_hash) of who made it first, for the budget of that client. None: nobody's budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<u64>,
    /// An administrator has ended it. It rejects nothing, and is stored until every node has seen this: a rule that is
    /// only deleted stays on the nodes that know it. A version without this member takes it for a rule in force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_ended: bool,
    /// Only in memory: the stamp of the rule known before one without a stamp. Tokens with a lower stamp
    /// are rejected too.
    #[serde(skip)]
    pub(crate) known: Option<Stamp>,
}

impl RuleRecord {
    /// Merges with the stored rule, which must not become weaker: another clock may have been ahead, and a
    /// compromised key stays revoked. Nothing of an ended rule is left.
    pub(crate) fn over(self, there: Option<RuleRecord>) -> RuleRecord {
        let Some(there) = there.filter(|there| !there.is_ended) else {
            return self;
        };
        RuleRecord {
            not_before: self.not_before.max(there.not_before),
            until: self.until.max(there.until),
            stamp: self.stamp.max(there.stamp),
            by: there.by.or(self.by),
            is_ended: false,
            known: None,
        }
    }

    /// Ends the rule at that second. It keeps its stamp, so that it ends nothing newer.
    pub(crate) fn ended(self, now: i64) -> RuleRecord {
        RuleRecord {
            until: self.until.min(now.saturating_add(RULE_AFTER_SECONDS)),
            by: None,
            is_ended: true,
            known: None,
            ..self
        }
    }

    /// Merges with the rule known on this node. The stored one may have been deleted by a node whose clock
    /// was ahead. Here it remains until its end.
    pub(crate) fn over_known(self, known: Option<RuleRecord>) -> RuleRecord {
        if self.is_ended {
            // A node that loads may already know a newer rule.
            let newer = known.filter(|known| !known.is_ended && known.stamp > self.stamp);
            return newer.unwrap_or(self);
        }
        let known = known.filter(|known| !known.is_ended);
        match self.stamp {
            Some(_) => self.over(known),
            // Rejects by time alone, also tokens with a higher stamp.
            None => RuleRecord {
                stamp: None,
                known: known.and_then(|known| known.stamp.max(known.known)),
                ..self.over(known)
            },
        }
    }

    /// Returns whether it also applies to tokens issued later.
    pub(crate) fn is_endless(&self) -> bool {
        self.not_before == i64::MAX
    }

    /// Returns the last second in which a token without a stamp may have been issued before the rule: the
    /// clock of its node may have been ahead.
    fn unstamped_until(&self) -> i64 {
        self.not_before.saturating_add(CLOCK_SKEW_SECONDS)
    }

    /// Returns whether the token's node had not seen the rule. If the rule or the token has no stamp, their
    /// times decide. A token without `iat` counts as older.
    pub(super) fn rejects(&self, token: Revoked<'_>) -> bool {
        if self.is_ended {
            return false;
        }
        if self.is_endless() {
            return true;
        }
        let stamp = token.token_id.and_then(Stamp::of_token);
        match (self.stamp, stamp) {
            (Some(rule), Some(stamp)) if !token.is_lost => stamp < rule,
            _ => {
                let until = self.unstamped_until();
                let known = self.known.max(self.stamp);
                let is_below_known = stamp.is_some_and(|stamp| Some(stamp) < known);
                is_below_known || token.issued_at.is_none_or(|at| at <= until)
            }
        }
    }
}

/// A rule, as listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RevocationRule {
    /// `token`, `subject`, `client` or `key`.
    pub kind: String,
    /// The name.
    pub name: String,
    /// Creation time. None: applies to every token, regardless of its issue time.
    pub not_before: Option<i64>,
    /// End of the rule: from this second on no affected token can be valid.
    pub until: i64,
    /// Tokens with a lower [`Stamp`] are rejected. None: written by a version without the counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
    /// It was ended before its time, and rejects nothing any more. Only in updates of feeds.
    #[serde(skip)]
    pub is_ended: bool,
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
            is_ended: rule.is_ended,
        }
    }

    /// Returns the size in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<RevocationRule>() + self.kind.len() + self.name.len()
    }

    /// Returns the second up to which tokens without a stamp are rejected: see [`CLOCK_SKEW_SECONDS`].
    pub fn unstamped_until(&self) -> i64 {
        let made = self.not_before.unwrap_or(i64::MAX);
        made.saturating_add(CLOCK_SKEW_SECONDS)
    }
}

/// Rules of all issuers. Cloning copies three pointers, and a change copies little more than itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    by_hash: HashTrieMapSync<u128, RuleRecord>,
    /// Number of rules of each issuer.
    of_issuers: HashTrieMapSync<Box<str>, usize>,
    /// Number of rules of each client, by its hash.
    of_clients: HashTrieMapSync<u64, usize>,
    /// Number of rules that were ended and are still stored.
    ended: usize,
}

/// Who wants to make one rule more, and the bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<'i> {
    pub(crate) iss: &'i str,
    /// Number of issuers.
    pub(crate) issuers: usize,
    /// The hash of the client.
    pub(crate) by: u64,
    /// Rules that one client may have in force.
    pub(crate) per_client: usize,
    /// New rules of that client and issuer that are about to be written.
    pub(crate) new: usize,
}

/// The properties by which rules apply to a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Revoked<'t> {
    pub(crate) iss: &'t str,
    pub(crate) token_id: Option<&'t str>,
    pub(crate) issued_at: Option<i64>,
    /// Its stamp is of a history that the store has lost, so its time decides too.
    pub(crate) is_lost: bool,
}

impl Rules {
    pub(crate) fn put(&mut self, iss: &str, kind: &str, name: &str, rule: RuleRecord) {
        let hash = named_hash(kind, iss, name);
        let before = self.by_hash.get(&hash).copied();
        self.by_hash.insert_mut(hash, rule);
        self.ended -= usize::from(before.is_some_and(|before| before.is_ended));
        self.ended += usize::from(rule.is_ended);
        if before.is_none() {
            count(&mut self.of_issuers, iss.into(), 1);
        }
        let by = before.and_then(|before| before.by);
        if by != rule.by {
            self.count_client(by, -1);
            self.count_client(rule.by, 1);
        }
    }

    pub(crate) fn remove(&mut self, iss: &str, kind: &str, name: &str) {
        let hash = named_hash(kind, iss, name);
        let removed = self.by_hash.get(&hash).copied();
        let Some(removed) = removed else { return };
        self.by_hash.remove_mut(&hash);
        self.ended -= usize::from(removed.is_ended);
        count(&mut self.of_issuers, iss.into(), -1);
        self.count_client(removed.by, -1);
    }

    fn count_client(&mut self, by: Option<u64>, more: isize) {
        if let Some(by) = by {
            count(&mut self.of_clients, by, more);
        }
    }

    /// Checks that the client and the issuer may have one rule more than they have. Half of all rules is divided
    /// between the issuers, so that none can take the room of the others. The other half is for those that need more.
    pub(crate) fn check_room(&self, room: Room<'_>) -> Result<()> {
        let Room { iss, new, .. } = room;
        let of_client = self.of_clients.get(&room.by);
        let of_client = of_client.copied().unwrap_or_default() + new;
        if of_client >= room.per_client {
            return Err(Error::ClientRulesFull {
                used: of_client,
                limit: room.per_client,
            });
        }
        let shared = limits::RULES / 2;
        let own_part = shared / room.issuers.max(1);
        let used = |of: &str, count: usize| count + if of == iss { new } else { 0 };
        let own = used(iss, self.of_issuers.get(iss).copied().unwrap_or_default());
        let beyond =
            (self.of_issuers.iter()).map(|(of, count)| used(of, *count).saturating_sub(own_part));
        if own < own_part || beyond.sum::<usize>() < shared {
            return Ok(());
        }
        Err(Error::RulesFull {
            used: own,
            limit: own_part,
            all: self.by_hash.size() + new,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }

    /// Returns the number of rules in force.
    pub(crate) fn len(&self) -> usize {
        self.by_hash.size() - self.ended
    }

    pub(crate) fn get(&self, iss: &str, kind: &str, name: &str) -> Option<RuleRecord> {
        self.by_hash.get(&named_hash(kind, iss, name)).copied()
    }

    pub(crate) fn has(&self, iss: &str, kind: &str, name: &str) -> bool {
        self.get(iss, kind, name).is_some()
    }

    /// Returns whether a rule of that kind and name rejects the token.
    pub(crate) fn reject(&self, token: Revoked<'_>, kind: &str, name: &str) -> bool {
        self.by_hash
            .get(&named_hash(kind, token.iss, name))
            .is_some_and(|rule| rule.rejects(token))
    }
}

/// Adds to a number. It leaves when it is zero.
fn count<K: Eq + Hash>(counts: &mut HashTrieMapSync<K, usize>, key: K, more: isize) {
    let count = counts.get(&key).copied().unwrap_or_default();
    match count.saturating_add_signed(more) {
        0 => {
            counts.remove_mut(&key);
        }
        count => counts.insert_mut(key, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transaction replaces the snapshot: readers of the former one see it unchanged.
    #[test]
    fn rule_among_many_leaves_the_snapshot() {
        let mut rules = Rules::default();
        let iss = |number: usize| format!("https://id.example/{}", number % 10);
        for number in 0..1000 {
            rules.put(
                &iss(number),
                "subject",
                &number.to_string(),
                rule(MADE, Some(1)),
            );
        }
        let seen = rules.clone();
        rules.put(&iss(1000), "subject", "1000", rule(MADE, Some(1)));
        rules.remove(&iss(7), "subject", "7");
        assert_eq!((seen.len(), rules.len()), (1000, 1000));
        assert!(seen.has(&iss(7), "subject", "7") && !rules.has(&iss(7), "subject", "7"));
        assert!(!seen.has(&iss(1000), "subject", "1000"));
    }

    const MADE: i64 = 1_800_000_000;

    fn rule(not_before: i64, number: Option<u64>) -> RuleRecord {
        RuleRecord {
            not_before,
            until: not_before.saturating_add(900),
            stamp: number.map(|number| Stamp { epoch: 1, number }),
            by: None,
            is_ended: false,
            known: None,
        }
    }

    fn rejects(rule: RuleRecord, number: u64, issued_at: i64) -> bool {
        let id = format!("{:032x}-1-{number:x}", 7);
        rule.rejects(Revoked {
            iss: "i",
            token_id: Some(&id),
            issued_at: Some(issued_at),
            is_lost: false,
        })
    }

    /// An older version wrote it, with a clock that is behind.
    #[test]
    fn rule_without_stamp_does_not_weaken_known_rule() {
        let known = rule(MADE, Some(5));
        let told = rule(MADE - 30, None).over_known(Some(known));
        let later = MADE + CLOCK_SKEW_SECONDS + 1;
        assert!(rejects(known, 4, later));
        assert!(rejects(told, 4, later));
        assert!(!rejects(told, 5, later));
        assert!(rejects(told, 5, MADE - 30 + CLOCK_SKEW_SECONDS));
        assert_eq!(told.until, known.until);
        // A second rule without a stamp.
        let again = rule(MADE - 20, None).over_known(Some(told));
        assert!(rejects(again, 4, later));
        // A compromised key stays revoked.
        let endless = rule(i64::MAX, Some(5));
        let told = rule(MADE, None).over_known(Some(endless));
        assert!(rejects(told, 9, later));
        // The next one with a stamp counts as usual.
        let next = rule(MADE + 100, Some(8)).over_known(Some(again));
        assert!(rejects(next, 7, later) && !rejects(next, 8, MADE));
    }

    #[test]
    fn ended_rule_ends_itself_and_nothing_newer() {
        for number in [None, Some(5)] {
            let known = rule(MADE, number);
            let ended = known.ended(MADE + 10);
            assert_eq!(ended.over_known(Some(known)), ended);
            assert!(!rejects(ended, 0, MADE - 900));
            // A newer rule, of a node that is loading.
            let newer = rule(MADE + 5, Some(6));
            assert_eq!(ended.over_known(Some(newer)), newer);
            // A rule that is made later has nothing of it.
            for made in [newer.over(Some(ended)), newer.over_known(Some(ended))] {
                assert_eq!(made, newer);
            }
            // Neither of an endless one.
            let endless = rule(i64::MAX, number).ended(MADE);
            assert!(!rejects(endless, 0, MADE));
            assert_eq!(newer.over(Some(endless)), newer);
        }
        // It is stored until every node has seen it, and not longer than the rule.
        let long = RuleRecord {
            until: MADE + 10 * RULE_AFTER_SECONDS,
            ..rule(MADE, Some(5))
        };
        assert_eq!(long.ended(MADE).until, MADE + RULE_AFTER_SECONDS);
        assert_eq!(rule(MADE, None).ended(MADE + 10).until, MADE + 900);
    }
}
