//! Attacks with PASERKs of every version and type: the error states the cause, and there is never a panic or a
//! random key.

use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::error::KeyProblem;
use jeton::paserk::{
    Form, Kind, PaserkVersion as Number, PaserkWrappingKey, PasswordCost, PasswordLimits,
};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PublicKey, SecretKey, Version};
use jeton::{Error, limits};

use crate::effort::at_once;

const PASSWORD: &[u8] = b"correct horse battery staple";

type Read = Box<dyn Fn(&str) -> jeton::Result<String>>;

/// A PASERK of one kind, and the reader of that kind, which returns the PASERK of the key.
struct Text {
    kind: Kind,
    text: String,
    read: Read,
    /// Whether a changed byte is detected, or gives another key.
    authenticated: bool,
}

fn cheap(version: Number) -> PasswordCost {
    match version {
        Number::V1 | Number::V3 => PasswordCost::pbkdf2(limits::PBKDF2_ITERATIONS_MIN),
        _ => PasswordCost::argon2id(limits::ARGON2ID_MEMORY_BYTES_MIN, 1, 1),
    }
    .unwrap()
}

fn of<V: Version>() -> Vec<Text> {
    let local = LocalKey::<V>::generate().unwrap();
    let secret = SecretKey::<V>::generate().unwrap();
    let wrapping = PaserkWrappingKey::<V>::generate().unwrap().to_paserk();
    let wrapping = move || PaserkWrappingKey::<V>::from_paserk(&wrapping).unwrap();
    let (one, two) = (wrapping(), wrapping());
    let cost = cheap(V::VERSION);
    let text = |form, text: String, authenticated, read: Read| Text {
        kind: Kind::of(V::VERSION, form),
        text,
        read,
        authenticated,
    };
    let to_local = |key: LocalKey<V>| key.to_paserk().to_string();
    let to_secret = |key: SecretKey<V>| key.to_paserk().map(|text| text.to_string());
    let mut texts = vec![
        text(
            Form::Local,
            to_local(LocalKey::from_paserk(&local.to_paserk()).unwrap()),
            false,
            Box::new(move |text| LocalKey::<V>::from_paserk(text).map(to_local)),
        ),
        text(
            Form::Secret,
            secret.to_paserk().unwrap().to_string(),
            V::VERSION != Number::V3,
            Box::new(move |text| SecretKey::<V>::from_paserk(text).and_then(to_secret)),
        ),
        text(
            Form::Public,
            secret.public_key().to_paserk(),
            false,
            Box::new(|text| Ok(PublicKey::<V>::from_paserk(text)?.to_paserk())),
        ),
        text(
            Form::LocalWrap,
            local.to_wrapped_paserk(&one).unwrap(),
            true,
            Box::new(move |text| LocalKey::<V>::from_wrapped_paserk(text, &one).map(to_local)),
        ),
        text(
            Form::SecretWrap,
            secret.to_wrapped_paserk(&two).unwrap(),
            true,
            Box::new(move |text| {
                SecretKey::<V>::from_wrapped_paserk(text, &two).and_then(to_secret)
            }),
        ),
        text(
            Form::LocalPassword,
            local.to_password_paserk_with(PASSWORD, cost).unwrap(),
            true,
            Box::new(move |text| LocalKey::<V>::from_password_paserk(text, PASSWORD).map(to_local)),
        ),
        text(
            Form::SecretPassword,
            secret.to_password_paserk_with(PASSWORD, cost).unwrap(),
            true,
            Box::new(move |text| {
                SecretKey::<V>::from_password_paserk(text, PASSWORD).and_then(to_secret)
            }),
        ),
    ];
    if V::VERSION != Number::V1 {
        texts.push(text(
            Form::Seal,
            local.to_sealed_paserk(&secret.public_key()).unwrap(),
            true,
            Box::new(move |text| LocalKey::<V>::from_sealed_paserk(text, &secret).map(to_local)),
        ));
    }
    texts
}

fn all() -> Vec<Text> {
    let mut all = of::<V1>();
    all.extend(of::<V2>());
    all.extend(of::<V3>());
    all.extend(of::<V4>());
    all
}

