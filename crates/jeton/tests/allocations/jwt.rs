//! Allocations of JWT in Rust. Allocations of AWS-LC in C are not counted. Those of the aws-lc-rs call are
//! counted separately below.

use std::time::Duration;

use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{
    Claims, Policy, Scratch,
    jwt::{self, JwtIssuer, JwtVerifier},
};
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
    .issuer("https://issuer.example")
    .subject("user-1234567890")
    .audiences(["api"])
    .token_id("0123456789abcdef")
    .expires_in(Duration::from_secs(900))
}

fn policy() -> Policy {
    Policy::new("https://issuer.example", "api")
}

/// Allocations of the aws-lc-rs call that signs with this algorithm.
fn of_the_signer(alg: SigAlg) -> u64 {
    match alg {
        SigAlg::ES256 | SigAlg::ES384 | SigAlg::ES512 | SigAlg::ES256K => 2,
        _ => 1,
    }
}

#[test]
fn issuing_with_a_mac_allocates_the_token() {
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        let claims = claims();
        let _warm = key.issue(&claims).unwrap();
        let (counts, token) = count(|| key.issue(&claims).unwrap());
        assert_eq!(
            (counts.allocations, counts.bytes),
            (1, token.len() as u64),
            "{alg}"
        );
    }
}

#[test]
fn issuing_with_typ_allocates_no_more() {
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        let issuer = JwtIssuer::builder(&key).typ("at+jwt").build().unwrap();
        let claims = claims();
        let _warm = issuer.issue(&claims).unwrap();
        let (counts, token) = count(|| issuer.issue(&claims).unwrap());
        assert_eq!(
            (counts.allocations, counts.bytes),
            (1, token.len() as u64),
            "{alg}"
        );
    }
}

#[test]
fn batch_issuer_with_capacity_allocates_nothing() {
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        let shared = Claims::new(())
            .issuer("https://issuer.example")
            .expires_in(Duration::from_secs(900));
        let issuer = jwt::BatchIssuer::new(&key, &shared).unwrap();
        let own = jwt::TokenClaims::new(Visit {
            page: "/",
            count: 7,
        })
        .subject("user-1234567890");
        let mut token = String::with_capacity(1024);
        let (counts, ()) = count(|| issuer.issue_onto(&own, &mut token).unwrap());
        assert_eq!(counts.allocations, 0, "{alg}");
        let (counts, token) = count(|| issuer.issue(&own).unwrap());
        assert_eq!(
            (counts.allocations, counts.bytes),
            (1, token.len() as u64),
            "{alg}"
        );
    }
}

#[test]
fn issuing_with_a_signature_allocates_token_and_signature() {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let claims = claims();
        let _warm = key.issue(&claims).unwrap();
        let (counts, _) = count(|| key.issue(&claims).unwrap());
        assert!(
            counts.allocations <= 1 + of_the_signer(alg),
            "{alg}: {counts:?}"
        );
    }
}

/// Verifiers for every algorithm, with and without a `kid`, each with a token.
fn verifiers() -> Vec<(&'static str, JwtVerifier, String)> {
    let mut all = Vec::new();
    for &alg in MacAlg::ALL {
        let plain = MacKey::generate(alg).unwrap();
        let named = MacKey::generate(alg).unwrap().with_key_id("k").unwrap();
        for key in [plain, named] {
            let token = key.issue(&claims()).unwrap();
            all.push((alg.name(), JwtVerifier::new(&key, policy()), token));
        }
    }
    for &alg in SigAlg::ALL {
        let plain = SigningKey::generate(alg).unwrap();
        let named = SigningKey::generate(alg).unwrap().with_key_id("k").unwrap();
        for key in [plain, named] {
            let token = key.issue(&claims()).unwrap();
            let verifier = JwtVerifier::new(key.verifying_key(), policy());
            all.push((alg.name(), verifier, token));
        }
    }
    all
}

#[test]
fn verifying_into_a_scratch_allocates_nothing() {
    for (alg, verifier, token) in verifiers() {
        let mut scratch = Scratch::new();
        verifier
            .verify_in::<Visit<'_>>(&token, &mut scratch)
            .unwrap();
        let (counts, _) = count(|| {
            let visit = verifier
                .verify_in::<Visit<'_>>(&token, &mut scratch)
                .unwrap();
            assert_eq!((visit.claims().page, visit.claims().count), ("/", 7));
        });
        assert_eq!(counts.allocations, 0, "{alg}");
    }
}

#[test]
fn verifying_without_a_scratch_allocates_the_payload() {
    for (alg, verifier, token) in verifiers() {
        let (counts, visit) = count(|| verifier.verify::<Count>(&token).unwrap());
        assert_eq!((visit.claims().count, counts.allocations), (7, 1), "{alg}");
    }
}

#[test]
fn unusual_header_allocates_no_more() {
    // A verifier with a key set does not know the header in advance and must parse it.
    let key = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .with_key_id("k")
        .unwrap();
    let set = format!("{{\"keys\":[{}]}}", key.verifying_key().to_jwk());
    let set = jeton::jwk::KeySet::from_json(&set).unwrap();
    let verifier = JwtVerifier::new(set, policy());
    let token = key.issue(&claims()).unwrap();
    let mut scratch = Scratch::new();
    verifier
        .verify_in::<Visit<'_>>(&token, &mut scratch)
        .unwrap();
    let (counts, _) = count(|| {
        verifier
            .verify_in::<Visit<'_>>(&token, &mut scratch)
            .unwrap();
    });
    assert_eq!(counts.allocations, 0);
}

#[test]
fn rejecting_a_forged_token_allocates_nothing() {
    for (alg, verifier, token) in verifiers() {
        let mut forged = token.clone();
        let position = forged.rfind('.').unwrap() + 1;
        let other = if forged[position..].starts_with('A') {
            "B"
        } else {
            "A"
        };
        forged.replace_range(position..=position, other);
        let (counts, result) = count(|| verifier.verify::<Count>(&forged).is_ok());
        assert!(!result, "{alg}");
        assert_eq!(counts.allocations, 0, "{alg}");
    }
}
