//! Encryption keys in every encoding, and invalid keys: the error names the member and never contains its value.

use jeton::error::{InvalidUse, KeyError, KeyProblem};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKey, KeyManagementAlg,
    KeyWrapAlg, MacAlg, MacKey, SigAlg, SigningKey, WrappingKey,
};
use jeton::{Error, Result};
use serde_json::{Value, json};

const ECDH: KeyManagementAlg = KeyManagementAlg::EcdhEsA256Kw;
const RSA: KeyManagementAlg = KeyManagementAlg::RsaOaep256;

fn rejected<T>(result: Result<T>) -> (Option<&'static str>, KeyProblem) {
    let error: KeyError = match result {
        Err(Error::Key(error)) => error,
        Err(other) => panic!("not a key error: {other}"),
        Ok(_) => panic!("accepted"),
    };
    (error.member(), error.problem().clone())
}

fn private_jwk(key: &DecryptionKey) -> Value {
    serde_json::from_str(&key.to_jwk().unwrap()).unwrap()
}

fn public_jwk(key: &DecryptionKey) -> Value {
    serde_json::from_str(&key.encryption_key().to_jwk()).unwrap()
}

fn curves() -> [DecryptionKey; 4] {
    [
        DecryptionKey::generate(ECDH).unwrap(),
        DecryptionKey::generate_p384(ECDH).unwrap(),
        DecryptionKey::generate_p521(ECDH).unwrap(),
        DecryptionKey::generate_x25519(ECDH).unwrap(),
    ]
}

fn read_private(jwk: &Value) -> Result<DecryptionKey> {
    DecryptionKey::from_jwk(&jwk.to_string())
}

fn read_public(jwk: &Value) -> Result<EncryptionKey> {
    EncryptionKey::from_jwk(&jwk.to_string())
}

#[test]
fn every_private_encoding_decrypts_for_every_public_encoding() {
    let rsa = DecryptionKey::generate(RSA).unwrap();
    for key in curves().into_iter().chain([rsa]) {
        let (public, alg) = (key.encryption_key(), key.alg());
        let private_forms = [
            DecryptionKey::from_jwk(&key.to_jwk().unwrap()).unwrap(),
            DecryptionKey::from_pem_as(&key.to_pem().unwrap(), alg).unwrap(),
            DecryptionKey::from_der_as(&key.to_der().unwrap(), alg).unwrap(),
        ];
        let public_forms = [
            EncryptionKey::from_jwk(&public.to_jwk()).unwrap(),
            EncryptionKey::from_pem_as(&public.to_pem().unwrap(), alg).unwrap(),
            EncryptionKey::from_der_as(&public.to_der().unwrap(), alg).unwrap(),
        ];
        for public in &public_forms {
            assert_eq!(public.thumbprint(), key.encryption_key().thumbprint());
            let token = Encrypter::new(public, ContentEnc::A128Gcm)
                .encrypt(b"x")
                .unwrap();
            for private in &private_forms {
                assert_eq!(private.to_jwk().unwrap(), key.to_jwk().unwrap());
                Decrypter::new(private).decrypt(&token).unwrap();
            }
        }
    }
}

#[test]
fn shared_key_round_trips_as_jwk() {
    for &alg in KeyWrapAlg::ALL {
        let key = WrappingKey::generate(alg)
            .unwrap()
            .with_key_id("a")
            .unwrap();
        let same = WrappingKey::from_jwk(&key.to_jwk()).unwrap();
        assert_eq!(
            (same.thumbprint(), same.key_id()),
            (key.thumbprint(), Some("a"))
        );
    }
    for &enc in ContentEnc::ALL {
        let key = ContentKey::generate(enc).unwrap();
        let same = ContentKey::from_jwk(&key.to_jwk()).unwrap();
        assert_eq!((same.thumbprint(), same.enc()), (key.thumbprint(), enc));
        let named_dir = key.to_jwk().replace(enc.name(), "dir");
        assert!(ContentKey::from_jwk_as(&named_dir, enc).is_ok());
        let problem = rejected(ContentKey::from_jwk(&named_dir));
        assert_eq!(problem, (Some("alg"), KeyProblem::AlgorithmNeeded));
    }
}

