//! Periodic maintenance: publishes and deletes keys, and deletes expired revocations.

use std::collections::{BTreeMap, HashSet};

use jeton_store::limits::TXN_OPERATIONS;
use jeton_store::{Condition, Key, Moment, Revision, Txn, block_on};

use super::clock_guard::ClockGuard;
use super::inner::Inner;
use super::lock::lock;
use super::other_clocks::OtherClocks;
use crate::audit::checkpoint;
use crate::error::Result;
use crate::limits;
use crate::record::{revocations_of_minute, used_hash, used_hash_key, used_in_minute};
use crate::revocation::first_live_minute;

/// Each rule needs a condition and a deletion.
const RULES_PER_TXN: usize = TXN_OPERATIONS / 2;
/// Maximum faults in one status.
const FAULTS_TOLD: usize = 3;

/// What the clock of this node may decide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trusted {
    /// Publish keys that are due by then.
    due: Option<i64>,
    /// Forget revocations in memory that are over by then.
    over: Option<i64>,
    /// Delete revocations in the store, for all nodes, that are over by then.
    over_for_all: Option<i64>,
    /// Reschedule keys that were published after that second by a wrong clock.
    future: Option<i64>,
}

impl Trusted {
    /// Decides what the clock may do. Publishing a key or deleting a revocation too early affects all
    /// nodes. So the clock must have run without a jump, and of two different clocks the slower one
    /// decides. A key waits for a bounded time: a clock that is years behind must not stop all rotation.
    fn by(
        clock_guard: &mut ClockGuard,
        others: &mut OtherClocks,
        now: i64,
        moment: Moment,
    ) -> Trusted {
        let observed = clock_guard.observe(now, moment);
        if observed.has_jumped {
            others.forget();
        }
        let ahead = others.ahead_by(moment);
        let longest_wait = i64::try_from(limits::CLOCKS_APART_SECONDS).unwrap_or(i64::MAX);
        let over_for_all = |over: i64| {
            // Without writes nothing needs to be deleted. The next write allows it.
            let newest = others.newest().unwrap_or(i64::MIN);
            over.saturating_sub(ahead).min(newest)
        };
        Trusted {
            due: (observed.is_steady).then(|| now - ahead.min(longest_wait)),
            over: observed.over,
            over_for_all: observed.over.map(over_for_all),
            future: (observed.is_steady && others.behind_by(moment) == 0).then_some(now),
        }
    }
}

impl Inner {
    /// Called by the revocation writer every second.
    pub(crate) fn do_what_is_due(&self) {
        self.writes.look(&*self.store);
        let now = self.now();
        let (mut clock_guard, mut others) = (self.clock_guard(), self.others());
        let trusted = Trusted::by(&mut clock_guard, &mut others, now, Moment::now());
        drop((clock_guard, others));
        let trusted = self.as_others_allow(trusted, now);
        self.write_own_record(now);
        let mut faults = self.add_remote_keys(now);
        let held = self.keys_that_are_due(now, &trusted, &mut faults);
        let done = [
            self.begin_epoch_after_lost_token(now),
            self.drop_what_is_over(&trusted),
            self.join_chains(now),
        ];
        let failed = done.into_iter().filter_map(Result::err);
        faults.extend(failed.map(|error| error.to_string()));
        *self.due_fault() = (!faults.is_empty()).then(|| faults.join("; "));
        *self.held() = held;
    }

    /// Limits what this clock may decide by the clocks of running nodes. While they do not agree, no key is published.
    fn as_others_allow(&self, trusted: Trusted, now: i64) -> Trusted {
        let slowest = lock(&self.peers).ahead_of_slowest(Moment::now());
        let may_publish = self.time_for_keys(now).is_ok();
        Trusted {
            due: trusted.due.filter(|_| may_publish),
            over: trusted.over,
            over_for_all: trusted
                .over_for_all
                .map(|over| over.saturating_sub(slowest)),
            future: trusted.future.filter(|_| may_publish),
        }
    }

