//! Tests access tokens (RFC 9068), limited expiries, and ids that are used once.

use std::sync::Arc;

use jeton::{Clock as _, Timestamp};
use jeton_issuer::{
    CustomClaims, Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, check_records,
    limits,
};
use jeton_store::{MemoryStore, Prefix, Store, block_on};

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";

fn settings(profiles: &str) -> Result<IssuerSettings, Error> {
    IssuerSettings::from_json(&format!(r#"{{"iss":"{ISS}","profiles":[{profiles}]}}"#))
}

fn profile(name: &str, alg: &str, more: &str) -> String {
    format!(r#"{{"name":"{name}","alg":"{alg}","lifetime_seconds":900,"audiences":["api"]{more}}}"#)
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store.clone(), Options::new(kek), Arc::new(clock.clone())).unwrap()
}

fn node() -> (Node, ManualClock, Arc<dyn Store>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let node = start(&store, &clock);
    let access = profile("access", "ES256", r#","typ":"at+jwt""#);
    let mac = profile("mac", "HS256", r#","typ":"at+jwt""#);
    let plain = profile("plain", "ES256", "");
    let settings = settings(&[access, mac, plain].join(",")).unwrap();
    node.create_issuer("setup", settings).unwrap();
    (node, clock, store)
}

#[test]
fn profile_type_is_in_every_token_and_is_verified() {
    let (node, ..) = node();
    for (name, typ) in [("access", "at+jwt"), ("mac", "at+jwt"), ("plain", "JWT")] {
        let issued = node.issue(ISS, &Request::new(name).subject("a")).unwrap();
        let verified = node.verify(ISS, "api", &issued.token).unwrap();
        assert_eq!(verified.header().typ(), Some(typ), "{name}");
        let in_batch = node.with_profile_issuer(ISS, name, None, |issuer| {
            let mut batch = issuer.batch().unwrap();
            let issued = batch.issue(Some("a"), &CustomClaims::default()).unwrap();
            issued.token.to_owned()
        });
        let verified = node.verify(ISS, "api", &in_batch.unwrap()).unwrap();
        assert_eq!(verified.header().typ(), Some(typ), "{name}");
    }
}

#[test]
fn type_requires_an_unencrypted_jwt() {
    let typ = r#","typ":"at+jwt""#;
    assert!(settings(&profile("p", "ES256", typ)).is_ok());
    let error = settings(&profile("p", "v4.public", typ)).unwrap_err();
    assert!(error.to_string().contains("profiles[0].typ"), "{error}");
    assert!(settings(&profile("p", "ES256", r#","typ":"logout+jwt""#)).is_err());
    // The default is not written, so older versions read the settings.
    let written = serde_json::to_string(&settings(&profile("p", "ES256", "")).unwrap()).unwrap();
    assert!(!written.contains("typ"), "{written}");
    let old = settings(&profile("p", "ES256", "")).unwrap();
    let differences = old.differences(&settings(&profile("p", "ES256", typ)).unwrap());
    assert_eq!(differences[0].to_string(), "profiles[p].typ: JWT -> at+jwt");
}

#[test]
fn expiry_is_the_earlier_of_lifetime_and_limit() {
    let (node, clock, _) = node();
    let now = clock.now().unix_seconds();
    let at = |seconds| Timestamp::from_unix_seconds(now + seconds).unwrap();
    let issue = |latest| {
        let request = Request::new("access").expires_no_later_than(latest);
        node.issue(ISS, &request)
            .map(|issued| issued.expires_at - now)
    };
    assert_eq!(issue(at(30)), Ok(30));
    assert_eq!(issue(at(5000)), Ok(900));
    assert!(issue(at(0)).is_err() && issue(at(-5)).is_err());
}

#[test]
fn id_is_used_once_on_all_nodes() {
    let (node, clock, store) = node();
    let other = start(&store, &clock);
    let now = clock.seconds();
    let once = |node: &Node, party: &str, id: &str| {
        block_on(node.use_once(ISS, party, id, now + 60)).unwrap()
    };
    assert!(once(&node, "client a", "1"));
    assert!(!once(&node, "client a", "1") && !once(&other, "client a", "1"));
    assert!(once(&other, "client a", "2"));
    // Another party may use the same id, and no two parties and ids are mixed up.
    assert!(once(&node, "client b", "1"));
    assert!(once(&node, "client a 1", "1") && once(&node, "client a", "1 1"));
    assert!(!once(&start(&store, &clock), "client a", "1"));
    let used = || {
        let mut pages = block_on(store.scan(&Prefix::of(["u"]).unwrap())).unwrap();
        let mut count = 0;
        while let Some(page) = block_on(pages.next()).unwrap() {
            count += page.len();
        }
        count
    };
    assert_eq!(used(), 5);
    assert!(block_on(check_records(&*store)).is_ok());
    // As long as a token with that expiry could be accepted, the marks stay.
    clock.forward(60 + limits::LEEWAY_SECONDS);
    assert!(!once(&node, "client a", "1"));
}
