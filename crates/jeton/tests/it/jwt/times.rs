//! Times with parts of a second, verified at once by the clock of the system.

#![allow(
    clippy::disallowed_types,
    reason = "tokens of now, as other libraries write them"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jeton::jwt::{JwtIssuer, JwtVerifier, MultiIssuerVerifier};
use jeton::key::{MacAlg, MacKey};
use jeton::paseto::{PasetoVerifier, v4};
use jeton::{Cached, Claims, Clock, FixedClock, Issue, Policy, SystemClock, Timestamp, Verify};

/// The time of the system, as another library writes it: with 3 to 9 digits of a fraction.
fn written_now(digits: usize) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let fraction = format!("{:09}", now.subsec_nanos());
    format!("{}.{}", now.as_secs(), &fraction[..digits])
}

fn policy() -> Policy {
    Policy::new("i", "a")
}

#[test]
fn fractional_iat_and_nbf_verify_at_once() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let plain = JwtVerifier::new(&key, policy());
    let cached = Cached::new(JwtVerifier::new(&key, policy()), 64).unwrap();
    let several = MultiIssuerVerifier::new().issuer(&key, policy()).unwrap();
    let verifiers: [&dyn Verify; 3] = [&plain, &cached, &several];
    let mut accepted = 0;
    for round in 0..300 {
        let now = written_now([3, 6, 7, 9][round % 4]);
        let claims = format!(r#"{{"iss":"i","aud":"a","iat":{now},"nbf":{now},"exp":9999999999}}"#);
        let token = key.issue(&Claims::from_json(&claims).unwrap()).unwrap();
        for verifier in verifiers {
            let verified = verifier.verify_raw(&token);
            let verified = verified.unwrap_or_else(|error| panic!("{error}: {claims}"));
            assert_eq!(verified.issued_at(), verified.not_before());
            assert!(verified.issued_at() <= Some(SystemClock.now()));
        }
        accepted += 1;
    }
    assert_eq!(accepted, 300);
}

#[test]
fn paseto_with_fractional_times_verifies_at_once() {
    let key = v4::SecretKey::generate().unwrap();
    let verifier = PasetoVerifier::new(key.public_key(), policy());
    for _ in 0..300 {
        let now = jiff::Timestamp::now();
        let claims = format!(
            r#"{{"iss":"i","aud":"a","iat":"{now}","nbf":"{now}","exp":"2999-01-01T00:00:00.5Z"}}"#
        );
        let claims = Claims::from_json(&claims).unwrap();
        let token = Issue::issue(&key, &claims).unwrap();
        let verified = verifier.verify_raw(&token).unwrap();
        let issued_at = verified.issued_at().unwrap();
        assert_eq!(issued_at.unix_micros(), now.as_microsecond());
        assert_eq!(
            verified.expires_at().unwrap().unix_seconds(),
            32_472_144_001
        );
    }
}

/// What jeton issues has whole seconds, so that each verifier accepts it at once, and the lifetime is exact.
#[test]
fn issued_times_are_whole_seconds() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let late = Timestamp::from_unix_micros(1_700_000_000_999_999).unwrap();
    let clock = FixedClock(late);
    let lifetime = Duration::from_millis(60_900);
    let claims = || Claims::registered().issuer("i").audience("a");
    let own = claims().issued_at(late).not_before(late);
    let builder = JwtIssuer::builder(&key).issuer("i").audience("a");
    let issuer = builder.lifetime(lifetime).build().unwrap();
    let verifier = JwtVerifier::new(&key, policy()).clock(clock);
    for token in [
        key.issue_with_clock(&claims().expires_in(lifetime), &clock),
        key.issue_with_clock(&own.expires_at(late.saturating_add(lifetime)), &clock),
        issuer.issue_with_clock(&Claims::registered(), &clock),
        key.issue_with_clock(
            &claims()
                .issued_ago(Duration::from_millis(900))
                .expires_in(lifetime),
            &clock,
        ),
    ] {
        let verified = verifier.verify_raw(&token.unwrap()).unwrap();
        let times = r#""exp":17000000"#;
        assert!(verified.json().contains(times), "{}", verified.json());
        assert!(!verified.json().contains('.'), "{}", verified.json());
        let issued_at = verified.issued_at().unwrap();
        assert_eq!(issued_at.unix_micros(), 1_700_000_000_000_000);
    }
}