fn problem<T>(result: jeton::Result<T>) -> KeyProblem {
    match result {
        Err(Error::Key(error)) => error.problem().clone(),
        Err(other) => panic!("not about a key: {other}"),
        Ok(_) => panic!("taken"),
    }
}

#[test]
fn paserk_of_another_kind_is_rejected() {
    let texts = all();
    for text in &texts {
        let read = (text.read)(&text.text);
        assert!(read.is_ok(), "{}: {read:?}", text.kind);
        for other in &texts {
            if text.kind == other.kind {
                continue;
            }
            let answer = problem((other.read)(&text.text));
            // The error names both kinds.
            let wrong = KeyProblem::WrongKind {
                wanted: other.kind,
                given: text.kind,
            };
            assert_eq!(answer, wrong, "{} to {}", text.kind, other.kind);
        }
    }
}

#[test]
fn relabelled_paserk_is_rejected() {
    let texts = all();
    // Unencrypted keys only have their label: k2.secret and k4.secret contain the same bytes.
    let encrypted = || {
        let in_the_clear = [Form::Local, Form::Secret, Form::Public];
        texts
            .iter()
            .filter(move |text| !in_the_clear.contains(&text.kind.form()))
    };
    for text in encrypted() {
        let body = &text.text[text.kind.to_string().len()..];
        for other in encrypted() {
            if text.kind != other.kind {
                let relabelled = format!("{}{body}", other.kind);
                assert!(
                    (other.read)(&relabelled).is_err(),
                    "{} as {}",
                    text.kind,
                    other.kind
                );
            }
        }
    }
}

#[test]
fn paserk_with_wrong_prefix_is_malformed() {
    for text in all() {
        let body = text.text.split_once('.').unwrap().1;
        for prefix in ["", "k", "k0.", "k5.", "K4.", "v4.", " k4.", "k4", "4."] {
            let answer = problem((text.read)(&format!("{prefix}{body}")));
            assert_eq!(answer, KeyProblem::Malformed, "{prefix}");
        }
    }
}

#[test]
fn cut_or_extended_paserk_is_rejected() {
    for text in all() {
        // Truncated at each of the last characters, and in larger steps before: some derive from a password.
        let length = text.text.len();
        let cuts = (0..length).filter(|at| at % 37 == 0 || length - at < 8);
        for cut in cuts {
            assert!(
                (text.read)(&text.text[..cut]).is_err(),
                "{} {cut}",
                text.kind
            );
        }
        for more in ["A", "AA", "AAAA", "=", "==", ".", "\n", "\r\n", " ", "\0"] {
            assert!(
                (text.read)(&format!("{}{more}", text.text)).is_err(),
                "{more:?}"
            );
        }
        let huge = format!("{}{}", text.text, "A".repeat(10_000_000));
        let answer = at_once(|| problem((text.read)(&huge)));
        assert_eq!(answer, KeyProblem::WrongLength);
    }
}

#[test]
fn changed_byte_in_encrypted_key_is_rejected() {
    for text in all().into_iter().filter(|text| text.authenticated) {
        let body = text.text.rfind('.').unwrap() + 1;
        let step = match text.kind.form() {
            // A few bytes each of the salt, the cost, the nonce, the key and the tag.
            Form::LocalPassword | Form::SecretPassword => 19,
            // A changed private number costs a check of the whole RSA key.
            Form::Secret => 41,
            _ => 1,
        };
        for at in (body..text.text.len()).step_by(step) {
            let mut changed = text.text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!((text.read)(&changed).is_err(), "{} {at}", text.kind);
        }
    }
}

#[test]
fn wrong_password_is_rejected() {
    fn check<V: Version>() {
        let key = LocalKey::<V>::generate().unwrap();
        let cost = cheap(V::VERSION);
        let text = key.to_password_paserk_with(PASSWORD, cost).unwrap();
        for wrong in [&PASSWORD[1..], b"x", b"Correct horse battery staple"] {
            let answer = problem(LocalKey::<V>::from_password_paserk(&text, wrong));
            assert_eq!(answer, KeyProblem::Decryption);
        }
        let empty = problem(LocalKey::<V>::from_password_paserk(&text, b""));
        assert_eq!(empty, KeyProblem::TooWeak);
        let long = vec![b'p'; limits::PASSWORD_BYTES + 1];
        let answer = problem(LocalKey::<V>::from_password_paserk(&text, &long));
        assert_eq!(answer, KeyProblem::TooLarge);
    }
    check::<V1>();
    check::<V2>();
    check::<V3>();
    check::<V4>();
}

