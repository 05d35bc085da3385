//! Attacks on tokens: header, encoding, size and context.

use jeton::Limits;
use jeton::error::{Part, Rejection};
use jeton::paseto::TokenContext;

use super::support::{ALPHABET, Key, Visit, rejection, why, wrong_format};

use crate::effort::at_once;

#[test]
fn verify_token_of_another_version_or_purpose_is_rejected() {
    for (key, other) in Key::both().into_iter().zip(Key::both().into_iter().rev()) {
        let token = key.issue(TokenContext::new());
        assert!(key.verifier().verify::<Visit>(&token).is_ok());
        let body = token.strip_prefix(key.header()).unwrap();
        assert_eq!(
            rejection(&other.verifier(), &token),
            wrong_format(&token, other.header())
        );
        for header in [
            "v1.local.",
            "v2.local.",
            "v3.local.",
            "v1.public.",
            "v2.public.",
            "v3.public.",
            "v5.local.",
            "",
            "v4.",
            "V4.local.",
            "v4.LOCAL.",
            "V4.public.",
            "v4.Public.",
            " v4.local.",
            " v4.public.",
            "k4.local.",
            "v4..local.",
            "v4.local",
            "v4.public",
        ] {
            let relabelled = format!("{header}{body}");
            assert_eq!(
                rejection(&key.verifier(), &relabelled),
                wrong_format(&relabelled, key.header()),
                "{header}"
            );
        }
        // With the header of the other purpose, the other key rejects the token.
        let relabelled = format!("{}{body}", other.header());
        assert_eq!(rejection(&other.verifier(), &relabelled), other.forged());
        let jwt = "eyJhbGciOiJub25lIn0.e30.";
        let found = rejection(&key.verifier(), jwt);
        assert_eq!(found, wrong_format(jwt, key.header()));
        let expected = key.header().trim_end_matches('.');
        let text = format!("the token is a JWS or a JWE, and the key requires {expected}");
        assert_eq!(found.to_string(), text);
    }
}

#[test]
fn verify_token_of_another_key_is_rejected() {
    for (key, other) in Key::both().into_iter().zip(Key::both()) {
        let token = key.issue(TokenContext::new());
        assert!(key.verifier().verify::<Visit>(&token).is_ok());
        assert_eq!(rejection(&other.verifier(), &token), other.forged());
    }
}

#[test]
fn verify_changed_character_is_rejected() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new().footer("footer").implicit_assertion("i"));
        let verifier = key.verifier().implicit_assertion("i");
        assert!(verifier.verify::<Visit>(&token).is_ok());
        for at in 0..token.len() {
            for other in ALPHABET.iter().chain(b".=+/ \n\0") {
                let mut changed = token.clone().into_bytes();
                if changed[at] == *other {
                    continue;
                }
                changed[at] = *other;
                let changed = String::from_utf8(changed).unwrap();
                // A public token costs a signature verification, so only a part of the alphabet is tried.
                let tried = key.header() == "v4.local." || other % 16 == (at % 16) as u8;
                if tried {
                    let answer = verifier.verify::<Visit>(&changed);
                    assert!(answer.is_err_and(|e| e.is_rejection()), "{at} {other}");
                }
            }
        }
    }
}

#[test]
fn verify_cut_or_extended_token_is_rejected() {
    for key in Key::both() {
        for context in [TokenContext::new(), TokenContext::new().footer("footer")] {
            let token = key.issue(context);
            assert!(key.verifier().verify::<Visit>(&token).is_ok());
            for length in 0..token.len() {
                let answer = key.verifier().verify::<Visit>(&token[..length]);
                assert!(answer.is_err_and(|e| e.is_rejection()), "{length}");
            }
            for more in [
                "A", "AA", "AAAA", ".", ".A", ".AA", ".AAAA", "..", "=", "\n", "\0", " ",
            ] {
                let answer = key.verifier().verify::<Visit>(&format!("{token}{more}"));
                assert!(answer.is_err_and(|e| e.is_rejection()), "{more:?}");
            }
        }
    }
}

