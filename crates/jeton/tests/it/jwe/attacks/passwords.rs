//! PBES2: the sender chooses the cost (CVE-2023-49290, CVE-2023-50658, CVE-2023-50967).

use jeton::Limits;
use jeton::danger::{Password, Pbes2Alg};
use jeton::error::{Part, Rejection};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::ContentEnc;
use jeton::limits;
use serde_json::{Value, json};

use super::support::{encode, header, parts, rejection, with_header};

use crate::effort::at_once;

fn password(alg: Pbes2Alg) -> Password {
    Password::new(alg, b"correct horse")
        .unwrap()
        .rounds(1000)
        .unwrap()
}

fn refusal_with(member: &str, value: Value) -> Rejection {
    let mut answers = Pbes2Alg::ALL.iter().copied().map(|alg| {
        let key = password(alg);
        let token = Encrypter::new(&key, ContentEnc::A128Gcm)
            .encrypt(b"x")
            .unwrap();
        let mut changed = header(&token);
        match &value {
            Value::Null => drop(changed.as_object_mut().unwrap().remove(member)),
            value => changed[member] = value.clone(),
        }
        let (decrypter, forged) = (Decrypter::new(&key), with_header(&token, &changed));
        at_once(|| rejection(decrypter.decrypt(&forged)))
    });
    let first = answers.next().unwrap();
    assert!(answers.all(|answer| answer == first));
    first
}

