//! Attacks with the header, including its size.

use super::support::{Key, encode, parts, rejection_of};
use jeton::Limits;
use jeton::error::{Part, Rejection};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{Alg, Keys, MacAlg, SigAlg, SigningKey};
use serde_json::json;

use crate::effort::at_once;

#[test]
fn verify_alg_none_is_rejected() {
    for key in Key::every() {
        let token = key.sign(b"{}");
        let [_, payload, signature] = parts(&token);
        for none in ["none", "None", "NONE", "nOnE", "none ", "", "null"] {
            for signature in ["", signature] {
                let header = encode(format!("{{\"alg\":\"{none}\"}}").as_bytes());
                let forged = format!("{header}.{payload}.{signature}");
                assert_eq!(
                    rejection_of(key.verifier().verify(&forged)),
                    Rejection::AlgorithmMismatch
                );
            }
        }
        let without = format!("{}.{payload}.", encode(b"{}"));
        assert_eq!(
            rejection_of(key.verifier().verify(&without)),
            Rejection::Malformed(Part::Header)
        );
    }
    assert!("none".parse::<Alg>().is_err());
}

#[test]
fn verify_kid_over_limit_is_rejected() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let header = |length| json!({"alg":"HS256","kid":"k".repeat(length)}).to_string();
    assert!(
        key.verifier()
            .verify(&key.sign_under(&header(1024), b"{}"))
            .is_ok()
    );
    let forged = key.sign_under(&header(1025), b"{}");
    let error = rejection_of(key.verifier().verify(&forged));
    let expected = "the `kid` in the header has 1025 bytes, limit 1024";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn verify_kid_of_the_key_over_limit_is_rejected() {
    // A header that the key writes is not parsed. It has the same limits.
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let key = key.with_key_id(&"k".repeat(500)).unwrap();
    let token = JwsSigner::new(&key).sign(b"{}").unwrap();
    let set = format!("{{\"keys\":[{}]}}", key.verifying_key().to_jwk());
    let set = KeySet::from_json(&set).unwrap();
    let one = key.verifying_key();
    let make: [&dyn Fn() -> Keys; 2] = [&|| set.clone().into(), &|| (&one).into()];
    for keys in make {
        let verify = |bytes| {
            let limits = Limits::new().key_id_bytes(bytes);
            JwsVerifier::new(keys()).limits(limits).verify(&token)
        };
        assert!(verify(500).is_ok());
        let error = rejection_of(verify(499));
        let expected = "the `kid` in the header has 500 bytes, limit 499";
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn verify_token_of_another_algorithm_is_rejected() {
    let keys: Vec<Key> = Key::every().collect();
    for key in &keys {
        for other in &keys {
            let token = other.sign(b"{}");
            let same = matches!(
                (key.alg(), other.alg()),
                ("EdDSA", "Ed25519") | ("Ed25519", "EdDSA")
            );
            let expected = if key.alg() == other.alg() || same {
                // The same algorithm with another key, or the same key.
                if std::ptr::eq(key, other) {
                    continue;
                } else {
                    Rejection::Signature
                }
            } else {
                Rejection::AlgorithmMismatch
            };
            assert_eq!(rejection_of(key.verifier().verify(&token)), expected);
        }
    }
}

#[test]
fn verify_malformed_header_is_rejected() {
    for key in Key::every() {
        let alg = key.alg();
        let check = |header: &str, expected: Rejection| {
            let token = key.sign_under(header, b"{}");
            assert_eq!(
                rejection_of(key.verifier().verify(&token)),
                expected,
                "{header}"
            );
        };
        let good = key.sign_under(&format!("{{ \"x\" : [1] , \"alg\":\"{alg}\" }}"), b"{}");
        assert!(key.verifier().verify(&good).is_ok());
        check(
            &format!("{{\"alg\":\"{alg}\",\"alg\":\"{alg}\"}}"),
            Rejection::DuplicateMember(Part::Header),
        );
        check(
            &format!("{{\"alg\":\"{alg}\",\"\\u0061lg\":\"none\"}}"),
            Rejection::DuplicateMember(Part::Header),
        );
        check(
            &format!("{{\"ALG\":\"{alg}\"}}"),
            Rejection::Malformed(Part::Header),
        );
        check(
            &format!("{{\"alg\":[\"{alg}\"]}}"),
            Rejection::Malformed(Part::Header),
        );
        check(
            &format!("{{\"alg\":\"{}\"}}", alg.to_lowercase()),
            Rejection::AlgorithmMismatch,
        );
        check(
            &format!("{{\"alg\":\"{alg}\",\"kid\":1}}"),
            Rejection::Malformed(Part::Header),
        );
        check(
            &format!("{{\"alg\":\"{alg}\"}} x"),
            Rejection::Malformed(Part::Header),
        );
        check(&format!("[\"{alg}\"]"), Rejection::Malformed(Part::Header));
        check("", Rejection::Malformed(Part::Header));
    }
}

#[test]
fn verify_size_and_depth_are_checked_first() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = key.verifier();
    let deep = format!(
        "{{\"alg\":\"HS256\",\"x\":{}{}}}",
        "[".repeat(4_000),
        "]".repeat(4_000)
    );
    let (million_dots, huge) = (".".repeat(1_000_000), "a".repeat(10_000_000));
    let long_kid = format!("{{\"alg\":\"HS256\",\"kid\":\"{}\"}}", "k".repeat(1025));
    let long_header = encode(&vec![b' '; 20_000]);
    for (forged, expected) in [
        (huge.clone(), "the token has 10000000 bytes, limit 2097152"),
        (
            format!("{huge}.{huge}.{huge}"),
            "the token has 30000002 bytes, limit 2097152",
        ),
        (million_dots, "the token is malformed"),
        (
            format!("{long_header}.e30.{}", "A".repeat(43)),
            "the header has 20000 bytes, limit 16384",
        ),
        (
            key.sign_under(&deep, b"{}"),
            "the header is nested more than 32 levels",
        ),
        (
            key.sign_under(&long_kid, b"{}"),
            "the `kid` in the header has 1025 bytes, limit 1024",
        ),
    ] {
        let rejection = at_once(|| rejection_of(verifier.verify(&forged)));
        assert_eq!(rejection.to_string(), expected);
    }
    let tight = Limits::default().token_bytes(40);
    let small = key.verifier().limits(tight);
    assert!(matches!(
        rejection_of(small.verify(&key.sign(b"{}"))),
        Rejection::TooLarge {
            part: Part::Token,
            ..
        }
    ));
}

/// The fast path for headers that a key writes must apply the limit too.
#[test]
fn verify_header_over_its_limit_is_rejected() {
    for key in Key::every() {
        let tokens = [
            key.sign(b"{}"),
            key.sign_under(
                &format!("{{\"alg\":\"{0}\",\"typ\":\"JWT\"}}", key.alg()),
                b"{}",
            ),
            key.sign_under(
                &format!("{{\"typ\":\"JWT\",\"alg\":\"{0}\"}}", key.alg()),
                b"{}",
            ),
            key.sign_under(&format!("{{ \"alg\":\"{0}\" }}", key.alg()), b"{}"),
        ];
        for token in tokens {
            let bytes = super::support::decode(parts(&token)[0]).len();
            let at = |header_bytes| {
                let limits = Limits::default().header_bytes(header_bytes);
                key.verifier().limits(limits)
            };
            assert!(at(bytes).verify(&token).is_ok());
            assert!(matches!(
                rejection_of(at(bytes - 1).verify(&token)),
                Rejection::TooLarge {
                    part: Part::Header,
                    ..
                }
            ));
        }
    }
}