    /// Writes a checkpoint of the audit log if this node is the next to do it.
    fn join_chains(&self, now: i64) -> Result<()> {
        let state = {
            let mut working = self.working();
            if !working.audit.is_due(now, Moment::now()) {
                return Ok(());
            }
            working.audit.clone()
        };
        // After a conflict it looks again a second later, when it knows what another node has written.
        if let Some(txn) = checkpoint(&*self.store, &state, now)? {
            self.try_commit(txn)?;
        }
        Ok(())
    }

    /// Runs key maintenance for all issuers. Returns what waits and why. A failure for one issuer does not
    /// stop the others.
    fn keys_that_are_due(
        &self,
        now: i64,
        trusted: &Trusted,
        faults: &mut Vec<String>,
    ) -> Option<String> {
        let snapshot = self.snapshot.load_full();
        let mut held = None;
        for (iss, view) in &snapshot.issuers {
            let keyring = &view.keyring;
            let without = self.without_new_key(view);
            let due = keyring.next_tick_without(&view.settings, &without);
            let mut done = Vec::new();
            // Deletions first: they make room for new keys.
            if let Some(over) = trusted.over_for_all
                && keyring.has_gone(over)
            {
                done.push(self.drop_gone(iss, over));
            }
            if let Some(key) = keyring.published_in_the_future(&view.settings, now) {
                match trusted.future {
                    Some(_) => done.push(self.bring_forward(iss)),
                    None => {
                        let kid = &key.kid;
                        held.get_or_insert_with(|| {
                            format!("key {kid} of {iss}, published in the future")
                        });
                    }
                }
            }
            match trusted.due {
                Some(by) if due <= by => done.push(self.tick(iss)),
                _ if due <= now => {
                    held.get_or_insert_with(|| format!("a new key of {iss}"));
                }
                _ => {}
            }
            let failed = done.into_iter().filter_map(Result::err);
            faults.extend(failed.map(|error| format!("keys of {iss}: {error}")));
        }
        // The status and the log need only the first ones.
        faults.truncate(FAULTS_TOLD);
        held
    }

    /// Deletes expired minutes and rules, in memory and in the store. Several nodes may do this at once.
    pub(super) fn drop_what_is_over(&self, trusted: &Trusted) -> Result<()> {
        if let Some(over) = trusted.over {
            self.forget_what_is_over(over);
        }
        let Some(over) = trusted.over_for_all else {
            return Ok(());
        };
        let first = first_live_minute(over);
        let (minutes, used, rules) = {
            let working = self.working();
            let minutes = minutes_before(&working.minutes, first);
            let used = minutes_before(&working.used_minutes, first);
            let rules = working.rules.iter().filter(|(_, kept)| kept.until <= over);
            let rules = rules.map(|(key, kept)| (key.clone(), kept.changed));
            (minutes, used, rules.collect::<Vec<_>>())
        };
        for (minute, iss) in minutes {
            let txn = Txn::new().delete_prefix(revocations_of_minute(&iss, minute)?);
            self.try_commit(txn)?;
            // After the commit, so that a failure is retried.
            self.working().forget(minute, &iss);
        }
        for (minute, iss) in used {
            self.delete_used(&iss, minute)?;
            self.working().forget_used(minute, &iss);
        }
        for rules in rules.chunks(RULES_PER_TXN) {
            self.delete_rules(rules, over)?;
        }
        Ok(())
    }

