//! Tests configuration changes of issuers that have keys and live tokens.

use std::sync::Arc;
use std::thread;

use jeton::Clock;
use jeton_issuer::keyring::State;
use jeton_issuer::{
    AuditEntry, Configured, Difference, Error, IssuerSettings, KeyEncryptionKey, Node, Options,
    Request, limits, verify_audit,
};
use jeton_store::{MemoryStore, Mirror, Prefix, Store, block_on};
use serde_json::{Value, json};

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";
const YEAR: i64 = limits::LIFETIME_SECONDS;

fn profile(name: &str, alg: &str, lifetime: i64) -> Value {
    json!({"name": name, "alg": alg, "lifetime_seconds": lifetime, "audiences": ["a"]})
}

fn with(profiles: &[Value]) -> IssuerSettings {
    times(profiles, 3600, 300, 30 * 24 * 3600)
}

fn times(
    profiles: &[Value],
    publish_before_use: i64,
    max_age: i64,
    rotate_every: i64,
) -> IssuerSettings {
    let settings = json!({
        "iss": ISS, "profiles": profiles, "publish_before_use_seconds": publish_before_use, "max_age_seconds": max_age,
        "rotate_every_seconds": rotate_every,
    });
    IssuerSettings::from_json(&settings.to_string()).unwrap()
}

struct World {
    store: Arc<dyn Store>,
    clock: ManualClock,
    node: Node,
}

impl World {
    /// Starts with an issuer created by a configuration.
    fn new(settings: &IssuerSettings) -> World {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let clock = ManualClock::new();
        let node = start(&store, &clock);
        assert_eq!(
            node.configure("configuration", settings),
            Ok(Configured::Created)
        );
        World { store, clock, node }
    }

    fn configure(&self, settings: &IssuerSettings) -> Result<(Vec<String>, Vec<String>), Error> {
        match self.node.configure("configuration", settings)? {
            Configured::Created => panic!("it was there"),
            Configured::Set { applied, kept } => Ok((texts(&applied), texts(&kept))),
        }
    }

    fn issue(&self, profile: &str) -> Result<String, Error> {
        let issued = self.node.issue(ISS, &Request::new(profile))?;
        Ok(issued.token)
    }

    fn lifetime(&self, profile: &str) -> i64 {
        let issued = self.node.issue(ISS, &Request::new(profile)).unwrap();
        issued.expires_at - self.clock.now().unix_seconds()
    }

    fn verifies(&self, token: &str) -> bool {
        self.node.verify(ISS, "a", token).is_ok()
    }

    fn kids(&self, state: State) -> Vec<String> {
        let (_, keyring) = self.node.issuer(ISS).unwrap();
        let now = self.clock.now().unix_seconds();
        let keys = keyring.keys().iter().filter(|key| key.state(now) == state);
        keys.map(|key| key.kid.clone()).collect()
    }

    fn audit(&self) -> Vec<AuditEntry> {
        block_on(verify_audit(&*self.store)).unwrap();
        let chain = block_on(Mirror::load(&*self.store, &Prefix::of(["a"]).unwrap())).unwrap();
        let entries = chain.entries().filter_map(|entry| {
            let stored: Value = serde_json::from_slice(&entry.value).unwrap();
            serde_json::from_value(stored["record"].clone()).ok()
        });
        entries.collect()
    }
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store.clone(), Options::new(kek), Arc::new(clock.clone())).unwrap()
}

fn texts(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(Difference::to_string).collect()
}

/// Returns `alg` from the header of a token.
fn alg(token: &str) -> String {
    if token.starts_with("v4.") {
        return "v4.public".to_owned();
    }
    let (header, _) = token.split_once('.').unwrap();
    let known = [
        ("eyJhbGciOiJFUzI1NiI", "ES256"),
        ("eyJhbGciOiJFZERTQSI", "EdDSA"),
        ("eyJhbGciOiJFQ0RILUVTI", "ECDH-ES"),
    ];
    let found = known.iter().find(|(begins, _)| header.starts_with(begins));
    found.map_or(header, |(_, alg)| alg).to_owned()
}

