//! Tests nodes on a shared store, with a clock that the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jeton::Clock;
use jeton::key::KeyManagementAlg;
use jeton_issuer::keyring::State;
use jeton_issuer::{
    AuditPositions, CustomClaims, Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options,
    Request, Revoke, Subject, export_audit, limits, verify_audit,
};
use jeton_store::{Entry, Key, MemoryStore, Mirror, Prefix, RedbStore, Store, Txn, block_on};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

/// Generous timeout for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

fn settings(algs: &[&str]) -> IssuerSettings {
    let profiles: Vec<_> = algs
        .iter()
        .map(|alg| {
            format!(r#"{{"name":"{alg}","alg":"{alg}","lifetime_seconds":900,"audiences":["api","web"]}}"#)
        })
        .collect();
    let text = format!(r#"{{"iss":"{ISS}","profiles":[{}]}}"#, profiles.join(","));
    IssuerSettings::from_json(&text).unwrap()
}

fn kek() -> KeyEncryptionKey {
    KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap()
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> Node {
    Node::start(store.clone(), Options::new(kek()), Arc::new(clock.clone())).unwrap()
}

fn ready(algs: &[&str]) -> (Arc<dyn Store>, ManualClock, Node) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let node = start(&store, &clock);
    node.create_issuer("setup", settings(algs)).unwrap();
    (store, clock, node)
}

fn kids(node: &Node, state: State, clock: &ManualClock) -> Vec<String> {
    let (_, keyring) = node.issuer(ISS).unwrap();
    let now = clock.now().unix_seconds();
    let keys = keyring.keys().iter().filter(|key| key.state(now) == state);
    keys.map(|key| key.kid.clone()).collect()
}

#[test]
fn every_kind_is_issued_verified_and_revoked() {
    let algs = [
        "ES256",
        "EdDSA",
        "HS256",
        "v4.public",
        "v4.local",
        "v3.public",
        "v3.local",
    ];
    let (_, _, node) = ready(&algs);
    for alg in algs {
        let request = Request::new(alg).subject("user-7");
        let issued = node.issue(ISS, &request).unwrap();
        let verified = node.verify(ISS, "api", &issued.token).unwrap();
        assert_eq!(verified.subject(), Some("user-7"), "{alg}");
        assert_eq!(verified.token_id(), Some(&*issued.token_id), "{alg}");
        assert_eq!(
            node.verify(ISS, "other", &issued.token).unwrap_err(),
            Error::WrongAudience
        );
        let revoke = Revoke::token(&issued.token_id, issued.expires_at);
        block_on(node.revoke("me", ISS, revoke)).unwrap();
        assert_eq!(
            node.verify(ISS, "api", &issued.token).unwrap_err(),
            Error::Revoked,
            "{alg}"
        );
        let other = node.issue(ISS, &request).unwrap();
        assert!(node.verify(ISS, "api", &other.token).is_ok(), "{alg}");
    }
    let document = node.key_set(ISS).unwrap();
    let set = String::from_utf8(document.jwk_set.clone()).unwrap();
    assert!(
        !set.contains("\"k\"") && !set.contains("\"d\""),
        "no secret is published"
    );
    assert_eq!(document.paserks.len(), 2);
}

#[test]
fn subjects_clients_keys_and_tokens_without_expiry_are_revoked() {
    let (_, clock, node) = ready(&["ES256"]);
    let claims = r#"{"client_id": "c"}"#;
    let claims = CustomClaims::from_json(claims, limits::TOKEN_BYTES).unwrap();
    let issue = |subject| {
        node.issue(
            ISS,
            &Request::new("ES256")
                .subject(subject)
                .claims(claims.clone()),
        )
        .unwrap()
    };
    let (one, two) = (issue("one"), issue("two"));
    block_on(node.revoke("me", ISS, Revoke::all(Subject::Subject("one".into())))).unwrap();
    assert_eq!(
        node.verify(ISS, "api", &one.token).unwrap_err(),
        Error::Revoked
    );
    assert!(node.verify(ISS, "api", &two.token).is_ok());
    block_on(node.revoke("me", ISS, Revoke::all(Subject::Token(two.token_id.clone())))).unwrap();
    assert_eq!(
        node.verify(ISS, "api", &two.token).unwrap_err(),
        Error::Revoked
    );
    let later = issue("one");
    assert!(node.verify(ISS, "api", &later.token).is_ok());
    block_on(node.revoke("me", ISS, Revoke::all(Subject::Client("c".into())))).unwrap();
    assert_eq!(
        node.verify(ISS, "api", &later.token).unwrap_err(),
        Error::Revoked
    );
    let last = issue("three");
    let kid = kids(&node, State::Signing, &clock).remove(0);
    block_on(node.revoke("me", ISS, Revoke::all(Subject::Key(kid)))).unwrap();
    assert_eq!(
        node.verify(ISS, "api", &last.token).unwrap_err(),
        Error::Revoked
    );
}

#[test]
fn rotated_key_signs_exactly_after_prepublication() {
    let (_, clock, node) = ready(&["ES256"]);
    let before = node.issue(ISS, &Request::new("ES256")).unwrap();
    let old = kids(&node, State::Signing, &clock);
    node.rotate("me", ISS, "ES256".parse().unwrap()).unwrap();
    let new = kids(&node, State::Published, &clock);
    assert_eq!(new.len(), 1);
    let signer = |token: &str| {
        node.verify(ISS, "api", token)
            .unwrap()
            .key_id()
            .unwrap()
            .to_owned()
    };
    clock.forward(3599);
    let token = node.issue(ISS, &Request::new("ES256")).unwrap();
    assert_eq!(signer(&token.token), old[0]);
    clock.forward(1);
    assert_eq!(signer(&token.token), old[0], "a retired key still verifies");
    assert_eq!(
        signer(&node.issue(ISS, &Request::new("ES256")).unwrap().token),
        new[0]
    );
    assert!(node.verify(ISS, "api", &before.token).is_err(), "expired");
    // The last token, the leeway, and the clock difference.
    clock.forward(900 + limits::LEEWAY_SECONDS + 2 * limits::CLOCK_SKEW_SECONDS - 1);
    node.tick(ISS).unwrap();
    assert_eq!(kids(&node, State::Retired, &clock), old);
    clock.forward(1);
    node.tick(ISS).unwrap();
    let (_, keyring) = node.issuer(ISS).unwrap();
    assert_eq!(keyring.keys().len(), 1);
}

#[test]
fn compromised_key_is_replaced_at_once() {
    let (_, clock, node) = ready(&["ES256"]);
    let stolen = node.issue(ISS, &Request::new("ES256")).unwrap();
    let kid = kids(&node, State::Signing, &clock).remove(0);
    node.compromised("me", ISS, &kid).unwrap();
    assert!(node.verify(ISS, "api", &stolen.token).is_err());
    let set = node.key_set(ISS).unwrap();
    assert!(
        !String::from_utf8(set.jwk_set.clone())
            .unwrap()
            .contains(&kid)
    );
    let fresh = node.issue(ISS, &Request::new("ES256")).unwrap();
    assert!(node.verify(ISS, "api", &fresh.token).is_ok());
    assert_eq!(
        node.compromised("me", ISS, "nobody's").unwrap_err(),
        Error::UnknownKey
    );
}

#[test]
fn compromised_key_published_successor_signs() {
    let (_, clock, node) = ready(&["ES256"]);
    let kid = kids(&node, State::Signing, &clock).remove(0);
    node.rotate("me", ISS, "ES256".parse().unwrap()).unwrap();
    let successor = kids(&node, State::Published, &clock);
    clock.forward(1800);
    let set = node.key_set(ISS).unwrap();
    node.compromised("me", ISS, &kid).unwrap();
    // The successor that most verifiers have, not a new key.
    assert_eq!(kids(&node, State::Signing, &clock), successor);
    let (_, keyring) = node.issuer(ISS).unwrap();
    assert_eq!(keyring.keys().len(), 1);
    let issued = node.issue(ISS, &Request::new("ES256")).unwrap();
    let signer = node.verify(ISS, "api", &issued.token).unwrap();
    assert_eq!(signer.key_id(), Some(&*successor[0]));
    let set = String::from_utf8(set.jwk_set.clone()).unwrap();
    assert!(set.contains(&successor[0]));
    // A published key: the previous one continues.
    node.rotate("me", ISS, "ES256".parse().unwrap()).unwrap();
    let next = kids(&node, State::Published, &clock).remove(0);
    node.compromised("me", ISS, &next).unwrap();
    assert_eq!(kids(&node, State::Signing, &clock), successor);
    clock.forward(30 * 24 * 3600);
    assert!(node.issue(ISS, &Request::new("ES256")).is_ok());
}

#[test]
fn new_algorithm_signs_after_prepublication() {
    let (_, clock, node) = ready(&["ES256"]);
    node.set_issuer("me", &settings(&["ES256", "EdDSA"]))
        .unwrap();
    let request = Request::new("EdDSA");
    assert_eq!(node.issue(ISS, &request).unwrap_err(), Error::NotReady);
    assert!(node.status().is_ready(), "it waits as it should");
    clock.forward(3600);
    assert!(node.issue(ISS, &request).is_ok());
    // An unused key retires. A profile that needs it again soon gets it back at once.
    node.set_issuer("me", &settings(&["EdDSA"])).unwrap();
    let retired = kids(&node, State::Retired, &clock);
    assert_eq!(retired.len(), 1);
    node.set_issuer("me", &settings(&["ES256", "EdDSA"]))
        .unwrap();
    assert!(node.issue(ISS, &Request::new("ES256")).is_ok());
    assert!(kids(&node, State::Signing, &clock).contains(&retired[0]));
}

#[test]
fn profile_encrypts_only_for_its_recipient() {
    use jeton::jwe::Decrypter;
    let reader = jeton::key::DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let settings = |jwk: &str, alg: &str, enc: &str| {
        IssuerSettings::from_json(&format!(
            r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"{alg}","lifetime_seconds":900,
                "audiences":["api"],"encrypt_to":{{"enc":"{enc}","jwk":{jwk}}}}}]}}"#
        ))
    };
    let public = reader.encryption_key().to_jwk();
    let private = reader.to_jwk().unwrap();
    for (jwk, alg, enc, said) in [
        (
            private.as_str(),
            "ES256",
            "A256GCM",
            "encrypt_to.jwk`: is a private key",
        ),
        (
            public.as_str(),
            "v4.public",
            "A256GCM",
            "encrypt_to`: v4.public is not a JWT format",
        ),
        (public.as_str(), "ES256", "none", "encrypt_to.enc`"),
        ("{}", "ES256", "A256GCM", "encrypt_to.jwk`"),
    ] {
        let refused = settings(jwk, alg, enc).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let node = start(&store, &clock);
    node.create_issuer("setup", settings(&public, "ES256", "A256GCM").unwrap())
        .unwrap();
    let issued = node
        .issue(ISS, &Request::new("p").subject("user-7"))
        .unwrap();
    assert!(node.verify(ISS, "api", &issued.token).is_err());
    let keys = String::from_utf8(node.key_set(ISS).unwrap().jwk_set.clone()).unwrap();
    let keys = jeton::jwk::KeySet::from_json(&keys).unwrap();
    let policy = jeton::Policy::new(ISS, "api");
    let verifier = jeton::jwt::JwtVerifier::new(keys, policy).clock(clock);
    let nested = jeton::jwt::NestedVerifier::new(Decrypter::new(&reader), verifier);
    let verified: jeton::Verified<serde_json::Value> = nested.verify(&issued.token).unwrap();
    assert_eq!(verified.subject(), Some("user-7"));
    assert_eq!(verified.token_id(), Some(&*issued.token_id));
}

