//! Any text as claims: the issued token verifies and contains the claims.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jeton::key::{MacAlg, MacKey};
use jeton::{Claims, FixedClock, Policy, Timestamp, Verified, jwt::JwtVerifier};
use jeton_fuzz::{keys, seeds};
use libfuzzer_sys::fuzz_target;

static MAC: LazyLock<MacKey> = LazyLock::new(|| keys::mac(MacAlg::HS256));

fuzz_target!(
    init: seeds::write(|| vec!["issuer\u{1}subject\u{1}audience\u{1}id\u{1}name\u{1}value\n\"\\"]),
    |text: &str| {
        let mut texts = text.split('\u{1}');
        let mut next = || texts.next().unwrap_or_default();
        let [issuer, subject, audience, id] = [next(), next(), next(), next()];
        let mut custom = BTreeMap::new();
        while let Some(name) = texts.next() {
            custom.insert(name, texts.next().unwrap_or_default());
        }
        let clock = FixedClock(Timestamp::from_unix_seconds(1_800_000_000).expect("in range"));
        let claims = Claims::new(&custom)
            .issuer(issuer)
            .subject(subject)
            .audience(audience)
            .token_id(id)
            .expires_in(std::time::Duration::from_secs(60));
        // Only a registered name among the custom claims is rejected.
        let registered = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];
        let Ok(token) = MAC.issue_with_clock(&claims, &clock) else {
            assert!(custom.keys().any(|name| registered.contains(name)));
            return;
        };
        let policy = Policy::new(issuer.to_owned(), audience.to_owned());
        let verifier = JwtVerifier::new(&*MAC, policy).clock(clock);
        let verified: Verified<BTreeMap<String, serde_json::Value>> =
            verifier.verify(&token).expect("verifies what it issues");
        assert_eq!(verified.subject(), Some(subject));
        assert_eq!(verified.token_id(), Some(id));
        for (name, value) in custom {
            assert_eq!(verified.claims()[name], value);
        }
    }
);