#[test]
fn password_key_ops_restrict_the_password() {
    let jwk = |ops: &str| {
        let k = encode(b"correct horse");
        let text =
            format!(r#"{{"kty":"oct","alg":"PBES2-HS256+A128KW","key_ops":["{ops}"],"k":"{k}"}}"#);
        Password::from_jwk(&text).unwrap().rounds(1000).unwrap()
    };
    let (wrap, unwrap) = (jwk("wrapKey"), jwk("unwrapKey"));
    let encrypter = Encrypter::new(&wrap, ContentEnc::A128Gcm);
    let token = encrypter.encrypt(b"x").unwrap();
    assert!(Decrypter::new(&unwrap).decrypt(&token).is_ok());
    assert_eq!(
        rejection(Decrypter::new(&wrap).decrypt(&token)),
        Rejection::Decryption
    );
    let encrypter = Encrypter::new(&unwrap, ContentEnc::A128Gcm);
    assert!(encrypter.encrypt(b"x").is_err());
}

#[test]
fn rounds_over_limit_are_rejected_before_derivation() {
    for rounds in [
        json!(limits::PBES2_ROUNDS + 1),
        json!(10_000_000),
        json!(1_u64 << 31),
        json!((1_u64 << 32) + 1000),
        json!(u64::MAX),
    ] {
        assert!(matches!(
            refusal_with("p2c", rounds),
            Rejection::TooLarge {
                part: Part::Header,
                ..
            }
        ));
    }
}

#[test]
fn rounds_limit_of_the_caller_applies() {
    let key = password(Pbes2Alg::Hs256A128Kw).rounds(2_000).unwrap();
    let token = Encrypter::new(&key, ContentEnc::A128Gcm)
        .encrypt(b"x")
        .unwrap();
    let within = |pbes2_rounds| {
        let limits = Limits::default().pbes2_rounds(pbes2_rounds);
        Decrypter::new(&key).limits(limits)
    };
    assert!(within(2_000).decrypt(&token).is_ok());
    let error = at_once(|| rejection(within(1_999).decrypt(&token)));
    assert!(matches!(
        error,
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
    // Over the default limit: the derivation runs, and the password is wrong.
    let expensive = limits::PBES2_ROUNDS + 1;
    let mut changed = header(&token);
    changed["p2c"] = json!(expensive);
    let forged = with_header(&token, &changed);
    assert_eq!(
        rejection(within(expensive).decrypt(&forged)),
        Rejection::Decryption
    );
    assert!(matches!(
        rejection(within(expensive - 1).decrypt(&forged)),
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
}

#[test]
fn rounds_below_minimum_or_not_a_number_are_rejected() {
    for rounds in [
        json!(0),
        json!(1),
        json!(limits::PBES2_ROUNDS_MIN - 1),
        json!(-1000),
        json!(1000.5),
        json!(1e3),
        json!("1000"),
        json!([1000]),
        Value::Null,
    ] {
        assert_eq!(
            refusal_with("p2c", rounds),
            Rejection::Malformed(Part::Header)
        );
    }
}

#[test]
fn salt_of_wrong_length_or_missing_is_rejected() {
    for salt in [
        json!(""),
        json!(encode(&[1; 7])),
        json!("***"),
        json!(7),
        Value::Null,
    ] {
        assert_eq!(
            refusal_with("p2s", salt),
            Rejection::Malformed(Part::Header)
        );
    }
    let long = encode(&vec![1; limits::PBES2_SALT_BYTES + 1]);
    assert!(matches!(
        refusal_with("p2s", json!(long)),
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
    assert_eq!(
        refusal_with("p2s", json!(encode(&[1; 8]))),
        Rejection::Decryption
    );
}

#[test]
fn rounds_limit_covers_all_recipients() {
    let key = password(Pbes2Alg::Hs256A128Kw);
    let recipient = json!({
        "header": {"alg":"PBES2-HS256+A128KW","p2s":encode(&[1; 16]),"p2c":limits::PBES2_ROUNDS / 20},
        "encrypted_key": encode(&[1; 24]),
    });
    let text = |count: usize| {
        json!({
            "protected": encode(br#"{"enc":"A128GCM"}"#),
            "recipients": vec![recipient.clone(); count],
            "iv": encode(&[0; 12]), "ciphertext": "", "tag": encode(&[0; 16]),
        })
        .to_string()
    };
    let decrypter = Decrypter::new(&key);
    assert_eq!(
        rejection(decrypter.decrypt_json(&text(4))),
        Rejection::Decryption
    );
    let mut expensive = recipient.clone();
    expensive["header"]["p2c"] = json!(limits::PBES2_ROUNDS);
    let mut both: Value = serde_json::from_str(&text(2)).unwrap();
    both["recipients"][1] = expensive;
    // The first recipient is within the limit; the second is rejected before its derivation.
    assert!(matches!(
        rejection(decrypter.decrypt_json(&both.to_string())),
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
}

#[test]
fn encrypt_rounds_outside_limits_are_an_error() {
    let make = || Password::new(Pbes2Alg::Hs512A256Kw, b"x").unwrap();
    for rounds in [
        0,
        limits::PBES2_ROUNDS_MIN - 1,
        limits::PBES2_ROUNDS + 1,
        u32::MAX,
    ] {
        assert!(make().rounds(rounds).is_err(), "{rounds}");
    }
    assert!(Password::new(Pbes2Alg::Hs512A256Kw, b"").is_err());
    let long = vec![b'x'; limits::PASSWORD_BYTES + 1];
    assert!(Password::new(Pbes2Alg::Hs512A256Kw, &long).is_err());
}

#[test]
fn decrypt_wrong_password_gives_uniform_error() {
    let key = password(Pbes2Alg::Hs384A192Kw);
    let token = Encrypter::new(&key, ContentEnc::A128Gcm)
        .encrypt(b"x")
        .unwrap();
    let other = Password::new(Pbes2Alg::Hs384A192Kw, b"correct horsf").unwrap();
    assert_eq!(
        rejection(Decrypter::new(&other).decrypt(&token)),
        Rejection::Decryption
    );
    let mut changed = parts(&token);
    changed[4] = encode(&[0; 16]);
    assert_eq!(
        rejection(Decrypter::new(&key).decrypt(&changed.join("."))),
        Rejection::Decryption
    );
}
