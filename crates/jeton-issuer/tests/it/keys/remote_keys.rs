//! Keys in an HSM: published, then signing, then retired, like keys in the store.

use std::sync::Arc;

use jeton::key::SigAlg;
use jeton_issuer::keyring::{KeyEntry, State};
use jeton_issuer::{Error, IssuerSettings, KeyKind, Request, limits};
use jeton_store::{MemoryStore, Store};

use crate::fake_hsm::{FakeHsm, GONE};
use crate::members::{ISS, Member};

const ES256: KeyKind = KeyKind::Jws(SigAlg::ES256);

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn settings() -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}},
            {{"name":"access","alg":"ES256","typ":"at+jwt","lifetime_seconds":900,"audiences":["api"]}},
            {{"name":"own","alg":"EdDSA","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn member(store: &Arc<dyn Store>, hsm: &FakeHsm) -> Member {
    let keys = Arc::new(hsm.clone());
    Member::start_with(store, 0, |options| options.remote_keys(keys))
}

/// An issuer whose ES256 key has the label `one`.
fn with_issuer(store: &Arc<dyn Store>) -> (Member, FakeHsm) {
    let hsm = FakeHsm::default();
    hsm.name(ISS, "one");
    let member = member(store, &hsm);
    member.node.create_issuer("me", settings()).unwrap();
    (member, hsm)
}

impl Member {
    fn issue_of(&self, profile: &str) -> Result<String, Error> {
        let issued = self.node.issue(ISS, &Request::new(profile))?;
        Ok(issued.token)
    }

    /// The ES256 keys: label and state.
    fn keys(&self) -> Vec<(String, State)> {
        let (_, keyring) = self.node.issuer(ISS).unwrap();
        let now = self.clock.seconds();
        let keys = keyring.keys().iter().filter(|key| key.kind == ES256);
        let label = |key: &KeyEntry| key.remote.clone().unwrap_or_default();
        keys.map(|key| (label(key), key.state(now))).collect()
    }

    fn kid(&self, label: &str) -> String {
        let (_, keyring) = self.node.issuer(ISS).unwrap();
        let mut keys = keyring.keys().iter();
        let found = keys.find(|key| key.remote.as_deref() == Some(label));
        found.unwrap().kid.clone()
    }
}

#[test]
fn remote_key_signs_every_form_and_each_node_verifies() {
    let store = store();
    let (member, hsm) = with_issuer(&store);
    assert_eq!(member.keys(), [("one".to_owned(), State::Signing)]);
    for profile in ["p", "access", "own"] {
        let token = member.issue_of(profile).unwrap();
        assert!(member.accepts(&token), "{profile}");
    }
    assert_eq!(hsm.signatures(), 2);
    assert!(member.node.signs_remotely(ISS, "p"));
    assert!(!member.node.signs_remotely(ISS, "own"));
    let token = member
        .node
        .with_profile_issuer(ISS, "p", None, |issuer| {
            let mut batch = issuer.batch().unwrap();
            let claims = jeton_issuer::CustomClaims::default();
            batch.issue(Some("s"), &claims).unwrap().token.to_owned()
        })
        .unwrap();
    // A node without the HSM.
    let other = Member::start(&store, 0);
    assert!(other.accepts(&token));
    let refused = other.issue_of("p").unwrap_err().to_string();
    assert!(refused.contains("[pkcs11]"), "{refused}");
    assert!(other.issue_of("own").is_ok());
    let refused = other.node.rotate("me", ISS, ES256).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
}

#[test]
fn issuer_with_an_unknown_remote_key_is_not_created() {
    let hsm = FakeHsm::default();
    hsm.name(ISS, "one");
    hsm.set_gone(true);
    let member = member(&store(), &hsm);
    let refused = member.node.create_issuer("me", settings()).unwrap_err();
    assert_eq!(refused, Error::SignerUnavailable(GONE.to_owned()));
    assert!(member.node.status().issuers.is_empty());
    hsm.set_gone(false);
    member.node.create_issuer("me", settings()).unwrap();
}

#[test]
fn remote_keys_that_are_gone_stop_issuing_and_not_verifying() {
    let store = store();
    let (member, hsm) = with_issuer(&store);
    let token = member.issue_of("p").unwrap();
    assert!(member.node.status().is_ready());
    hsm.set_gone(true);
    let refused = member.issue_of("p").unwrap_err();
    assert_eq!(refused, Error::SignerUnavailable(GONE.to_owned()));
    assert!(member.accepts(&token));
    assert!(member.issue_of("own").is_ok());
    let status = member.node.status();
    assert!(!status.is_ready());
    assert_eq!(status.remote_keys_fault.as_deref(), Some(GONE));
    // A node that starts meanwhile does the same.
    let late = self::member(&store, &hsm);
    assert!(late.accepts(&token) && late.issue_of("p").is_err());
    hsm.set_gone(false);
    for member in [&member, &late] {
        assert!(member.accepts(&member.issue_of("p").unwrap()));
        assert!(member.node.status().is_ready());
    }
}

#[test]
fn new_label_is_published_then_signs_and_the_former_never_returns() {
    let (member, hsm) = with_issuer(&store());
    hsm.name(ISS, "two");
    member.node.add_remote_keys();
    let labels = |labels: [&str; 2], states: [State; 2]| {
        let labels = labels.map(str::to_owned).into_iter();
        labels.zip(states).collect::<Vec<_>>()
    };
    let both = ["one", "two"];
    assert_eq!(
        member.keys(),
        labels(both, [State::Signing, State::Published])
    );
    member
        .clock
        .forward(limits::PUBLISH_BEFORE_USE_SECONDS - 60);
    let first = member.issue_of("p").unwrap();
    member.clock.forward(60);
    assert_eq!(
        member.keys(),
        labels(both, [State::Retired, State::Signing])
    );
    assert!(member.accepts(&first) && member.accepts(&member.issue_of("p").unwrap()));
    let kid = member.kid("one");
    // A node whose configuration names the former key does not publish it again.
    hsm.name(ISS, "one");
    member.node.add_remote_keys();
    assert_eq!(member.keys().len(), 2);
    member.clock.forward(900 + limits::GONE_AFTER_SECONDS);
    member.node.tick(ISS).unwrap();
    member.node.add_remote_keys();
    assert_eq!(member.keys(), [("two".to_owned(), State::Signing)]);
    let (_, keyring) = member.node.issuer(ISS).unwrap();
    assert!(keyring.knows(&kid));
}

#[test]
fn rotation_waits_for_a_new_label_and_other_kinds_do_not() {
    let (member, hsm) = with_issuer(&store());
    let refused = member
        .node
        .rotate("me", ISS, ES256)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("new label"), "{refused}");
    member.clock.forward(limits::ROTATE_EVERY_SECONDS);
    member.node.tick(ISS).unwrap();
    member.node.add_remote_keys();
    assert_eq!(member.keys(), [("one".to_owned(), State::Signing)]);
    let (_, keyring) = member.node.issuer(ISS).unwrap();
    assert_eq!(keyring.keys().len(), 3, "the EdDSA key has a successor");
    let due = member.node.status().rotation_due.unwrap_or_default();
    assert!(due.contains("label one"), "{due}");
    assert!(member.node.status().is_ready());
    // Other changes are still possible.
    member.node.set_issuer("me", &settings()).unwrap();
    hsm.name(ISS, "two");
    member.node.add_remote_keys();
    assert_eq!(member.keys().len(), 2);
    assert_eq!(member.node.status().rotation_due, None);
}

#[test]
fn compromised_remote_key_requires_a_new_label_and_never_returns() {
    let (member, hsm) = with_issuer(&store());
    let token = member.issue_of("p").unwrap();
    let kid = member.kid("one");
    let refused = member.node.compromised("me", ISS, &kid).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
    hsm.name(ISS, "two");
    member.node.compromised("me", ISS, &kid).unwrap();
    assert_eq!(member.keys(), [("two".to_owned(), State::Signing)]);
    assert!(member.node.verify(ISS, "api", &token).is_err());
    assert!(member.accepts(&member.issue_of("p").unwrap()));
    hsm.name(ISS, "one");
    member.node.add_remote_keys();
    assert_eq!(member.keys().len(), 1);
}
