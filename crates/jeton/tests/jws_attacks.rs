//! What a JWS verifier must survive: one test for each known attack, on every algorithm that it can
//! apply to, with keys made here. Each first sees the untampered token accepted.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};

use jeton::error::{Claim, KeyProblem, Part, Rejection};
use jeton::jwk::KeySet;
use jeton::jws::Signer;
use jeton::key::{Alg, Keys, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};
use jeton::{Claims, Error, Limits, Policy, Verified, jws, jwt};
use serde_json::{Value, json};

/// A key of either kind.
enum Key {
    Mac(MacKey),
    Pair(SigningKey),
}

impl Key {
    fn generate(alg: Alg) -> Key {
        match alg {
            Alg::Mac(alg) => Key::Mac(MacKey::generate(alg).unwrap()),
            Alg::Sig(alg) => Key::Pair(SigningKey::generate(alg).unwrap()),
            other => panic!("{other}"),
        }
    }

    fn every() -> impl Iterator<Item = Key> {
        let macs = MacAlg::ALL.into_iter().map(Alg::Mac);
        macs.chain(SigAlg::ALL.into_iter().map(Alg::Sig))
            .map(Key::generate)
    }

    fn alg(&self) -> &'static str {
        match self {
            Key::Mac(key) => key.alg().name(),
            Key::Pair(key) => key.alg().name(),
        }
    }

    fn as_ref(&self) -> SigningKeyRef<'_> {
        match self {
            Key::Mac(key) => key.into(),
            Key::Pair(key) => key.into(),
        }
    }

    fn keys(&self) -> Keys {
        match self {
            Key::Mac(key) => key.into(),
            Key::Pair(key) => key.verifying_key().into(),
        }
    }

    fn verifier(&self) -> jws::Verifier {
        jws::Verifier::new(self.keys())
    }

    fn sign(&self, payload: &[u8]) -> String {
        let token = Signer::new(self.as_ref()).sign(payload).unwrap();
        assert_eq!(self.verifier().verify(&token).unwrap().payload(), payload);
        token
    }

    /// A token that this key really signed, under a header of the attacker's choosing. It takes the
    /// key's owner to make one; what the header says must still not be believed.
    fn sign_under(&self, header: &str, payload: &[u8]) -> String {
        reference::sign(self, &encode(header.as_bytes()), &encode(payload))
    }
}

/// Signatures over any input, by AWS-LC alone: what an attacker with the key can make, and jeton
/// itself cannot be brought to.
mod reference {
    use super::Key;
    use aws_lc_rs::{hmac, rand::SystemRandom, rsa::KeyPair as RsaKeyPair, signature as aws};

    pub(super) fn sign(key: &Key, header: &str, payload: &str) -> String {
        let input = format!("{header}.{payload}");
        let signature = match key {
            Key::Mac(key) => {
                let jwk: serde_json::Value = serde_json::from_str(&key.to_jwk()).unwrap();
                let secret = super::decode(jwk["k"].as_str().unwrap());
                let algorithm = match key.alg().name() {
                    "HS256" => hmac::HMAC_SHA256,
                    "HS384" => hmac::HMAC_SHA384,
                    _ => hmac::HMAC_SHA512,
                };
                hmac::sign(&hmac::Key::new(algorithm, &secret), input.as_bytes())
                    .as_ref()
                    .to_vec()
            }
            Key::Pair(key) => pair(key.alg().name(), &key.to_der().unwrap(), input.as_bytes()),
        };
        format!("{input}.{}", super::encode(&signature))
    }

