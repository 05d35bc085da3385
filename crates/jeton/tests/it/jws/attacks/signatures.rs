//! Attacks with the bytes of the signature and their encoding.

use super::support::{Key, decode, encode, parts, reference, rejection_of};
use jeton::error::{Part, Rejection};

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{Alg, MacAlg, SigAlg, SigningKey};

#[test]
fn verify_signature_of_wrong_length_or_form_is_rejected() {
    for key in Key::every() {
        let token = key.sign(b"{}");
        let [header, payload, signature] = parts(&token);
        let raw = decode(signature);
        let with = |bytes: &[u8]| format!("{header}.{payload}.{}", encode(bytes));
        let zeros = vec![0; raw.len()];
        let ones = vec![0xff; raw.len()];
        for bytes in [
            &[][..],
            &raw[..raw.len() - 1],
            &raw[1..],
            &[raw.as_slice(), &[0]].concat(),
            &[&[0], raw.as_slice()].concat(),
            &zeros,
            &ones,
        ] {
            assert_eq!(
                rejection_of(key.verifier().verify(&with(bytes))),
                Rejection::Signature,
                "{}",
                key.alg()
            );
        }
    }
}

#[test]
fn verify_detached_with_payload_in_the_token_is_rejected() {
    for key in Key::every() {
        let attached = key.sign(b"{}");
        let [header, _, signature] = parts(&attached);
        let detached = format!("{header}..{signature}");
        assert!(key.verifier().verify_detached(&detached, b"{}").is_ok());
        assert_eq!(
            rejection_of(key.verifier().verify_detached(&attached, b"{}")),
            Rejection::Malformed(Part::Payload)
        );
    }
}

#[test]
fn verify_der_signature_is_rejected() {
    use aws_lc_rs::{rand::SystemRandom, signature as aws};
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let token = JwsSigner::new(&key).sign(b"{}").unwrap();
    let input = token.rsplit_once('.').unwrap().0;
    let pair =
        aws::EcdsaKeyPair::from_pkcs8(&aws::ECDSA_P256_SHA256_ASN1_SIGNING, &key.to_der().unwrap());
    let der = pair
        .unwrap()
        .sign(&SystemRandom::new(), input.as_bytes())
        .unwrap();
    let forged = format!("{input}.{}", encode(der.as_ref()));
    let verifier = JwsVerifier::new(key.verifying_key());
    assert_eq!(rejection_of(verifier.verify(&forged)), Rejection::Signature);
}

#[test]
fn verify_changed_or_cut_token_is_rejected() {
    for key in Key::every() {
        let (token, verifier) = (key.sign(b"{\"a\":1}"), key.verifier());
        // RSA tokens are long and slow, so only some characters are changed.
        let step = if token.len() > 300 { 7 } else { 1 };
        for position in (0..token.len()).step_by(step) {
            let mut changed = token.clone().into_bytes();
            changed[position] = if changed[position] == b'A' {
                b'B'
            } else {
                b'A'
            };
            let changed = String::from_utf8(changed).unwrap();
            assert!(
                verifier.verify(&changed).is_err(),
                "{} changed at {position}",
                key.alg()
            );
            assert!(
                verifier.verify(&token[..position]).is_err(),
                "{} cut at {position}",
                key.alg()
            );
        }
    }
}

#[test]
fn verify_non_canonical_base64_is_rejected() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let token = key.sign(b"{}");
    let [header, payload, signature] = parts(&token);
    // The last character of a 32-byte MAC has two unused bits.
    let spare = {
        let last = signature.chars().last().unwrap();
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let index = alphabet.find(last).unwrap();
        format!(
            "{}{}",
            &signature[..signature.len() - 1],
            alphabet.chars().nth(index | 1).unwrap()
        )
    };
    for forged in [
        format!("{header}.{payload}.{spare}"),
        format!("{header}.{payload}.{signature}="),
        format!("{header}.{payload}.{signature}\n"),
        format!("{header}.{payload}.{signature}\r\n"),
        format!("{header}.{payload}.{signature}."),
        format!("{header}.{payload}.{signature}.x"),
        format!(" {token}"),
        format!("{header}.{payload}..{signature}"),
        format!("{header}..{signature}"),
        format!("{header}.{payload}"),
        format!(".{payload}.{signature}"),
        token.replace('.', ".."),
        String::new(),
        "..".into(),
        ".".into(),
    ] {
        assert!(key.verifier().verify(&forged).is_err(), "{forged:?}");
    }
    // The same with a signing input that is not canonical, so that the MAC is valid.
    for (h, p) in [
        (encode(b"{\"alg\":\"HS256\"}") + "=", encode(b"{}")),
        (encode(b"{\"alg\":\"HS256\"}"), encode(b"{}") + "="),
        (encode(b"{\"alg\":\"HS256\"}"), "e30\n".into()),
        (encode(b"{\"alg\":\"HS256\"}"), "e31".into()),
        (encode(b"{\"alg\":\"HS256\"}"), "e+/0".into()),
    ] {
        let signed = reference::sign(&key, &h, &p);
        assert!(key.verifier().verify(&signed).is_err(), "{h:?} {p:?}");
    }
}
