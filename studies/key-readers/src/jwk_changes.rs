//! Changes of a JWK: members more, fewer, twice or null, types, base64, and the JSON around them.

use base64_simd::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use crate::random::Random;

/// The members in order, with their values as JSON text, so that a member can be there twice.
pub struct Jwk {
    members: Vec<(String, String)>,
    /// What is around and between the members.
    space: &'static str,
    before: &'static str,
    after: &'static str,
}

/// Members that a JWK may have, with values that are right or wrong.
const MEMBERS: [(&str, &[&str]); 17] = [
    (
        "use",
        &[
            "\"sig\"",
            "\"enc\"",
            "\"SIG\"",
            "\"\"",
            "\"tls\"",
            "null",
            "1",
            "[\"sig\"]",
        ],
    ),
    (
        "key_ops",
        &[
            "[\"verify\"]",
            "[\"sign\"]",
            "[\"sign\",\"verify\"]",
            "[]",
            "[\"verify\",\"verify\"]",
            "\"verify\"",
            "[\"encrypt\"]",
            "[\"other\"]",
            "[1]",
            "null",
            "[\"deriveBits\"]",
            "[\"wrapKey\",\"encrypt\"]",
        ],
    ),
    (
        "alg",
        &[
            "\"RS256\"",
            "\"PS256\"",
            "\"ES256\"",
            "\"ES384\"",
            "\"ES512\"",
            "\"ES256K\"",
            "\"EdDSA\"",
            "\"Ed25519\"",
            "\"HS256\"",
            "\"RSA-OAEP\"",
            "\"RSA-OAEP-256\"",
            "\"ECDH-ES\"",
            "\"none\"",
            "\"\"",
            "null",
            "256",
            "\"rs256\"",
            "\"ML-DSA-44\"",
        ],
    ),
    (
        "kid",
        &[
            "\"1\"",
            "1",
            "null",
            "\"\"",
            "\"\\u0000\"",
            "\"\u{e4}\"",
            "\"a b\"",
            "[]",
        ],
    ),
    (
        "x5t",
        &[
            "\"AAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
            "\"\"",
            "null",
            "1",
            "\"AAAA\"",
        ],
    ),
    (
        "x5t#S256",
        &[
            "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
            "null",
            "\"x\"",
        ],
    ),
    (
        "x5c",
        &["[]", "null", "\"MAA=\"", "[\"MAA=\"]", "[1]", "[\"*\"]"],
    ),
    (
        "x5u",
        &["\"https://id.example/\"", "null", "\"\"", "1", "\":\""],
    ),
    ("ext", &["true", "false", "null", "\"true\""]),
    ("iat", &["1700000000", "\"1\"", "1e400", "-1"]),
    ("exp", &["1", "1700000000.5"]),
    (
        "kty",
        &[
            "\"RSA\"", "\"EC\"", "\"OKP\"", "\"oct\"", "\"rsa\"", "\"AKP\"", "null", "1", "\"\"",
        ],
    ),
    (
        "crv",
        &[
            "\"P-256\"",
            "\"P-384\"",
            "\"P-521\"",
            "\"secp256k1\"",
            "\"P-256K\"",
            "\"Ed25519\"",
            "\"X25519\"",
            "\"p-256\"",
            "null",
            "\"\"",
            "7",
        ],
    ),
    ("oth", &["[]", "null", "[{}]", "\"x\""]),
    ("d", &["null", "\"\"", "\"AQ\"", "\"AA\"", "1"]),
    ("k", &["null", "\"\"", "\"AAAA\"", "\"c2VjcmV0\""]),
    (
        "x-unknown",
        &[
            "1",
            "{\"a\":[{}]}",
            "[[[[[[]]]]]]",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "{\"a\":1,\"a\":2}",
            "1E5",
            "01",
            "NaN",
            "[[[[[[[[[[[[]]]]]]]]]]]]",
            "\"\t\"",
            "tru",
            "-0",
            "1e999",
        ],
    ),
];

impl Jwk {
    pub fn read(text: &str) -> Option<Jwk> {
        let members: Map<String, Value> = serde_json::from_str(text).ok()?;
        let members = members.into_iter().map(|(name, value)| {
            let name = Value::from(name).to_string();
            (name, value.to_string())
        });
        Some(Jwk {
            members: members.collect(),
            space: "",
            before: "",
            after: "",
        })
    }

    pub fn write(&self) -> String {
        let space = self.space;
        let members: Vec<String> = (self.members.iter())
            .map(|(name, value)| format!("{space}{name}{space}:{space}{value}{space}"))
            .collect();
        format!("{}{{{}}}{}", self.before, members.join(","), self.after)
    }

