//! The encoding of the parts, and how many there are.

use serde_json::json;

use super::{Attack, Family, JOSE, JWT};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::b64;
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Encoding;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "base64-padding",
        "`=` at the end of a part",
        "base64url has no padding",
        "RFC 7515 2",
        |s| in_parts(s, "=", |text| vec![format!("{text}="), format!("{text}==")]),
    ),
    FAMILY.attack(
        "base64-line-end",
        "a line break inside a part",
        "base64url has no line breaks",
        "RFC 7515 2; Go's decoder skips CR and LF",
        |s| {
            in_parts(s, "line break", |text| {
                let (a, b) = text.split_at(text.len() / 2);
                vec![
                    format!("{a}\n{b}"),
                    format!("{a}\r\n{b}"),
                    format!("{text}\n"),
                ]
            })
        },
    ),
    FAMILY.attack(
        "base64-blank",
        "a space or tab inside a part",
        "base64url has no spaces",
        "RFC 7515 2",
        |s| {
            in_parts(s, "space", |text| {
                let (a, b) = text.split_at(text.len() / 2);
                vec![format!("{a} {b}"), format!("{a}\t{b}"), format!(" {text}")]
            })
        },
    ),
    FAMILY.attack(
        "base64-alphabet",
        "`+` and `/` instead of `-` and `_`",
        "base64url has its own alphabet",
        "RFC 7515 2; RFC 4648 5",
        |s| {
            // A part contains these characters by chance: one of many tokens has them in the last
            // part.
            // A MAC is the same each time, so the claims must change too.
            let random = || json!(b64(super::super::fixtures::jwe::random(6)));
            let tokens = (0..64).flat_map(|_| [s.valid(), s.with_claims(&[("jti", random())])]);
            let mut trials = tokens.filter_map(|token| {
                let (input, last) = token.rsplit_once('.')?;
                let other = last.replace('-', "+").replace('_', "/");
                let changed = format!("{input}.{other}");
                (other != last).then(|| Trial::token("in the last part", &token, changed))
            });
            trials.next().into_iter().collect()
        },
    ),
    FAMILY.attack(
        "base64-foreign",
        "a character outside every base64 alphabet",
        "a character outside the alphabet is rejected, not skipped",
        "RFC 4648 3.3",
        |s| {
            in_parts(s, "foreign", |text| {
                let (a, b) = text.split_at(text.len() / 2);
                ["!", "\u{0}", "\u{200b}", "%"]
                    .map(|c| format!("{a}{c}{b}"))
                    .to_vec()
            })
        },
    ),
    FAMILY.attack(
        "base64-unused-bits",
        "the unused bits at the end of a part are set",
        "each value has one encoding",
        "RFC 4648 3.5",
        |s| {
            in_parts(s, "unused bits", |text| {
                other_ending(text).into_iter().collect()
            })
        },
    ),
    FAMILY.attack(
        "base64-dangling",
        "one extra character at the end of a part",
        "a part encodes whole bytes",
        "RFC 4648 4",
        |s| {
            in_parts(s, "dangling", |text| {
                (text.len() % 4 == 0)
                    .then(|| format!("{text}A"))
                    .into_iter()
                    .collect()
            })
        },
    ),
    FAMILY.attack(
        "parts-more",
        "too many parts",
        "a token has exactly the parts of its format",
        "RFC 7515 7.1",
        |s| {
            let valid = s.valid();
            let more = if s.format.is_paseto() {
                vec![format!("{valid}.Zg.Zg"), format!("{valid}..")]
            } else {
                vec![
                    format!("{valid}."),
                    format!("{valid}.x"),
                    format!(".{valid}"),
                ]
            };
            Trial::all(&valid, more.into_iter().map(|t| (spelled(&valid, &t), t)))
        },
    ),
    FAMILY.attack(
        "outer-blank",
        "spaces, a line break or `Bearer` around the token",
        "the whole text is the token",
        "RFC 7515 7.1",
        |s| {
            let valid = s.valid();
            let around = [(" ", ""), ("", " "), ("", "\n"), ("", "\0"), ("Bearer ", "")];
            let tokens = around.map(|(before, after)| format!("{before}{valid}{after}"));
            Trial::all(&valid, tokens.map(|t| (spelled(&valid, &t), t)))
        },
    ),
    FAMILY.attack(
            "json-form",
            "the token in a JSON serialization",
            "a JWT has only the compact form",
            "RFC 7519 1",
            |s| {
                let valid = s.valid();
                let parts: Vec<&str> = valid.split('.').collect();
                let forms = match parts.as_slice() {
                    [protected, payload, signature] => vec![
                        (
                            "flattened",
                            json!({"protected": protected, "payload": payload, "signature": signature}),
                        ),
                        (
                            "general",
                            json!({"payload": payload,
                        "signatures": [{"protected": protected, "signature": signature}]}),
                        ),
                    ],
                    [protected, key, iv, ciphertext, tag] => vec![(
                        "flattened",
                        json!({"protected": protected,
                    "encrypted_key": key, "iv": iv, "ciphertext": ciphertext, "tag": tag}),
                    )],
                    _ => Vec::new(),
                };
                let forms = forms.into_iter();
                Trial::all(&valid, forms.map(|(name, t)| (name, t.to_string())))
            },
        ).on(JOSE),
    FAMILY.attack(
            "json-several-signatures",
            "one of several signatures is valid",
            "all signatures must verify, or the caller learns which did",
            "go-jose CVE-2016-9122",
            |s| {
                let valid = s.valid();
                let forged = s.other_keys().valid();
                let parts = |t: &str| -> Vec<String> { t.split('.').map(str::to_owned).collect() };
                let (h, f) = (parts(&valid), parts(&forged));
                if h.len() != 3 || f.len() != 3 {
                    return Vec::new();
                }
                let one = json!({"protected": h[0], "signature": h[2]});
                let other = json!({"protected": f[0], "signature": f[2]});
                let token = json!({"payload": h[1], "signatures": [other, one]});
                let spelling = "an invalid one before the valid one";
                vec![Trial::token(spelling, valid, token.to_string())]
            },
        ).on(JWT),
];

