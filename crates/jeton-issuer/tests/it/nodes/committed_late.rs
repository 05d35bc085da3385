//! Tests of decisions that are committed late: the machine is suspended, or the disk stalls, in between.

use jeton_issuer::keyring::{KeyEntry, State};
use jeton_issuer::{Error, IssuerSettings, Request, limits};

use crate::members::{ISS, Member, caught_up, members};

const PUBLISH_BEFORE_USE: i64 = limits::PUBLISH_BEFORE_USE_SECONDS;
const LATE: i64 = 2 * PUBLISH_BEFORE_USE;
const CUT_OFF: i64 = limits::ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();

fn keys(member: &Member) -> Vec<KeyEntry> {
    member.node.issuer(ISS).unwrap().1.keys().to_vec()
}

fn rotate(member: &Member) -> Result<(), Error> {
    member.node.rotate("me", ISS, "HS256".parse().unwrap())
}

/// Lets time pass for all between the member's decision and its next commit of keys.
fn commit_late(member: &Member, all: &[&Member]) {
    let clocks: Vec<_> = all.iter().map(|member| member.clock.clone()).collect();
    member.store_hook.before_commit("/k/", move || {
        clocks.iter().for_each(|clock| clock.forward(LATE));
    });
}

#[test]
fn late_rotation_keeps_prepublication_period() {
    let (store, [member, other]) = members([0, 0]);
    commit_late(&member, &[&member, &other]);
    rotate(&member).unwrap();
    caught_up(&store, [&other]);
    assert!(member.store_hook.has_acted());
    for member in [&member, &other] {
        let now = member.clock.seconds();
        let [first, next] = keys(member).try_into().unwrap();
        assert_eq!(next.state(now), State::Published);
        assert_eq!(
            (next.published_at, next.signs_from),
            (now, now + PUBLISH_BEFORE_USE)
        );
        assert_eq!(first.signs_until, Some(now + PUBLISH_BEFORE_USE));
    }
}

#[test]
fn stopped_rotation_keeps_prepublication_period() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let store_hook = member.store_hook.clone();
    member.store_hook.before_commit("/k/", move || {
        clocks.iter().for_each(|clock| clock.forward(LATE));
        let away = store_hook.clone();
        store_hook.before_commit("/k/", move || away.be_away(true));
    });
    assert!(rotate(&member).is_err());
    caught_up(&store, [&other]);
    let next = |at: usize| keys(&other)[at].clone();
    let now = other.clock.seconds();
    assert!(!next(1).is_confirmed());
    assert_eq!(
        next(1).state(now + 10 * PUBLISH_BEFORE_USE),
        State::Published
    );
    assert_eq!(next(0).state(now + 10 * PUBLISH_BEFORE_USE), State::Signing);
    // Any node continues it later.
    other.clock.forward(LATE);
    other.node.tick(ISS).unwrap();
    let now = other.clock.seconds();
    assert_eq!(
        (next(1).published_at, next(1).signs_from),
        (now, now + PUBLISH_BEFORE_USE)
    );
    assert_eq!(next(0).signs_until, Some(now + PUBLISH_BEFORE_USE));
    assert_eq!(keys(&other).len(), 2);
}

/// Other nodes sign with the previous key until they see the change.
#[test]
fn key_retired_late_outlives_its_tokens() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    let (sender, issued) = std::sync::mpsc::channel();
    let store_hook = member.store_hook.clone();
    // The key is published in time. Its confirmation is late.
    member.store_hook.before_commit("/k/", move || {
        store_hook.before_commit("/k/", move || {
            clocks.iter().for_each(|clock| clock.forward(LATE));
            let issued = issuing.issue(ISS, &Request::new("p"));
            sender.send(issued.unwrap()).unwrap();
        });
    });
    rotate(&member).unwrap();
    caught_up(&store, [&other]);
    let issued = issued.recv().unwrap();
    let gone_at = keys(&member)[0].gone_at().unwrap();
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - gone_at;
    assert!(missing <= 0, "{missing} s too early");
    assert!(other.accepts(&issued.token));
}

#[test]
fn key_compromised_late_stays_revoked() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    let (sender, issued) = std::sync::mpsc::channel();
    member.store_hook.before_commit("/k/", move || {
        clocks.iter().for_each(|clock| clock.forward(LATE));
        let issued = issuing.issue(ISS, &Request::new("p"));
        sender.send(issued.unwrap()).unwrap();
    });
    let kid = keys(&member)[0].kid.clone();
    member.node.compromised("me", ISS, &kid).unwrap();
    caught_up(&store, [&other]);
    let issued = issued.recv().unwrap();
    let rule = member.node.rules(ISS).unwrap().pop().unwrap();
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - rule.until;
    assert!(missing <= 0, "{missing} s too early");
}

/// The key has begun to sign in between.
#[test]
fn late_withdrawal_is_decided_again() {
    let (_, [member]) = members([0]);
    rotate(&member).unwrap();
    let next = keys(&member)[1].kid.clone();
    let clock = member.clock.clone();
    member
        .store_hook
        .after_read("/k/", move || clock.forward(LATE));
    let withdrawn = member.node.retire("me", ISS, &next);
    assert!(matches!(withdrawn, Err(Error::Invalid(_))), "{withdrawn:?}");
    assert_eq!(keys(&member).len(), 2);
}

/// Verifiers cached under the previous settings until the commit.
#[test]
fn shorter_max_age_counts_from_late_commit() {
    let (_, [member]) = members([0]);
    let settings = |publish_before_use: i64, max_age: i64| {
        let text = format!(
            r#"{{"iss":"{ISS}","publish_before_use_seconds":{publish_before_use},"max_age_seconds":{max_age},"profiles":[
                {{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
        );
        IssuerSettings::from_json(&text).unwrap()
    };
    member.node.set_issuer("me", &settings(7200, 3600)).unwrap();
    let clock = member.clock.clone();
    member
        .store_hook
        .before_commit("/i/", move || clock.forward(LATE));
    member.node.set_issuer("me", &settings(600, 300)).unwrap();
    let replaced_at = member.clock.seconds();
    member.clock.forward(1);
    rotate(&member).unwrap();
    let next = keys(&member)[1].clone();
    let cached_until = replaced_at + 3600;
    assert!(next.signs_from >= cached_until, "{next:?}");
}

/// A node that does not know the change signs with the key for as long as it may issue.
#[test]
fn unused_key_outlives_tokens_of_disconnected_node() {
    let (store, [member, other]) = members([0, 0]);
    other.store_hook.lag();
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    let settings = IssuerSettings::from_json(&text).unwrap();
    member.node.set_issuer("me", &settings).unwrap();
    other.clock.forward(CUT_OFF);
    let issued = other.node.issue(ISS, &Request::new("p")).unwrap();
    other.store_hook.catch_up();
    caught_up(&store, [&other]);
    let gone_at = keys(&member)[0].gone_at().unwrap();
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - gone_at;
    assert!(missing <= 0, "{missing} s too early");
}
