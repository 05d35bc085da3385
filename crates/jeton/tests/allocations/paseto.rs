//! Allocations of PASETO in Rust. Issuing allocates the token. Verifying into a scratch buffer that has grown
//! allocates nothing, otherwise the text of the payload. Allocations of AWS-LC in C are not counted.

use std::time::Duration;

use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4::{LocalKey, SecretKey};
use jeton::paseto::{PasetoKeys, TokenContext};
use jeton::{Claims, Policy, Scratch};
use jeton_testkit::count;
use serde::{Deserialize, Serialize};

/// Owns nothing, so that all counted allocations come from the library.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Visit<'a> {
    page: &'a str,
    count: u64,
}

#[derive(Deserialize)]
struct Count {
    count: u64,
}

fn claims() -> Claims<'static, Visit<'static>> {
    Claims::new(Visit {
        page: "/",
        count: 7,
    })
    .issuer("https://id.example")
    .subject("user-7")
    .audience("api")
    .token_id("0123456789abcdef")
    .expires_in(Duration::from_secs(900))
}

fn verifier(keys: impl Into<PasetoKeys>) -> PasetoVerifier {
    PasetoVerifier::new(keys, Policy::new("https://id.example", "api"))
        .implicit_assertion("tenant-7")
}

const BINDING: fn() -> TokenContext<'static> = || {
    TokenContext::new()
        .footer("a footer of the usual length, with a key id in it")
        .implicit_assertion("tenant-7")
};

#[test]
fn issuing_a_local_token_allocates_the_token() {
    let key = LocalKey::generate().unwrap();
    let claims = claims();
    let _warm = key.issue(&claims).unwrap();
    let (counts, token) = count(|| key.issue(&claims).unwrap());
    assert_eq!((counts.allocations, counts.bytes), (1, token.len() as u64));
    let (counts, token) = count(|| key.issue_with(&claims, BINDING()).unwrap());
    assert_eq!((counts.allocations, counts.bytes), (1, token.len() as u64));
}

#[test]
fn issuing_a_public_token_allocates_token_and_signature() {
    let key = SecretKey::generate().unwrap();
    let claims = claims();
    let _warm = key.issue(&claims).unwrap();
    let (counts, _) = count(|| key.issue_with(&claims, BINDING()).unwrap());
    assert!(counts.allocations <= 2, "{counts:?}");
}

#[test]
fn verifying_into_a_scratch_allocates_nothing() {
    let (local, secret) = (
        LocalKey::generate().unwrap(),
        SecretKey::generate().unwrap(),
    );
    let claims = claims();
    for (verifier, token) in [
        (
            verifier(&local),
            local.issue_with(&claims, BINDING()).unwrap(),
        ),
        (
            verifier(secret.public_key()),
            secret.issue_with(&claims, BINDING()).unwrap(),
        ),
    ] {
        let verifier = verifier.footer("a footer of the usual length, with a key id in it");
        let mut scratch = Scratch::new();
        verifier
            .verify_in::<Visit<'_>>(&token, &mut scratch)
            .unwrap();
        let (counts, count) = count(|| {
            verifier
                .verify_in::<Visit<'_>>(&token, &mut scratch)
                .unwrap()
                .claims()
                .count
        });
        assert_eq!((counts.allocations, count), (0, 7));
    }
}

#[test]
fn verifying_without_a_scratch_allocates_the_text() {
    let (local, secret) = (
        LocalKey::generate().unwrap(),
        SecretKey::generate().unwrap(),
    );
    let claims = claims();
    let context = TokenContext::new().implicit_assertion("tenant-7");
    for (verifier, token) in [
        (
            verifier(&local),
            local.issue_with(&claims, context).unwrap(),
        ),
        (
            verifier(secret.public_key()),
            secret.issue_with(&claims, context).unwrap(),
        ),
    ] {
        let (counts, verified) = count(|| verifier.verify::<Count>(&token).unwrap());
        assert_eq!(
            (counts.allocations, counts.bytes),
            (1, verified.json().len() as u64)
        );
        assert_eq!(verified.claims().count, 7);
    }
}

#[test]
fn rejecting_a_token_allocates_nothing() {
    let key = LocalKey::generate().unwrap();
    let verifier = verifier(&key);
    let dots = format!("v4.local.{}", ".".repeat(1_000_000));
    let many = format!("v4.local.AAAA.{}", "AAAA.".repeat(200_000));
    for token in [dots, many] {
        let mut scratch = Scratch::new();
        let (counts, result) = count(|| verifier.verify_in::<Count>(&token, &mut scratch).is_err());
        assert!(result);
        assert_eq!(counts.allocations, 0);
    }
}
