//! What it costs a verifier to reject a token.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{Attack, Family, JWE, JWT};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jwe::under;
use crate::attack::fixtures::jws::b64;
use crate::attack::trial::{Act, Trial};

/// The size of the longest tokens, in bytes: below the longest line of the protocol.
const LONG_BYTES: usize = 4 << 20;

const FAMILY: Family = Family::Cost;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "dots",
        "four million dots",
        "the number of parts is limited before they are stored",
        "golang-jwt CVE-2025-30204; go-jose CVE-2025-27144",
        |s| {
            let head = s.valid().split('.').next().unwrap_or_default().to_owned();
            let head = if s.format.is_paseto() {
                format!("{}.", s.format.name())
            } else {
                format!("{head}.")
            };
            vec![cost_trial(
                s,
                "dots",
                format!("{head}{}", ".".repeat(LONG_BYTES)),
            )]
        },
    ),
    FAMILY
        .attack(
            "deep-header",
            "a header with 100,000 nested levels",
            "the depth of JSON is limited in the header",
            "RFC 8259 9",
            |s| {
                let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
                let header = format!("{{\"alg\":\"{}\",\"x\":{deep}}}", s.alg);
                let token = s.headed(header);
                vec![cost_trial(s, "lists", token)]
            },
        )
        .on(JWT),
    FAMILY.attack(
        "deep-claims",
        "authentic claims with 100,000 nested levels",
        "the depth of JSON is limited in the claims",
        "RFC 8259 9",
        |s| {
            let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
            let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
            [("lists", deep), ("objects", objects)]
                .map(|(name, deep)| {
                    cost_trial(s, name, s.token(s.claims_and(&format!("\"x\":{deep}"))))
                })
                .to_vec()
        },
    ),
    FAMILY
        .attack(
            "long-header",
            "a header of 3 MB",
            "the length of a header is limited",
            "RFC 7515 10",
            |s| {
                let kid = "k".repeat(3 << 20);
                let header = s.header(&[("kid", json!(kid))]);
                vec![cost_trial(s, "kid", s.other_keys().headed(header))]
            },
        )
        .on(JWT),
    FAMILY
        .attack(
            "pbes2-rounds",
            "a password with 100,000,000 PBKDF2 iterations",
            "the number of PBKDF2 iterations has a maximum",
            "jwx CVE-2023-49290; latchset CVE-2023-50967",
            |s| {
                let changes = [("p2c", json!(100_000_000))];
                let header = if s.alg.starts_with("PBES2") {
                    s.header(&[changes[0].clone(), ("p2s", json!(b64([7; 16])))])
                } else {
                    // The attacker's choice of algorithm where the key is another kind of secret.
                    s.header(&[
                        changes[0].clone(),
                        ("p2s", json!(b64([7; 16]))),
                        ("alg", json!("PBES2-HS256+A128KW")),
                    ])
                };
                let token = format!(
                    "{}.{}.{}.{}.{}",
                    b64(header),
                    b64([7; 40]),
                    b64([7; 12]),
                    b64([7; 64]),
                    b64([7; 16])
                );
                vec![cost_trial(s, "p2c 100,000,000", token)]
            },
        )
        .on(JWE),
    FAMILY
        .attack(
            "zip-bomb",
            "claims of 200 MB, compressed to 200 kB",
            "the length after decompression is limited",
            "go-jose CVE-2024-28180",
            |s| {
                let Some(managed) = s.recipient().and_then(|r| r.manage(&s.alg, &s.enc)) else {
                    return Vec::new();
                };
                let mut header: Value =
                    serde_json::from_str(&s.header(&[("zip", json!("DEF"))])).unwrap_or_default();
                for (name, value) in &managed.header {
                    header[name] = value.clone();
                }
                let packed = bomb(s);
                let small =
                    miniz_oxide::deflate::compress_to_vec(s.claims().to_string().as_bytes(), 6);
                let sealed =
                    |plaintext: &[u8]| under(&header.to_string(), &managed, &s.enc, plaintext);
                let (Some(bomb), Some(small)) = (sealed(packed), sealed(&small)) else {
                    return Vec::new();
                };
                let plain = "x".repeat(bomb.len());
                vec![Trial::new(
                    "200 MB",
                    small,
                    Act::Costly { token: bomb, plain },
                )]
            },
        )
        .on(JWE),
];

/// Returns a trial: the token must not cost more than random text of the same length.
fn cost_trial(stage: &Stage, spelling: &str, token: String) -> Trial {
    let plain = "x".repeat(token.len());
    Trial::new(spelling, stage.valid(), Act::Costly { token, plain })
}

/// Returns claims of 200 MB, compressed. Compressed once for all keys, because it is slow.
fn bomb(stage: &Stage) -> &'static [u8] {
    static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
    PACKED.get_or_init(|| {
        let mut bytes = stage.claims_and("\"x\":\"\"").into_bytes();
        bytes.truncate(bytes.len() - 2);
        bytes.resize(bytes.len() + (200 << 20), b'x');
        bytes.extend(b"\"}");
        miniz_oxide::deflate::compress_to_vec(&bytes, 6)
    })
}