#[test]
fn concurrent_starts_create_one_key_set() {
    let folder = tempfile::tempdir().unwrap();
    one_key_set(Arc::new(MemoryStore::new()));
    one_key_set(Arc::new(RedbStore::open(folder.path()).unwrap()));
}

fn one_key_set(store: Arc<dyn Store>) {
    let clock = ManualClock::new();
    let nodes: Vec<Node> = (0..6).map(|_| start(&store, &clock)).collect();
    let at_once = |act: &(dyn Fn(&Node) -> Result<(), Error> + Sync)| -> Vec<Error> {
        thread::scope(|scope| {
            let all: Vec<_> = (nodes.iter())
                .map(|node| scope.spawn(move || act(node)))
                .collect();
            let results = all.into_iter().map(|thread| thread.join().unwrap());
            results.filter_map(Result::err).collect()
        })
    };
    let created = at_once(&|node| node.create_issuer("setup", settings(&["ES256"])));
    assert_eq!(created, vec![Error::IssuerExists; 5]);
    let same = || {
        let newest = block_on(store.status()).unwrap().revision;
        while nodes.iter().any(|node| node.status().revision < newest) {
            thread::yield_now();
        }
        let sets: Vec<_> = (nodes.iter())
            .map(|node| node.key_set(ISS).unwrap())
            .collect();
        assert!(sets.windows(2).all(|pair| pair[0] == pair[1]));
        let keys = block_on(Mirror::load(&*store, &Prefix::of(["k"]).unwrap())).unwrap();
        keys.entries().count()
    };
    assert_eq!(same(), 2, "one key, one set");
    // Of six concurrent rotations one succeeds. The others find a published key.
    let rotated = at_once(&|node| node.rotate("me", ISS, "ES256".parse().unwrap()));
    assert_eq!(rotated.len(), 5);
    assert_eq!(same(), 3);
    // Maintenance is done once, by the first node.
    clock.forward(30 * 24 * 3600 + 3600);
    assert!(at_once(&|node| node.tick(ISS)).is_empty());
    assert_eq!(same(), 3, "one gone, one signing, one published");
    assert!(block_on(verify_audit(&*store)).unwrap() >= 3);
}

