//! What is due by itself: keys that are to be published or dropped, minutes and rules that are over.

use std::sync::PoisonError;
use std::time::Instant;

use jeton_store::limits::TXN_OPERATIONS;
use jeton_store::{Condition, Txn};

use super::Inner;
use crate::error::Result;
use crate::record::revocations_of_minute;
use crate::revocation::first_live_minute;

/// Each is looked at and deleted.
const RULES_PER_TXN: usize = TXN_OPERATIONS / 2;

impl Inner {
    /// Called by the scribe every second.
    pub(crate) fn do_what_is_due(&self) {
        self.writes.look(&*self.store);
        let now = self.now();
        let mut steady = self.steady.lock().unwrap_or_else(PoisonError::into_inner);
        let over = steady.observe(now, Instant::now());
        drop(steady);
        let keys = self.keys_that_are_due(now, over);
        let rest = over.map_or(Ok(()), |over| self.drop_what_is_over(over));
        *self.due_fault() = keys.and(rest).err().map(|error| error.to_string());
    }

    fn keys_that_are_due(&self, now: i64, over: Option<i64>) -> Result<()> {
        let snapshot = self.snapshot.load_full();
        for (iss, view) in &snapshot.issuers {
            if view.keyring.next_tick(&view.settings) <= now {
                self.tick(iss)?;
            }
            if let Some(over) = over
                && view.keyring.has_gone(over)
            {
                self.drop_gone(iss, over)?;
            }
        }
        Ok(())
    }

