//! A data folder that was copied and is used on two machines: both issue tokens of the same keys, and neither knows what
//! the other one revokes.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use jeton_issuer::{
    DataFolder, Error, Issued, IssuerSettings, KeySource, Missing, Node, Options, Protection,
    Request, Revoke, Subject,
};
use jeton_store::block_on;
use jeton_testkit::until_some;

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";

/// Longer than views lag and clocks differ.
const LATER: i64 = 300;

/// A thread of a node that ended may have the folder open for a moment.
const WAIT: Duration = Duration::from_secs(60);

fn open(path: &Path, clock: &ManualClock, with: fn(Options) -> Options) -> (Node, DataFolder) {
    let folder = DataFolder::open(path, Missing::Make, WAIT).unwrap();
    let options = folder.options(KeySource::InFolder).unwrap();
    let options = with(options.run_as("host", Duration::ZERO));
    let node = Node::start(folder.store(), options, Arc::new(clock.clone())).unwrap();
    (node, folder)
}

fn revoke(node: &Node, subject: &str) {
    let rule = Revoke::all(Subject::Subject(subject.to_owned()));
    block_on(node.revoke("me", ISS, rule)).unwrap();
}

fn issue(node: &Node, subject: &str) -> Issued {
    node.issue(ISS, &Request::new("p").subject(subject))
        .unwrap()
}

fn accepts(node: &Node, issued: &Issued) -> bool {
    match node.verify(ISS, "api", &issued.token) {
        Ok(_) => true,
        Err(Error::Revoked) => false,
        Err(other) => panic!("{other:?}"),
    }
}

/// Two machines with the same folder. The second one has revoked nothing since the copy.
fn two_machines(with: fn(Options) -> Options, act: impl FnOnce(&Node, &Node, &ManualClock)) {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let clock = ManualClock::new();
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":7200,"audiences":["api"]}}]}}"#
    );
    let (node, opened) = open(&first, &clock, with);
    node.create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    revoke(&node, "before");
    drop((node, opened));
    drop(DataFolder::open(&first, Missing::Refuse, WAIT).unwrap());
    let copied = Command::new("cp")
        .arg("-a")
        .args([&first, &second])
        .status();
    assert!(copied.unwrap().success());
    clock.forward(LATER);
    let (one, _opened) = open(&first, &clock, with);
    let (other, _also) = open(&second, &clock, with);
    for number in 0..20 {
        revoke(&one, &format!("user-{number}"));
    }
    act(&one, &other, &clock);
}

#[test]
fn copied_folder_judges_tokens_of_the_other_by_time_and_warns() {
    two_machines(
        |options| options,
        |one, other, clock| {
            let [revoked, kept] = ["user-7", "somebody"].map(|name| issue(one, name));
            clock.forward(LATER);
            assert!(accepts(other, &revoked) && accepts(other, &kept));
            revoke(other, "user-7");
            assert!(!accepts(other, &revoked));
            assert!(accepts(other, &kept));
            // Logins at the other machine.
            clock.forward(LATER);
            assert!(accepts(other, &issue(other, "user-7")));
            let status = until_some("it counts the tokens", || {
                let status = other.status();
                (status.lost_history_tokens > 0).then_some(status)
            });
            let warning = status.warning.unwrap();
            assert!(
                warning.contains("its folder is on two machines"),
                "{warning}"
            );
            assert!(status.ready.verify && status.ready.issue);
            // And the other way round: tokens of the machine that has revoked less.
            let back = issue(other, "user-8");
            assert!(accepts(one, &back));
            revoke(one, "user-8");
            clock.forward(LATER);
            assert!(!accepts(one, &back));
        },
    );
}

/// The control.
#[test]
#[cfg(debug_assertions)]
fn copied_folder_without_protection_accepts_what_it_revoked() {
    two_machines(
        |options| options.without(Protection::History),
        |one, other, clock| {
            let revoked = issue(one, "user-7");
            clock.forward(LATER);
            revoke(other, "user-7");
            assert!(accepts(other, &revoked));
            assert!(other.status().warning.is_none());
        },
    );
}