    fn pair(alg: &str, pkcs8: &[u8], input: &[u8]) -> Vec<u8> {
        let rng = SystemRandom::new();
        let ecdsa = |algorithm| {
            let pair = aws::EcdsaKeyPair::from_pkcs8(algorithm, pkcs8).unwrap();
            pair.sign(&rng, input).unwrap().as_ref().to_vec()
        };
        let rsa = |encoding: &'static dyn aws::RsaEncoding| {
            let pair = RsaKeyPair::from_pkcs8(pkcs8).unwrap();
            let mut signature = vec![0; pair.public_modulus_len()];
            pair.sign(encoding, &rng, input, &mut signature).unwrap();
            signature
        };
        match alg {
            "ES256" => ecdsa(&aws::ECDSA_P256_SHA256_FIXED_SIGNING),
            "ES384" => ecdsa(&aws::ECDSA_P384_SHA384_FIXED_SIGNING),
            "ES512" => ecdsa(&aws::ECDSA_P521_SHA512_FIXED_SIGNING),
            "RS256" => rsa(&aws::RSA_PKCS1_SHA256),
            "RS384" => rsa(&aws::RSA_PKCS1_SHA384),
            "RS512" => rsa(&aws::RSA_PKCS1_SHA512),
            "PS256" => rsa(&aws::RSA_PSS_SHA256),
            "PS384" => rsa(&aws::RSA_PSS_SHA384),
            "PS512" => rsa(&aws::RSA_PSS_SHA512),
            _ => {
                let pair = aws::Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).unwrap();
                pair.sign(input).as_ref().to_vec()
            }
        }
    }
}

fn encode(bytes: &[u8]) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
}

fn decode(text: &str) -> Vec<u8> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).unwrap()
}

fn refusal<T>(result: jeton::Result<T>) -> Rejection {
    match result {
        Err(Error::Rejected(rejection)) => rejection,
        Err(other) => panic!("not the sender's fault? {other}"),
        Ok(_) => panic!("accepted"),
    }
}

fn parts(token: &str) -> [&str; 3] {
    let parts: Vec<&str> = token.split('.').collect();
    parts.try_into().unwrap()
}

#[test]
fn alg_none_does_not_exist() {
    for key in Key::every() {
        let token = key.sign(b"{}");
        let [_, payload, signature] = parts(&token);
        for none in ["none", "None", "NONE", "nOnE", "none ", "", "null"] {
            for signature in ["", signature] {
                let header = encode(format!("{{\"alg\":\"{none}\"}}").as_bytes());
                let forged = format!("{header}.{payload}.{signature}");
                assert_eq!(
                    refusal(key.verifier().verify(&forged)),
                    Rejection::AlgorithmMismatch
                );
            }
        }
        let without = format!("{}.{payload}.", encode(b"{}"));
        assert_eq!(
            refusal(key.verifier().verify(&without)),
            Rejection::Malformed(Part::Header)
        );
    }
    assert!("none".parse::<Alg>().is_err());
}

#[test]
fn a_public_key_is_never_an_hmac_secret() {
    for alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        let pem = public.to_pem().unwrap();
        let texts: [Vec<u8>; 5] = [
            pem.clone().into_bytes(),
            pem.replace('\n', "\r\n").into_bytes(),
            pem.trim_end().as_bytes().to_vec(),
            public.to_der().unwrap(),
            public.to_jwk().into_bytes(),
        ];
        let verifier = jws::Verifier::new(public);
        let token = Signer::new(&key).sign(b"{}").unwrap();
        assert!(verifier.verify(&token).is_ok());
        for text in texts {
            for mac in MacAlg::ALL {
                // Nobody can load such bytes as a secret by mistake ...
                let refused = MacKey::new(mac, &text).unwrap_err();
                assert!(
                    matches!(refused, Error::Key(e) if matches!(e.problem(), KeyProblem::KeyAsSecret | KeyProblem::TooWeak)),
                    "{refused}"
                );
                // ... and a token made with them is refused by what it says it is.
                let header = encode(format!("{{\"alg\":\"{mac}\"}}").as_bytes());
                let input = format!("{header}.{}", encode(b"{}"));
                let algorithm = aws_lc_rs::hmac::HMAC_SHA256;
                let tag = aws_lc_rs::hmac::sign(
                    &aws_lc_rs::hmac::Key::new(algorithm, &text),
                    input.as_bytes(),
                );
                let forged = format!("{input}.{}", encode(tag.as_ref()));
                assert_eq!(
                    refusal(verifier.verify(&forged)),
                    Rejection::AlgorithmMismatch
                );
            }
        }
    }
}