/// Replaces the cost in a text. The error must come before the derivation.
#[test]
fn cost_over_limits_is_rejected_before_derivation() {
    fn check<V: Version>(at: usize, costs: &[(Vec<u8>, KeyProblem)]) {
        let key = LocalKey::<V>::generate().unwrap();
        let cost = cheap(V::VERSION);
        let text = key.to_password_paserk_with(PASSWORD, cost).unwrap();
        let (start, body) = text.rsplit_once('.').unwrap();
        let engine = |text: &str| base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).unwrap();
        for (cost, expected) in costs {
            let mut bytes = engine(body);
            bytes[at..at + cost.len()].copy_from_slice(cost);
            let body = base64_simd::URL_SAFE_NO_PAD.encode_to_string(&bytes);
            let expensive = format!("{start}.{body}");
            let answer =
                at_once(|| problem(LocalKey::<V>::from_password_paserk(&expensive, PASSWORD)));
            assert_eq!(answer, *expected, "{cost:?}");
        }
    }
    use KeyProblem::{
        PasswordCost, PasswordIterations, PasswordMemory, PasswordPasses, PasswordWork,
    };
    let iterations = |n: u32| n.to_be_bytes().to_vec();
    let limit = limits::PBKDF2_ITERATIONS;
    let many = |asked| (iterations(asked), PasswordIterations { asked, limit });
    let pbkdf2 = [
        (iterations(0), PasswordCost),
        (iterations(limits::PBKDF2_ITERATIONS_MIN - 1), PasswordCost),
        many(limits::PBKDF2_ITERATIONS + 1),
        many(u32::MAX),
    ];
    check::<V1>(32, &pbkdf2);
    check::<V3>(32, &pbkdf2);
    let argon2id = |memory: u64, passes: u32, lanes: u32| {
        let mut cost = memory.to_be_bytes().to_vec();
        cost.extend_from_slice(&passes.to_be_bytes());
        cost.extend_from_slice(&lanes.to_be_bytes());
        cost
    };
    const MIB: u64 = 1024 * 1024;
    let (least, most) = (
        limits::ARGON2ID_MEMORY_BYTES_MIN,
        limits::ARGON2ID_MEMORY_BYTES_DEFAULT,
    );
    let memory = |asked_mib| PasswordMemory {
        asked_mib,
        limit_mib: 256,
    };
    let work = |asked_mib| PasswordWork {
        asked_mib,
        limit_mib: 1024,
    };
    let passes = |asked| PasswordPasses {
        asked,
        limit: limits::ARGON2ID_PASSES,
    };
    let argon2id = [
        (argon2id(0, 1, 1), PasswordCost),
        (argon2id(1024, 1, 1), PasswordCost),
        (argon2id(least - 1024, 1, 1), PasswordCost),
        (argon2id(least + 1, 1, 1), PasswordCost),
        (argon2id(most + 1, 1, 1), memory(257)),
        (argon2id(most + 1024, 1, 1), memory(257)),
        // The maximum of a key, and the "sensitive" cost of libsodium: only accepted with raised limits.
        (argon2id(1024 * MIB, 8, 1), memory(1024)),
        (argon2id(1024 * MIB, 4, 1), memory(1024)),
        (argon2id(most, 5, 1), work(1280)),
        (argon2id(most, 8, 4), work(2048)),
        (argon2id(200 * MIB + 1024, 6, 1), work(1201)),
        (argon2id(u64::MAX, 1, 1), memory(u32::MAX)),
        (argon2id(1 << 42, 1, 1), memory(1 << 22)),
        (argon2id(least, 0, 1), PasswordCost),
        (argon2id(least, limits::ARGON2ID_PASSES + 1, 1), passes(9)),
        (argon2id(least, u32::MAX, 1), passes(u32::MAX)),
        (argon2id(least, 1, 0), PasswordCost),
        (argon2id(least, 1, limits::ARGON2ID_LANES + 1), PasswordCost),
        (argon2id(u64::MAX, u32::MAX, u32::MAX), memory(u32::MAX)),
    ];
    check::<V2>(16, &argon2id);
    check::<V4>(16, &argon2id);
}

