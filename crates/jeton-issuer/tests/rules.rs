//! Revocation rules on nodes with clocks of their own: a token is accepted exactly if its node had seen
//! the rule when it issued the token.
#![allow(clippy::unwrap_used, clippy::panic)]

mod hand;
mod hooked;
mod members;

use std::sync::Arc;
use std::thread;

use hand::START;
use jeton_issuer::{Request, Revoke, Subject, back_up, check_records, limits, restore};
use jeton_store::{Condition, Key, RedbStore, Store, Txn, block_on};
use members::{Elsewhere, ISS, Member, caught_up, members, settings, subject};

const SKEW: i64 = limits::CLOCK_SKEW_SECONDS;

fn entry(store: &Arc<dyn Store>, key: &Key) -> Option<Vec<u8>> {
    let read = block_on(store.read(std::slice::from_ref(key))).unwrap();
    read.entries[0].as_ref().map(|entry| entry.value.clone())
}

fn counter_key() -> Key {
    Key::of(["c", "rules"]).unwrap()
}

fn rule_key(kind: &str, name: &str) -> Key {
    Key::of(["rule", ISS, kind, name]).unwrap()
}

#[test]
fn a_token_issued_after_the_acknowledgement_in_the_same_second_is_accepted() {
    let (_, [member]) = members([0]);
    let kid = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    for what in [
        subject("s"),
        Subject::Client("c".to_owned()),
        Subject::Key(kid),
    ] {
        let before = member.issue("s");
        member.revoke(what);
        let after = member.issue("s");
        assert!(!member.accepts(&before.token));
        assert!(member.accepts(&after.token));
    }
    assert_eq!(member.clock.seconds(), START);
}

#[test]
fn a_token_of_a_node_that_had_not_seen_the_rule_is_rejected() {
    // As far behind as is allowed, at the same time, and as far ahead, of who revokes.
    for ahead in [-SKEW, 0, SKEW] {
        let (store, [acknowledging, other]) = members([0, ahead]);
        other.hooked.lag();
        acknowledging.revoke(subject("s"));
        let unaware = other.issue("s");
        // In the future of the acknowledging node a token is rejected for that alone.
        acknowledging.clock.forward(ahead.max(0));
        assert!(!acknowledging.accepts(&unaware.token), "{ahead}");
        other.hooked.catch_up();
        caught_up(&store, [&other]);
        assert!(!other.accepts(&unaware.token), "{ahead}");
        let aware = other.issue("s");
        other.clock.forward(-ahead.min(0));
        for member in [&acknowledging, &other] {
            assert!(member.accepts(&aware.token), "{ahead}");
        }
    }
}

#[test]
fn a_rule_renewed_by_a_clock_that_is_behind_still_rejects() {
    for ahead in [-SKEW, SKEW] {
        let (store, [member, other]) = members([0, ahead]);
        let issued = member.issue("s");
        member.revoke(subject("s"));
        caught_up(&store, [&other]);
        other.revoke(subject("s"));
        caught_up(&store, [&member]);
        assert!(!member.accepts(&issued.token), "{ahead}");
        let rules = member.node.rules(ISS).unwrap();
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].not_before, Some(START + ahead.max(0)));
    }
}

#[test]
fn a_rule_about_a_compromised_key_stays_without_end() {
    let (store, [member, other]) = members([0, 0]);
    let kid = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    let rule = |name: &str| {
        let rules = member.node.rules(ISS).unwrap();
        let rule = rules.into_iter().find(|rule| rule.name == name).unwrap();
        (rule.not_before, rule.until)
    };
    member.node.compromised("me", ISS, &kid).unwrap();
    let (_, until) = rule(&kid);
    member.clock.forward(10);
    member.revoke(Subject::Key(kid.clone()));
    assert_eq!(rule(&kid), (None, until + 10));
    // The same while the other is between its look and its commit.
    let next = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    caught_up(&store, [&other]);
    other.hooked.before_commit("/rule/", {
        let (node, kid) = (member.node.clone(), next.clone());
        move || node.compromised("me", ISS, &kid).unwrap()
    });
    other.revoke(Subject::Key(next.clone()));
    assert!(other.hooked.has_acted());
    assert_eq!(rule(&next).0, None);
    // And the other way round.
    let last = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    caught_up(&store, [&other]);
    other.hooked.before_commit("/rule/", {
        let (node, revoke) = (member.node.clone(), Subject::Key(last.clone()));
        move || assert!(block_on(node.revoke("me", ISS, Revoke::all(revoke))).is_ok())
    });
    other.node.compromised("me", ISS, &last).unwrap();
    assert!(other.hooked.has_acted());
    assert_eq!(rule(&last).0, None);
}