#[test]
fn empty_and_short_hmac_keys_are_refused() {
    for alg in MacAlg::ALL {
        for length in 0..alg.key_bytes() {
            let refused = MacKey::new(alg, &vec![7; length]).unwrap_err();
            assert!(matches!(refused, Error::Key(e) if e.problem() == KeyProblem::TooWeak));
            let jwk = json!({"kty":"oct","alg":alg.name(),"k":encode(&vec![7; length])});
            assert!(MacKey::from_jwk(&jwk.to_string()).is_err());
        }
        assert!(MacKey::new(alg, &vec![7; alg.key_bytes()]).is_ok());
    }
}

#[test]
fn keys_in_the_header_are_never_trusted() {
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
                refusal(key.verifier().verify(&forged)),
                Rejection::Signature
            );
        }
    }
}

#[test]
fn a_long_kid_is_refused() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let header = |length| json!({"alg":"HS256","kid":"k".repeat(length)}).to_string();
    assert!(
        key.verifier()
            .verify(&key.sign_under(&header(256), b"{}"))
            .is_ok()
    );
    let forged = key.sign_under(&header(257), b"{}");
    assert_eq!(
        refusal(key.verifier().verify(&forged)),
        Rejection::TooLarge(Part::Header)
    );
}

#[test]
fn every_algorithm_refuses_every_others_tokens() {
    let keys: Vec<Key> = Key::every().collect();
    for key in &keys {
        for other in &keys {
            let token = other.sign(b"{}");
            let same = matches!(
                (key.alg(), other.alg()),
                ("EdDSA", "Ed25519") | ("Ed25519", "EdDSA")
            );
            let expected = if key.alg() == other.alg() || same {
                // The same algorithm, and another key; or the very same key.
                if std::ptr::eq(key, other) {
                    continue;
                } else {
                    Rejection::Signature
                }
            } else {
                Rejection::AlgorithmMismatch
            };
            assert_eq!(refusal(key.verifier().verify(&token)), expected);
        }
    }
}

#[test]
fn signatures_of_another_length_or_form_are_refused() {
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
                refusal(key.verifier().verify(&with(bytes))),
                Rejection::Signature,
                "{}",
                key.alg()
            );
        }
    }
}

#[test]
fn der_in_place_of_r_and_s_is_refused() {
    use aws_lc_rs::{rand::SystemRandom, signature as aws};
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let token = Signer::new(&key).sign(b"{}").unwrap();
    let input = token.rsplit_once('.').unwrap().0;
    let pair =
        aws::EcdsaKeyPair::from_pkcs8(&aws::ECDSA_P256_SHA256_ASN1_SIGNING, &key.to_der().unwrap());
    let der = pair
        .unwrap()
        .sign(&SystemRandom::new(), input.as_bytes())
        .unwrap();
    let forged = format!("{input}.{}", encode(der.as_ref()));
    let verifier = jws::Verifier::new(key.verifying_key());
    assert_eq!(refusal(verifier.verify(&forged)), Rejection::Signature);
}

