//! What report 1 promised of every format: isolation of keys, every byte, every length, the borders
//! of time, types.

use serde_json::{Value, json};

use super::{About, Attack, Demand, Family};
use crate::attack::fixtures::Stage;
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Property;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "every-byte-changed",
        "the token with one character changed, at each place",
        "every byte of a token counts",
        "report 1: tamper detection",
        |s| {
            let valid = s.valid();
            let changed = (0..valid.len())
                .map(|at| Trial::token(format!("character {at}"), &valid, with_other(&valid, at)));
            changed.collect()
        },
    ),
    FAMILY.attack(
        "every-length",
        "the token cut off, at each length",
        "a token is whole",
        "report 1: truncation",
        |s| {
            let valid = s.valid();
            (0..valid.len())
                .map(|length| {
                    // The empty text is a token that a trial could not tell from none.
                    let cut = if length == 0 { " " } else { &valid[..length] };
                    Trial::token(format!("{length} characters"), &valid, cut)
                })
                .collect()
        },
    ),
    FAMILY.attack(
        "key-isolation",
        "tokens of eight other keys",
        "one key's tokens are no other key's",
        "report 1: key isolation",
        |s| {
            let valid = s.valid();
            let others = (0..8).filter_map(|_| s.another());
            others
                .enumerate()
                .map(|(i, other)| Trial::token(format!("key {i}"), &valid, other.valid()))
                .collect()
        },
    ),
    FAMILY
        .attack(
            "expiry-border",
            "`exp` is now, or a second ago",
            "a token ends when it says, without grace",
            "RFC 7519 4.1.4; report 1: expiry",
            |s| {
                let now = jiff::Timestamp::now().as_second();
                let control = s.with_claims(&[("exp", s.time(now + 120))]);
                [0, 1, 30]
                    .map(|ago| {
                        let token = s.with_claims(&[("exp", s.time(now - ago))]);
                        Trial::token(format!("{ago} s ago"), &control, token)
                    })
                    .to_vec()
            },
        )
        .about(About::Claims),
    FAMILY
        .attack(
            "not-before-border",
            "`nbf` is in half a minute",
            "a token begins when it says, without grace",
            "RFC 7519 4.1.5; report 1: not-before",
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
            "a claim of another type than the caller's own type declares",
            "a claim has the type that was declared",
            "report 1: type safety",
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
            "a token of another kind, without a claim that the caller's own type declares",
            "a claim that was declared is there",
            "report 1: a token of type A read as type B",
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

/// The token with another character at a place: one of the alphabet, and in a bit that counts.
fn with_other(token: &str, at: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = token.as_bytes().to_vec();
    let place = ALPHABET.iter().position(|c| *c == bytes[at]);
    bytes[at] = place.map_or(b'A', |p| ALPHABET[p ^ 32]);
    String::from_utf8(bytes).unwrap_or_default()
}