#[test]
fn shorter_lifetime_applies_to_new_tokens() {
    let world = World::new(&with(&[profile("p", "ES256", 86_400)]));
    let old = world.issue("p").unwrap();
    let shorter = with(&[profile("p", "ES256", 60)]);
    let applied = vec!["profiles[p].lifetime_seconds: 86400 -> 60".to_owned()];
    assert_eq!(world.configure(&shorter), Ok((applied, vec![])));
    assert_eq!(world.lifetime("p"), 60);
    // The key retires, and stays in the key set for the token that it signed before.
    world
        .node
        .rotate("me", ISS, "ES256".parse().unwrap())
        .unwrap();
    world.clock.forward(3600);
    let retired = world.kids(State::Retired);
    assert_eq!(retired.len(), 1);
    world.clock.forward(86_400 - 3600 - 1);
    world.node.tick(ISS).unwrap();
    assert!(world.verifies(&old));
    assert_eq!(world.kids(State::Retired), retired);
}

#[test]
fn longer_lifetime_keeps_retired_key() {
    let world = World::new(&with(&[profile("p", "ES256", 60)]));
    world
        .configure(&with(&[profile("p", "ES256", 86_400)]))
        .unwrap();
    world
        .node
        .rotate("me", ISS, "ES256".parse().unwrap())
        .unwrap();
    world.clock.forward(3599);
    let last = world.issue("p").unwrap();
    world.clock.forward(1);
    let retired = world.kids(State::Retired);
    assert_eq!(retired.len(), 1);
    world.clock.forward(86_400 - 2);
    world.node.tick(ISS).unwrap();
    assert!(world.verifies(&last));
    // Leeway and clock difference.
    world
        .clock
        .forward(1 + limits::LEEWAY_SECONDS + 2 * limits::CLOCK_SKEW_SECONDS);
    world.node.tick(ISS).unwrap();
    assert_eq!(world.kids(State::Retired), retired);
    world.clock.forward(1);
    world.node.tick(ISS).unwrap();
    assert!(world.kids(State::Retired).is_empty());
}

#[test]
fn revocation_outlives_token_of_older_lifetime() {
    let world = World::new(&with(&[profile("p", "ES256", 86_400)]));
    let issued = (world.node)
        .issue(ISS, &Request::new("p").subject("alice"))
        .unwrap();
    world
        .configure(&with(&[profile("p", "ES256", 60)]))
        .unwrap();
    let subject = jeton_issuer::Subject::Subject("alice".to_owned());
    let revoke = jeton_issuer::Revoke::all(subject);
    block_on(world.node.revoke("me", ISS, revoke)).unwrap();
    let rule = world.node.rules(ISS).unwrap().remove(0);
    assert!(rule.until > issued.expires_at, "{rule:?}");
}

#[test]
fn changed_algorithm_waits_for_active_key() {
    let world = World::new(&with(&[profile("p", "ES256", 900)]));
    let changed = |alg| with(&[profile("p", alg, 60)]);
    let kept = |alg| vec![format!("profiles[p].alg: ES256 -> {alg}")];
    let lifetime = vec!["profiles[p].lifetime_seconds: 900 -> 60".to_owned()];
    // The rest is applied. A second call changes nothing.
    assert_eq!(
        world.configure(&changed("EdDSA")),
        Ok((lifetime, kept("EdDSA")))
    );
    assert_eq!(
        world.configure(&changed("v4.public")),
        Ok((vec![], kept("v4.public")))
    );
    assert_eq!(alg(&world.issue("p").unwrap()), "ES256");
    assert_eq!(world.lifetime("p"), 60);

    // Another profile causes a key of that kind.
    let both = |alg| with(&[profile("p", alg, 60), profile("next", "EdDSA", 60)]);
    let (applied, left) = world.configure(&both("ES256")).unwrap();
    assert_eq!(applied, ["profiles[next]: none -> EdDSA, 60 s, for a"]);
    assert_eq!(left, [""; 0]);
    world.clock.forward(3600 + limits::CLOCK_SKEW_SECONDS - 1);
    assert_eq!(world.configure(&both("EdDSA")).unwrap().1, kept("EdDSA"));
    world.clock.forward(1);
    let old = world.issue("p").unwrap();
    assert_eq!(world.configure(&both("EdDSA")), Ok((kept("EdDSA"), vec![])));
    for seconds in [
        0,
        limits::CLOCK_SKEW_SECONDS,
        -2 * limits::CLOCK_SKEW_SECONDS,
    ] {
        world.clock.forward(seconds);
        assert_eq!(alg(&world.issue("p").unwrap()), "EdDSA", "{seconds}");
    }
    world.clock.forward(limits::CLOCK_SKEW_SECONDS);
    assert!(world.verifies(&old), "the old key is retired, and not gone");

    // The previous key is still published and signs at once.
    let (applied, left) = world.configure(&both("ES256")).unwrap();
    assert_eq!(applied, ["profiles[p].alg: EdDSA -> ES256"]);
    assert_eq!(left, [""; 0]);
    assert_eq!(alg(&world.issue("p").unwrap()), "ES256");
}

