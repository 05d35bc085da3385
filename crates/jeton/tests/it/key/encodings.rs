//! Signing keys in every encoding, and invalid keys: the error names the member and never contains its value.

use jeton::danger::{Password, Pbes2Alg};
use jeton::error::{KeyError, KeyProblem};
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use jeton::{Error, Result, limits};
use serde_json::{Value, json};

fn rejected<T>(result: Result<T>) -> KeyError {
    match result {
        Err(Error::Key(error)) => error,
        Err(other) => panic!("not a key error: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

fn private_jwk(key: &SigningKey) -> Value {
    serde_json::from_str(&key.to_jwk().unwrap()).unwrap()
}

fn public_jwk(key: &SigningKey) -> Value {
    serde_json::from_str(&key.verifying_key().to_jwk()).unwrap()
}

#[test]
fn every_private_encoding_signs_for_every_public_encoding() {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        let private_forms = [
            SigningKey::from_jwk(&key.to_jwk().unwrap()).unwrap(),
            SigningKey::from_pem_as(&key.to_pem().unwrap(), alg).unwrap(),
            SigningKey::from_der_as(&key.to_der().unwrap(), alg).unwrap(),
        ];
        let public_forms = [
            VerifyingKey::from_jwk(&public.to_jwk()).unwrap(),
            VerifyingKey::from_pem_as(&public.to_pem().unwrap(), alg).unwrap(),
            VerifyingKey::from_der_as(&public.to_der().unwrap(), alg).unwrap(),
        ];
        for private in &private_forms {
            assert_eq!(private.to_jwk().unwrap(), key.to_jwk().unwrap());
            let token = JwsSigner::new(private).sign(b"x").unwrap();
            for public in &public_forms {
                assert_eq!(public.thumbprint(), key.verifying_key().thumbprint());
                JwsVerifier::new(public).verify(&token).unwrap();
            }
        }
    }
}

/// A key that was read from PEM is written in the same form, including its public key.
#[test]
fn private_key_pem_round_trips() {
    for &alg in SigAlg::ALL {
        let pem = SigningKey::generate(alg).unwrap().to_pem().unwrap();
        let again = SigningKey::from_pem_as(&pem, alg).unwrap();
        assert_eq!(*again.to_pem().unwrap(), *pem, "{alg:?}");
    }
}

#[test]
fn curve_implies_algorithm_but_rsa_does_not() {
    for (alg, implied) in [
        (SigAlg::ES256, Some(SigAlg::ES256)),
        (SigAlg::ES384, Some(SigAlg::ES384)),
        (SigAlg::ES512, Some(SigAlg::ES512)),
        (SigAlg::ES256K, Some(SigAlg::ES256K)),
        (SigAlg::Ed25519, Some(SigAlg::EdDSA)),
        (SigAlg::PS256, None),
    ] {
        let key = SigningKey::generate(alg).unwrap();
        let mut jwk = public_jwk(&key);
        jwk.as_object_mut().unwrap().remove("alg");
        let forms = [
            VerifyingKey::from_jwk(&jwk.to_string()),
            VerifyingKey::from_pem(&key.verifying_key().to_pem().unwrap()),
            VerifyingKey::from_der(&key.verifying_key().to_der().unwrap()),
        ];
        for form in forms {
            match implied {
                Some(implied) => assert_eq!(form.unwrap().alg(), implied),
                None => assert_eq!(rejected(form).problem(), &KeyProblem::AlgorithmNeeded),
            }
        }
        let pem = key.to_pem().unwrap();
        assert_eq!(SigningKey::from_pem(&pem).is_ok(), implied.is_some());
        for &wrong in SigAlg::ALL {
            let fits = SigningKey::from_pem_as(&pem, wrong).is_ok();
            let family = |alg: SigAlg| match alg.name() {
                "EdDSA" | "Ed25519" => "Ed25519".to_owned(),
                name if name.starts_with(['R', 'P']) => "RSA".to_owned(),
                name => name.to_owned(),
            };
            assert_eq!(fits, family(wrong) == family(alg), "{alg} as {wrong}");
        }
    }
}

#[test]
fn contradicting_member_is_named_in_the_error() {
    let ec = public_jwk(&SigningKey::generate(SigAlg::ES256).unwrap());
    let rsa = public_jwk(&SigningKey::generate(SigAlg::RS256).unwrap());
    let okp = public_jwk(&SigningKey::generate(SigAlg::EdDSA).unwrap());
    let akp = public_jwk(&SigningKey::generate(SigAlg::MlDsa44).unwrap());
    let with = |base: &Value, name: &str, value: Value| {
        let mut jwk = base.clone();
        jwk[name] = value;
        jwk.to_string()
    };
    let zero = "A".repeat(43);
    let missing = |base: &Value, name: &str| {
        let mut jwk = base.clone();
        jwk.as_object_mut().unwrap().remove(name);
        jwk.to_string()
    };
    for (text, member, problem) in [
        (
            with(&ec, "alg", json!("ES384")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&ec, "alg", json!("RS256")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&ec, "alg", json!("none")),
            "alg",
            KeyProblem::AnotherAlgorithm,
        ),
        (with(&ec, "alg", json!(7)), "alg", KeyProblem::WrongType),
        (
            with(&rsa, "alg", json!("ES256")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&okp, "alg", json!("RS256")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&ec, "kty", json!("oct")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&ec, "kty", json!("XYZ")),
            "kty",
            KeyProblem::Unsupported,
        ),
        (missing(&ec, "kty"), "kty", KeyProblem::Missing),
        (
            with(&ec, "crv", json!("P-192")),
            "crv",
            KeyProblem::Unsupported,
        ),
        (
            with(&ec, "crv", json!("P-384")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (missing(&ec, "crv"), "crv", KeyProblem::Missing),
        (missing(&ec, "y"), "y", KeyProblem::Missing),
        (with(&ec, "x", json!("AA")), "x", KeyProblem::WrongLength),
        (with(&ec, "x", json!("AA==")), "x", KeyProblem::NotBase64Url),
        (with(&ec, "x", json!(zero)), "x", KeyProblem::Invalid),
        (with(&okp, "x", json!(zero)), "x", KeyProblem::Invalid),
        (
            with(&okp, "crv", json!("Ed448")),
            "crv",
            KeyProblem::Unsupported,
        ),
        (missing(&akp, "alg"), "alg", KeyProblem::Missing),
        (
            with(&akp, "alg", json!("ML-DSA-65")),
            "pub",
            KeyProblem::WrongLength,
        ),
        (
            with(&akp, "alg", json!("ES256")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&akp, "alg", json!("SLH-DSA-SHA2-128s")),
            "alg",
            KeyProblem::Unsupported,
        ),
        (missing(&akp, "pub"), "pub", KeyProblem::Missing),
        (
            with(&akp, "priv", json!(zero)),
            "priv",
            KeyProblem::PrivateGiven,
        ),
        (
            with(&ec, "alg", json!("ML-DSA-44")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (
            with(&ec, "crv", json!("secp256k1")),
            "kty",
            KeyProblem::WrongKeyType,
        ),
        (with(&rsa, "e", json!("Ag")), "e", KeyProblem::TooWeak),
        (with(&rsa, "e", json!("Aw")), "e", KeyProblem::TooWeak),
        (with(&rsa, "e", json!("AQAA")), "e", KeyProblem::Invalid),
        (with(&rsa, "e", json!("AAEAAQ")), "e", KeyProblem::Invalid),
        (
            with(&rsa, "e", json!("_".repeat(40))),
            "e",
            KeyProblem::TooLarge,
        ),
        (with(&rsa, "n", json!("")), "n", KeyProblem::Invalid),
        (
            with(&rsa, "n", json!("_".repeat(172))),
            "n",
            KeyProblem::TooWeak,
        ),
        (
            with(&rsa, "n", json!("_".repeat(1368))),
            "n",
            KeyProblem::TooLarge,
        ),
        (
            with(&rsa, "n", json!(format!("{}A", "_".repeat(341)))),
            "n",
            KeyProblem::Invalid,
        ),
        (
            with(&ec, "use", json!("enc")),
            "use",
            KeyProblem::AnotherUse,
        ),
        (
            with(&ec, "key_ops", json!(["sign"])),
            "key_ops",
            KeyProblem::OperationNotPermitted,
        ),
        (
            with(&ec, "key_ops", json!("verify")),
            "key_ops",
            KeyProblem::WrongType,
        ),
        (
            with(&ec, "key_ops", json!([1, "verify"])),
            "key_ops",
            KeyProblem::WrongType,
        ),
        (
            with(&ec, "key_ops", json!(["verify", "verify"])),
            "key_ops",
            KeyProblem::Duplicate,
        ),
        (with(&ec, "kid", json!("")), "kid", KeyProblem::WrongLength),
        (
            with(&ec, "kid", json!("k".repeat(limits::KEY_ID_BYTES_MAX + 1))),
            "kid",
            KeyProblem::TooLarge,
        ),
        (with(&ec, "d", json!(zero)), "d", KeyProblem::PrivateGiven),
    ] {
        let error = rejected(VerifyingKey::from_jwk(&text));
        assert_eq!(
            (error.member(), error.problem()),
            (Some(member), &problem),
            "{text}"
        );
    }
    assert!(VerifyingKey::from_jwk(&with(&ec, "unknown", json!({"a": [1]}))).is_ok());
}

#[test]
fn mismatched_private_and_public_key_is_rejected() {
    for alg in [
        SigAlg::ES256,
        SigAlg::ES384,
        SigAlg::ES512,
        SigAlg::ES256K,
        SigAlg::EdDSA,
        SigAlg::RS256,
        SigAlg::MlDsa44,
        SigAlg::MlDsa65,
        SigAlg::MlDsa87,
    ] {
        let (one, other) = (
            SigningKey::generate(alg).unwrap(),
            SigningKey::generate(alg).unwrap(),
        );
        let (mut mixed, other_key) = (private_jwk(&one), private_jwk(&other));
        assert!(SigningKey::from_jwk(&mixed.to_string()).is_ok());
        let private = if mixed["kty"] == "AKP" { "priv" } else { "d" };
        mixed[private] = other_key[private].clone();
        let error = rejected(SigningKey::from_jwk(&mixed.to_string()));
        assert_eq!(
            (error.member(), error.problem()),
            (Some(private), &KeyProblem::Mismatch),
            "{alg}"
        );
    }
    let rsa = private_jwk(&SigningKey::generate(SigAlg::RS256).unwrap());
    for member in ["p", "q", "dp", "dq", "qi"] {
        let mut without = rsa.clone();
        without.as_object_mut().unwrap().remove(member);
        let error = rejected(SigningKey::from_jwk(&without.to_string()));
        assert_eq!(
            (error.member(), error.problem()),
            (Some(member), &KeyProblem::Missing)
        );
        let mut wrong = rsa.clone();
        wrong[member] = json!("Aw");
        assert!(
            SigningKey::from_jwk(&wrong.to_string()).is_err(),
            "{member}"
        );
    }
    let mut multi_prime = rsa;
    multi_prime["oth"] = json!([]);
    let error = rejected(SigningKey::from_jwk(&multi_prime.to_string()));
    assert_eq!(
        (error.member(), error.problem()),
        (Some("oth"), &KeyProblem::Unsupported)
    );
}

#[test]
fn private_key_as_public_and_reverse_is_rejected() {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        assert_eq!(
            rejected(SigningKey::from_jwk(&public.to_jwk())).problem(),
            &KeyProblem::PublicGiven
        );
        assert_eq!(
            rejected(SigningKey::from_pem_as(&public.to_pem().unwrap(), alg)).problem(),
            &KeyProblem::PublicGiven
        );
        assert_eq!(
            rejected(VerifyingKey::from_jwk(&key.to_jwk().unwrap())).problem(),
            &KeyProblem::PrivateGiven
        );
        assert_eq!(
            rejected(VerifyingKey::from_pem_as(&key.to_pem().unwrap(), alg)).problem(),
            &KeyProblem::PrivateGiven
        );
    }
}

/// RFC 7517, sections 4.2, 4.3 and 4.7.
#[test]
fn jwk_use_key_ops_and_x5c_are_written_again() {
    for alg in [SigAlg::ES256, SigAlg::EdDSA, SigAlg::RS256, SigAlg::MlDsa65] {
        let key = SigningKey::generate(alg).unwrap();
        let mut private: Value = serde_json::from_str(&key.to_jwk().unwrap()).unwrap();
        private["use"] = json!("sig");
        private["key_ops"] = json!(["sign"]);
        private["x5c"] = json!(["MIIB+/8=", "MII\u{e9}"]);
        let key = SigningKey::from_jwk(&private.to_string()).unwrap();
        let again: Value = serde_json::from_str(&key.to_jwk().unwrap()).unwrap();
        assert_eq!(again, private, "{alg}");

        let text = key.verifying_key().with_key_id("k").unwrap().to_jwk();
        let public: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(public["key_ops"], json!(["verify"]));
        assert_eq!(
            (&public["use"], &public["x5c"]),
            (&private["use"], &private["x5c"])
        );
        let again = VerifyingKey::from_jwk(&text).unwrap();
        assert_eq!(again.to_jwk(), text);
    }
    let jwk = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .to_jwk()
        .unwrap();
    let mut wrong: Value = serde_json::from_str(&jwk).unwrap();
    for chain in [json!("MIIB"), json!([7]), json!([["MIIB"]])] {
        wrong["x5c"] = chain;
        let key = SigningKey::from_jwk(&wrong.to_string()).unwrap();
        assert!(!key.to_jwk().unwrap().contains("\"x5c\""));
    }
}

#[test]
fn mac_key_ops_restrict_the_key() {
    let key = MacKey::generate(MacAlg::HS384).unwrap();
    let jwk: Value = serde_json::from_str(&key.to_jwk()).unwrap();
    let with = |name: &str, value: Value| {
        let mut jwk = jwk.clone();
        jwk[name] = value;
        jwk.to_string()
    };
    assert!(MacKey::from_jwk_as(&jwk.to_string(), MacAlg::HS384).is_ok());
    for (text, member) in [
        (with("alg", json!("HS256K")), "alg"),
        (with("alg", json!("HS512")), "k"),
        (with("use", json!("enc")), "use"),
        (with("key_ops", json!(["encrypt"])), "key_ops"),
        (with("k", json!("not base64!")), "k"),
        (with("kty", json!("EC")), "kty"),
    ] {
        assert_eq!(
            rejected(MacKey::from_jwk(&text)).member(),
            Some(member),
            "{text}"
        );
    }
    assert_eq!(
        rejected(MacKey::from_jwk_as(&jwk.to_string(), MacAlg::HS256)).member(),
        Some("alg")
    );

    let token = JwsSigner::new(&key).sign(b"x").unwrap();
    let verify_only = MacKey::from_jwk(&with("key_ops", json!(["verify"]))).unwrap();
    assert!(JwsVerifier::new(&verify_only).verify(&token).is_ok());
    assert_eq!(
        rejected(JwsSigner::new(&verify_only).sign(b"x")).member(),
        Some("key_ops")
    );
    let again = MacKey::from_jwk(&verify_only.to_jwk()).unwrap();
    assert!(JwsSigner::new(&again).sign(b"x").is_err());
    assert!(JwsVerifier::new(&again).verify(&token).is_ok());
    let sign_only = MacKey::from_jwk(&with("key_ops", json!(["sign"]))).unwrap();
    let again = MacKey::from_jwk(&sign_only.to_jwk()).unwrap();
    assert!(JwsVerifier::new(&again).verify(&token).is_err());
    assert_eq!(JwsSigner::new(&sign_only).sign(b"x").unwrap(), token);
    assert!(JwsVerifier::new(&sign_only).verify(&token).is_err());
}

/// AWS-LC accepts the hybrid form, whose first byte encodes the parity of y (X9.62). RFC 5480, section 2.2, does
/// not.
#[test]
fn hybrid_point_is_rejected() {
    for alg in [SigAlg::ES256, SigAlg::ES384, SigAlg::ES512, SigAlg::ES256K] {
        let key = SigningKey::generate(alg).unwrap().verifying_key();
        let mut der = key.to_der().unwrap();
        let point = der.len()
            - match alg {
                SigAlg::ES384 => 97,
                SigAlg::ES512 => 133,
                _ => 65,
            };
        assert_eq!(der[point], 4);
        let odd = der.last().unwrap() & 1;
        der[point] = 6 + odd;
        let rejection = rejected(VerifyingKey::from_der_as(&der, alg));
        assert_eq!(rejection.problem(), &KeyProblem::Invalid, "{alg}");
    }
}

#[test]
fn long_secret_round_trips_as_jwk() {
    let secret: Vec<u8> = (0..=u8::MAX).cycle().take(40_000).collect();
    let key = MacKey::new(MacAlg::HS256, &secret).unwrap();
    let same = MacKey::from_jwk(&key.to_jwk()).unwrap();
    assert_eq!(same.thumbprint(), key.thumbprint());
}

#[test]
fn weak_secret_error_contains_size_and_minimum() {
    let error = rejected(MacKey::new(MacAlg::HS256, b"short"));
    assert_eq!(
        error.to_string(),
        "key rejected: HMAC key has 5 bytes, minimum 32"
    );
    let error = rejected(Password::new(Pbes2Alg::Hs256A128Kw, b""));
    assert_eq!(
        error.to_string(),
        "key rejected: password has 0 bytes, minimum 1"
    );
}

#[test]
fn malformed_key_text_is_an_error() {
    let long = format!("{{\"kty\":\"{}\"}}", "x".repeat(70_000));
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"kty\":\"EC\",\"kty\":\"EC\"}",
        "-----BEGIN PUBLIC KEY-----",
        &long,
    ] {
        assert!(VerifyingKey::from_jwk(text).is_err());
        assert!(SigningKey::from_jwk(text).is_err());
        assert!(MacKey::from_jwk(text).is_err());
        assert!(VerifyingKey::from_pem(text).is_err());
        assert!(SigningKey::from_pem(text).is_err());
        assert!(VerifyingKey::from_der(text.as_bytes()).is_err());
        assert!(SigningKey::from_der(text.as_bytes()).is_err());
    }
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let der = key.to_der().unwrap();
    for length in 0..der.len() {
        assert!(
            SigningKey::from_der(&der[..length]).is_err(),
            "cut at {length}"
        );
    }
    assert!(
        SigningKey::from_der(&[der.as_slice(), &[0]].concat()).is_err(),
        "trailing data"
    );
}

/// RFC 9881, section 6: an ML-DSA private key is a seed, an expanded key, or both.
#[test]
fn ml_dsa_private_key_without_seed_is_rejected() {
    use aws_lc_rs::encoding::AsRawBytes;
    use aws_lc_rs::signature::{ML_DSA_65_SIGNING, PqdsaKeyPair};

    let tlv = |tag: u8, content: &[u8]| -> Vec<u8> {
        let length = content.len();
        let header = match length {
            0..0x80 => vec![tag, length as u8],
            _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
        };
        [header.as_slice(), content].concat()
    };
    let key = SigningKey::generate(SigAlg::MlDsa65).unwrap();
    let der = key.to_der().unwrap();
    let seed = &der[der.len() - 32..];
    let pair = PqdsaKeyPair::from_pkcs8(&ML_DSA_65_SIGNING, &der).unwrap();
    let expanded = pair.private_key().as_raw_bytes().unwrap();
    let pkcs8 = |private_key: &[u8]| {
        let algorithm = tlv(
            0x30,
            &tlv(0x06, &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 0x12]),
        );
        let parts = [tlv(0x02, &[0]), algorithm, tlv(0x04, private_key)];
        tlv(0x30, &parts.concat())
    };
    let both = |seed: &[u8]| {
        let parts = [tlv(0x04, seed), tlv(0x04, expanded.as_ref())];
        pkcs8(&tlv(0x30, &parts.concat()))
    };
    assert_eq!(pkcs8(&tlv(0x80, seed)), der.as_slice());
    let from_both = SigningKey::from_der(&both(seed)).unwrap();
    assert_eq!(from_both.to_jwk().unwrap(), key.to_jwk().unwrap());
    for rejected in [both(&[7; 32]), pkcs8(&tlv(0x04, expanded.as_ref()))] {
        let error = rejected_der(&rejected);
        assert_eq!(error.member(), Some("privateKey"));
    }
    assert_eq!(
        rejected_der(&pkcs8(&tlv(0x04, expanded.as_ref()))).problem(),
        &KeyProblem::Unsupported
    );
    assert!(SigningKey::from_der(&pkcs8(&tlv(0x80, &seed[1..]))).is_err());
    assert!(SigningKey::from_der_as(&der, SigAlg::MlDsa44).is_err());
}

fn rejected_der(der: &[u8]) -> KeyError {
    rejected(SigningKey::from_der(der))
}