#[test]
fn algorithm_must_be_known_and_not_contradict() {
    let mut jwk = private_jwk(&DecryptionKey::generate(RSA).unwrap());
    let contradiction = || (Some("alg"), KeyProblem::AnotherAlgorithm);
    let text = jwk.to_string();
    assert_eq!(
        rejected(DecryptionKey::from_jwk_as(&text, KeyManagementAlg::RsaOaep)),
        contradiction()
    );
    assert_eq!(
        rejected(DecryptionKey::from_jwk_as(&text, ECDH)),
        contradiction()
    );
    for alg in ["RSA1_5", "RS256", "ECDH-ES", "A128KW", "rsa-oaep-256", ""] {
        jwk["alg"] = alg.into();
        let expected = match alg {
            "ECDH-ES" => (Some("kty"), KeyProblem::WrongKeyType),
            _ => contradiction(),
        };
        assert_eq!(rejected(read_private(&jwk)), expected, "{alg}");
    }
    jwk.as_object_mut().unwrap().remove("alg");
    assert_eq!(
        rejected(read_private(&jwk)),
        (Some("alg"), KeyProblem::AlgorithmNeeded)
    );
    assert_eq!(
        DecryptionKey::from_jwk_as(&jwk.to_string(), RSA)
            .unwrap()
            .alg(),
        RSA
    );
    // A curve key with `use: enc` is for plain ECDH-ES by default.
    for key in curves() {
        let mut jwk = private_jwk(&key);
        jwk.as_object_mut().unwrap().remove("alg");
        assert_eq!(read_private(&jwk).unwrap().alg(), KeyManagementAlg::EcdhEs);
        assert_eq!(
            DecryptionKey::from_jwk_as(&jwk.to_string(), ECDH)
                .unwrap()
                .alg(),
            ECDH
        );
        jwk.as_object_mut().unwrap().remove("use");
        let is_x25519 = jwk["crv"] == "X25519";
        assert_eq!(read_private(&jwk).is_ok(), is_x25519);
    }
}

#[test]
fn public_key_off_the_curve_is_rejected() {
    for key in &curves()[..3] {
        for member in ["x", "y"] {
            let mut jwk = public_jwk(key);
            let changed = flip(jwk[member].as_str().unwrap());
            jwk[member] = changed.clone().into();
            assert_eq!(
                rejected(read_public(&jwk)),
                (Some("x"), KeyProblem::Invalid)
            );
            let mut jwk = private_jwk(key);
            jwk[member] = changed.into();
            assert_eq!(
                rejected(read_private(&jwk)),
                (Some("x"), KeyProblem::Invalid)
            );
        }
    }
}