#[test]
fn format_and_recipient_change_together() {
    let jwk = json!({"kty": "OKP", "crv": "X25519", "alg": "ECDH-ES",
        "x": "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"});
    let mut sealed = profile("p", "ES256", 900);
    sealed["encrypt_to"] = json!({"enc": "A256GCM", "jwk": jwk});
    let world = World::new(&with(&[sealed.clone()]));
    assert_eq!(alg(&world.issue("p").unwrap()), "ECDH-ES");
    // An encrypted profile stays encrypted while its new key waits.
    let (applied, kept) = world
        .configure(&with(&[profile("p", "v4.public", 900)]))
        .unwrap();
    assert_eq!(applied, [""; 0]);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(kept[0], "profiles[p].alg: ES256 -> v4.public");
    assert!(
        kept[1].starts_with("profiles[p].encrypt_to: A256GCM, key "),
        "{kept:?}"
    );
    assert_eq!(alg(&world.issue("p").unwrap()), "ECDH-ES");
    // The same key: applied at once.
    world
        .configure(&with(&[profile("p", "ES256", 900)]))
        .unwrap();
    assert_eq!(alg(&world.issue("p").unwrap()), "ES256");
    world.configure(&with(&[sealed])).unwrap();
    assert_eq!(alg(&world.issue("p").unwrap()), "ECDH-ES");
}

#[test]
fn changed_audience_applies_to_new_tokens() {
    let world = World::new(&with(&[
        profile("p", "ES256", 900),
        profile("q", "EdDSA", 900),
    ]));
    let (old, other) = (world.issue("p").unwrap(), world.issue("q").unwrap());
    let mut changed = profile("p", "ES256", 900);
    changed["audiences"] = json!(["b"]);
    let (applied, kept) = world.configure(&with(&[changed])).unwrap();
    assert_eq!(
        applied,
        [
            "profiles[p].audiences: a -> b",
            "profiles[q]: EdDSA, 900 s, for a -> none"
        ]
    );
    assert_eq!(kept, [""; 0]);
    let new = world.issue("p").unwrap();
    assert!(world.node.verify(ISS, "b", &new).is_ok() && !world.verifies(&new));
    assert!(
        world.verifies(&old) && world.verifies(&other),
        "live tokens live on"
    );
    assert_eq!(world.issue("q"), Err(Error::UnknownProfile));
}

#[test]
fn changed_times_apply_to_next_key() {
    let profiles = [profile("p", "ES256", 900)];
    let world = World::new(&with(&profiles));
    let (applied, kept) = world
        .configure(&times(&profiles, 7200, 3600, 86_400))
        .unwrap();
    assert_eq!(
        applied,
        [
            "publish_before_use_seconds: 3600 -> 7200",
            "max_age_seconds: 300 -> 3600",
            "rotate_every_seconds: 2592000 -> 86400",
        ]
    );
    assert_eq!(kept, [""; 0]);
    assert_eq!(world.node.key_set(ISS).unwrap().max_age_seconds, 3600);
    // A day after the first, minus the pre-publication period.
    world
        .clock
        .forward(86_400 - 7200 - limits::CLOCK_SKEW_SECONDS - 1);
    world.node.tick(ISS).unwrap();
    assert!(world.kids(State::Published).is_empty());
    world.clock.forward(1);
    world.node.tick(ISS).unwrap();
    assert_eq!(world.kids(State::Published).len(), 1);
    // A verifier that just fetched the set keeps it for an hour, under any new configuration.
    world.configure(&times(&profiles, 600, 0, 86_400)).unwrap();
    world.clock.forward(7199);
    assert_eq!(world.kids(State::Published).len(), 1);
    world.clock.forward(1);
    assert!(world.kids(State::Published).is_empty());
}

