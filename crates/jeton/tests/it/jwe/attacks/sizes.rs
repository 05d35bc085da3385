//! Large, deep and numerous input must be rejected at low cost.

use jeton::Limits;
use jeton::error::{Part, Rejection};
use jeton::jwe::Decrypter;
use jeton::key::{DecryptionKey, KeyManagementAlg};

use super::support::{direct, direct_token, encode, rejection};

use crate::effort::at_once;

fn rejected_at_once(token: &str, expected: &str) {
    let decrypter = direct();
    let compact = at_once(|| rejection(decrypter.decrypt(token)));
    assert_eq!(compact.to_string(), expected);
    assert!(at_once(|| decrypter.decrypt_json(token).is_err()));
}

#[test]
fn decrypt_ten_megabytes_is_rejected() {
    let large = "the token has 10000000 bytes, limit 2097152";
    rejected_at_once(&"A".repeat(10_000_000), large);
    rejected_at_once(&".".repeat(10_000_000), large);
    rejected_at_once(&format!("{{\"iv\":\"{}\"}}", "A".repeat(9_999_991)), large);
}

#[test]
fn decrypt_million_dots_is_rejected() {
    rejected_at_once(&".".repeat(1_000_000), "the token is malformed");
    rejected_at_once(&"A.".repeat(500_000), "the token is malformed");
}

#[test]
fn decrypt_header_over_limit_is_rejected() {
    let header = format!(
        r#"{{"alg":"dir","enc":"A256GCM","note":"{}"}}"#,
        "x".repeat(16 * 1024)
    );
    rejected_at_once(
        &direct_token(&header, b"x"),
        "the header has 16423 bytes, limit 16384",
    );
    let text = format!(r#"{{"unprotected":{header},"iv":"AAAA","ciphertext":"","tag":"AAAA"}}"#);
    assert!(matches!(
        rejection(direct().decrypt_json(&text)),
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
}

#[test]
fn decrypt_header_ten_thousand_deep_is_rejected() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let header = format!(r#"{{"alg":"dir","enc":"A256GCM","note":{deep}}}"#);
    let token = direct_token(&header, b"x");
    let limits = Limits::default().header_bytes(100_000);
    let error = rejection(direct().limits(limits).decrypt(&token));
    assert!(matches!(
        error,
        Rejection::TooDeep {
            part: Part::Header,
            ..
        }
    ));
    let text = format!(r#"{{"note":{deep}}}"#);
    assert!(matches!(
        rejection(direct().decrypt_json(&text)),
        Rejection::TooDeep {
            part: Part::Token,
            ..
        }
    ));
    // In `epk`, which is parsed as a key.
    let key = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let nested = "[".repeat(20) + &"]".repeat(20);
    let header = format!(
        r#"{{"alg":"ECDH-ES","enc":"A256GCM","epk":{{"kty":"EC","crv":"P-256","x":{nested}}}}}"#
    );
    let token = format!(
        "{}..{}.{}.{}",
        encode(header.as_bytes()),
        "AAAA",
        "AAAA",
        "AAAA"
    );
    assert_eq!(
        rejection(Decrypter::new(key).decrypt(&token)),
        Rejection::Decryption
    );
}

#[test]
fn decrypt_kid_over_limit_is_rejected() {
    let header = |length| {
        format!(
            r#"{{"alg":"dir","enc":"A256GCM","kid":"{}"}}"#,
            "k".repeat(length)
        )
    };
    assert!(direct().decrypt(&direct_token(&header(1024), b"x")).is_ok());
    let error = rejection(direct().decrypt(&direct_token(&header(1025), b"x")));
    let expected = "the `kid` in the header has 1025 bytes, limit 1024";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn decrypt_encrypted_key_of_a_megabyte_is_rejected() {
    let key = DecryptionKey::generate(KeyManagementAlg::RsaOaep).unwrap();
    let decrypter = Decrypter::new(key);
    let header = encode(br#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#);
    let token = format!("{header}.{}.AAAA.AAAA.AAAA", "A".repeat(1_000_000));
    let error = at_once(|| rejection(decrypter.decrypt(&token)));
    assert_eq!(error, Rejection::Decryption);
}

#[test]
fn decrypt_limits_of_the_caller_apply() {
    let token = direct_token(r#"{"alg":"dir","enc":"A256GCM"}"#, b"payload");
    let at = |token_bytes| {
        let limits = Limits::default().token_bytes(token_bytes);
        direct().limits(limits).decrypt(&token)
    };
    assert!(at(token.len()).is_ok());
    assert!(matches!(
        rejection(at(token.len() - 1)),
        Rejection::TooLarge {
            part: Part::Token,
            ..
        }
    ));
}