#[test]
fn every_changed_byte_and_every_cut_is_refused() {
    for key in Key::every() {
        let (token, verifier) = (key.sign(b"{\"a\":1}"), key.verifier());
        // RSA tokens are long and slow; a few changes in each part are enough to see the point.
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
fn base64_has_one_encoding_and_nothing_follows() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let token = key.sign(b"{}");
    let [header, payload, signature] = parts(&token);
    // The last character of a 32-byte MAC carries two spare bits.
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
    // The same where the signed text itself is not canonical, so that the MAC is right.
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

#[test]
fn headers_are_read_strictly() {
    for key in Key::every() {
        let alg = key.alg();
        let check = |header: &str, expected: Rejection| {
            let token = key.sign_under(header, b"{}");
            assert_eq!(refusal(key.verifier().verify(&token)), expected, "{header}");
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
        for crit in [
            "[\"b64\"]",
            "[\"exp\"]",
            "[]",
            "[\"alg\"]",
            "\"b64\"",
            "null",
        ] {
            check(
                &format!("{{\"alg\":\"{alg}\",\"crit\":{crit},\"b64\":false}}"),
                Rejection::CriticalExtension,
            );
            check(
                &format!("{{\"alg\":\"{alg}\",\"crit\":{crit}}}"),
                Rejection::CriticalExtension,
            );
        }
        check(
            &format!("{{\"alg\":\"{alg}\",\"b64\":false}}"),
            Rejection::CriticalExtension,
        );
        check(
            &format!("{{\"alg\":\"{alg}\",\"b64\":true}}"),
            Rejection::CriticalExtension,
        );
    }
}

#[test]
fn size_and_depth_are_checked_before_anything_else() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = key.verifier();
    let deep = format!(
        "{{\"alg\":\"HS256\",\"x\":{}{}}}",
        "[".repeat(4_000),
        "]".repeat(4_000)
    );
    let (million_dots, huge) = (".".repeat(1_000_000), "a".repeat(10_000_000));
    let long_header = encode(&vec![b' '; 10_000]);
    for (forged, expected) in [
        (huge.clone(), Rejection::TooLarge(Part::Token)),
        (
            format!("{huge}.{huge}.{huge}"),
            Rejection::TooLarge(Part::Token),
        ),
        (million_dots, Rejection::Malformed(Part::Token)),
        (
            format!("{long_header}.e30.{}", "A".repeat(43)),
            Rejection::TooLarge(Part::Header),
        ),
        (
            key.sign_under(&deep, b"{}"),
            Rejection::TooDeep(Part::Header),
        ),
    ] {
        let start = Instant::now();
        assert_eq!(refusal(verifier.verify(&forged)), expected);
        // Not a measurement: a bound a hundred times above what it takes.
        assert!(start.elapsed() < Duration::from_secs(1));
    }
    let tight = Limits {
        token_bytes: 40,
        ..Limits::default()
    };
    let small = key.verifier().limits(tight);
    assert_eq!(
        refusal(small.verify(&key.sign(b"{}"))),
        Rejection::TooLarge(Part::Token)
    );
}

#[test]
fn several_signatures_say_which_verified() {
    let trusted = SigningKey::generate(SigAlg::ES256).unwrap();
    let stranger = SigningKey::generate(SigAlg::ES256).unwrap();
    let sign = |key: &SigningKey| {
        let token = Signer::new(key).sign(b"both").unwrap();
        let [protected, _, signature] = parts(&token).map(str::to_owned);
        json!({"protected": protected, "signature": signature})
    };
    let document = |signatures: Vec<Value>| {
        json!({"payload": encode(b"both"), "signatures": signatures}).to_string()
    };
    let verifier = jws::Verifier::new(trusted.verifying_key());
    let both = document(vec![sign(&stranger), sign(&trusted)]);
    assert_eq!(verifier.verify_json(&both).unwrap().signature_index(), 1);
    assert_eq!(
        refusal(verifier.verify_json(&document(vec![sign(&stranger)]))),
        Rejection::Signature
    );
    assert_eq!(
        refusal(verifier.verify_json(&document(vec![]))),
        Rejection::Malformed(Part::Token)
    );
    let many = document(vec![sign(&stranger); 17]);
    assert_eq!(
        refusal(verifier.verify_json(&many)),
        Rejection::TooLarge(Part::Signature)
    );
}

#[test]
fn json_serializations_are_read_strictly() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let token = Signer::new(&key).sign(b"x").unwrap();
    let [protected, payload, signature] = parts(&token);
    let verifier = jws::Verifier::new(key.verifying_key());
    let good = json!({"payload": payload, "protected": protected, "signature": signature});
    assert!(verifier.verify_json(&good.to_string()).is_ok());
    // The compact verifier does not take JSON, and the other way round.
    assert!(verifier.verify(&good.to_string()).is_err());
    assert!(verifier.verify_json(&token).is_err());

    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed.to_string()
    };
    assert!(verifier.verify_json(&with("unknown", json!(1))).is_ok());
    for (forged, expected) in [
        (
            with("header", json!({"alg": "EdDSA"})),
            Rejection::DuplicateMember(Part::Header),
        ),
        (
            with("header", json!({"crit": ["x"]})),
            Rejection::CriticalExtension,
        ),
        (
            with("header", json!("x")),
            Rejection::Malformed(Part::Header),
        ),
        (
            with("signatures", json!([])),
            Rejection::Malformed(Part::Token),
        ),
        (with("payload", json!(1)), Rejection::Malformed(Part::Token)),
        (
            with("signature", json!(null)),
            Rejection::Malformed(Part::Token),
        ),
        (
            with("protected", json!("")),
            Rejection::Malformed(Part::Header),
        ),
    ] {
        assert_eq!(refusal(verifier.verify_json(&forged)), expected, "{forged}");
    }
    let twice = good.to_string().replacen('{', "{\"payload\":\"eA\",", 1);
    assert_eq!(
        refusal(verifier.verify_json(&twice)),
        Rejection::DuplicateMember(Part::Token)
    );
    // Nobody signed an unprotected typ, so nobody may believe it.
    let typed = with("header", json!({"typ": "at+jwt"}));
    assert_eq!(verifier.verify_json(&typed).unwrap().typ(), None);
}