/// Changes each part in turn. A part that is signed as text is signed again, so that only the
/// encoding is wrong.
fn in_parts(stage: &Stage, what: &str, change: impl Fn(&str) -> Vec<String>) -> Vec<Trial> {
    let valid = stage.valid();
    let mut trials = Vec::new();
    let parts: Vec<&str> = valid.split('.').collect();
    let last = parts.len() - 1;
    let first = if stage.format.is_paseto() { last } else { 0 };
    let claims = stage.claims().to_string();
    for at in first..=last {
        for text in change(parts[at]) {
            let changed = match (at, stage.raw().is_some()) {
                (0, _) => stage.under_texts(&text, parts[1], claims.as_bytes()),
                (1, true) => stage.under_texts(parts[0], &text, b""),
                _ => {
                    let mut parts = parts.clone();
                    parts[at] = &text;
                    parts.join(".")
                }
            };
            // An empty encrypted key has no encoding to change.
            if !parts[at].is_empty() {
                let spelling = format!("{what}, part {}", at + 1);
                trials.push(Trial::token(spelling, &valid, changed));
            }
        }
    }
    trials
}

/// Returns the text with a different last character that decodes to the same bytes.
fn other_ending(text: &str) -> Option<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let unused = match text.len() % 4 {
        2 => 0x0f,
        3 => 0x03,
        _ => return None,
    };
    let (head, last) = text.split_at(text.len() - 1);
    let at = ALPHABET.iter().position(|c| *c == last.as_bytes()[0])?;
    Some(format!("{head}{}", char::from(ALPHABET[at ^ unused])))
}

/// Describes what surrounds the valid token.
fn spelled(valid: &str, token: &str) -> String {
    format!("{:?}", token.replacen(valid, "…", 1))
}
