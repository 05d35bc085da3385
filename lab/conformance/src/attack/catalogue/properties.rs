//! The security properties that go-jwt-paseto claims for every format: key isolation, every byte,
//! every length, time limits, types.

use serde_json::{Value, json};

use super::{About, Attack, Demand, Family};
use crate::attack::fixtures::Stage;
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Property;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "every-byte-changed",
        "the token with one character changed, at each position",
        "every byte of a token is authenticated",
        "go-jwt-paseto: tamper detection",
        |s| {
            let valid = s.valid();
            let changed = |at: usize| (format!("character {at}"), with_other(&valid, at));
            Trial::all(&valid, (0..valid.len()).map(changed))
        },
    ),
    FAMILY.attack(
        "every-length",
        "the token truncated to each length",
        "a truncated token is rejected",
        "go-jwt-paseto: truncation",
        |s| {
            let valid = s.valid();
            let cut = (0..valid.len()).map(|length| {
                // A trial does not distinguish an empty token from a missing one.
                let cut = if length == 0 { " " } else { &valid[..length] };
                (format!("{length} characters"), cut)
            });
            Trial::all(&valid, cut)
        },
    ),
    FAMILY.attack(
        "key-isolation",
        "tokens of eight other keys",
        "a token of another key is rejected",
        "go-jwt-paseto: key isolation",
        |s| {
            let others = (0..8).filter_map(|_| s.another()).enumerate();
            let tokens = others.map(|(i, other)| (format!("key {i}"), other.valid()));
            Trial::all(&s.valid(), tokens)
        },
    ),
    FAMILY
        .attack(
            "expiry-border",
            "`exp` is now, or a second ago",
            "`exp` is compared without leeway",
            "RFC 7519 4.1.4; go-jwt-paseto: expiry",
            |s| {
                let now = jiff::Timestamp::now().as_second();
                let control = s.with_claims(&[("exp", s.time(now + 120))]);
                let tokens = [0, 1, 30].map(|ago| {
                    let token = s.with_claims(&[("exp", s.time(now - ago))]);
                    (format!("{ago} s ago"), token)
                });
                Trial::all(&control, tokens)
            },
        )
        .about(About::Claims),
    FAMILY
        .attack(
            "not-before-border",
            "`nbf` is 30 seconds from now",
            "`nbf` is compared without leeway",
            "RFC 7519 4.1.5; go-jwt-paseto: not-before",
            |s| {
                let now = jiff::Timestamp::now().as_second();
                let control = s.with_claims(&[("nbf", s.time(now - 1))]);
                let token = s.with_claims(&[("nbf", s.time(now + 30))]);
                vec![Trial::token("in 30 s", control, token)]
            },
        )
        .demanding(Demand::NotBefore)
        .about(About::Claims),
    FAMILY
        .attack(
            "types-other",
            "a claim whose type differs from the caller's declared type",
            "the declared type of a claim is checked",
            "go-jwt-paseto: type safety",
            |s| {
                [
                    ("admin", json!("true")),
                    ("admin", json!(1)),
                    ("name", json!(7)),
                    ("name", json!(["John Doe"])),
                    ("name", json!({})),
                ]
                .into_iter()
                .map(|(name, value)| typed(s, name, value))
                .collect()
            },
        )
        .about(About::DeclaredTypes),
    FAMILY
        .attack(
            "types-missing",
            "a token without a claim that the caller's type declares",
            "a declared claim is present",
            "go-jwt-paseto: a token of type A read as type B",
            |s| {
                ["name", "admin"]
                    .into_iter()
                    .map(|name| typed(s, name, Value::Null))
                    .collect()
            },
        )
        .about(About::DeclaredTypes),
];

fn typed(stage: &Stage, name: &str, value: Value) -> Trial {
    let spelling = format!("{name} {value}");
    let token = stage.with_claims(&[(name, value)]);
    Trial::token(spelling, stage.valid(), token).typed()
}

/// Returns the token with one character changed to another of the alphabet, in a bit that is used.
fn with_other(token: &str, at: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = token.as_bytes().to_vec();
    let place = ALPHABET.iter().position(|c| *c == bytes[at]);
    bytes[at] = place.map_or(b'A', |p| ALPHABET[p ^ 32]);
    String::from_utf8(bytes).unwrap_or_default()
}
