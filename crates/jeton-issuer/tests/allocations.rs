//! What issuing with custom claims allocates: they are signed from the text that they came in.
#![allow(clippy::unwrap_used)]

mod hand;

use std::sync::Arc;

use hand::Hand;
use jeton_issuer::{CustomClaims, IssuerSettings, KeyEncryptionKey, Node, Options, limits};
use jeton_store::MemoryStore;
use jeton_testkit::{CountingAlloc, count};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const ISS: &str = "https://id.example";

#[test]
fn a_token_of_a_series_with_custom_claims_allocates_nothing() {
    let settings = r#"{"iss":"https://id.example","profiles":[
        {"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}]}"#;
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    let node = Node::start(Arc::new(MemoryStore::new()), options, Arc::new(Hand::new())).unwrap();
    node.create_issuer("setup", IssuerSettings::from_json(settings).unwrap())
        .unwrap();
    let claims = r#"{"client_id":"web","roles":["admin",{"exact":18446744073709551617}],"n":1.10}"#;
    let counts = node.with_desk(ISS, "p", None, |desk| {
        let mut series = desk.series().unwrap();
        let mut issue = || {
            let claims = CustomClaims::from_json(claims, limits::TOKEN_BYTES).unwrap();
            series.issue(Some("user-7"), &claims).unwrap().token.len()
        };
        let warm = issue();
        let (counts, bytes) = count(issue);
        assert_eq!(warm, bytes);
        counts
    });
    assert_eq!(counts.unwrap().allocations, 0);
}
