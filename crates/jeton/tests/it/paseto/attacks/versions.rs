//! The attacks for every version and purpose, with generic code.

use std::time::Duration;

use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::error::{InvalidUse, Part, Rejection};
use jeton::paserk::PaserkVersion;
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{
    LocalKey, Message, PasetoKey, PasetoKeySet, PasetoVerifier, PublicKey, SecretKey, TokenContext,
    Version,
};
use jeton::{Error, FixedClock, Limits, Policy, Result};

use super::support::{Visit, claims, now, rejection, why, wrong_format};

use crate::effort::at_once;

type Open = Box<dyn Fn(&str, &[u8]) -> Result<Message>>;
type Make = Box<dyn Fn(&[u8], TokenContext<'_>) -> Result<String>>;

/// A key of any version and purpose.
struct Key {
    header: String,
    version: PaserkVersion,
    forged: Rejection,
    key: PasetoKey,
    open: Open,
    make: Make,
    claims: String,
}

fn of<V: Version>(number: u8) -> [Key; 2] {
    let local = LocalKey::<V>::generate().unwrap();
    let secret = SecretKey::<V>::generate().unwrap();
    let public: PublicKey<V> = secret.public_key();
    let again = LocalKey::<V>::from_paserk(&local.to_paserk()).unwrap();
    [
        Key {
            header: format!("v{number}.local."),
            version: V::VERSION,
            forged: Rejection::Decryption,
            key: PasetoKey::from(&local),
            claims: local.issue(&claims()).unwrap(),
            open: Box::new(move |token, assertion| again.decrypt(token, assertion)),
            make: Box::new(move |message, context| local.encrypt(message, context)),
        },
        Key {
            header: format!("v{number}.public."),
            version: V::VERSION,
            forged: Rejection::Signature,
            key: PasetoKey::from(&public),
            claims: secret.issue(&claims()).unwrap(),
            open: Box::new(move |token, assertion| public.verify(token, assertion)),
            make: Box::new(move |message, context| secret.sign(message, context)),
        },
    ]
}

fn all() -> Vec<Key> {
    let mut all = Vec::new();
    all.extend(of::<V1>(1));
    all.extend(of::<V2>(2));
    all.extend(of::<V3>(3));
    all.extend(of::<V4>(4));
    all
}

impl Key {
    fn verifier(&self) -> PasetoVerifier {
        let policy = Policy::new("https://id.example", "api");
        PasetoVerifier::new(self.key.clone(), policy).clock(FixedClock(now()))
    }

    fn has_assertions(&self) -> bool {
        matches!(self.version, PaserkVersion::V3 | PaserkVersion::V4)
    }
}

#[test]
fn verify_own_token_is_accepted_in_every_version() {
    for key in all() {
        let verified = key.verifier().verify::<Visit>(&key.claims).unwrap();
        assert_eq!(verified.claims().page, "/", "{}", key.header);
        let late = FixedClock(now().saturating_add(Duration::from_secs(3600)));
        let answer = rejection(&key.verifier().clock(late), &key.claims);
        assert_eq!(answer, Rejection::Expired);
    }
}

#[test]
fn verify_token_of_another_version_or_purpose_is_rejected() {
    let keys = all();
    for key in &keys {
        let body = key.claims.strip_prefix(&key.header).unwrap();
        for other in &keys {
            let relabelled = format!("{}{body}", other.header);
            if key.header == other.header {
                assert!((key.open)(&relabelled, b"").is_ok());
                continue;
            }
            // Unchanged, and with the label of the other key.
            assert_eq!(
                why((other.open)(&key.claims, b"")),
                wrong_format(&key.claims, &other.header),
                "{} to {}",
                key.header,
                other.header
            );
            let answer = why((other.open)(&relabelled, b""));
            let short = Rejection::Malformed(Part::Payload);
            assert!(answer == other.forged || answer == short, "{answer:?}");
        }
    }
}

#[test]
fn verify_flipped_bit_is_rejected() {
    for key in all() {
        let token = (key.make)(b"message", TokenContext::new().footer("footer")).unwrap();
        assert!((key.open)(&token, b"").is_ok());
        for at in 0..token.len() {
            for bit in [1, 2, 4, 8, 16, 32, 64] {
                let mut changed = token.clone().into_bytes();
                changed[at] ^= bit;
                let changed = String::from_utf8(changed).unwrap();
                let answer = (key.open)(&changed, b"");
                assert!(answer.is_err_and(|e| e.is_rejection()), "{at} {bit}");
            }
        }
    }
}

#[test]
fn verify_cut_or_extended_token_is_rejected() {
    for key in all() {
        let token = (key.make)(b"message", TokenContext::new()).unwrap();
        for length in 0..token.len() {
            let answer = (key.open)(&token[..length], b"");
            assert!(answer.is_err_and(|e| e.is_rejection()), "{length}");
        }
        for more in ["A", "AA", "AAAA", ".", ".AAAA", "=", "==", "\n", " ", "\0"] {
            let answer = (key.open)(&format!("{token}{more}"), b"");
            assert!(answer.is_err_and(|e| e.is_rejection()), "{more:?}");
        }
    }
}

#[test]
fn footer_is_returned_only_for_authentic_tokens() {
    for key in all() {
        let token = (key.make)(b"message", TokenContext::new().footer("one")).unwrap();
        assert_eq!((key.open)(&token, b"").unwrap().footer(), b"one");
        let (body, _) = token.rsplit_once('.').unwrap();
        for footer in ["", ".dHdv"] {
            let answer = why((key.open)(&format!("{body}{footer}"), b""));
            assert_eq!(answer, key.forged, "{}", key.header);
        }
        // The error for a forged token does not depend on its footer.
        let other = (key.make)(b"another", TokenContext::new().footer("two")).unwrap();
        let (other, _) = other.rsplit_once('.').unwrap();
        let verifier = key.verifier().footer("one");
        assert_eq!(rejection(&verifier, &format!("{other}.b25l")), key.forged);
    }
}

#[test]
fn verify_footer_over_limit_is_rejected() {
    for key in all() {
        let large = format!("{}AAAA.{}", key.header, "A".repeat(12_000));
        let answer = why((key.open)(&large, b""));
        assert!(matches!(
            answer,
            Rejection::TooLarge {
                part: Part::Footer,
                ..
            }
        ));
        let footer = vec![0; jeton::limits::FOOTER_BYTES + 1];
        let made = (key.make)(b"", TokenContext::new().footer(&footer));
        assert_eq!(
            made,
            Err(InvalidUse::FooterTooLarge {
                bytes: 8193,
                limit: 8192
            }
            .into())
        );
        let made = (key.make)(b"", TokenContext::new().footer(&footer[1..])).unwrap();
        assert!((key.open)(&made, b"").is_ok());
    }
}

#[test]
fn verify_many_dots_is_rejected_cheaply() {
    let most = Limits::default().token_bytes;
    for key in all() {
        for token in [
            format!("{}{}", key.header, ".".repeat(most - key.header.len())),
            format!("{}.{}", key.claims, ".".repeat(most - key.claims.len() - 1)),
            format!("{}{}", key.header, "A.".repeat(most / 2 - 20)),
            format!("{}{}", key.header, ".".repeat(50 * most)),
        ] {
            let verifier = key.verifier();
            assert!(at_once(|| verifier.verify::<Visit>(&token).is_err()));
        }
    }
}

#[test]
fn implicit_assertion_is_applied_or_rejected_never_ignored() {
    for key in all() {
        let context = TokenContext::new().implicit_assertion("tenant-7");
        let made = (key.make)(b"{}", context);
        let bare = (key.make)(b"{}", TokenContext::new()).unwrap();
        let verifier = key.verifier().implicit_assertion("tenant-7");
        let verified = verifier.verify::<Visit>(&key.claims).map(drop);
        if key.has_assertions() {
            let token = made.unwrap();
            assert!((key.open)(&token, b"tenant-7").is_ok());
            for other in [&b""[..], b"tenant-8", b"tenant-", b"tenant-77"] {
                assert_eq!(why((key.open)(&token, other)), key.forged);
            }
            assert_eq!(why((key.open)(&bare, b"tenant-7")), key.forged);
            assert_eq!(verified, Err(key.forged.into()));
        } else {
            let invalid_use = Err(Error::InvalidUse(InvalidUse::ImplicitAssertion));
            assert_eq!(made.map(drop), invalid_use);
            assert_eq!((key.open)(&bare, b"tenant-7").map(drop), invalid_use);
            assert_eq!(verified, invalid_use);
        }
    }
}

/// A token must not decide whether the caller learns about the invalid call.
#[test]
fn key_set_without_assertion_support_rejects_assertion() {
    let keys = all();
    let (with, without): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.has_assertions());
    let (with, without) = (with[0], without[0]);
    let mut set = PasetoKeySet::new();
    for one in [with, without] {
        set.insert(one.key.clone()).unwrap();
    }
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    let verifier = PasetoVerifier::new(set, policy).implicit_assertion("tenant-7");
    for token in [
        &with.claims[..],
        &without.claims,
        "v4.public.AAAA",
        "no token",
    ] {
        let rejected = verifier.verify::<Visit>(token).map(drop);
        assert_eq!(
            rejected,
            Err(Error::InvalidUse(InvalidUse::ImplicitAssertion))
        );
    }
}