    /// Deletes the used ids of a minute: each by its hash, and at the end the minute, so that a failure is retried.
    fn delete_used(&self, iss: &str, minute: u32) -> Result<()> {
        let used = used_in_minute(iss, minute)?;
        let mut pages = block_on(self.store.scan(&used))?;
        while let Some(page) = block_on(pages.next())? {
            let hashes: Vec<_> = page
                .iter()
                .filter_map(|entry| used_hash(&entry.key))
                .collect();
            for hashes in hashes.chunks(TXN_OPERATIONS) {
                let keys = hashes.iter().map(|hash| used_hash_key(iss, *hash));
                let keys = keys.collect::<Result<Vec<_>>>()?;
                self.try_commit(keys.into_iter().fold(Txn::new(), Txn::delete))?;
            }
        }
        self.try_commit(Txn::new().delete_prefix(used))?;
        Ok(())
    }

    /// Deletes expired rules, on condition that they are unchanged.
    fn delete_rules(&self, rules: &[(Key, Revision)], over: i64) -> Result<()> {
        let txn = rules.iter().fold(Txn::new(), |txn, (key, changed)| {
            txn.when(key.clone(), Condition::Unchanged(*changed))
                .delete(key.clone())
        });
        let is_done = self.try_commit(txn)?.is_some();
        let mut keys: Vec<Key> = rules.iter().map(|(key, _)| key.clone()).collect();
        if !is_done {
            // If a rule was renewed, nothing is deleted, and the next run sees the new rule. A rule that
            // another node deleted too early exists only in memory.
            let read = block_on(self.store.read(&keys))?;
            let mut found = read.entries.iter();
            keys.retain(|_| found.next().is_some_and(Option::is_none));
        }
        self.working().forget_rules(&keys, over);
        Ok(())
    }

    /// Forgets in memory only. This needs no store and affects no other node.
    fn forget_what_is_over(&self, over: i64) {
        let mut working = self.working();
        let live = working.snapshot.revocations.len();
        (working.snapshot.revocations).drop_before(first_live_minute(over));
        let rules = working.drop_rules(over);
        if live != working.snapshot.revocations.len() || rules > 0 {
            self.publish(&working);
        }
    }
}

fn minutes_before(minutes: &BTreeMap<u32, HashSet<String>>, first: u32) -> Vec<(u32, String)> {
    let ended = minutes.range(..first);
    ended
        .flat_map(|(minute, issuers)| issuers.iter().map(|iss| (*minute, iss.clone())))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, dead_code)]
#[path = "../../tests/it/intercepted_store.rs"]
mod intercepted_store;