#[test]
fn two_revocations_at_once_get_two_numbers() {
    let (store, [member, other]) = members([0, 0]);
    let counter = || entry(&store, &counter_key()).unwrap();
    other.hooked.before_commit("/rule/", {
        let node = member.node.clone();
        move || assert!(block_on(node.revoke("me", ISS, Revoke::all(subject("one")))).is_ok())
    });
    other.revoke(subject("two"));
    assert!(other.hooked.has_acted());
    let stamps: Vec<_> = member.node.rules(ISS).unwrap();
    assert_ne!(stamps[0].stamp, stamps[1].stamp);
    let newest = stamps.iter().map(|rule| rule.stamp.unwrap()).max().unwrap();
    let record = format!(
        r#"{{"schema":1,"record":{{"epoch":{},"number":{}}}}}"#,
        newest.epoch, newest.number
    );
    assert_eq!(counter(), record.as_bytes());
}

/// A token that lives for a day, of which a node that lags knows only that tokens live for 15 minutes.
#[test]
fn a_rule_outlives_the_tokens_that_newer_settings_allow() {
    let (_, [member, other]) = members([0, 0]);
    other.hooked.lag();
    member.node.set_issuer("me", &settings(86_400)).unwrap();
    let issued = member.issue("s");
    let answer = other.node.revoke("me", ISS, Revoke::all(subject("s")));
    let rule = loop {
        if let Some(rule) = member.node.rules(ISS).unwrap().pop() {
            break rule;
        }
        thread::yield_now();
    };
    other.hooked.catch_up();
    block_on(answer).unwrap();
    assert!(
        rule.until >= issued.expires_at + limits::LEEWAY_SECONDS,
        "{} s too early",
        issued.expires_at + limits::LEEWAY_SECONDS - rule.until
    );
}

/// The node stood still between its look and its commit, as a machine that is suspended.
#[test]
fn a_rule_that_is_committed_late_outlives_the_tokens_issued_until_then() {
    let (_, [member, other]) = members([0, 0]);
    let (sender, issued) = std::sync::mpsc::channel();
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    member.hooked.before_commit("/rule/", move || {
        clocks.iter().for_each(|clock| clock.forward(2 * 3600));
        let issued = issuing.issue(ISS, &Request::new("p").subject("s"));
        sender.send(issued.unwrap()).unwrap();
    });
    member.revoke(subject("s"));
    let (issued, rules) = (issued.recv().unwrap(), member.node.rules(ISS).unwrap());
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - rules[0].until;
    assert!(missing <= 0, "{missing} s too early");
}

/// Its end would be in the past already.
#[test]
fn rule_made_by_a_clock_days_behind_outlives_the_tokens() {
    let days = 3 * 24 * 3600;
    let (store, [member, behind]) = members([0, -days]);
    let issued = member.issue("s");
    let kid = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    behind.revoke(subject("s"));
    behind.node.compromised("me", ISS, &kid).unwrap();
    caught_up(&store, [&member]);
    for rule in member.node.rules(ISS).unwrap() {
        let missing = issued.expires_at + limits::LEEWAY_SECONDS - rule.until;
        assert!(missing <= 0, "{} ends {missing} s too early", rule.kind);
    }
}

