//! Attacks with keys.

use super::support::{Key, encode, rejection_of};
use base64_simd::STANDARD;
use jeton::Error;
use jeton::error::{KeyProblem, Rejection};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use serde_json::{Value, json};

#[test]
fn public_key_as_hmac_secret_is_rejected() {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        let pem = public.to_pem().unwrap();
        let der = public.to_der().unwrap();
        let marked = |text: &[u8]| [b"\xef\xbb\xbf", text].concat();
        let texts = [
            // The form in which identity providers publish keys, and in which `x5c` contains certificates.
            STANDARD.encode_to_string(&der).into_bytes(),
            encode(&der).into_bytes(),
            STANDARD.encode_to_string(&pem).into_bytes(),
            [&b" "[..], &der, b"\r\n"].concat(),
            marked(pem.as_bytes()),
            marked(public.to_jwk().as_bytes()),
            format!("[{}]", public.to_jwk()).into_bytes(),
            pem.clone().into_bytes(),
            pem.replace('\n', "\r\n").into_bytes(),
            pem.trim_end().as_bytes().to_vec(),
            public.to_der().unwrap(),
            public.to_jwk().into_bytes(),
        ];
        let verifier = JwsVerifier::new(public);
        let token = JwsSigner::new(&key).sign(b"{}").unwrap();
        assert!(verifier.verify(&token).is_ok());
        for text in texts {
            for &mac in MacAlg::ALL {
                // Such bytes cannot be loaded as a secret ...
                let rejected = MacKey::new(mac, &text).unwrap_err();
                assert!(
                    matches!(&rejected, Error::Key(e) if matches!(e.problem(), KeyProblem::KeyAsSecret | KeyProblem::TooWeak)),
                    "{rejected}"
                );
                // ... and a token with such a MAC is rejected because of its algorithm.
                let header = encode(format!("{{\"alg\":\"{mac}\"}}").as_bytes());
                let input = format!("{header}.{}", encode(b"{}"));
                let algorithm = aws_lc_rs::hmac::HMAC_SHA256;
                let tag = aws_lc_rs::hmac::sign(
                    &aws_lc_rs::hmac::Key::new(algorithm, &text),
                    input.as_bytes(),
                );
                let forged = format!("{input}.{}", encode(tag.as_ref()));
                assert_eq!(
                    rejection_of(verifier.verify(&forged)),
                    Rejection::AlgorithmMismatch
                );
            }
        }
    }
}

#[test]
fn empty_or_short_hmac_key_is_rejected() {
    for &alg in MacAlg::ALL {
        for length in 0..alg.key_bytes() {
            let rejected = MacKey::new(alg, &vec![7; length]).unwrap_err();
            assert!(matches!(rejected, Error::Key(e) if *e.problem() == KeyProblem::TooWeak));
            let jwk = json!({"kty":"oct","alg":alg.name(),"k":encode(&vec![7; length])});
            assert!(MacKey::from_jwk(&jwk.to_string()).is_err());
        }
        assert!(MacKey::new(alg, &vec![7; alg.key_bytes()]).is_ok());
    }
}

#[test]
fn verify_with_key_in_the_header_is_rejected() {
    for key in Key::every() {
        let Key::Pair(own) = &key else { continue };
        let attacker = Key::Pair(SigningKey::generate(own.alg()).unwrap());
        let Key::Pair(pair) = &attacker else {
            unreachable!()
        };
        let jwk: Value = serde_json::from_str(&pair.verifying_key().to_jwk()).unwrap();
        for extra in [
            json!({"jwk": jwk}),
            json!({"jku": "https://attacker.example/keys"}),
            json!({"x5u": "https://attacker.example/cert"}),
            json!({"x5c": [encode(&pair.verifying_key().to_der().unwrap())]}),
            json!({"kid": "../../../../dev/null"}),
            json!({"kid": "' OR 1=1 --"}),
        ] {
            let mut header = extra;
            header["alg"] = json!(key.alg());
            let forged = attacker.sign_under(&header.to_string(), b"{}");
            assert!(
                attacker.verifier().verify(&forged).is_ok(),
                "the control is not valid"
            );
            assert_eq!(
                rejection_of(key.verifier().verify(&forged)),
                Rejection::Signature
            );
        }
    }
}

#[test]
fn key_set_selects_by_kid_and_alg() {
    let mac = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("m")
        .unwrap();
    let one = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .with_key_id("1")
        .unwrap();
    let two = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .with_key_id("2")
        .unwrap();
    let jwks = format!(
        "{{\"keys\":[{},{{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}},{},{{\"kty\":\"??\"}},7]}}",
        one.verifying_key().to_jwk(),
        two.verifying_key().to_jwk()
    );
    let set = KeySet::from_json(&jwks).unwrap();
    assert_eq!((set.len(), set.skipped().len()), (2, 3));
    let verifier = JwsVerifier::new(set);
    assert_eq!(
        verifier
            .verify(&JwsSigner::new(&two).sign(b"x").unwrap())
            .unwrap()
            .key_id(),
        Some("2")
    );
    // Signed by 1, with the `kid` of 2.
    let lying = SigningKey::from_der(&one.to_der().unwrap())
        .unwrap()
        .with_key_id("2")
        .unwrap();
    assert_eq!(
        rejection_of(verifier.verify(&JwsSigner::new(&lying).sign(b"x").unwrap())),
        Rejection::Signature
    );
    let unknown = lying.with_key_id("3").unwrap();
    assert_eq!(
        rejection_of(verifier.verify(&JwsSigner::new(&unknown).sign(b"x").unwrap())),
        Rejection::UnknownKey
    );
    assert_eq!(
        rejection_of(verifier.verify(&JwsSigner::new(&mac).sign(b"x").unwrap())),
        Rejection::UnknownKey
    );
    let crowd = format!(
        "{{\"keys\":[{}]}}",
        vec![one.verifying_key().to_jwk(); 257].join(",")
    );
    assert!(KeySet::from_json(&crowd).is_err());
}

#[test]
fn errors_contain_nothing_of_token_or_key() {
    let secret = encode(&[0x42; 31]);
    let jwk = json!({"kty":"oct","alg":"HS256","k":secret, "kid":"visible"}).to_string();
    let error = MacKey::from_jwk(&jwk).unwrap_err();
    for text in [format!("{error}"), format!("{error:?}")] {
        assert!(
            !text.contains(&secret) && !text.contains("visible"),
            "{text}"
        );
    }
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let jwk: Value = serde_json::from_str(&key.to_jwk()).unwrap();
    assert!(!format!("{key:?}").contains(jwk["k"].as_str().unwrap()));
    let pair = SigningKey::generate(SigAlg::ES256).unwrap();
    let jwk: Value = serde_json::from_str(&pair.to_jwk().unwrap()).unwrap();
    assert!(!format!("{pair:?}").contains(jwk["d"].as_str().unwrap()));
}