#[test]
fn verify_non_canonical_base64_is_rejected() {
    for key in all() {
        // Messages of three lengths, so that every number of trailing bits occurs.
        for message in [&b"m"[..], b"me", b"mes"] {
            let token = (key.make)(message, TokenContext::new()).unwrap();
            let (start, last) = token.split_at(token.len() - 1);
            let spellings =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/\n"
                    .iter()
                    .map(|byte| char::from(*byte).to_string());
            let taken: Vec<String> = spellings
                .filter(|other| (key.open)(&format!("{start}{other}"), b"").is_ok())
                .collect();
            assert_eq!(taken, [last], "{}", key.header);
        }
    }
}

#[test]
fn verify_body_that_is_too_short_is_malformed() {
    for key in all() {
        let shortest = (key.make)(b"", TokenContext::new()).unwrap();
        let body = shortest.len() - key.header.len();
        for length in 0..body {
            let token = format!("{}{}", key.header, "A".repeat(length));
            let answer = why((key.open)(&token, b""));
            assert_eq!(answer, Rejection::Malformed(Part::Payload), "{length}");
        }
    }
}

#[test]
fn encrypt_twice_uses_different_nonces() {
    for key in all().into_iter().filter(|key| key.header.contains("local")) {
        let nonces: std::collections::HashSet<String> = (0..300)
            .map(|_| (key.make)(b"same", TokenContext::new()).unwrap())
            .map(|token| token[key.header.len()..][..32].to_owned())
            .collect();
        assert_eq!(nonces.len(), 300);
    }
}