#[test]
fn verify_changed_footer_is_rejected() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new().footer("one"));
        let other = key.issue(TokenContext::new().footer("two"));
        let bare = key.issue(TokenContext::new());
        let verified = key.verifier().verify::<Visit>(&token).unwrap();
        assert_eq!(verified.footer(), Some(&b"one"[..]));
        assert_eq!(
            key.verifier().verify::<Visit>(&bare).unwrap().footer(),
            None
        );
        let (body, footer) = token.rsplit_once('.').unwrap();
        let (_, other_footer) = other.rsplit_once('.').unwrap();
        for forged in [
            body.to_owned(),
            format!("{body}.{other_footer}"),
            format!("{bare}.{footer}"),
        ] {
            assert_eq!(rejection(&key.verifier(), &forged), key.forged());
            assert_eq!(why(key.open(&forged, b"")), key.forged());
        }
    }
}

#[test]
fn verify_required_footer_must_match() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new().footer("one"));
        let bare = key.issue(TokenContext::new());
        let verified = key
            .verifier()
            .footer("one")
            .verify::<Visit>(&token)
            .unwrap();
        assert_eq!(verified.footer(), Some(&b"one"[..]));
        for demanded in ["", "on", "onee", "two", "One"] {
            let verifier = key.verifier().footer(demanded);
            assert_eq!(
                rejection(&verifier, &token),
                Rejection::FooterMismatch,
                "{demanded}"
            );
        }
        assert_eq!(
            rejection(&key.verifier().footer("one"), &bare),
            Rejection::FooterMismatch
        );
        assert!(key.verifier().footer("").verify::<Visit>(&bare).is_ok());
        // The error for a forged token does not reveal whether its footer would be right.
        let (body, _) = token.rsplit_once('.').unwrap();
        for footer in ["b25l", "dHdv"] {
            let forged = format!("{body}A.{footer}");
            let answer = rejection(&key.verifier().footer("one"), &forged);
            assert_ne!(answer, Rejection::FooterMismatch);
        }
    }
}

#[test]
fn verify_another_implicit_assertion_is_rejected() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new().implicit_assertion("tenant-7"));
        let verifier = || key.verifier();
        assert!(
            verifier()
                .implicit_assertion("tenant-7")
                .verify::<Visit>(&token)
                .is_ok()
        );
        assert_eq!(rejection(&verifier(), &token), key.forged());
        for other in ["", "tenant-8", "tenant-", "tenant-77", "Tenant-7"] {
            assert_eq!(
                rejection(&verifier().implicit_assertion(other), &token),
                key.forged()
            );
        }
        let bare = key.issue(TokenContext::new());
        assert_eq!(
            rejection(&verifier().implicit_assertion("tenant-7"), &bare),
            key.forged()
        );
    }
}

#[test]
fn verify_bytes_moved_between_parts_is_rejected() {
    for key in Key::both() {
        let token = key.make(
            b"{}",
            TokenContext::new().footer("ab").implicit_assertion("c"),
        );
        assert!(key.open(&token, b"c").is_ok());
        let (body, _) = token.rsplit_once('.').unwrap();
        // "a" and "abc", base64url.
        for (footer, assertion) in [(".YQ", &b"bc"[..]), (".YWJj", b""), ("", b"abc")] {
            let forged = format!("{body}{footer}");
            assert_eq!(why(key.open(&forged, assertion)), key.forged());
        }
    }
}

