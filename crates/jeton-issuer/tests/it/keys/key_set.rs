//! Tests the published key set.

use std::sync::Arc;

use jeton::SystemClock;
use jeton_issuer::{IssuerSettings, KeyEncryptionKey, Node, Options};
use jeton_store::{Condition, Key, MemoryStore, Store, Txn, block_on};
use serde_json::{Value, json};

const ISS: &str = "https://id.example";
const ALGS: [&str; 7] = [
    "ES256",
    "ES384",
    "EdDSA",
    "RS256",
    "PS256",
    "ML-DSA-44",
    "HS256",
];

fn start(store: &Arc<dyn Store>) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store.clone(), Options::new(kek), Arc::new(SystemClock)).unwrap()
}

fn with_issuer(algs: &[&str]) -> (Arc<dyn Store>, Node) {
    let profile =
        |alg| json!({"name": alg, "alg": alg, "lifetime_seconds": 900, "audiences": ["a"]});
    let profiles: Vec<Value> = algs.iter().map(profile).collect();
    let settings = json!({"iss": ISS, "profiles": profiles}).to_string();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let node = start(&store);
    let settings = IssuerSettings::from_json(&settings).unwrap();
    node.create_issuer("me", settings).unwrap();
    (store, node)
}

fn published(node: &Node) -> Vec<Value> {
    let document = node.key_set(ISS).unwrap();
    let mut set: Value = serde_json::from_slice(&document.jwk_set).unwrap();
    serde_json::from_value(set["keys"].take()).unwrap()
}

/// `use` (RFC 7517, section 4.2): some verifiers skip keys without it.
#[test]
fn published_key_has_use_sig() {
    let (_, node) = with_issuer(&ALGS);
    let keys = published(&node);
    assert_eq!(
        keys.len(),
        ALGS.len() - 1,
        "a shared secret is not published"
    );
    for key in keys {
        assert_eq!(key["use"], "sig", "{key}");
    }
}

#[test]
fn imported_key_has_one_use_member() {
    let (_, node) = with_issuer(&["EdDSA"]);
    // RFC 8037, appendix A.1.
    let key = |more: &str| {
        format!(
            r#"{{"kty":"OKP","crv":"Ed25519"{more},"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
                "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}"#
        )
    };
    for more in [
        r#","kid":"imported""#,
        r#","kid":"imported","use":"sig""#,
        r#","kid":"imported","key_ops":["sign"]"#,
    ] {
        node.import("me", ISS, "EdDSA".parse().unwrap(), &key(more))
            .unwrap();
        let text = String::from_utf8(node.key_set(ISS).unwrap().jwk_set.clone()).unwrap();
        assert_eq!(text.matches(r#""use":"sig""#).count(), 2, "{text}");
        assert!(!text.contains(r#""d""#), "{text}");
        node.retire("me", ISS, "imported").unwrap();
    }
}

#[test]
fn stored_key_is_published_with_use() {
    let (store, node) = with_issuer(&["ES256", "EdDSA"]);
    let before = published(&node);
    drop(node);
    // A record without `use`, as older versions wrote it.
    let at = Key::of(["k", ISS, "_set"]).unwrap();
    let entry = block_on(store.read(std::slice::from_ref(&at)))
        .unwrap()
        .entries
        .remove(0)
        .unwrap();
    let text = String::from_utf8(entry.value.clone()).unwrap();
    let old = text.replace(r#"\"use\":\"sig\","#, "");
    assert_ne!(old, text);
    assert!(!old.contains("\"use\""), "{old}");
    let txn = Txn::new()
        .when(at.clone(), Condition::Unchanged(entry.changed))
        .put(at, old.into_bytes());
    block_on(store.commit(txn)).unwrap();
    assert_eq!(published(&start(&store)), before);
}