#[test]
fn key_sets_pick_by_kid_and_algorithm() {
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
    assert_eq!((set.len(), set.left_out()), (2, 3));
    let verifier = jws::Verifier::new(set);
    assert_eq!(
        verifier
            .verify(&Signer::new(&two).sign(b"x").unwrap())
            .unwrap()
            .key_id(),
        Some("2")
    );
    // Signed by 1, and says that it was 2.
    let lying = SigningKey::from_der(&one.to_der().unwrap())
        .unwrap()
        .with_key_id("2")
        .unwrap();
    assert_eq!(
        refusal(verifier.verify(&Signer::new(&lying).sign(b"x").unwrap())),
        Rejection::Signature
    );
    let unknown = lying.with_key_id("3").unwrap();
    assert_eq!(
        refusal(verifier.verify(&Signer::new(&unknown).sign(b"x").unwrap())),
        Rejection::UnknownKey
    );
    assert_eq!(
        refusal(verifier.verify(&Signer::new(&mac).sign(b"x").unwrap())),
        Rejection::UnknownKey
    );
    let crowd = format!(
        "{{\"keys\":[{}]}}",
        vec![one.verifying_key().to_jwk(); 101].join(",")
    );
    assert!(KeySet::from_json(&crowd).is_err());
}

/// A JWT with any claims, signed by the key's owner.
fn jwt(key: &Key, claims: &str) -> String {
    key.sign_under(
        &format!("{{\"alg\":\"{}\",\"typ\":\"JWT\"}}", key.alg()),
        claims.as_bytes(),
    )
}

fn lenient() -> Policy {
    Policy::new("i", "a")
        .any_issuer()
        .any_audience()
        .without_expiry()
}