#[test]
fn change_with_too_many_keys_is_rejected() {
    let long = profile("p", "ES256", YEAR);
    let world = World::new(&with(std::slice::from_ref(&long)));
    while world.node.issuer(ISS).unwrap().1.keys().len() < limits::KEYS_PER_ISSUER {
        world
            .node
            .rotate("me", ISS, "ES256".parse().unwrap())
            .unwrap();
        world.clock.forward(3600);
    }
    let before = world.node.issuer(ISS).unwrap();
    let entries = world.audit().len();
    let refused = world
        .configure(&with(&[long, profile("q", "EdDSA", 60)]))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("the issuer would have more than 20 keys"),
        "{refused}"
    );
    assert_eq!(world.node.issuer(ISS).unwrap(), before);
    assert_eq!(world.audit().len(), entries);
}

#[test]
fn concurrent_starts_apply_configuration_once() {
    let world = World::new(&with(&[profile("p", "ES256", 900)]));
    let nodes: Vec<Node> = (0..5).map(|_| start(&world.store, &world.clock)).collect();
    let changed = with(&[profile("p", "ES256", 60), profile("q", "EdDSA", 60)]);
    thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| node.configure("configuration", &changed).unwrap());
        }
    });
    let set: Vec<_> = (world.audit().into_iter())
        .filter(|entry| entry.act == "issuer.set")
        .collect();
    assert_eq!(set.len(), 1, "{set:?}");
    assert_eq!(set[0].actor, "configuration");
    assert_eq!(set[0].about[0], "profiles[p].lifetime_seconds: 900 -> 60");
    assert!(set[0].about[2].starts_with('+'), "{set:?}");
    for node in &nodes {
        assert_eq!(node.issuer(ISS).unwrap().0, changed);
        assert_eq!(node.issuer(ISS).unwrap().1.keys().len(), 2);
    }
}

#[test]
fn administrator_takes_over_configured_issuer() {
    let settings = with(&[profile("p", "ES256", 900)]);
    let world = World::new(&settings);
    let is_configured = || {
        let again = start(&world.store, &world.clock);
        assert_eq!(again.configured_issuers(), world.node.configured_issuers());
        !again.configured_issuers().is_empty()
    };
    assert!(is_configured());
    world.node.set_issuer("me", &settings).unwrap();
    assert!(!is_configured());
    world.node.set_issuer("me", &settings).unwrap();
    assert_eq!(world.configure(&settings), Ok((vec![], vec![])));
    assert!(is_configured());
    let told: Vec<_> = world
        .audit()
        .into_iter()
        .map(|e| (e.actor, e.act, e.about))
        .collect();
    let named = |how: &str| vec![format!("named by the configuration: {how}")];
    assert_eq!(
        told.len(),
        3,
        "what changes nothing is not written: {told:?}"
    );
    assert_eq!(
        told[1],
        ("me".into(), "issuer.set".into(), named("yes -> no"))
    );
    assert_eq!(
        told[2],
        (
            "configuration".into(),
            "issuer.set".into(),
            named("no -> yes")
        )
    );
}

#[test]
fn admin_change_is_audited_with_both_values() {
    let world = World::new(&with(&[profile("p", "ES256", 900)]));
    world
        .node
        .set_issuer("me", &with(&[profile("p", "ES256", 60)]))
        .unwrap();
    let last = world.audit().pop().unwrap();
    assert_eq!(last.about[0], "profiles[p].lifetime_seconds: 900 -> 60");
}
