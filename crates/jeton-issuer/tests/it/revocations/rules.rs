//! Tests revocation rules on nodes with different clocks: a token is accepted exactly if its node had seen
//! the rule when it issued the token.

use std::sync::Arc;
use std::thread;

use jeton_issuer::{Error, Request, Revoke, Subject, back_up, check_records, limits, restore};
use jeton_store::{Condition, Key, RedbStore, Store, Txn, block_on};

use crate::manual_clock::START;
use crate::members::{Elsewhere, ISS, Member, caught_up, members, settings, subject};

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
fn token_issued_after_rule_in_same_second_is_accepted() {
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
fn token_of_node_without_rule_is_rejected() {
    // Clocks behind, equal to and ahead of the revoking node.
    for ahead in [-SKEW, 0, SKEW] {
        let (store, [acknowledging, other]) = members([0, ahead]);
        other.store_hook.lag();
        acknowledging.revoke(subject("s"));
        let unaware = other.issue("s");
        // A token from the future is rejected for that alone.
        acknowledging.clock.forward(ahead.max(0));
        assert!(!acknowledging.accepts(&unaware.token), "{ahead}");
        other.store_hook.catch_up();
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
fn rule_renewed_by_slow_clock_still_rejects() {
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
fn rule_about_compromised_key_stays_endless() {
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
    // The same between the read and the commit of the other.
    let next = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    caught_up(&store, [&other]);
    other.store_hook.before_commit("/rule/", {
        let (node, kid) = (member.node.clone(), next.clone());
        move || node.compromised("me", ISS, &kid).unwrap()
    });
    other.revoke(Subject::Key(next.clone()));
    assert!(other.store_hook.has_acted());
    assert_eq!(rule(&next).0, None);
    // And the reverse.
    let last = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    caught_up(&store, [&other]);
    other.store_hook.before_commit("/rule/", {
        let (node, revoke) = (member.node.clone(), Subject::Key(last.clone()));
        move || assert!(block_on(node.revoke("me", ISS, Revoke::all(revoke))).is_ok())
    });
    other.node.compromised("me", ISS, &last).unwrap();
    assert!(other.store_hook.has_acted());
    assert_eq!(rule(&last).0, None);
}

#[test]
fn concurrent_revocations_get_two_numbers() {
    let (store, [member, other]) = members([0, 0]);
    let counter = || entry(&store, &counter_key()).unwrap();
    other.store_hook.before_commit("/rule/", {
        let node = member.node.clone();
        move || assert!(block_on(node.revoke("me", ISS, Revoke::all(subject("one")))).is_ok())
    });
    other.revoke(subject("two"));
    assert!(other.store_hook.has_acted());
    let stamps: Vec<_> = member.node.rules(ISS).unwrap();
    assert_ne!(stamps[0].stamp, stamps[1].stamp);
    let newest = stamps.iter().map(|rule| rule.stamp.unwrap()).max().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&counter()).unwrap();
    let record = &record["record"];
    let written = [record["epoch"].as_u64(), record["number"].as_u64()];
    assert_eq!(written, [Some(newest.epoch), Some(newest.number)]);
}

/// A token that lives for a day. The lagging node only knows a lifetime of 15 minutes.
#[test]
fn ended_rule_rejects_nothing_on_any_node() {
    let (store, [member, other, lagging]) = members([0, SKEW, -SKEW]);
    let issued = member.issue("s");
    let id = Subject::Token(issued.token_id.clone());
    let what = [subject("s"), Subject::Client("c".to_owned()), id];
    let accept = |members: &[&Member]| {
        let accepted = members.iter().map(|member| member.accepts(&issued.token));
        accepted.collect::<Vec<_>>()
    };
    for (round, what) in what.into_iter().enumerate() {
        member.revoke(what.clone());
        caught_up(&store, [&member, &other, &lagging]);
        assert_eq!(accept(&[&member, &other, &lagging]), [false; 3], "{what:?}");
        lagging.store_hook.lag();
        other
            .node
            .end_rules("me", ISS, std::slice::from_ref(&what))
            .unwrap();
        caught_up(&store, [&member, &other]);
        assert_eq!(accept(&[&member, &other, &lagging]), [true, true, false]);
        lagging.store_hook.catch_up();
        caught_up(&store, [&lagging]);
        let begun = Member::start(&store, 0);
        assert_eq!(accept(&[&lagging, &begun]), [true, true], "{what:?}");
        assert_eq!(member.node.rules(ISS).unwrap(), []);
        assert_eq!(begun.node.status().rules, 0);
        // A token by its hash stays revoked, and a rule that is made again counts.
        if round == 0 {
            member.revoke(what.clone());
            caught_up(&store, [&other]);
            assert_eq!(accept(&[&member, &other]), [false; 2]);
            assert!(member.accepts(&member.issue("s").token));
            member.node.end_rules("me", ISS, &[what]).unwrap();
        }
    }
    member.revoke_token(&issued.token).unwrap();
    assert!(!member.accepts(&issued.token));
}

#[test]
fn rule_that_cannot_end_is_refused() {
    let (_, [member]) = members([0]);
    let end = |rules: &[Subject]| member.node.end_rules("me", ISS, rules).map(drop);
    let kid = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    member.node.compromised("me", ISS, &kid).unwrap();
    let next = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    for what in [subject("s"), Subject::Key(next.clone())] {
        member.revoke(what);
    }
    let issued = member.issue("s");
    let message = |rules: &[Subject]| end(rules).unwrap_err().to_string();
    assert!(message(&[Subject::Key(kid)]).contains("compromised"));
    assert_eq!(end(&[subject("t")]), Err(Error::UnknownRule));
    assert_eq!(
        end(&[Subject::Client("s".to_owned())]),
        Err(Error::UnknownRule)
    );
    assert_eq!(message(&[]), "`names`: must have 1 to 100 names, and has 0");
    let many: Vec<_> = (0..101).map(|name| subject(&name.to_string())).collect();
    assert_eq!(
        message(&many),
        "`names`: must have 1 to 100 names, and has 101"
    );
    let long: Vec<_> = (0..80)
        .map(|name| subject(&format!("{name:01000}")))
        .collect();
    assert!(
        message(&long).contains("the limit is 65536"),
        "{}",
        message(&long)
    );
    let nobody = member.node.end_rules("me", "nobody", &[subject("s")]);
    assert_eq!(nobody.map(drop), Err(Error::UnknownIssuer));
    // All or none.
    assert_eq!(end(&[subject("s"), subject("t")]), Err(Error::UnknownRule));
    assert_eq!(member.node.rules(ISS).unwrap().len(), 3);
    end(&[subject("s"), subject("s")]).unwrap();
    assert_eq!(end(&[subject("s")]), Err(Error::UnknownRule));
    end(&[Subject::Key(next)]).unwrap();
    assert!(member.accepts(&issued.token));
    // One that is over is no longer in force.
    member.revoke(subject("s"));
    member.clock.forward(900 + limits::RULE_AFTER_SECONDS);
    assert_eq!(end(&[subject("s")]), Err(Error::UnknownRule));
}

#[test]
fn rule_renewed_at_the_same_time_is_not_ended() {
    let (store, [member, other]) = members([0, 0]);
    member.revoke(subject("s"));
    caught_up(&store, [&other]);
    let issued = member.issue("s");
    assert!(member.accepts(&issued.token));
    other.store_hook.before_commit("/rule/", {
        let node = member.node.clone();
        move || {
            block_on(node.revoke("me", ISS, Revoke::all(subject("s")))).unwrap();
        }
    });
    let refused = other
        .node
        .end_rules("me", ISS, &[subject("s")])
        .unwrap_err();
    assert!(other.store_hook.has_acted());
    assert!(
        refused.to_string().contains("made again at the same time"),
        "{refused}"
    );
    caught_up(&store, [&member, &other]);
    assert!(!member.accepts(&issued.token) && !other.accepts(&issued.token));
    // Another change in between does not matter.
    other.store_hook.before_commit("/rule/", {
        let node = member.node.clone();
        move || node.set_issuer("me", &settings(600)).unwrap()
    });
    other.node.end_rules("me", ISS, &[subject("s")]).unwrap();
    assert!(other.store_hook.has_acted());
    assert!(other.accepts(&issued.token));
}

#[test]
fn rule_outlives_tokens_of_newer_settings() {
    let (_, [member, other]) = members([0, 0]);
    other.store_hook.lag();
    member.node.set_issuer("me", &settings(86_400)).unwrap();
    let issued = member.issue("s");
    let answer = other.node.revoke("me", ISS, Revoke::all(subject("s")));
    let rule = loop {
        if let Some(rule) = member.node.rules(ISS).unwrap().pop() {
            break rule;
        }
        thread::yield_now();
    };
    other.store_hook.catch_up();
    block_on(answer).unwrap();
    assert!(
        rule.until >= issued.expires_at + limits::LEEWAY_SECONDS,
        "{} s too early",
        issued.expires_at + limits::LEEWAY_SECONDS - rule.until
    );
}

/// The machine was suspended between the read and the commit.
#[test]
fn late_rule_outlives_tokens_issued_until_commit() {
    let (_, [member, other]) = members([0, 0]);
    let (sender, issued) = std::sync::mpsc::channel();
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    member.store_hook.before_commit("/rule/", move || {
        clocks.iter().for_each(|clock| clock.forward(2 * 3600));
        let issued = issuing.issue(ISS, &Request::new("p").subject("s"));
        sender.send(issued.unwrap()).unwrap();
    });
    member.revoke(subject("s"));
    let (issued, rules) = (issued.recv().unwrap(), member.node.rules(ISS).unwrap());
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - rules[0].until;
    assert!(missing <= 0, "{missing} s too early");
}

/// By its own clock the rule would already have ended.
#[test]
fn rule_of_clock_days_behind_outlives_tokens() {
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
fn token_without_stamp_is_judged_by_time() {
    let (_, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    let id = "0123456789abcdef0123456789abcdef";
    let issue = |at: i64| elsewhere.issue(id, Some(at));
    member.revoke(subject("s"));
    member.clock.forward(SKEW + 1);
    for (token, is_accepted) in [
        (issue(START - 1), false),
        (issue(START), false),
        // By a clock that is ahead, before the rule.
        (issue(START + SKEW), false),
        (issue(START + SKEW + 1), true),
        (elsewhere.issue(id, None), false),
    ] {
        assert_eq!(member.accepts(&token), is_accepted);
    }
}

#[test]
fn stamp_parsing_is_strict() {
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

/// An older node without the counter renews a rule.
#[test]
fn rule_without_stamp_is_judged_by_time() {
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
    // Renewed by a node with the counter: the old condition stays, and the new one is exact.
    member.revoke(subject("s"));
    assert!(!member.accepts(&issued.token));
    assert!(member.accepts(&member.issue("s").token));
    assert_eq!(member.node.rules(ISS).unwrap()[0].until, until);
}

/// The store is restored, and its revisions continue: like etcd with `--bump-revision`.
#[test]
fn restored_store_counter_is_not_reused() {
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

/// Restores a backup at that second.
fn restored(backup: &[u8], at: i64) -> (tempfile::TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().unwrap();
    restore(folder.path(), &mut &*backup, at).unwrap();
    let store = RedbStore::open(folder.path()).unwrap();
    (folder, Arc::new(store))
}

/// Tokens issued before the restore may have seen rules that are lost.
#[test]
fn restored_store_begins_newer_epoch() {
    let (store, [member]) = members([0]);
    let without_counter = backed_up(&store);
    member.revoke(subject("other"));
    let with_counter = backed_up(&store);
    // In the second of the backup, and by a clock that is behind.
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
        // A second restore.
        let (_folder, store) = restored(&backed_up(&store), at);
        let member = Member::start(&store, 0);
        assert!(member.accepts(&member.issue("s").token));
        member.revoke(subject("s"));
        assert!(!member.accepts(&after.token));
    }
}
