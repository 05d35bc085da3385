//! Changed, truncated, extended and re-encoded parts.

use jeton::error::{Part, Rejection};
use jeton::jwe::Decrypter;
use jeton::key::ContentEnc;

use super::support::{decode, direct, direct_token, encode, every_kind, parts, rejection};

#[test]
fn decrypt_changed_byte_gives_uniform_error() {
    for enc in [ContentEnc::A256Gcm, ContentEnc::A128CbcHs256] {
        for (name, keys, token) in every_kind(enc) {
            let decrypter = Decrypter::new(keys);
            assert!(decrypter.decrypt(&token).is_ok(), "{name}");
            for part in 1..5 {
                let good = decode(&parts(&token)[part]);
                // Each of the 256 bytes of RSA costs a private operation, so only every eighth is changed.
                let step = if good.len() > 100 { 8 } else { 1 };
                for position in (0..good.len()).step_by(step) {
                    let mut bad = good.clone();
                    bad[position] ^= 1 << (position % 8);
                    let mut changed = parts(&token);
                    changed[part] = encode(&bad);
                    assert_eq!(
                        rejection(decrypter.decrypt(&changed.join("."))),
                        Rejection::Decryption,
                        "{name} {enc}, part {part}, byte {position}"
                    );
                }
            }
        }
    }
}

#[test]
fn decrypt_wrong_length_gives_uniform_error() {
    for &enc in ContentEnc::ALL {
        for (name, keys, token) in every_kind(enc) {
            let decrypter = Decrypter::new(keys);
            // The encrypted key, the nonce and the tag, each truncated at every position and one byte longer.
            for part in [1, 2, 4] {
                let good = decode(&parts(&token)[part]);
                let step = if good.len() > 100 { 16 } else { 1 };
                let lengths = (0..good.len()).step_by(step).chain([good.len() + 1]);
                for length in lengths {
                    let mut bad = good.clone();
                    bad.resize(length, 0);
                    let mut changed = parts(&token);
                    changed[part] = encode(&bad);
                    assert_eq!(
                        rejection(decrypter.decrypt(&changed.join("."))),
                        Rejection::Decryption,
                        "{name} {enc}, part {part}, {length} bytes"
                    );
                }
            }
        }
    }
}

#[test]
fn cbc_padding_and_tag_errors_are_indistinguishable() {
    // CBC-HMAC: a wrong tag and wrong blocks give the same error.
    for enc in [
        ContentEnc::A128CbcHs256,
        ContentEnc::A192CbcHs384,
        ContentEnc::A256CbcHs512,
    ] {
        let (_, keys, token) = every_kind(enc).pop().unwrap();
        let decrypter = Decrypter::new(keys);
        for last in 0..=255_u8 {
            let mut changed = parts(&token);
            let mut ciphertext = decode(&changed[3]);
            *ciphertext.last_mut().unwrap() = last;
            if changed[3] == encode(&ciphertext) {
                continue;
            }
            changed[3] = encode(&ciphertext);
            assert_eq!(
                rejection(decrypter.decrypt(&changed.join("."))),
                Rejection::Decryption
            );
        }
        for length in [0, 1, 15, 17, 32] {
            let mut changed = parts(&token);
            changed[3] = encode(&vec![1; length]);
            assert_eq!(
                rejection(decrypter.decrypt(&changed.join("."))),
                Rejection::Decryption
            );
        }
    }
}

#[test]
fn decrypt_non_canonical_base64_is_rejected() {
    let token = direct_token(r#"{"alg":"dir","enc":"A256GCM"}"#, b"payload");
    assert!(direct().decrypt(&token).is_ok());
    for part in 0..5 {
        for change in ["=", "==", "\n", "\r\n", " ", "A", "+", "/", "é"] {
            for in_front in [true, false] {
                let mut changed = parts(&token);
                changed[part] = if in_front {
                    format!("{change}{}", changed[part])
                } else {
                    format!("{}{change}", changed[part])
                };
                assert!(
                    direct().decrypt(&changed.join(".")).is_err(),
                    "{part} {change:?}"
                );
            }
        }
    }
    // Seven bytes leave two bits in the last character, which must be zero.
    let good = parts(&token);
    let last = good[3].chars().last().unwrap();
    for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars() {
        let mut changed = good.clone();
        changed[3].pop();
        changed[3].push(other);
        assert_eq!(direct().decrypt(&changed.join(".")).is_ok(), other == last);
    }
}

#[test]
fn decrypt_bad_encoding_error_is_independent_of_the_key() {
    // The error does not depend on whether the encrypted key is valid.
    for (name, keys, token) in every_kind(ContentEnc::A256Gcm) {
        let decrypter = Decrypter::new(keys);
        for part in [2, 3, 4] {
            let mut changed = parts(&token);
            changed[part].push('*');
            let answer = rejection(decrypter.decrypt(&changed.join(".")));
            assert_eq!(answer, Rejection::Malformed(Part::Token), "{name}");
            let mut bytes = decode(&changed[1]);
            for byte in &mut bytes {
                *byte ^= 1;
            }
            changed[1] = encode(&bytes);
            assert_eq!(
                rejection(decrypter.decrypt(&changed.join("."))),
                answer,
                "{name}"
            );
        }
    }
}

#[test]
fn decrypt_wrong_number_of_parts_is_rejected() {
    let token = direct_token(r#"{"alg":"dir","enc":"A256GCM"}"#, b"payload");
    for bad in [
        format!("{token}."),
        format!(".{token}"),
        format!("{token}.AA"),
        token.replacen("..", ".", 1),
        token.replacen('.', "", 1),
        String::new(),
        ".".into(),
        "....".into(),
        ".....".into(),
        parts(&token)[0].clone(),
    ] {
        assert!(direct().decrypt(&bad).is_err(), "{bad}");
    }
}