    /// Drops the minutes and rules that are over, in memory and in the store. The same from several
    /// nodes does no harm.
    pub(super) fn drop_what_is_over(&self, now: i64) -> Result<()> {
        let first = first_live_minute(now);
        let (minutes, rules) = {
            let mut working = self.working();
            let over = working.minutes.range(..first);
            let over: Vec<_> = over
                .flat_map(|(minute, issuers)| issuers.iter().map(|iss| (*minute, iss.clone())))
                .collect();
            if !over.is_empty() {
                working.snapshot.revocations.drop_before(first);
                self.publish(&working);
            }
            let rules = working.rules.iter().filter(|(_, kept)| kept.until <= now);
            let rules = rules.map(|(key, kept)| (key.clone(), kept.changed));
            (over, rules.collect::<Vec<_>>())
        };
        for (minute, iss) in minutes {
            let txn = Txn::new().delete_prefix(revocations_of_minute(&iss, minute)?);
            self.try_commit(txn)?;
            // Only now: what the store kept is tried again.
            self.working().forget(minute, &iss);
        }
        for rules in rules.chunks(RULES_PER_TXN) {
            let txn = rules.iter().fold(Txn::new(), |txn, (key, changed)| {
                txn.when(key.clone(), Condition::Unchanged(*changed))
                    .delete(key.clone())
            });
            // If one was renewed meanwhile, none is deleted: the next look finds it as it is then.
            self.try_commit(txn)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "../../tests/hooked/mod.rs"]
mod hooked;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use jeton::{Clock, Timestamp};
    use jeton_store::{MemoryStore, Mirror, Prefix, Store, block_on};

    use super::hooked::Hooked;

    use crate::{IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject};

    const NOW: i64 = 1_800_000_000;

    #[derive(Clone)]
    struct Hand(Arc<AtomicI64>);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap()
        }
    }

    fn node(store: &Arc<dyn Store>) -> (Node, Hand) {
        let clock = Hand(Arc::new(AtomicI64::new(NOW)));
        let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
        let node = Node::start(store.clone(), options, Arc::new(clock.clone())).unwrap();
        let settings = r#"{"iss": "i", "profiles":
            [{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#;
        node.create_issuer("me", IssuerSettings::from_json(settings).unwrap())
            .unwrap();
        (node, clock)
    }

    /// Forty days ahead for a moment: a key is made early, and nothing is thrown away.
    #[test]
    fn a_clock_that_jumps_loses_no_key_and_no_revocation() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, clock) = node(&store);
        let issued = node.issue("i", &Request::new("p")).unwrap();
        let revoked = node.issue("i", &Request::new("p")).unwrap();
        let revoke = Revoke::token(&revoked.token_id, revoked.expires_at);
        block_on(node.revoke("me", "i", revoke)).unwrap();
        node.rotate("me", "i", "HS256".parse().unwrap()).unwrap();
        for jump in [40 * 24 * 3600, -NOW + 60] {
            clock.0.store(NOW + jump, Ordering::SeqCst);
            node.inner.do_what_is_due();
            clock.0.store(NOW + 1, Ordering::SeqCst);
            node.inner.do_what_is_due();
            assert!(node.verify("i", "a", &issued.token).is_ok());
            assert!(node.verify("i", "a", &revoked.token).is_err());
            assert!(node.issue("i", &Request::new("p")).is_ok());
        }
        assert_eq!(node.status().fault, None);
    }

    /// By another node, and by an administrator's call on the same one.
    #[test]
    fn a_rule_that_is_renewed_while_it_is_cleaned_up_stays() {
        let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let hooked = Hooked::new(&shared);
        let (cleaner, clock) = node(&hooked.store());
        let subject = |name: &str| Revoke::all(Subject::Subject(name.into()));
        let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
        let other = Node::start(shared.clone(), options, Arc::new(clock.clone())).unwrap();
        for renewing in [other, cleaner.clone()] {
            for name in ["s", "over"] {
                block_on(cleaner.revoke("me", "i", subject(name))).unwrap();
            }
            clock.0.fetch_add(2 * 900 + 1000, Ordering::SeqCst);
            let renewed = renewing.clone();
            hooked.before_commit("/rule/", move || {
                block_on(renewed.revoke("me", "i", subject("s"))).unwrap();
            });
            // What it looked at is no longer so: neither is deleted, until it looks again.
            for left in [2, 1] {
                cleaner
                    .inner
                    .drop_what_is_over(clock.0.load(Ordering::SeqCst))
                    .unwrap();
                let newest = block_on(shared.status()).unwrap().revision;
                while cleaner.revision() < newest {
                    std::thread::yield_now();
                }
                assert!(hooked.has_acted());
                let rules = cleaner.rules("i").unwrap();
                assert_eq!(rules.len(), left);
                assert!(rules.iter().any(|rule| rule.name == "s"));
                assert_eq!(cleaner.status().rules, left);
            }
        }
    }

    #[test]
    fn minutes_and_rules_are_dropped_when_they_are_over_and_not_before() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, _clock) = node(&store);
        for (id, at) in [("1", NOW + 60), ("2", NOW + 61), ("3", NOW + 900)] {
            block_on(node.revoke("me", "i", Revoke::token(id, at))).unwrap();
        }
        let subject = Revoke::all(Subject::Subject("s".into()));
        block_on(node.revoke("me", "i", subject)).unwrap();
        let stored = |prefix: &str| {
            let mirror = block_on(Mirror::load(&*store, &Prefix::of([prefix]).unwrap()));
            mirror.unwrap().entries().count()
        };
        let at = |now: i64| {
            node.inner.drop_what_is_over(now).unwrap();
            while node.status().revision < block_on(store.status()).unwrap().revision {
                std::thread::yield_now();
            }
            let status = node.status();
            assert_eq!(
                (stored("r"), stored("rule")),
                (status.revocations, status.rules)
            );
            (status.revocations, status.rules)
        };
        // The end of the minute, the leeway, and a clock that is behind.
        let minute_over = NOW + 120 + 30 + 300;
        assert_eq!(at(minute_over - 1), (3, 1));
        assert_eq!(at(minute_over), (1, 1));
        // The longest-lived token of this second, on a clock that is behind another that was.
        let rule_over = NOW + 900 + 30 + 600;
        assert_eq!(at(rule_over - 1), (0, 1));
        assert_eq!(at(rule_over), (0, 0));
    }
}