#[test]
fn a_token_without_a_stamp_is_judged_by_the_clocks_that_are_allowed() {
    let (_, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    let id = "0123456789abcdef0123456789abcdef";
    let issue = |at: i64| elsewhere.issue(id, Some(at));
    member.revoke(subject("s"));
    member.clock.forward(SKEW + 1);
    for (token, is_accepted) in [
        (issue(START - 1), false),
        (issue(START), false),
        // Of a clock that is ahead, before the rule was made.
        (issue(START + SKEW), false),
        (issue(START + SKEW + 1), true),
        (elsewhere.issue(id, None), false),
    ] {
        assert_eq!(member.accepts(&token), is_accepted);
    }
}

#[test]
fn a_stamp_is_read_only_as_it_is_written() {
    let (_, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    member.revoke(subject("s"));
    let issued = member.issue("s");
    let (random, stamp) = issued.token_id.split_once('-').unwrap();
    let (epoch, number) = stamp.split_once('-').unwrap();
    let long = "1".repeat(17);
    let accepted = |id: &str| member.accepts(&elsewhere.issue(id, Some(START)));
    assert!(accepted(&issued.token_id));
    assert!(accepted(&format!("{random}-ffffffffffffffff-0")));
    assert!(!accepted(&format!("{random}-0-ffffffffffffffff")));
    for id in [
        format!("{random}-0{epoch}-{number}"),
        format!("{random}-{epoch}-0{number}"),
        format!("{random}-{epoch}"),
        format!("{random}-{epoch}-"),
        format!("{random}--{number}"),
        format!("{random}-{epoch}-{number}-"),
        format!("{random}-{epoch}-{number}-1"),
        format!("{random}-f{}-{number}", &epoch.to_uppercase()),
        format!("{random}-+{epoch}-{number}"),
        format!("{random}-{long}-{number}"),
        format!("{random}-{epoch}-{long}"),
        format!("{}-{epoch}-{number}", &random[1..]),
        format!("{random}0-{epoch}-{number}"),
        format!("{}G-{epoch}-{number}", &random[1..]),
        format!(
            "{}-{epoch}-{number}",
            random.replace(char::is_alphabetic, "A")
        ),
        format!(" {}", issued.token_id),
        format!("{}\u{661}", issued.token_id),
    ] {
        assert!(!accepted(&id), "{id}");
    }
}

/// A node of before the counter renews a rule while others have been upgraded.
#[test]
fn a_rule_without_a_stamp_is_judged_by_the_clocks_that_are_allowed() {
    let (store, [member]) = members([0]);
    member.revoke(subject("s"));
    let stamped = member.issue("s");
    let until = START + 100_000;
    let old = format!(r#"{{"schema":1,"record":{{"not_before":{START},"until":{until}}}}}"#);
    let txn = Txn::new().put(rule_key("subject", "s"), old);
    block_on(store.commit(txn)).unwrap();
    caught_up(&store, [&member]);
    assert!(!member.accepts(&stamped.token));
    member.clock.forward(SKEW);
    let too_early = member.issue("s");
    member.clock.forward(1);
    let issued = member.issue("s");
    assert!(!member.accepts(&too_early.token));
    assert!(member.accepts(&issued.token));
    // Renewed by one that counts: it keeps what it was, and is exact.
    member.revoke(subject("s"));
    assert!(!member.accepts(&issued.token));
    assert!(member.accepts(&member.issue("s").token));
    assert_eq!(member.node.rules(ISS).unwrap()[0].until, until);
}

/// The store goes back to what it was, and its revisions go on: what `--bump-revision` does to an etcd.
#[test]
fn a_counter_that_went_back_with_its_store_is_not_used_again() {
    let (store, [member]) = members([0]);
    member.revoke(subject("other"));
    let before = entry(&store, &counter_key()).unwrap();
    for name in ["1", "2", "3"] {
        member.revoke(subject(name));
    }
    let issued = member.issue("s");
    let txn = ["1", "2", "3"].iter().fold(Txn::new(), |txn, name| {
        txn.delete(rule_key("subject", name))
    });
    let txn = txn.put(counter_key(), before);
    block_on(store.commit(txn.when(counter_key(), Condition::Present))).unwrap();
    let restarted = Member::start(&store, 0);
    restarted.revoke(subject("s"));
    assert!(!restarted.accepts(&issued.token));
}

fn backed_up(store: &Arc<dyn Store>) -> Vec<u8> {
    let mut backup = Vec::new();
    back_up(&**store, START, &mut backup).unwrap();
    backup
}

/// What a backup makes at that second.
fn restored(backup: &[u8], at: i64) -> (tempfile::TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().unwrap();
    restore(folder.path(), &mut &*backup, at).unwrap();
    let store = RedbStore::open(folder.path()).unwrap();
    (folder, Arc::new(store))
}

/// Tokens of before the restore may have seen rules that the restore has lost.
#[test]
fn a_restored_store_begins_an_epoch_that_is_newer() {
    let (store, [member]) = members([0]);
    let without_counter = backed_up(&store);
    member.revoke(subject("other"));
    let with_counter = backed_up(&store);
    // In the second of the backup, and by a clock that is behind it.
    for (backup, at) in [
        (without_counter, START),
        (with_counter.clone(), START),
        (with_counter, START - 1000),
    ] {
        let unaware = member.issue("s");
        member.revoke(subject("s"));
        let lost = member.issue("s");
        let (_folder, store) = restored(&backup, at);
        block_on(check_records(&*store)).unwrap();
        let member = Member::start(&store, 0);
        let before = member.issue("s");
        member.revoke(subject("s"));
        for rejected in [&unaware, &lost, &before] {
            assert!(!member.accepts(&rejected.token));
        }
        let after = member.issue("s");
        assert!(member.accepts(&after.token));
        // And once more.
        let (_folder, store) = restored(&backed_up(&store), at);
        let member = Member::start(&store, 0);
        assert!(member.accepts(&member.issue("s").token));
        member.revoke(subject("s"));
        assert!(!member.accepts(&after.token));
    }
}
