//! What is decided long before it is committed: the machine is suspended, or the disk stalls, in between.
#![allow(clippy::unwrap_used, clippy::panic)]

mod hand;
mod hooked;
mod members;

use jeton_issuer::keyring::{KeyEntry, State};
use jeton_issuer::{Error, IssuerSettings, Request, limits};
use members::{ISS, Member, caught_up, members};

const LEAD: i64 = limits::LEAD_SECONDS;
const LATE: i64 = 2 * LEAD;
const CUT_OFF: i64 = limits::ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();

fn keys(member: &Member) -> Vec<KeyEntry> {
    member.node.issuer(ISS).unwrap().1.keys().to_vec()
}

fn rotate(member: &Member) -> Result<(), Error> {
    member.node.rotate("me", ISS, "HS256".parse().unwrap())
}

/// Time passes for all of them between the member's look and its next commit of keys.
fn commit_late(member: &Member, all: &[&Member]) {
    let clocks: Vec<_> = all.iter().map(|member| member.clock.clone()).collect();
    member.hooked.before_commit("/k/", move || {
        clocks.iter().for_each(|clock| clock.forward(LATE));
    });
}

#[test]
fn rotation_committed_late_signs_after_the_lead() {
    let (store, [member, other]) = members([0, 0]);
    commit_late(&member, &[&member, &other]);
    rotate(&member).unwrap();
    caught_up(&store, [&other]);
    assert!(member.hooked.has_acted());
    for member in [&member, &other] {
        let now = member.clock.seconds();
        let [first, next] = keys(member).try_into().unwrap();
        assert_eq!(next.state(now), State::Published);
        assert_eq!((next.published_at, next.signs_from), (now, now + LEAD));
        assert_eq!(first.signs_until, Some(now + LEAD));
    }
}

#[test]
fn key_of_a_node_that_stops_after_a_late_commit_signs_after_the_lead() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let hooked = member.hooked.clone();
    member.hooked.before_commit("/k/", move || {
        clocks.iter().for_each(|clock| clock.forward(LATE));
        let away = hooked.clone();
        hooked.before_commit("/k/", move || away.be_away(true));
    });
    assert!(rotate(&member).is_err());
    caught_up(&store, [&other]);
    let next = |at: usize| keys(&other)[at].clone();
    let now = other.clock.seconds();
    assert!(!next(1).is_confirmed());
    assert_eq!(next(1).state(now + 10 * LEAD), State::Published);
    assert_eq!(next(0).state(now + 10 * LEAD), State::Signing);
    // Any node goes on with it, long after.
    other.clock.forward(LATE);
    other.node.tick(ISS).unwrap();
    let now = other.clock.seconds();
    assert_eq!(
        (next(1).published_at, next(1).signs_from),
        (now, now + LEAD)
    );
    assert_eq!(next(0).signs_until, Some(now + LEAD));
    assert_eq!(keys(&other).len(), 2);
}

/// Others signed with the key before until they saw that the next one signs.
#[test]
fn key_retired_by_a_late_commit_outlives_its_tokens() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    let (sender, issued) = std::sync::mpsc::channel();
    let hooked = member.hooked.clone();
    // The key is published at once. When it signs is written late.
    member.hooked.before_commit("/k/", move || {
        hooked.before_commit("/k/", move || {
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
fn compromised_key_committed_late_stays_revoked_for_its_tokens() {
    let (store, [member, other]) = members([0, 0]);
    let clocks = [member.clock.clone(), other.clock.clone()];
    let issuing = other.node.clone();
    let (sender, issued) = std::sync::mpsc::channel();
    member.hooked.before_commit("/k/", move || {
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

/// It signs by then.
#[test]
fn withdrawal_decided_too_long_ago_is_decided_anew() {
    let (_, [member]) = members([0]);
    rotate(&member).unwrap();
    let next = keys(&member)[1].kid.clone();
    let clock = member.clock.clone();
    member.hooked.after_read("/k/", move || clock.forward(LATE));
    let withdrawn = member.node.retire("me", ISS, &next);
    assert!(matches!(withdrawn, Err(Error::Invalid(_))), "{withdrawn:?}");
    assert_eq!(keys(&member).len(), 2);
}

/// Verifiers cached under the settings before until they were replaced.
#[test]
fn shorter_caching_committed_late_counts_from_its_commit() {
    let (_, [member]) = members([0]);
    let settings = |lead: i64, max_age: i64| {
        let text = format!(
            r#"{{"iss":"{ISS}","lead_seconds":{lead},"max_age_seconds":{max_age},"profiles":[
                {{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
        );
        IssuerSettings::from_json(&text).unwrap()
    };
    member.node.set_issuer("me", &settings(7200, 3600)).unwrap();
    let clock = member.clock.clone();
    member
        .hooked
        .before_commit("/i/", move || clock.forward(LATE));
    member.node.set_issuer("me", &settings(600, 300)).unwrap();
    let replaced_at = member.clock.seconds();
    member.clock.forward(1);
    rotate(&member).unwrap();
    let next = keys(&member)[1].clone();
    let cached_until = replaced_at + 3600;
    assert!(next.signs_from >= cached_until, "{next:?}");
}

/// A node that has not heard that no profile uses the key signs with it for as long as it issues.
#[test]
fn key_without_profile_outlives_the_tokens_of_a_node_that_is_cut_off() {
    let (store, [member, other]) = members([0, 0]);
    other.hooked.lag();
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    let settings = IssuerSettings::from_json(&text).unwrap();
    member.node.set_issuer("me", &settings).unwrap();
    other.clock.forward(CUT_OFF);
    let issued = other.node.issue(ISS, &Request::new("p")).unwrap();
    other.hooked.catch_up();
    caught_up(&store, [&other]);
    let gone_at = keys(&member)[0].gone_at().unwrap();
    let missing = issued.expires_at + limits::LEEWAY_SECONDS - gone_at;
    assert!(missing <= 0, "{missing} s too early");
}