#[test]
fn revocation_holds_on_other_node_and_after_restart() {
    let folder = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let issued;
    {
        let store: Arc<dyn Store> = Arc::new(RedbStore::open(folder.path()).unwrap());
        let node = start(&store, &clock);
        node.create_issuer("setup", settings(&["ES256"])).unwrap();
        issued = node.issue(ISS, &Request::new("ES256")).unwrap();
        let revoke = Revoke::token(&issued.token_id, issued.expires_at);
        block_on(node.revoke("me", ISS, revoke)).unwrap();
    }
    let store: Arc<dyn Store> = loop {
        match RedbStore::open(folder.path()) {
            Ok(store) => break Arc::new(store),
            Err(jeton_store::Error::InUse) => thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    };
    let again = start(&store, &clock);
    assert_eq!(
        again.verify(ISS, "api", &issued.token).unwrap_err(),
        Error::Revoked
    );
    let beside = start(&store, &clock);
    let other = again.issue(ISS, &Request::new("ES256")).unwrap();
    assert!(beside.verify(ISS, "api", &other.token).is_ok());
    let revoke = Revoke::token(&other.token_id, other.expires_at);
    let revision = block_on(again.revoke("me", ISS, revoke)).unwrap();
    while beside.status().revision < revision {
        thread::yield_now();
    }
    assert_eq!(
        beside.verify(ISS, "api", &other.token).unwrap_err(),
        Error::Revoked
    );
}

#[test]
fn wrong_key_encryption_key_is_named() {
    let (store, clock, node) = ready(&["ES256", "v4.local"]);
    let other = || KeyEncryptionKey::from_hex(&"28".repeat(32)).unwrap();
    let with = |options| Node::start(store.clone(), options, Arc::new(clock.clone()));
    let refused = with(Options::new(other())).unwrap_err();
    assert_eq!(
        refused,
        Error::WrongKeyEncryptionKey {
            needed: kek().id().to_owned()
        }
    );
    let issued = node.issue(ISS, &Request::new("v4.local")).unwrap();
    let rotating = with(Options::new(other()).also_reads(kek())).unwrap();
    assert_eq!(rotating.reseal("me").unwrap(), 2);
    assert_eq!(rotating.reseal("me").unwrap(), 0);
    let after = with(Options::new(other())).unwrap();
    assert!(after.verify(ISS, "api", &issued.token).is_ok());
    assert!(matches!(
        with(Options::new(kek())).unwrap_err(),
        Error::WrongKeyEncryptionKey { .. }
    ));
}

#[test]
fn imported_key_signs_after_prepublication() {
    let (_, clock, node) = ready(&["ES256"]);
    let alg = jeton::key::SigAlg::ES256;
    let mine = jeton::key::SigningKey::generate(alg)
        .unwrap()
        .with_key_id("mine")
        .unwrap();
    let kind = KeyKind::Jws(alg);
    node.import("me", ISS, kind, &mine.to_jwk().unwrap())
        .unwrap();
    assert_eq!(kids(&node, State::Published, &clock), ["mine"]);
    assert!(matches!(
        node.import("me", ISS, kind, &mine.to_jwk().unwrap())
            .unwrap_err(),
        Error::Invalid(_)
    ));
    assert!(node.import("me", ISS, kind, "{}").is_err());
    clock.forward(3600);
    let issued = node.issue(ISS, &Request::new("ES256")).unwrap();
    assert_eq!(
        node.verify(ISS, "api", &issued.token).unwrap().key_id(),
        Some("mine")
    );
}

#[test]
fn audit_chain_detects_every_change() {
    let (store, _, node) = ready(&["ES256"]);
    for i in 0..5 {
        block_on(node.revoke("me", ISS, Revoke::token(&i.to_string(), START + 60))).unwrap();
    }
    // With a checkpoint, there is every kind of record but the base of a dropped chain.
    export_audit(&*store, &AuditPositions::default(), START, &mut |_| Ok(())).unwrap();
    let entries = block_on(verify_audit(&*store)).unwrap();
    assert_eq!(entries, 7);
    let chain = block_on(Mirror::load(&*store, &Prefix::of(["a"]).unwrap())).unwrap();
    let chain: Vec<Entry> = chain.entries().cloned().collect();
    for entry in &chain {
        let mut forged = String::from_utf8(entry.value.clone()).unwrap();
        forged = forged
            .replace("\"me\"", "\"it\"")
            .replace("\"setup\"", "\"setap\"")
            .replace("\"jeton\"", "\"jetom\"")
            .replace("\"hash\":\"", "\"hash\":\"0");
        block_on(store.commit(Txn::new().put(entry.key.clone(), forged))).unwrap();
        assert!(
            matches!(
                block_on(verify_audit(&*store)).unwrap_err(),
                Error::Audit(_)
            ),
            "{}",
            entry.key
        );
        block_on(store.commit(Txn::new().delete(entry.key.clone()))).unwrap();
        assert!(
            matches!(
                block_on(verify_audit(&*store)).unwrap_err(),
                Error::Audit(_)
            ),
            "{}",
            entry.key
        );
        block_on(store.commit(Txn::new().put(entry.key.clone(), entry.value.clone()))).unwrap();
        assert_eq!(block_on(verify_audit(&*store)).unwrap(), 7);
    }
}

#[test]
fn invalid_settings_name_field_and_rule() {
    let profile = r#"{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["a"]}"#;
    for (text, field, rule) in [
        (
            format!(r#"{{"iss":"i","max_age_seconds":1801,"profiles":[{profile}]}}"#),
            "max_age_seconds",
            "must be between 0 and 1800",
        ),
        (
            format!(r#"{{"iss":"i","publish_before_use_seconds":599,"profiles":[{profile}]}}"#),
            "publish_before_use_seconds",
            "must be at least 600",
        ),
        (
            format!(r#"{{"iss":"i","rotate_every_seconds":7199,"profiles":[{profile}]}}"#),
            "rotate_every_seconds",
            "7200",
        ),
        (
            format!(r#"{{"iss":"","profiles":[{profile}]}}"#),
            "iss",
            "1 to 1024 bytes",
        ),
        (
            format!(r#"{{"iss":"i","profiles":[{profile},{profile}]}}"#),
            "profiles[1].name",
            "another profile",
        ),
        (
            r#"{"iss":"i","profiles":[]}"#.into(),
            "profiles",
            "between 1 and 64",
        ),
        (
            format!(
                r#"{{"iss":"i","rotate_every_seconds":86400,"profiles":[{}]}}"#,
                profile.replace("900", "8640000")
            ),
            "rotate_every_seconds",
            "would keep 102 keys",
        ),
        (
            format!(
                r#"{{"iss":"i","profiles":[{}]}}"#,
                profile.replace("900", "0")
            ),
            "profiles[0].lifetime_seconds",
            "must be between 1 and",
        ),
        (
            format!(
                r#"{{"iss":"i","profiles":[{}]}}"#,
                profile.replace(r#"["a"]"#, "[]")
            ),
            "profiles[0].audiences",
            "0 audiences: must be between 1 and 64",
        ),
    ] {
        let Err(Error::Invalid(refused)) = IssuerSettings::from_json(&text) else {
            panic!("{text}")
        };
        // With serde the field is in the text of the rule.
        let said = format!("{} {}", refused.field, refused.rule);
        assert!(said.contains(field) && said.contains(rule), "{said}");
    }
    assert!(IssuerSettings::from_json(r#"{"iss":"i","profils":[]}"#).is_err());
}

#[test]
fn newer_and_damaged_records_are_rejected() {
    let (store, clock, _) = ready(&["ES256"]);
    let key = Key::of(["i", ISS]).unwrap();
    for (value, newer) in [
        (r#"{"schema":4,"record":{}}"#, true),
        (r#"{"schema":1,"record":7}"#, false),
        ("", false),
    ] {
        block_on(store.commit(Txn::new().put(key.clone(), value))).unwrap();
        let refused =
            Node::start(store.clone(), Options::new(kek()), Arc::new(clock.clone())).unwrap_err();
        assert_eq!(
            matches!(refused, Error::NewerRecord { .. }),
            newer,
            "{refused}"
        );
        assert!(newer || matches!(refused, Error::Record(_)), "{refused}");
    }
}

/// Settings with a rotation soon. A clock that was just set ahead by a month decides nothing.
fn rotating(iss: &str) -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{iss}","publish_before_use_seconds":600,"rotate_every_seconds":1200,"profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

/// Moves the clock steadily, faster than real time, until the condition holds.
fn until(clock: &ManualClock, what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "waited in vain: {what}");
        clock.forward(10);
        thread::sleep(Duration::from_millis(50));
    }
}

/// Maintenance runs beside any number of revocations.
#[test]
fn keys_are_rotated_under_constant_revocations() {
    let (_, clock, node) = ready(&["ES256"]);
    node.set_issuer("me", &rotating(ISS)).unwrap();
    let ceased = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if ceased.load(Ordering::SeqCst) {
                    return;
                }
                let revoke = Revoke::token(&number.to_string(), START + 100 * 24 * 3600);
                block_on(node.revoke("me", ISS, revoke)).unwrap();
            }
        });
        let begun = Instant::now();
        until(&clock, "a key is made", || {
            ceased.store(begun.elapsed() > TIMEOUT, Ordering::SeqCst);
            !kids(&node, State::Published, &clock).is_empty()
        });
        ceased.store(true, Ordering::SeqCst);
    });
}

/// An issuer at its limit of keys does not stop the others.
#[test]
fn keys_are_rotated_beside_a_full_issuer() {
    let (_, clock, node) = ready(&["v4.local"]);
    let settings = r#"{"iss":"https://id.example","publish_before_use_seconds":600,"rotate_every_seconds":2400,"profiles":[
        {"name":"p","alg":"v4.local","lifetime_seconds":36000,"audiences":["api"]}]}"#;
    node.set_issuer("me", &IssuerSettings::from_json(settings).unwrap())
        .unwrap();
    for _ in 1..limits::KEYS_PER_ISSUER {
        let key = jeton::paseto::v4::LocalKey::generate().unwrap();
        let kind: KeyKind = "v4.local".parse().unwrap();
        node.import("me", ISS, kind, &key.to_paserk()).unwrap();
        clock.forward(600);
    }
    let (_, keyring) = node.issuer(ISS).unwrap();
    assert_eq!(keyring.keys().len(), limits::KEYS_PER_ISSUER);
    // Its key is due before those of the others.
    clock.forward(1800);
    let others: Vec<String> = (0..15).map(|n| format!("https://{n}.example")).collect();
    for iss in &others {
        node.create_issuer("me", rotating(iss)).unwrap();
    }
    until(&clock, "every other issuer has a second key", || {
        let has_two = |iss: &String| node.issuer(iss).unwrap().1.keys().len() == 2;
        others.iter().all(has_two)
    });
    // The pass that made the last key notes its fault at its end.
    let expected = format!("keys of {ISS}: `keys`: the issuer would have more than 20 keys");
    until(&clock, &expected, || {
        let fault = node.status().fault;
        fault.is_some_and(|fault| fault.contains(&expected))
    });
}
