//! Attacks with keys: their encodings, their values, and leaks of their contents.

use jeton::Error;
use jeton::Policy;
use jeton::error::KeyProblem;
use jeton::paserk::{Id, Kind, Paserk};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};
use jeton::paseto::{PasetoKeys, TokenContext};

use super::support::{Key, rejection};

fn problem<T>(result: jeton::Result<T>) -> KeyProblem {
    match result {
        Err(Error::Key(error)) => {
            assert_eq!(error.member(), Some("paserk"));
            error.problem().clone()
        }
        Err(other) => panic!("not about a key: {other}"),
        Ok(_) => panic!("taken"),
    }
}

/// The text of a new key of each kind.
fn texts() -> [String; 3] {
    let secret = SecretKey::generate().unwrap();
    [
        LocalKey::generate().unwrap().to_paserk().to_string(),
        secret.to_paserk().unwrap().to_string(),
        secret.public_key().to_paserk(),
    ]
}

/// The result of each key type for a text.
fn load(text: &str) -> [jeton::Result<()>; 3] {
    [
        LocalKey::from_paserk(text).map(drop),
        SecretKey::from_paserk(text).map(drop),
        PublicKey::from_paserk(text).map(drop),
    ]
}

#[test]
fn key_of_another_kind_is_rejected() {
    for (i, text) in texts().iter().enumerate() {
        for (j, answer) in load(text).into_iter().enumerate() {
            if i == j {
                assert_eq!(answer, Ok(()));
            } else {
                assert!(matches!(problem(answer), KeyProblem::WrongKind { .. }));
            }
        }
        let body = text.rsplit_once('.').unwrap().1;
        for (relabelled, expected) in [
            (format!("k3.local.{body}"), "k3.local"),
            (format!("k1.secret.{body}"), "k1.secret"),
            (format!("k2.public.{body}"), "k2.public"),
            (format!("k4.lid.{body}"), "k4.lid"),
            (format!("k4.local-wrap.pie.{body}"), "k4.local-wrap"),
            (format!("k4.secret-pw.{body}"), "k4.secret-pw"),
            (format!("k4.seal.{body}"), "k4.seal"),
        ] {
            for answer in load(&relabelled) {
                let KeyProblem::WrongKind { given, .. } = problem(answer) else {
                    panic!("rejected for another reason");
                };
                assert_eq!(given.to_string(), expected);
            }
            match Paserk::parse(&relabelled) {
                // The text only states its kind.
                Ok(paserk) => assert_eq!(paserk.kind().to_string(), expected),
                rejected => assert!(matches!(
                    problem(rejected),
                    KeyProblem::Unsupported | KeyProblem::WrongLength
                )),
            }
        }
        for malformed in [
            "",
            "k4",
            "k4.",
            "k5.local.",
            "K4.local.",
            "k4.LOCAL.",
            "v4.local.",
            " k4.local.",
            "local.",
            "{}",
        ] {
            for answer in load(&format!("{malformed}{body}")) {
                assert_eq!(problem(answer), KeyProblem::Malformed, "{malformed}");
            }
        }
    }
}

#[test]
fn paserk_of_wrong_length_or_encoding_is_rejected() {
    for (i, text) in texts().iter().enumerate() {
        let (start, body) = text.rsplit_once('.').unwrap();
        assert_eq!(load(text)[i], Ok(()));
        for length in 0..body.len() {
            let answer = load(&format!("{start}.{}", &body[..length]));
            assert_eq!(
                problem(answer[i].clone()),
                KeyProblem::WrongLength,
                "{length}"
            );
        }
        let huge = "A".repeat(10_000_000);
        for more in ["A", "=", "==", "\n", "\r\n", " ", ".", &huge] {
            let answer = load(&format!("{text}{more}"));
            assert_eq!(problem(answer[i].clone()), KeyProblem::WrongLength);
        }
        let last = body.len() - 1;
        for same_length in [
            format!("{}=", &body[..last]),
            format!("{}\n", &body[..last]),
            format!("+{}", &body[1..]),
            format!("/{}", &body[1..]),
            // The last character has unused bits in all three, and `_` sets them.
            format!("{}_", &body[..last]),
        ] {
            let answer = load(&format!("{start}.{same_length}"));
            assert_eq!(problem(answer[i].clone()), KeyProblem::NotBase64Url);
        }
    }
}

#[test]
fn mismatched_secret_and_public_key_is_rejected() {
    let secret = |seed: u8| {
        let text = Paserk::from_bytes(Kind::K4_SECRET, &[seed; 64])
            .unwrap()
            .to_text();
        SecretKey::from_paserk(&text)
    };
    assert_eq!(problem(secret(1)), KeyProblem::Mismatch);
    let [_, text, _] = texts();
    assert!(SecretKey::from_paserk(&text).is_ok());
}