    /// Changes the JWK once and returns what was done, or nothing if this change does not apply.
    pub fn change(&mut self, donor: &Jwk, random: &mut Random) -> Option<&'static str> {
        let at = random.below(self.members.len().max(1));
        Some(match random.below(17) {
            0 => {
                self.members.get(at)?;
                self.members.remove(at);
                "member missing"
            }
            1..=4 => {
                let (name, values) = random.pick(&MEMBERS);
                let quoted = format!("\"{name}\"");
                let value = random.pick(values).to_string();
                match self.members.iter_mut().find(|(name, _)| *name == quoted) {
                    Some(member) => member.1 = value,
                    None => self.members.push((quoted, value)),
                }
                name
            }
            5 => {
                let mut member = self.members.get(at)?.clone();
                if random.once_in(2) {
                    member.1 = random.pick(&["\"\"", "null", "\"AQAB\""]).to_string();
                }
                let place = random.below(self.members.len() + 1);
                self.members.insert(place, member);
                "member twice"
            }
            6 => {
                let value = random.pick(&["null", "1", "true", "[]", "{}", "\"\"", "1.5"]);
                self.members.get_mut(at)?.1 = value.to_string();
                "type of a member"
            }
            7..=10 => return base64(&mut self.members.get_mut(at)?.1, random),
            11 => {
                let member = self.members.get_mut(at)?;
                return escape(
                    if random.once_in(2) {
                        &mut member.0
                    } else {
                        &mut member.1
                    },
                    random,
                );
            }
            12 => {
                let name = &mut self.members.get_mut(at)?.0;
                *name = match random.below(3) {
                    0 => name.to_uppercase(),
                    1 => name.replacen('"', "\" ", 1),
                    _ => name.replacen('"', "", 2),
                };
                "name of a member"
            }
            13 => {
                let member = donor
                    .members
                    .get(random.below(donor.members.len().max(1)))?;
                match self.members.iter_mut().find(|own| own.0 == member.0) {
                    Some(own) => own.1 = member.1.clone(),
                    None => self.members.push(member.clone()),
                }
                "member of another key"
            }
            14 => {
                let other = random.below(self.members.len().max(1));
                if at == other {
                    return None;
                }
                if random.once_in(2) {
                    self.members.swap(at, other);
                    "order of members"
                } else {
                    let value = self.members.get(at)?.1.clone();
                    let value = std::mem::replace(&mut self.members.get_mut(other)?.1, value);
                    self.members.get_mut(at)?.1 = value;
                    "values exchanged"
                }
            }
            15 => {
                self.space = random.pick(&[" ", "\n", "\t", "\r\n", "\u{a0}", "/**/", "\u{c}"]);
                "white space"
            }
            _ => {
                let (before, after) = random.pick(&[
                    ("\u{feff}", ""),
                    ("\n ", " \n"),
                    ("", "}"),
                    ("[", "]"),
                    ("{\"keys\":[", "]}"),
                    ("", "\0"),
                    ("", "{}"),
                    ("\"", "\""),
                    ("// key\n", ""),
                    ("", ","),
                    ("{\"jwk\":", "}"),
                    ("", "\u{feff}"),
                ]);
                (self.before, self.after) = (before, after);
                "text around"
            }
        })
    }
}

/// Changes a value in base64url, or what it encodes.
fn base64(value: &mut String, random: &mut Random) -> Option<&'static str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = URL_SAFE_NO_PAD.decode_to_vec(text).ok()?;
    let plain = |bytes: &[u8]| URL_SAFE_NO_PAD.encode_to_string(bytes);
    let (new, name) = match random.below(14) {
        0 => (URL_SAFE.encode_to_string(&bytes), "padding"),
        1 => (
            STANDARD.encode_to_string(&bytes),
            "alphabet of base64, padding",
        ),
        2 => (
            text.replace('-', "+").replace('_', "/"),
            "alphabet of base64",
        ),
        3 => {
            let at = random.below(text.len() + 1);
            let space = random.pick(&[
                " ", "\\n", "\\r\\n", "\\t", "=", ".", "\\u0000", "*", "\u{e4}",
            ]);
            (
                format!("{}{space}{}", &text[..at], &text[at..]),
                "character inside base64",
            )
        }
        4 => (plain(&[&[0], &bytes[..]].concat()), "zero in front"),
        5 => (plain(bytes.get(1..)?), "first byte missing"),
        6 => {
            bytes.pop()?;
            (plain(&bytes), "last byte missing")
        }
        7 => {
            bytes.push(random.byte());
            (plain(&bytes), "byte more")
        }
        8 => {
            let at = random.below(bytes.len().max(1));
            *bytes.get_mut(at)? ^= 1 << random.below(8);
            (plain(&bytes), "bit")
        }
        9 => {
            bytes.fill(0);
            (plain(&bytes), "zeros")
        }
        10 => {
            // The last character has bits that count for nothing.
            let last = text.chars().last()?;
            let next = char::from(u8::try_from(last).ok()? + 1);
            (
                format!("{}{next}", &text[..text.len() - 1]),
                "last character",
            )
        }
        11 => (format!("{text}A"), "character more"),
        12 => {
            *bytes.first_mut()? = 0;
            (plain(&bytes), "first byte zero")
        }
        _ => (plain(&[&[0, 0, 0], &bytes[..]].concat()), "zeros in front"),
    };
    *value = format!("\"{new}\"");
    Some(name)
}

/// Writes a character as an escape.
fn escape(text: &mut String, random: &mut Random) -> Option<&'static str> {
    let places: Vec<usize> = (text.char_indices())
        .filter(|(_, one)| one.is_ascii_alphanumeric())
        .map(|(at, _)| at)
        .collect();
    let at = *places.get(random.below(places.len().max(1)))?;
    let byte = text.as_bytes()[at];
    let escaped = match random.below(4) {
        0 => format!("\\u{byte:04X}"),
        1 => format!("\\x{byte:02x}"),
        2 => format!("\\{}", byte as char),
        _ => format!("\\u{byte:04x}"),
    };
    text.replace_range(at..=at, &escaped);
    Some("escape")
}