#[test]
fn verify_non_canonical_base64_is_rejected() {
    for key in Key::both() {
        // Messages of three lengths, so that every number of trailing bits occurs.
        for page in ["/", "/a", "/ab"] {
            let message = format!(
                r#"{{"iss":"https://id.example","aud":"api","exp":"2030-01-01T00:00:00Z","page":"{page}"}}"#
            );
            let token = key.make(message.as_bytes(), TokenContext::new().footer("fo"));
            let verifier = key.verifier();
            assert!(verifier.verify::<Visit>(&token).is_ok());
            let (start, footer) = token.rsplit_once('.').unwrap();
            let body = start.strip_prefix(key.header()).unwrap();
            let header = key.header();
            let middle = body.len() / 2;
            let (one, two) = body.split_at(middle);
            for other in [
                format!("{body}="),
                format!("{body}=="),
                format!("{body}\n"),
                format!("{body}\r\n"),
                format!("\n{body}"),
                format!("{one}\n{two}"),
                format!("{one}\r\n{two}"),
                format!("{one} {two}"),
                format!("{one}+{two}"),
                format!("{one}/{two}"),
                format!("{one}%3D{two}"),
            ] {
                let answer = rejection(&verifier, &format!("{header}{other}.{footer}"));
                assert_eq!(answer, Rejection::Malformed(Part::Payload), "{other}");
            }
            for other in [
                "Zm8=", "Zm9", "Zm8\n", "Zm8\r\n", " Zm8", "Zm8.", "Zm8.Zm8", "Zm8..", "Z",
                "Zm8%3D", "", ".",
            ] {
                let answer = rejection(&verifier, &format!("{start}.{other}"));
                assert_eq!(answer, Rejection::Malformed(Part::Footer), "{other:?}");
            }
            // The unused bits of the last character.
            for other in ALPHABET {
                let changed = format!("{start}.Zm{}", char::from(*other));
                assert_eq!(
                    verifier.verify::<Visit>(&changed).is_ok(),
                    *other == b'8',
                    "{changed}"
                );
            }
        }
    }
}

#[test]
fn verify_many_dots_is_rejected_cheaply() {
    for key in Key::both() {
        let header = key.header();
        let good = key.issue(TokenContext::new());
        let most = Limits::default().token_bytes;
        for token in [
            format!("{header}{}", ".".repeat(most - header.len())),
            format!("{good}.{}", ".".repeat(most - good.len() - 1)),
            format!("{good}{}", ".AAAA".repeat((most - good.len()) / 5)),
            format!("{}{}", header, "A.".repeat(most / 2 - header.len())),
            ".".repeat(most),
            ".".repeat(50 * most),
        ] {
            let verifier = key.verifier();
            assert!(at_once(|| verifier.verify::<Visit>(&token).is_err()));
        }
    }
}

#[test]
fn verify_token_over_limit_is_rejected() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new());
        let limits = |token_bytes| Limits::default().token_bytes(token_bytes);
        assert!(
            key.verifier()
                .limits(limits(token.len()))
                .verify::<Visit>(&token)
                .is_ok()
        );
        let tight = key.verifier().limits(limits(token.len() - 1));
        assert!(matches!(
            rejection(&tight, &token),
            Rejection::TooLarge {
                part: Part::Token,
                ..
            }
        ));
        let footer = "A".repeat(jeton::limits::FOOTER_BYTES * 2);
        let large = format!("{token}.{footer}");
        assert!(matches!(
            rejection(&key.verifier(), &large),
            Rejection::TooLarge {
                part: Part::Footer,
                ..
            }
        ));
    }
}

#[test]
fn verify_body_that_is_too_short_is_malformed() {
    for key in Key::both() {
        for length in 0..=85 {
            let token = format!("{}{}", key.header(), "A".repeat(length));
            let answer = rejection(&key.verifier(), &token);
            assert_eq!(answer, Rejection::Malformed(Part::Payload), "{length}");
        }
        // 64 bytes: complete, but forged.
        let token = format!("{}{}", key.header(), "A".repeat(86));
        assert_eq!(rejection(&key.verifier(), &token), key.forged());
    }
}

#[test]
fn encrypt_twice_uses_different_nonces() {
    let [local, _] = Key::both();
    let nonces: std::collections::HashSet<String> = (0..1000)
        .map(|_| local.make(b"same", TokenContext::new())["v4.local.".len()..][..42].to_owned())
        .collect();
    assert_eq!(nonces.len(), 1000);
}