#[test]
fn unusable_public_point_is_rejected() {
    let public = |bytes: [u8; 32]| {
        let text = Paserk::from_bytes(Kind::K4_PUBLIC, &bytes)
            .unwrap()
            .to_text();
        PublicKey::from_paserk(&text)
    };
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut negative_neutral = [0xff; 32];
    negative_neutral[0] = 0xec;
    negative_neutral[31] = 0x7f;
    let mut off_curve = [0; 32];
    off_curve[0] = 2;
    for bytes in [[0; 32], neutral, negative_neutral, off_curve] {
        assert_eq!(problem(public(bytes)), KeyProblem::Invalid, "{bytes:?}");
    }
    // Every y that is not reduced; some of them are valid points in a wrong encoding.
    for low in 0xed..=0xff {
        for high in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, high);
            assert_eq!(problem(public(bytes)), KeyProblem::Invalid, "{bytes:?}");
        }
    }
}

#[test]
fn non_canonical_signature_is_rejected() {
    let [_, key] = Key::both();
    let token = key.make(b"message", TokenContext::new());
    assert!(key.open(&token, b"").is_ok());
    let Key::Public(secret) = &key else {
        panic!("a public key");
    };
    // The order of the group: adding it to s gives another number with the same meaning.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut body = decode(token.strip_prefix("v4.public.").unwrap());
    let s = body.len() - 32;
    let mut carry = 0_u16;
    for (byte, add) in body[s..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    let verifier = PasetoVerifier::new(secret.public_key(), Policy::new("", ""));
    for signature in [body[s - 32..].to_vec(), vec![0; 64], vec![0xff; 64]] {
        let forged = [&body[..s - 32], &signature].concat();
        let forged = format!("v4.public.{}", encode(&forged));
        assert_eq!(rejection(&verifier, &forged), key.forged());
    }
}

#[test]
fn debug_output_contains_no_secret() {
    let local = LocalKey::generate().unwrap();
    let secret = SecretKey::generate().unwrap();
    let texts = [local.to_paserk(), secret.to_paserk().unwrap()];
    let secrets: Vec<&str> = texts
        .iter()
        .map(|text| text.rsplit_once('.').unwrap().1)
        .collect();
    let token = local
        .encrypt(b"top secret message", TokenContext::new())
        .unwrap();
    let mut shown = vec![
        format!("{local:?}"),
        format!("{secret:?}"),
        format!("{:?}", secret.public_key()),
        format!("{:?}", Paserk::parse(&texts[0]).unwrap()),
        format!("{:?}", Paserk::parse(&texts[1]).unwrap()),
        format!("{:?}", PasetoKeys::from(&local)),
        format!(
            "{:?}",
            PasetoVerifier::new(&local, Policy::new("i", "a")).implicit_assertion("tenant")
        ),
        format!("{:?}", local.decrypt(&token, b"").unwrap()),
        format!(
            "{:?}",
            TokenContext::new().footer("f").implicit_assertion("tenant")
        ),
    ];
    for text in &texts {
        for broken in [
            &text[..text.len() - 1],
            &text.replace("k4", "k3"),
            &text.replace("local", "public"),
            &format!("{}=", text.as_str()),
        ] {
            for error in load(broken).into_iter().filter_map(Result::err) {
                shown.push(format!("{error} {error:?}"));
            }
        }
    }
    for text in shown {
        for secret in &secrets {
            for part in secret.as_bytes().windows(8) {
                assert!(!text.contains(std::str::from_utf8(part).unwrap()), "{text}");
            }
        }
        assert!(
            !text.contains("top secret") && !text.contains("tenant"),
            "{text}"
        );
        // Raw bytes in `Debug` output look like a list of numbers.
        assert!(text.matches(", ").count() < 12, "{text}");
    }
}

#[test]
fn malformed_key_id_is_rejected() {
    let id = LocalKey::generate().unwrap().id();
    let text = id.to_string();
    assert_eq!(text.parse::<Id>(), Ok(id));
    assert_eq!(
        problem("k4.local.AAAA".parse::<Id>()),
        KeyProblem::Unsupported
    );
    // With another version it is another id.
    assert_ne!(text.replace("k4", "k3").parse::<Id>(), Ok(id));
    assert_eq!(
        problem(text.replace("lid", "local").parse::<Id>()),
        KeyProblem::Unsupported
    );
    assert_eq!(problem("lid".parse::<Id>()), KeyProblem::Malformed);
    assert_eq!(
        problem(format!("{text}A").parse::<Id>()),
        KeyProblem::WrongLength
    );
    let other = format!("{}=", &text[..text.len() - 1]);
    assert_eq!(problem(other.parse::<Id>()), KeyProblem::NotBase64Url);
    assert_eq!(problem(Paserk::parse(&text)), KeyProblem::Unsupported);
}

const ALPHABET: &[u8; 64] = super::support::ALPHABET;

fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(word >> (18 - 6 * i)) as usize & 63]));
        }
    }
    text
}

fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut word, mut bits) = (0_u32, 0);
    for character in text.bytes() {
        let value = ALPHABET.iter().position(|c| *c == character).unwrap();
        word = word << 6 | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}