#[cfg(test)]
#[path = "histories_test.rs"]
mod histories_test;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;

    use jeton::{Clock, Timestamp};
    use jeton_store::{MemoryStore, Mirror, Moment, Prefix, Store, block_on};

    use super::intercepted_store::InterceptedStore;

    use super::Trusted;
    use crate::limits::{
        CLAIMED_EXPIRY_SECONDS, CLOCK_SKEW_SECONDS, CLOCKS_APART_SECONDS, ISSUE_WITHOUT_STORE_MAX,
        LEEWAY_SECONDS, PUBLISH_BEFORE_USE_SECONDS, RULE_AFTER_SECONDS, STEADY_SECONDS,
    };
    use crate::node::clock_guard::ClockGuard;
    use crate::node::other_clocks::OtherClocks;
    use crate::{Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject};

    const NOW: i64 = 1_800_000_000;

    #[derive(Clone)]
    struct ManualClock(Arc<AtomicI64>);

    impl Clock for ManualClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap()
        }
    }

    fn options() -> Options {
        Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap())
    }

    fn node(store: &Arc<dyn Store>) -> (Node, ManualClock) {
        let clock = ManualClock(Arc::new(AtomicI64::new(NOW)));
        let node = Node::start(store.clone(), options(), Arc::new(clock.clone())).unwrap();
        let settings = r#"{"iss": "i", "profiles":
            [{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#;
        node.create_issuer("me", IssuerSettings::from_json(settings).unwrap())
            .unwrap();
        (node, clock)
    }

    impl Trusted {
        /// Trusts the clock in everything.
        fn all(now: i64) -> Trusted {
            Trusted {
                due: Some(now),
                over: Some(now),
                over_for_all: Some(now),
                future: Some(now),
            }
        }
    }

    /// A clock that is forty days ahead for a moment publishes no key and deletes nothing.
    #[test]
    fn clock_jump_loses_no_key_or_revocation() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, clock) = node(&store);
        let issued = node.issue("i", &Request::new("p")).unwrap();
        let revoked = node.issue("i", &Request::new("p")).unwrap();
        let revoke = Revoke::token(&revoked.token_id, revoked.expires_at);
        block_on(node.revoke("me", "i", revoke)).unwrap();
        node.rotate("me", "i", "HS256".parse().unwrap()).unwrap();
        let keys = node.issuer("i").unwrap().1;
        for jump in [40 * 24 * 3600, -NOW + 60] {
            clock.0.store(NOW + jump, Ordering::SeqCst);
            node.inner.do_what_is_due();
            clock.0.store(NOW + 1, Ordering::SeqCst);
            node.inner.do_what_is_due();
            assert!(node.verify("i", "a", &issued.token).is_ok());
            assert!(node.verify("i", "a", &revoked.token).is_err());
            assert!(node.issue("i", &Request::new("p")).is_ok());
            assert_eq!(node.issuer("i").unwrap().1, keys);
        }
        assert_eq!(node.status().fault, None);
    }

    /// Renewed by another node, and by a call on the same node.
    #[test]
    fn rule_renewed_during_cleanup_stays() {
        let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let store_hook = InterceptedStore::new(&shared);
        let (cleaner, clock) = node(&store_hook.store());
        let subject = |name: &str| Revoke::all(Subject::Subject(name.into()));
        let other = Node::start(shared.clone(), options(), Arc::new(clock.clone())).unwrap();
        for renewing in [other, cleaner.clone()] {
            for name in ["s", "over"] {
                block_on(cleaner.revoke("me", "i", subject(name))).unwrap();
            }
            clock
                .0
                .fetch_add(900 + RULE_AFTER_SECONDS, Ordering::SeqCst);
            let renewed = renewing.clone();
            store_hook.before_commit("/rule/", move || {
                block_on(renewed.revoke("me", "i", subject("s"))).unwrap();
            });
            // The condition fails: neither rule is deleted until the next run.
            for left in [2, 1] {
                let now = Trusted::all(clock.0.load(Ordering::SeqCst));
                cleaner.inner.drop_what_is_over(&now).unwrap();
                let newest = block_on(shared.status()).unwrap().revision;
                while cleaner.revision() < newest {
                    std::thread::yield_now();
                }
                assert!(store_hook.has_acted());
                let rules = cleaner.rules("i").unwrap();
                assert_eq!(rules.len(), left);
                assert!(rules.iter().any(|rule| rule.name == "s"));
                // Expired rules are not used, although they are still stored.
                assert_eq!(cleaner.status().rules, 1);
            }
        }
    }

    /// Otherwise this node would try to delete the rule every second, with everything in the same
    /// transaction.
    #[test]
    fn rule_deleted_early_counts_until_its_end() {
        let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let store_hook = InterceptedStore::new(&shared);
        let (node, clock) = node(&store_hook.store());
        let ahead = Node::start(shared.clone(), options(), Arc::new(clock.clone())).unwrap();
        let subject = |name: &str| Revoke::all(Subject::Subject(name.into()));
        let heard = || {
            let newest = block_on(shared.status()).unwrap().revision;
            for node in [&node, &ahead] {
                node.inner.wait_for(newest).unwrap();
            }
        };
        block_on(node.revoke("me", "i", subject("early"))).unwrap();
        heard();
        let over = NOW + 10_000;
        ahead.inner.drop_what_is_over(&Trusted::all(over)).unwrap();
        heard();
        assert_eq!(
            (node.rules("i").unwrap().len(), node.status().rules),
            (0, 1)
        );
        block_on(node.revoke("me", "i", subject("in time"))).unwrap();
        clock.0.store(over, Ordering::SeqCst);
        for _ in 0..2 {
            node.inner.drop_what_is_over(&Trusted::all(over)).unwrap();
            heard();
        }
        assert_eq!(
            (node.rules("i").unwrap().len(), node.status().rules),
            (0, 0)
        );
        store_hook.before_commit("/rule/", || {});
        node.inner.drop_what_is_over(&Trusted::all(over)).unwrap();
        assert!(!store_hook.has_acted(), "nothing is left to delete");
    }

    /// A rule written later does not weaken it either.
    #[test]
    fn rule_deleted_early_is_not_weakened_later() {
        let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, clock) = node(&shared);
        let ahead = Node::start(shared.clone(), options(), Arc::new(clock.clone())).unwrap();
        let kid = node.issuer("i").unwrap().1.keys()[0].kid.clone();
        let heard = || {
            let newest = block_on(shared.status()).unwrap().revision;
            for node in [&node, &ahead] {
                node.inner.wait_for(newest).unwrap();
            }
        };
        node.compromised("me", "i", &kid).unwrap();
        heard();
        let over = Trusted::all(NOW + 10_000);
        ahead.inner.drop_what_is_over(&over).unwrap();
        heard();
        let later = Revoke::all(Subject::Key(kid));
        block_on(ahead.revoke("me", "i", later)).unwrap();
        heard();
        assert!(node.rules("i").unwrap()[0].not_before.is_some());
        // Regardless of the issue time. A feed reports the same.
        let mut feed = node.revocations("i").unwrap();
        let told = block_on(feed.next()).unwrap();
        assert_eq!(told.rules.len(), 1);
        assert_eq!(told.rules[0].not_before, None);
    }

    /// A node that does not know the rule issues for as long as it may.
    #[test]
    fn rule_outlives_tokens_of_disconnected_node() {
        let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, clock) = node(&shared);
        let store_hook = InterceptedStore::new(&shared);
        let cut_off_clock = ManualClock(Arc::new(AtomicI64::new(NOW)));
        let (store, its_clock) = (store_hook.store(), Arc::new(cut_off_clock.clone()));
        let cut_off = Node::start(store, options(), its_clock).unwrap();
        store_hook.lag();
        let subject = Revoke::all(Subject::Subject("s".into()));
        block_on(node.revoke("me", "i", subject)).unwrap();
        let issues_until = NOW + ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();
        cut_off_clock
            .0
            .store(issues_until + CLOCK_SKEW_SECONDS, Ordering::SeqCst);
        let issued = cut_off.issue("i", &Request::new("p").subject("s")).unwrap();
        // The cleaning clock is ahead of the verifying one.
        let verified_at = issued.expires_at + LEEWAY_SECONDS - 1;
        let cleaned_at = verified_at + CLOCK_SKEW_SECONDS;
        node.inner
            .drop_what_is_over(&Trusted::all(cleaned_at))
            .unwrap();
        clock.0.store(verified_at, Ordering::SeqCst);
        let verified = node.verify("i", "a", &issued.token);
        assert_eq!(verified.unwrap_err(), Error::Revoked);
    }

    #[test]
    fn clock_decides_when_reliable_and_not_ahead() {
        let begun = Moment::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let steady = RefCell::new(ClockGuard::new(NOW, begun));
        let others = RefCell::new(OtherClocks::default());
        let trusted = |clock: i64, after: u64| {
            let (steady, others) = (&mut *steady.borrow_mut(), &mut *others.borrow_mut());
            Trusted::by(steady, others, clock, at(after))
        };
        let steady = STEADY_SECONDS.unsigned_abs();
        let all = |trusted: Trusted| (trusted.due, trusted.over, trusted.future);
        assert_eq!(all(trusted(NOW, 0)), (None, None, None));
        let later = NOW + STEADY_SECONDS;
        let clear = trusted(later, steady);
        assert_eq!(all(clear), (Some(later), Some(NOW), Some(later)));
        // The next write of any node allows deletion.
        assert_eq!(clear.over_for_all, Some(i64::MIN));
        let hear = |written: i64, after: u64| {
            let others = &mut *others.borrow_mut();
            others.hear(written, Duration::ZERO, later, at(after));
        };
        hear(later, steady);
        assert_eq!(trusted(later, steady).over_for_all, Some(NOW));
        // Ahead of another by an hour, plus a second for transit.
        hear(later - 3601, steady);
        let ahead = trusted(later, steady);
        assert_eq!(all(ahead), (Some(later - 3600), Some(NOW), Some(later)));
        assert_eq!(ahead.over_for_all, Some(NOW - 3600));
        // Ahead by years: keys wait for a day, and nothing is deleted.
        hear(0, steady);
        let ahead = trusted(later, steady);
        assert_eq!(ahead.due, Some(later - 24 * 3600));
        assert!(ahead.over_for_all < Some(0));
        // Behind another: its future may be the present.
        hear(later + 3600, steady);
        assert_eq!(trusted(later, steady).future, None);
        // The difference is forgotten after a day.
        let day = steady + CLOCKS_APART_SECONDS;
        let later = later + 24 * 3600;
        assert_eq!(
            all(trusted(later, day)),
            (Some(later), Some(NOW + STEADY_SECONDS), Some(later))
        );
    }

    /// A key published a year ahead waits while this clock may be the wrong one. Then it is rescheduled.
    #[test]
    fn key_published_in_future_is_rescheduled() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, clock) = node(&store);
        let year = 365 * 24 * 3600;
        clock.0.store(NOW + year, Ordering::SeqCst);
        node.rotate("me", "i", "HS256".parse().unwrap()).unwrap();
        clock.0.store(NOW, Ordering::SeqCst);
        let due = |trusted: &Trusted| {
            let held = node.inner.keys_that_are_due(NOW, trusted, &mut Vec::new());
            let (_, keyring) = node.issuer("i").unwrap();
            (held, keyring.keys()[1].signs_from)
        };
        let unsure = Trusted {
            future: None,
            ..Trusted::all(NOW)
        };
        let (held, signs_from) = due(&unsure);
        assert!(held.unwrap().contains("published in the future"));
        assert_eq!(signs_from, NOW + year + PUBLISH_BEFORE_USE_SECONDS);
        assert_eq!(
            due(&Trusted::all(NOW)),
            (None, NOW + PUBLISH_BEFORE_USE_SECONDS)
        );
    }

    #[test]
    fn cleanup_deletes_only_what_is_over() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (node, _clock) = node(&store);
        for (id, at) in [("1", NOW + 60), ("2", NOW + 61), ("3", NOW + 899)] {
            block_on(node.revoke("me", "i", Revoke::token(id, at))).unwrap();
        }
        let subject = Revoke::all(Subject::Subject("s".into()));
        block_on(node.revoke("me", "i", subject)).unwrap();
        let stored = |prefix: &str| {
            let mirror = block_on(Mirror::load(&*store, &Prefix::of([prefix]).unwrap()));
            mirror.unwrap().entries().count()
        };
        let at = |now: i64| {
            node.inner.drop_what_is_over(&Trusted::all(now)).unwrap();
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
        // The end of the minute, the leeway, the clock difference, and the error of a claimed expiry.
        let minute_over = NOW + 120 + LEEWAY_SECONDS + CLOCK_SKEW_SECONDS + CLAIMED_EXPIRY_SECONDS;
        assert_eq!(at(minute_over - 1), (3, 1));
        assert_eq!(at(minute_over), (1, 1));
        // The longest-lived token of a node that does not know the rule.
        let rule_over = NOW + 900 + RULE_AFTER_SECONDS;
        assert_eq!(at(rule_over - 1), (0, 1));
        assert_eq!(at(rule_over), (0, 0));
    }
}