#[test]
fn password_limits_of_the_caller_apply() {
    const MIB: u64 = 1024 * 1024;
    let default = PasswordLimits::default();
    let local = LocalKey::<V4>::generate().unwrap();
    let secret = SecretKey::<V4>::generate().unwrap();
    let cost = PasswordCost::argon2id(16 * MIB, 3, 1).unwrap();
    let texts = [
        local.to_password_paserk_with(PASSWORD, cost).unwrap(),
        secret.to_password_paserk_with(PASSWORD, cost).unwrap(),
    ];
    let read = |limits: PasswordLimits| {
        let secret = SecretKey::<V4>::from_password_paserk_within(&texts[1], PASSWORD, &limits);
        let local = LocalKey::<V4>::from_password_paserk_within(&texts[0], PASSWORD, &limits);
        assert_eq!(
            secret.map(|_| ()),
            local.as_ref().map(|_| ()).map_err(Clone::clone)
        );
        local.map(|key| key.id())
    };
    assert_eq!(read(default).unwrap(), local.id());
    // The last allowed value, and the first one over the limit.
    assert!(read(default.argon2id_memory_bytes(16 * MIB)).is_ok());
    assert!(read(default.argon2id_work_bytes(48 * MIB)).is_ok());
    for (limits, expected) in [
        (
            default.argon2id_memory_bytes(16 * MIB - 1),
            KeyProblem::PasswordMemory {
                asked_mib: 16,
                limit_mib: 15,
            },
        ),
        (
            default.argon2id_work_bytes(48 * MIB - 1),
            KeyProblem::PasswordWork {
                asked_mib: 48,
                limit_mib: 47,
            },
        ),
    ] {
        assert_eq!(at_once(|| problem(read(limits))), expected);
    }

    let local = LocalKey::<V3>::generate().unwrap();
    let cost = PasswordCost::pbkdf2(10_000).unwrap();
    let text = local.to_password_paserk_with(PASSWORD, cost).unwrap();
    let read = |limits| LocalKey::<V3>::from_password_paserk_within(&text, PASSWORD, &limits);
    assert!(read(default.pbkdf2_iterations(10_000)).is_ok());
    assert_eq!(
        problem(read(default.pbkdf2_iterations(9_999))),
        KeyProblem::PasswordIterations {
            asked: 10_000,
            limit: 9_999
        }
    );
}

#[test]
fn password_limits_cannot_exceed_the_maximum() {
    const MIB: u64 = 1024 * 1024;
    let most = PasswordLimits::default()
        .argon2id_memory_bytes(u64::MAX)
        .argon2id_work_bytes(u64::MAX)
        .pbkdf2_iterations(u32::MAX);
    let key = LocalKey::<V4>::generate().unwrap();
    let text = key
        .to_password_paserk_with(PASSWORD, cheap(Number::V4))
        .unwrap();
    let (start, body) = text.rsplit_once('.').unwrap();
    let mut bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(body).unwrap();
    bytes[16..24].copy_from_slice(&(1024 * MIB + 1024).to_be_bytes());
    let expensive = format!(
        "{start}.{}",
        base64_simd::URL_SAFE_NO_PAD.encode_to_string(&bytes)
    );
    let read = || LocalKey::<V4>::from_password_paserk_within(&expensive, PASSWORD, &most);
    assert_eq!(
        at_once(|| problem(read())),
        KeyProblem::PasswordMemory {
            asked_mib: 1025,
            limit_mib: 1024
        }
    );
}

#[test]
fn default_cost_is_within_default_limits() {
    let key = LocalKey::<V4>::generate().unwrap();
    let text = key.to_password_paserk(PASSWORD).unwrap();
    let again = LocalKey::<V4>::from_password_paserk(&text, PASSWORD).unwrap();
    assert_eq!(again.id(), key.id());
}

