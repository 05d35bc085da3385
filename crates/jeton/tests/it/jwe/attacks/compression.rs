//! `zip`: decompression bombs (CVE-2024-28180), and compression where it is not allowed.

use jeton::danger;
use jeton::error::{Part, Rejection};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, ContentKey};
use jeton::limits;
use serde_json::json;

use super::support::{SECRET, direct, direct_token, encode, rejection, seal};

use crate::effort::at_once;

const HEADER: &str = r#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#;

fn compressed(plaintext: &[u8]) -> String {
    let key = ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap();
    let encrypter = danger::compress(Encrypter::new(&key, ContentEnc::A256Gcm));
    encrypter.encrypt(plaintext).unwrap()
}

fn inflating() -> Decrypter {
    danger::allow_zip(direct())
}

#[test]
fn decrypt_zip_without_danger_is_rejected() {
    assert_eq!(
        rejection(direct().decrypt(&compressed(b"x"))),
        Rejection::Compressed
    );
}

#[test]
fn decompression_bomb_over_ratio_is_rejected() {
    let token = compressed(&vec![0; 20_000_000]);
    assert!(token.len() < 40_000);
    let decrypter = inflating();
    assert!(matches!(
        at_once(|| rejection(decrypter.decrypt(&token))),
        Rejection::TooLarge {
            part: Part::Payload,
            ..
        }
    ));
}

#[test]
fn inflated_ratio_limit_is_exact() {
    // 300 equal bytes compress to 4 to 6: within a ratio of 100. 3,000 compress to 14: over it.
    assert!(inflating().decrypt(&compressed(&[b'a'; 300])).is_ok());
    let error = rejection(inflating().decrypt(&compressed(&[b'a'; 30_000])));
    assert!(matches!(
        error,
        Rejection::TooLarge {
            part: Part::Payload,
            ..
        }
    ));
}

#[test]
fn inflated_size_limit_applies_below_the_ratio() {
    let text = |bytes: usize| -> Vec<u8> {
        let lines =
            (0_u32..).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes());
        lines.take(bytes).collect()
    };
    // Numbers compress to about half, so the limit of the token must be larger.
    let wide = || inflating().limits(jeton::Limits::default().token_bytes(16 * 1024 * 1024));
    let at = compressed(&text(limits::INFLATED_BYTES));
    assert_eq!(
        wide().decrypt(&at).unwrap().plaintext().len(),
        limits::INFLATED_BYTES
    );
    let beyond = compressed(&text(limits::INFLATED_BYTES + 1));
    assert!(matches!(
        rejection(wide().decrypt(&beyond)),
        Rejection::TooLarge {
            part: Part::Payload,
            ..
        }
    ));
}

#[test]
fn decrypt_invalid_deflate_is_rejected() {
    for plaintext in [
        &b""[..],
        b"plain text",
        &[0xff; 100],
        &[0x78, 0x9c, 3, 0, 0, 0, 0, 1],
    ] {
        let error = rejection(inflating().decrypt(&direct_token(HEADER, plaintext)));
        assert_eq!(error, Rejection::Malformed(Part::Payload));
    }
}

#[test]
fn decrypt_unprotected_zip_is_rejected() {
    let protected = encode(br#"{"alg":"dir","enc":"A256GCM"}"#);
    let (iv, ciphertext, tag) = seal(&SECRET, &protected, b"x");
    for place in ["unprotected", "header"] {
        let text = json!({
            "protected": protected, place: {"zip": "DEF"},
            "iv": iv, "ciphertext": ciphertext, "tag": tag,
        });
        let error = rejection(inflating().decrypt_json(&text.to_string()));
        assert_eq!(error, Rejection::Malformed(Part::Header));
    }
}