/// Another base64url text of the same length.
fn flip(text: &str) -> String {
    let first = if text.starts_with('B') { 'C' } else { 'B' };
    let at = text.len() / 2;
    let other = if text[at..].starts_with(first) {
        'D'
    } else {
        first
    };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

#[test]
fn mismatched_private_and_public_key_is_rejected() {
    for (one, other) in curves().into_iter().zip(curves()) {
        let mut jwk = private_jwk(&one);
        jwk["d"] = private_jwk(&other)["d"].clone();
        assert_eq!(
            rejected(read_private(&jwk)),
            (Some("d"), KeyProblem::Mismatch)
        );
    }
    let [one, other] = [(), ()].map(|()| DecryptionKey::generate(RSA).unwrap());
    for member in ["d", "p", "q", "dp", "dq", "qi"] {
        let mut jwk = private_jwk(&one);
        jwk[member] = private_jwk(&other)[member].clone();
        assert!(read_private(&jwk).is_err(), "{member}");
    }
}

#[test]
fn key_of_wrong_length_is_rejected() {
    for key in curves() {
        for member in ["x", "d"] {
            let good = private_jwk(&key);
            let text = good[member].as_str().unwrap();
            for bad in ["", "AA", &text[..text.len() - 4], &format!("AAAA{text}")] {
                let mut jwk = good.clone();
                jwk[member] = bad.into();
                let problem = rejected(read_private(&jwk));
                let expected = [KeyProblem::WrongLength, KeyProblem::NotBase64Url];
                assert_eq!(problem.0, Some(member));
                assert!(expected.contains(&problem.1));
            }
        }
    }
    for &alg in KeyWrapAlg::ALL {
        for length in [0, 15, 17, 25, 33, 64] {
            let problem = rejected(WrappingKey::new(alg, &vec![1; length]));
            assert_eq!(problem, (Some("k"), KeyProblem::WrongLength));
        }
    }
    for &enc in ContentEnc::ALL {
        for length in [0, enc.key_bytes() - 1, enc.key_bytes() + 1] {
            let problem = rejected(ContentKey::new(enc, &vec![1; length]));
            assert_eq!(problem, (Some("k"), KeyProblem::WrongLength));
        }
    }
}

#[test]
fn weak_rsa_key_is_rejected() {
    let good = private_jwk(&DecryptionKey::generate(RSA).unwrap());
    let small = "A".repeat(170);
    for (member, value, problem) in [
        ("n", format!("B{small}"), KeyProblem::TooWeak),
        ("e", "Aw".into(), KeyProblem::TooWeak),
        ("e", "AQAA".into(), KeyProblem::Invalid),
        ("n", "B".repeat(1400), KeyProblem::TooLarge),
    ] {
        let mut private = good.clone();
        private[member] = value.clone().into();
        let expected = (Some(member), problem);
        assert_eq!(rejected(read_private(&private)), expected);
        let public = json!({"kty":"RSA","alg":RSA.name(),"n":private["n"],"e":private["e"]});
        assert_eq!(rejected(read_public(&public)), expected);
    }
    let mut more_primes = good.clone();
    more_primes["oth"] = json!([]);
    assert_eq!(
        rejected(read_private(&more_primes)),
        (Some("oth"), KeyProblem::Unsupported)
    );
}

#[test]
fn private_key_as_public_and_reverse_is_rejected() {
    let rsa = DecryptionKey::generate(RSA).unwrap();
    for key in curves().into_iter().chain([rsa]) {
        let problem = rejected(read_public(&private_jwk(&key)));
        assert_eq!(problem.1, KeyProblem::PrivateGiven);
        let problem = rejected(read_private(&public_jwk(&key)));
        assert_eq!(problem, (Some("d"), KeyProblem::PublicGiven));
        let alg = key.alg();
        let pem = key.to_pem().unwrap();
        let problem = rejected(EncryptionKey::from_pem_as(&pem, alg));
        assert_eq!(problem.1, KeyProblem::PrivateGiven);
        let pem = key.encryption_key().to_pem().unwrap();
        let problem = rejected(DecryptionKey::from_pem_as(&pem, alg));
        assert_eq!(problem.1, KeyProblem::PublicGiven);
    }
}

#[test]
fn signing_key_for_encryption_and_reverse_is_rejected() {
    let [p256, ..] = curves();
    let mut jwk = public_jwk(&p256);
    jwk["use"] = "sig".into();
    assert_eq!(
        rejected(read_public(&jwk)),
        (Some("use"), KeyProblem::AnotherUse)
    );
    jwk["use"] = "enc".into();
    for (ops, good) in [
        (json!(["deriveKey"]), true),
        (json!(["deriveBits"]), true),
        (json!(["sign"]), false),
        (json!(["encrypt"]), false),
        (json!([]), false),
    ] {
        jwk["key_ops"] = ops;
        assert_eq!(read_public(&jwk).is_ok(), good);
    }
    let signing = SigningKey::generate(SigAlg::ES256).unwrap();
    assert!(DecryptionKey::from_jwk(&signing.to_jwk().unwrap()).is_err());
    assert!(SigningKey::from_jwk(&p256.to_jwk().unwrap()).is_err());
    let ed25519 = SigningKey::generate(SigAlg::Ed25519).unwrap();
    assert!(DecryptionKey::from_jwk_as(&ed25519.to_jwk().unwrap(), ECDH).is_err());
    assert!(DecryptionKey::from_pem_as(&ed25519.to_pem().unwrap(), ECDH).is_err());
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    assert!(WrappingKey::from_jwk(&mac.to_jwk()).is_err());
    assert!(ContentKey::from_jwk_as(&mac.to_jwk(), ContentEnc::A256Gcm).is_err());
}

#[test]
fn key_set_skips_keys_that_cannot_decrypt() {
    let key = DecryptionKey::generate(ECDH).unwrap();
    let signing = SigningKey::generate(SigAlg::ES256).unwrap();
    let shared = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let content = ContentKey::generate(ContentEnc::A128Gcm).unwrap();
    let set = format!(
        r#"{{"keys":[{},{},{},{},{},{{"kty":"new"}},7]}}"#,
        *key.to_jwk().unwrap(),
        key.encryption_key().to_jwk(),
        *signing.to_jwk().unwrap(),
        *shared.to_jwk(),
        *content.to_jwk(),
    );
    assert_eq!(DecryptionKeys::from_jwk_set(&set).unwrap().len(), 3);
    let none = format!(r#"{{"keys":[{}]}}"#, key.encryption_key().to_jwk());
    let problem = rejected(DecryptionKeys::from_jwk_set(&none));
    assert_eq!(problem, (Some("keys"), KeyProblem::NoUsableKey));
    let many = format!(r#"{{"keys":[{}]}}"#, vec!["{}"; 257].join(","));
    let problem = rejected(DecryptionKeys::from_jwk_set(&many));
    assert_eq!(problem, (Some("keys"), KeyProblem::TooLarge));
}

#[test]
fn debug_output_contains_no_secret() {
    let key = DecryptionKey::generate_x25519(ECDH).unwrap();
    let shared = WrappingKey::new(KeyWrapAlg::A128Kw, b"sixteen secrets!").unwrap();
    let content = ContentKey::new(ContentEnc::A128Gcm, b"sixteen secrets!").unwrap();
    let password =
        jeton::danger::Password::new(jeton::danger::Pbes2Alg::Hs256A128Kw, b"sixteen").unwrap();
    let secret = private_jwk(&key)["d"].as_str().unwrap().to_owned();
    for text in [
        format!("{key:?}"),
        format!("{shared:?}"),
        format!("{content:?}"),
        format!("{password:?}"),
        format!("{:?}", Decrypter::new(&key)),
    ] {
        assert!(!text.contains(&secret) && !text.contains("sixteen") && !text.contains("115"));
    }
}

#[test]
fn sec1_and_pkcs1_pem_are_accepted() {
    use der::pem::{LineEnding, encode_string};
    use der::{Decode, Encode};

    let pem = |label, der: &[u8]| encode_string(label, LineEnding::LF, der).unwrap();
    let rsa = DecryptionKey::generate(RSA).unwrap();
    let der = rsa.to_der().unwrap();
    let info = pkcs8::PrivateKeyInfoRef::from_der(&der).unwrap();
    let pkcs1 = pem("RSA PRIVATE KEY", info.private_key.as_bytes());
    let same = DecryptionKey::from_pem_as(&pkcs1, RSA).unwrap();
    assert_eq!(same.to_jwk().unwrap(), rsa.to_jwk().unwrap());
    let der = rsa.encryption_key().to_der().unwrap();
    let info = spki::SubjectPublicKeyInfoRef::from_der(&der).unwrap();
    let pkcs1 = pem(
        "RSA PUBLIC KEY",
        info.subject_public_key.as_bytes().unwrap(),
    );
    let same = EncryptionKey::from_pem_as(&pkcs1, RSA).unwrap();
    assert_eq!(same.thumbprint(), rsa.encryption_key().thumbprint());

    for key in &curves()[..3] {
        let der = key.to_der().unwrap();
        let info = pkcs8::PrivateKeyInfoRef::from_der(&der).unwrap();
        let mut sec1 = sec1::EcPrivateKey::from_der(info.private_key.as_bytes()).unwrap();
        let curve = info.algorithm.parameters_oid().unwrap();
        sec1.parameters = Some(sec1::EcParameters::NamedCurve(curve));
        let text = pem("EC PRIVATE KEY", &sec1.to_der().unwrap());
        let same = DecryptionKey::from_pem_as(&text, ECDH).unwrap();
        assert_eq!(same.to_jwk().unwrap(), key.to_jwk().unwrap());
    }
    for (text, alg) in [
        (rsa.to_pem().unwrap(), ECDH),
        (curves()[0].to_pem().unwrap(), RSA),
        (curves()[3].to_pem().unwrap(), RSA),
    ] {
        let problem = rejected(DecryptionKey::from_pem_as(&text, alg));
        assert_eq!(problem, (None, KeyProblem::WrongKeyType));
    }
}

fn invalid_use<T>(result: Result<T>) -> InvalidUse {
    match result.map(drop) {
        Err(Error::InvalidUse(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn number_of_recipients_is_bounded() {
    let wrapping = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let of = |count: usize| {
        let first = Encrypter::new(&wrapping, ContentEnc::A128Gcm);
        (1..count).fold(first, |encrypter, _| encrypter.recipient(&wrapping))
    };
    assert!(of(16).encrypt_general(b"x").is_ok());
    let error = invalid_use(of(17).encrypt_general(b"x"));
    let (recipients, limit) = (17, 16);
    assert_eq!(error, InvalidUse::Recipients { recipients, limit });
    let text = "17 recipients, limit 16: only the general JSON serialization with key wrapping \
        allows more than one";
    assert_eq!(error.to_string(), text);
    let two = InvalidUse::Recipients {
        recipients: 2,
        limit: 1,
    };
    assert_eq!(invalid_use(of(2).encrypt(b"x")), two);
    assert_eq!(invalid_use(of(2).encrypt_flattened(b"x")), two);
    let content = ContentKey::generate(ContentEnc::A128Gcm).unwrap();
    let direct = Encrypter::new(&content, ContentEnc::A128Gcm).recipient(&wrapping);
    assert_eq!(invalid_use(direct.encrypt_general(b"x")), two);
    let direct = of(1).recipient(&content);
    assert_eq!(invalid_use(direct.encrypt_general(b"x")), two);
}

#[test]
fn party_info_is_bounded_and_only_for_ecdh() {
    let key = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let key = key.encryption_key();
    let with = |bytes: usize| {
        let encrypter = Encrypter::new(&key, ContentEnc::A128Gcm);
        encrypter
            .producer_info(&vec![b'u'; bytes])
            .recipient_info(b"v")
    };
    assert!(with(1024).encrypt(b"x").is_ok());
    let error = invalid_use(with(1025).encrypt(b"x"));
    assert_eq!(
        error,
        InvalidUse::PartyInfo {
            bytes: 1025,
            limit: 1024
        }
    );
    assert_eq!(
        error.to_string(),
        "`apu` or `apv` has 1025 bytes, limit 1024"
    );
    let wrapping = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let encrypter = || Encrypter::new(&wrapping, ContentEnc::A128Gcm);
    for unused in [
        encrypter().producer_info(b"u"),
        encrypter().recipient_info(b"v"),
    ] {
        let error = invalid_use(unused.encrypt(b"x"));
        assert_eq!(error, InvalidUse::PartyInfoUnused);
    }
}