#[test]
fn key_sealed_to_another_key_or_bad_point_is_rejected() {
    fn check<V: Version>(tag_bytes: usize, points: &[Vec<u8>]) {
        let recipient = SecretKey::<V>::generate().unwrap();
        let key = LocalKey::<V>::generate().unwrap();
        let text = key.to_sealed_paserk(&recipient.public_key()).unwrap();
        let other = SecretKey::<V>::generate().unwrap();
        let answer = problem(LocalKey::<V>::from_sealed_paserk(&text, &other));
        assert_eq!(answer, KeyProblem::Decryption);
        let (start, body) = text.rsplit_once('.').unwrap();
        for point in points {
            let mut bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(body).unwrap();
            bytes[tag_bytes..tag_bytes + point.len()].copy_from_slice(point);
            let body = base64_simd::URL_SAFE_NO_PAD.encode_to_string(&bytes);
            let text = format!("{start}.{body}");
            let answer = problem(LocalKey::<V>::from_sealed_paserk(&text, &recipient));
            assert_eq!(answer, KeyProblem::Decryption);
        }
    }
    // Of small order.
    let mut one = vec![0; 32];
    one[0] = 1;
    let curve25519 = [vec![0; 32], one];
    check::<V2>(32, &curve25519);
    check::<V4>(32, &curve25519);
    // Not on the curve, not compressed, not below the size of the field.
    let p384 = [
        vec![0; 49],
        vec![4; 49],
        vec![0xff; 49],
        [&[2][..], &[0xff; 48]].concat(),
    ];
    check::<V3>(48, &p384);
}

#[test]
fn another_wrapping_protocol_is_not_supported() {
    let wrapping = PaserkWrappingKey::<V4>::generate().unwrap();
    for text in [
        "k4.local-wrap.aws-kms.AAAA",
        "k4.local-wrap.",
        "k4.local-wrap.AAAA",
    ] {
        let answer = problem(LocalKey::<V4>::from_wrapped_paserk(text, &wrapping));
        assert_eq!(answer, KeyProblem::Unsupported, "{text}");
    }
}

#[test]
fn invalid_cost_when_writing_is_invalid_use() {
    let key = LocalKey::<V4>::generate().unwrap();
    let pbkdf2 = PasswordCost::pbkdf2(10_000).unwrap();
    let invalid_use = Error::InvalidUse(jeton::error::InvalidUse::PasswordCost);
    let answer = key.to_password_paserk_with(PASSWORD, pbkdf2);
    assert_eq!(answer.map(drop).as_ref(), Err(&invalid_use));
    assert_eq!(PasswordCost::pbkdf2(0).as_ref(), Err(&invalid_use));
    let too_much = PasswordCost::argon2id(1 << 40, 1, 1);
    assert_eq!(too_much.as_ref(), Err(&invalid_use));
}

#[test]
fn k1_rsa_key_of_another_size_or_exponent_is_rejected() {
    // A SubjectPublicKeyInfo has a fixed length, which another exponent or modulus changes.
    for bytes in [0, 162, 293, 295, 550] {
        let answer = jeton::paserk::Paserk::from_bytes(
            Kind::of(Number::V1, Form::Public),
            &vec![0x30; bytes],
        );
        assert_eq!(problem(answer), KeyProblem::WrongLength);
    }
    let text = SecretKey::<V1>::generate()
        .unwrap()
        .public_key()
        .to_paserk();
    let (start, body) = text.rsplit_once('.').unwrap();
    let good = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(body).unwrap();
    for (at, byte) in [
        (0, 0x31),
        (14, 0x02),
        (32, 0x01),
        (33, 0x01),           // a modulus of fewer bits
        (288, good[288] ^ 1), // an even one
        (291, 0x00),
        (293, 0x03), // another exponent
    ] {
        let mut bytes = good.clone();
        bytes[at] = byte;
        let body = base64_simd::URL_SAFE_NO_PAD.encode_to_string(&bytes);
        assert!(
            PublicKey::<V1>::from_paserk(&format!("{start}.{body}")).is_err(),
            "{at}"
        );
    }
}
