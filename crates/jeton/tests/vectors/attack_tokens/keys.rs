//! Recipes that modify the key.

use super::support::{Key, decode, encode};
use super::{assert_rejected, every};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use serde_json::{Value, json};

/// Tokens whose MAC key is the text of a public key, for every verifier; and that text as a secret.
fn public_text_as_secret(texts: impl Fn(&VerifyingKey) -> Vec<Vec<u8>>) {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        for text in texts(&key.verifying_key()) {
            let header = encode(b"{\"alg\":\"HS256\",\"typ\":\"JWT\"}");
            let input = format!("{header}.{}", encode(b"{}"));
            let secret = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &text);
            let tag = aws_lc_rs::hmac::sign(&secret, input.as_bytes());
            let token = format!("{input}.{}", encode(tag.as_ref()));
            assert_rejected(
                &Key::Pair(SigningKey::from_der_as(&key.to_der().unwrap(), alg).unwrap()),
                &token,
            );
            assert!(MacKey::new(MacAlg::HS256, &text).is_err(), "{alg}");
        }
    }
}

pub(crate) fn rs_to_hs_pem() {
    public_text_as_secret(|key| {
        let pem = key.to_pem().unwrap();
        let crlf = pem.replace('\n', "\r\n");
        let bare = [pem.trim_end().into(), crlf.trim_end().into()];
        [vec![pem.into(), crlf.into()], bare.to_vec()].concat()
    });
}

pub(crate) fn rs_to_hs_der() {
    public_text_as_secret(|key| {
        let spki = key.to_der().unwrap();
        let mut texts = vec![key.to_jwk().into_bytes()];
        if key.to_jwk().contains("\"RSA\"") {
            // A 2,048-bit SPKI contains PKCS#1.
            texts.push(spki[24..].to_vec());
            assert_eq!(texts[1][..2], [0x30, 0x82]);
        }
        texts.push(spki);
        texts
    });
}

pub(crate) fn blank_secret() {
    for &alg in MacAlg::ALL {
        assert!(MacKey::new(alg, b"").is_err());
        let jwk = json!({"kty": "oct", "alg": alg.name(), "k": ""});
        assert!(MacKey::from_jwk(&jwk.to_string()).is_err());
    }
    let input = format!("{}.{}", encode(b"{\"alg\":\"HS256\"}"), encode(b"{}"));
    let blank = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, b"");
    let tag = aws_lc_rs::hmac::sign(&blank, input.as_bytes());
    for key in every() {
        assert_rejected(key, &format!("{input}.{}", encode(tag.as_ref())));
    }
}

pub(crate) fn short_secret() {
    for &alg in MacAlg::ALL {
        for length in 1..alg.key_bytes() {
            assert!(
                MacKey::new(alg, &vec![7; length]).is_err(),
                "{alg} {length}"
            );
        }
    }
}

/// A token of the algorithm of one curve, for a key of another curve.
pub(crate) fn alg_curve_mismatch() {
    let curves = [SigAlg::ES256, SigAlg::ES384, SigAlg::ES512, SigAlg::ES256K];
    for alg in curves {
        let key = SigningKey::generate(alg).unwrap();
        let jwk = key.verifying_key().to_jwk();
        let key = Key::Pair(key);
        for other in curves.into_iter().filter(|other| *other != alg) {
            let header = json!({"alg": other.name()}).to_string();
            assert_rejected(&key, &key.sign_under(&header, b"{}"));
            let relabelled = jwk.replace(&format!("\"{alg}\""), &format!("\"{other}\""));
            assert_ne!(relabelled, jwk);
            assert!(VerifyingKey::from_jwk(&relabelled).is_err());
        }
    }
}

pub(crate) fn jwk_forms() {
    let public = |alg| -> Value {
        let key = SigningKey::generate(alg).unwrap().verifying_key();
        serde_json::from_str(&key.to_jwk()).unwrap()
    };
    let rejected = |mut jwk: Value, member: &str, value: Option<Value>| {
        assert!(
            VerifyingKey::from_jwk(&jwk.to_string()).is_ok(),
            "no control"
        );
        match value {
            Some(value) => jwk[member] = value,
            None => drop(jwk.as_object_mut().unwrap().remove(member)),
        }
        assert!(VerifyingKey::from_jwk(&jwk.to_string()).is_err(), "{jwk}");
    };
    for alg in [SigAlg::ES256, SigAlg::ES384, SigAlg::ES512, SigAlg::ES256K] {
        rejected(public(alg), "y", None);
        rejected(public(alg), "x", Some(json!("AAAA")));
        let mut off = decode(public(alg)["y"].as_str().unwrap());
        off[7] ^= 1;
        rejected(public(alg), "y", Some(json!(encode(&off))));
    }
    let rsa = public(SigAlg::RS256);
    let mut even = decode(rsa["n"].as_str().unwrap());
    *even.last_mut().unwrap() &= 0xfe;
    rejected(rsa.clone(), "n", Some(json!(encode(&even))));
    rejected(rsa.clone(), "n", Some(json!(encode(&[0xff; 128]))));
    for e in [&[1][..], &[2], &[1, 0, 0]] {
        rejected(rsa.clone(), "e", Some(json!(encode(e))));
    }
    for &alg in SigAlg::ALL {
        let key = |alg| -> Value {
            serde_json::from_str(&SigningKey::generate(alg).unwrap().to_jwk().unwrap()).unwrap()
        };
        let (mut mixed, other) = (key(alg), key(alg));
        let private = if mixed["kty"] == "AKP" { "priv" } else { "d" };
        mixed[private] = other[private].clone();
        assert!(SigningKey::from_jwk(&mixed.to_string()).is_err(), "{alg}");
    }
    blank_secret();
}