#[test]
fn claims_of_the_wrong_type_are_errors() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = jwt::Verifier::new(key.keys(), lenient());
    let verify = |claims: &str| verifier.verify::<Value>(&jwt(&key, claims));
    assert!(verify("{\"exp\":4102444800}").is_ok());
    for (claims, expected) in [
        (
            "{\"exp\":\"4102444800\"}",
            Rejection::ClaimType(Claim::Expiry),
        ),
        ("{\"exp\":null}", Rejection::ClaimType(Claim::Expiry)),
        ("{\"exp\":0}", Rejection::Expired),
        ("{\"exp\":-1}", Rejection::ClaimRange(Claim::Expiry)),
        ("{\"exp\":1e400}", Rejection::ClaimRange(Claim::Expiry)),
        (
            "{\"exp\":18446744073709551616}",
            Rejection::ClaimRange(Claim::Expiry),
        ),
        ("{\"nbf\":\"0\"}", Rejection::ClaimType(Claim::NotBefore)),
        ("{\"nbf\":4102444800}", Rejection::NotYetValid),
        ("{\"iat\":[1]}", Rejection::ClaimType(Claim::IssuedAt)),
        ("{\"aud\":{}}", Rejection::ClaimType(Claim::Audience)),
        ("{\"aud\":[\"a\",1]}", Rejection::ClaimType(Claim::Audience)),
        ("{\"iss\":[\"i\"]}", Rejection::ClaimType(Claim::Issuer)),
        ("{\"sub\":1}", Rejection::ClaimType(Claim::Subject)),
        ("{\"jti\":1}", Rejection::ClaimType(Claim::TokenId)),
        (
            "{\"exp\":4102444800,\"exp\":1}",
            Rejection::DuplicateMember(Part::Payload),
        ),
        (
            "{\"a\":{\"b\":1,\"b\":1}}",
            Rejection::DuplicateMember(Part::Payload),
        ),
        ("[]", Rejection::Malformed(Part::Payload)),
        ("\"x\"", Rejection::Malformed(Part::Payload)),
        ("", Rejection::Malformed(Part::Payload)),
        ("{} ,", Rejection::Malformed(Part::Payload)),
    ] {
        assert_eq!(refusal(verify(claims)), expected, "{claims}");
    }
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(refusal(verify(&deep)), Rejection::TooDeep(Part::Payload));
    let not_utf8 = key.sign_under(
        &format!("{{\"alg\":\"{}\"}}", key.alg()),
        b"{\"a\":\"\xff\"}",
    );
    assert_eq!(
        refusal(verifier.verify::<Value>(&not_utf8)),
        Rejection::Malformed(Part::Payload)
    );
}

#[test]
fn the_signature_decides_before_the_claims() {
    for key in Key::every() {
        let expired = jwt(&key, "{\"exp\":1}");
        let verifier = jwt::Verifier::new(key.keys(), lenient());
        assert_eq!(
            refusal(verifier.verify::<Value>(&expired)),
            Rejection::Expired
        );
        let forger = Key::generate(key.alg().parse().unwrap());
        let forged = jwt(&forger, "{\"exp\":1}");
        assert_eq!(
            refusal(verifier.verify::<Value>(&forged)),
            Rejection::Signature,
            "{}",
            key.alg()
        );
    }
}

#[test]
fn names_and_values_are_escaped_when_signing() {
    let nasty = "\",\"admin\":true,\"x\":\"\u{0}\u{1f}\u{2028}\\";
    let key = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id(nasty)
        .unwrap();
    let mut custom = serde_json::Map::new();
    custom.insert(nasty.into(), nasty.into());
    let claims = Claims::new(custom)
        .issuer(nasty)
        .subject(nasty)
        .audience("a")
        .expires_in(Duration::from_mins(1));
    let token = key.issue(&claims).unwrap();
    let verifier = jwt::Verifier::new(&key, Policy::new(nasty, "a"));
    let verified: Verified<serde_json::Map<String, Value>> = verifier.verify(&token).unwrap();
    assert_eq!(
        (verified.issuer(), verified.subject()),
        (Some(nasty), Some(nasty))
    );
    assert_eq!(verified.get(nasty), Some(&Value::from(nasty)));
    assert!(!verified.contains_key("admin"));
    let header: Value =
        serde_json::from_slice(&jeton::danger::peek(&token).unwrap().header).unwrap();
    assert_eq!(header, json!({"alg":"HS256","kid":nasty,"typ":"JWT"}));
    assert!(Signer::new(&key).typ("a b").sign(b"x").is_err());
}

#[test]
fn an_error_repeats_nothing_of_the_token_or_the_key() {
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
