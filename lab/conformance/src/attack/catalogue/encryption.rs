//! Encryption: JWE.

use serde_json::{Value, json};

use super::headers::members;
use super::{Attack, Family, JWT};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jwe::{random, seal, under};
use crate::attack::fixtures::jws::{b64, edit, mac, member, unb64};
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Encryption;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "jwe-unsigned",
        "an unsigned token instead of an encrypted one",
        "a decrypter accepts only encrypted tokens",
        "json-jwt GHSA-c8v6-786g-vjx6",
        |s| {
            let header = b64(json!({"alg": "none", "typ": "JWT"}).to_string());
            let token = format!("{header}.{}.", b64(s.claims().to_string()));
            vec![Trial::token("alg none", s.valid(), token)]
        },
    ),
    FAMILY.attack(
        "jws-for-jwe",
        "a signed token instead of an encrypted one",
        "a decrypter rejects signed tokens",
        "jose-jwt#236",
        |s| {
            let secret = s
                .recipient()
                .map(|r| member(&r.jwk, "k"))
                .unwrap_or_default();
            let header = b64(json!({"alg": "HS256", "typ": "JWT"}).to_string());
            let input = format!("{header}.{}", b64(s.claims().to_string()));
            let tag = mac("HS256", &secret, input.as_bytes()).unwrap_or_default();
            vec![Trial::token(
                "HMAC with the shared secret",
                s.valid(),
                format!("{input}.{}", b64(tag)),
            )]
        },
    ),
    FAMILY
        .attack(
            "jwe-for-jws",
            "a token encrypted to the verifier's public key",
            "a verifier accepts only signed tokens",
            "jose-jwt#236; json-jwt GHSA-c8v6-786g-vjx6",
            |s| {
                if !s.is_rsa() {
                    return Vec::new();
                }
                let jwk = super::headers::public_jwk(s);
                let recipient = crate::attack::fixtures::jwe::RawRecipient { jwk };
                let claims = s.claims().to_string();
                let token = recipient.token("RSA-OAEP", "A256GCM", &[], claims.as_bytes());
                let token = token.unwrap_or_default();
                vec![Trial::token("RSA-OAEP", s.valid(), token)]
            },
        )
        .on(JWT),
    FAMILY.attack(
        "jwe-alg-sibling",
        "encrypted to the correct key with a different algorithm",
        "a key has one key management algorithm",
        "RFC 8725 3.1; Wycheproof json_web_encryption",
        |s| {
            let others: &[&str] = match s.alg.as_str() {
                "A256KW" => &["dir", "A256GCMKW"],
                "A256GCMKW" => &["dir", "A256KW"],
                "dir" if s.enc == "A256GCM" => &["A256KW", "A256GCMKW"],
                "RSA-OAEP" => &["RSA-OAEP-256"],
                "RSA-OAEP-256" => &["RSA-OAEP"],
                _ => &[],
            };
            encrypted_as(s, others, &s.enc)
        },
    ),
    FAMILY.attack(
        "jwe-rsa15",
        "encrypted to an RSA-OAEP key with RSA1_5",
        "an RSA-OAEP key does not decrypt PKCS#1 v1.5",
        "RFC 8725 3.2; Wycheproof",
        |s| {
            let is_oaep = s.alg.starts_with("RSA-OAEP");
            encrypted_as(s, if is_oaep { &["RSA1_5"] } else { &[] }, &s.enc)
        },
    ),
    FAMILY.attack(
        "jwe-enc-sibling",
        "encrypted to the correct key with a different content encryption",
        "the accepted content encryptions are configured",
        "RFC 8725 3.1",
        |s| {
            let other = if s.enc == "A256GCM" {
                "A128CBC-HS256"
            } else {
                "A256GCM"
            };
            encrypted_as(s, &[&s.alg], other)
        },
    ),
    FAMILY.attack(
        "jwe-enc-unknown",
        "`enc` is absent, `none`, or not a string",
        "`enc` is present and known",
        "RFC 7516 4.1.2",
        |s| {
            members(
                s,
                "enc",
                [Value::Null, json!("none"), json!("A256gcm"), json!(256)],
            )
        },
    ),
    FAMILY.attack(
        "jwe-header-changed",
        "the header of one token with the rest of another",
        "the header of a JWE is authenticated",
        "RFC 7516 5.1",
        |s| {
            let valid = s.valid();
            let (header, rest) = valid.split_once('.').unwrap_or_default();
            let mut changed: Value = serde_json::from_slice(&unb64(header)).unwrap_or_default();
            changed["kid"] = json!("other");
            vec![Trial::token(
                "with a `kid`",
                &valid,
                format!("{}.{rest}", b64(changed.to_string())),
            )]
        },
    ),
    FAMILY.attack(
        "jwe-tag-truncated",
        "the tag is truncated",
        "a truncated tag is rejected",
        "RFC 7518 5.3; jose-jwt",
        |s| {
            let valid = s.valid();
            let cut = |length: usize| with_part(&valid, 4, |tag| tag[..length].to_vec());
            let tokens =
                [0, 1, 4, 8, 12, 15].map(|length| (format!("{length} bytes"), cut(length)));
            Trial::all(&valid, tokens)
        },
    ),
    FAMILY.attack(
        "jwe-tag-extended",
        "the correct tag with extra bytes",
        "a tag with extra bytes is rejected",
        "RFC 7518 5.3",
        |s| {
            let valid = s.valid();
            let token = with_part(&valid, 4, |tag| [tag, &[0]].concat());
            vec![Trial::token("one byte", valid, token)]
        },
    ),
    FAMILY.attack(
        "jwe-nonce-length",
        "the nonce is empty, too short or too long",
        "the length of the nonce is checked",
        "RFC 7518 5.3",
        |s| {
            let valid = s.valid();
            let tokens = [0, 1, 8, 24].map(|length| {
                let token = with_part(&valid, 2, |iv| {
                    let mut iv = iv.to_vec();
                    iv.resize(length, 0);
                    iv
                });
                (format!("{length} bytes"), token)
            });
            Trial::all(&valid, tokens)
        },
    ),
    FAMILY.attack(
        "jwe-ciphertext-changed",
        "one bit of the ciphertext is flipped",
        "the ciphertext is authenticated",
        "RFC 7516 5.2; CVE-2016-9123",
        |s| {
            let valid = s.valid();
            let first = with_part(&valid, 3, |text| flipped(text, 0));
            let last = with_part(&valid, 3, |text| flipped(text, text.len() - 1));
            let shorter = with_part(&valid, 3, |text| text[..text.len() - 16].to_vec());
            let tokens = [
                ("the first byte", first),
                ("the last byte", last),
                ("one block removed", shorter),
            ];
            Trial::all(&valid, tokens)
        },
    ),
    FAMILY.attack(
        "jwe-encrypted-key-changed",
        "one bit of the encrypted key is flipped",
        "the encrypted key is authenticated",
        "RFC 7516 5.2; RFC 3394",
        |s| {
            let valid = s.valid();
            let key = valid.split('.').nth(1).unwrap_or_default();
            if key.is_empty() {
                return Vec::new();
            }
            let last = with_part(&valid, 1, |k| flipped(k, k.len() - 1));
            let shorter = with_part(&valid, 1, |k| k[..k.len() - 8].to_vec());
            let empty = with_part(&valid, 1, |_| Vec::new());
            let tokens = [
                ("the last byte", last),
                ("eight bytes removed", shorter),
                ("empty", empty),
            ];
            Trial::all(&valid, tokens)
        },
    ),
    FAMILY.attack(
        "jwe-encrypted-key-unused",
        "an encrypted key where the algorithm has none",
        "direct encryption has no encrypted key",
        "RFC 7516 5.2 step 10",
        |s| {
            if !matches!(s.alg.as_str(), "dir" | "ECDH-ES") {
                return Vec::new();
            }
            let valid = s.valid();
            let token = with_part(&valid, 1, |_| vec![7; 24]);
            vec![Trial::token("24 bytes", valid, token)]
        },
    ),
    FAMILY.attack(
        "jwe-key-length",
        "the encrypted key has the length of another content encryption",
        "the length of the content key is checked",
        "RFC 7518 5; RFC 7516 5.2",
        |s| {
            let Some(managed) = s
                .recipient()
                .filter(|_| s.alg.contains("KW") || s.alg.starts_with("RSA"))
                .and_then(|r| r.manage(&s.alg, "A128GCM"))
            else {
                return Vec::new();
            };
            let mut header: Value = serde_json::from_str(&s.header(&[])).unwrap_or_default();
            for (name, value) in &managed.header {
                header[name] = value.clone();
            }
            // A 128-bit key where the header requires 256 bits.
            let claims = s.claims().to_string();
            let token = (s.enc == "A256GCM")
                .then(|| under(&header.to_string(), &managed, "A128GCM", claims.as_bytes()));
            let token = token.flatten().unwrap_or_default();
            vec![Trial::token("128 bits instead of 256", s.valid(), token)]
        },
    ),
    FAMILY.attack(
        "ecdh-off-curve",
        "the ephemeral key is not a point on the curve",
        "the ephemeral key is checked to be on its curve",
        "go-jose CVE-2016-9121; CVE-2017-16007",
        |s| {
            epk(s, |epk| {
                let mut changed = epk.clone();
                edit(&mut changed, "y", |y| {
                    y.last_mut().into_iter().for_each(|last| *last ^= 1)
                });
                let zero = b64([0; 32]);
                let low = json!({"kty": "EC", "crv": "P-256",
                "x": "gTli65eTQ7z-Bh147ff8K3m7k2UiDiG2LpYkWAaFJCc",
                "y": "cLAnjKa4bzjD7DJVPwa9EPrRzMG7rONgsiUD-kf30Fs"});
                vec![
                    ("off the curve", changed),
                    (
                        "zero",
                        json!({"kty": "EC", "crv": "P-256", "x": zero, "y": zero}),
                    ),
                    ("of order 113 on another curve", low),
                ]
            })
        },
    ),
    FAMILY.attack(
        "ecdh-other-curve",
        "the ephemeral key names a different curve, or none",
        "the ephemeral key uses the recipient's curve",
        "RFC 7518 4.6.1.1",
        |s| {
            epk(s, |epk| {
                let with = |crv: Value| {
                    let mut changed = epk.clone();
                    changed["crv"] = crv;
                    changed
                };
                vec![
                    ("P-384", with(json!("P-384"))),
                    ("X25519", with(json!("X25519"))),
                    ("not a string", with(json!(256))),
                    ("a string instead of the key", json!("P-256")),
                    ("empty", json!({})),
                ]
            })
        },
    ),
    FAMILY.attack(
        "jwe-zip-unknown",
        "`zip` is an unknown compression, or not a string",
        "an unknown `zip` is rejected",
        "RFC 7516 4.1.3",
        |s| {
            members(
                s,
                "zip",
                [json!("LZMA"), json!(true), json!(""), json!(["DEF"])],
            )
        },
    ),
    FAMILY.attack(
        "pbes2-few-rounds",
        "a password with one PBKDF2 iteration, or none",
        "the number of PBKDF2 iterations has a minimum",
        "RFC 7518 4.8.1.2",
        |s| {
            if !s.alg.starts_with("PBES2") {
                return Vec::new();
            }
            members(s, "p2c", [json!(0), json!(-1), json!(1.5), json!("1000")])
        },
    ),
];

/// Returns the valid claims encrypted to the correct key with other algorithms.
fn encrypted_as(stage: &Stage, algs: &[&str], enc: &str) -> Vec<Trial> {
    let Some(recipient) = stage.recipient() else {
        return Vec::new();
    };
    let claims = stage.claims().to_string();
    let tokens = algs.iter().map(|alg| {
        let token = recipient.token(alg, enc, &[], claims.as_bytes());
        (format!("{alg}, {enc}"), token.unwrap_or_default())
    });
    Trial::all(&stage.valid(), tokens)
}

/// Returns the token with one part changed.
fn with_part(token: &str, at: usize, change: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    if let Some(part) = parts.get_mut(at) {
        *part = b64(change(&unb64(part)));
    }
    parts.join(".")
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

/// Returns the valid token with other ephemeral keys. The tag is then wrong too, so the difference
/// is whether the library crashes. For a point on the curve the key is correct.
fn epk(stage: &Stage, make: impl Fn(&Value) -> Vec<(&'static str, Value)>) -> Vec<Trial> {
    if stage.alg != "ECDH-ES" {
        return Vec::new();
    }
    let valid = stage.valid();
    let (header, rest) = valid.split_once('.').unwrap_or_default();
    let header: Value = serde_json::from_slice(&unb64(header)).unwrap_or_default();
    let tokens = make(&header["epk"]).into_iter().flat_map(|(name, key)| {
        let mut changed = header.clone();
        changed["epk"] = key;
        // A library without the check would derive the key from zeros, which anyone can compute.
        let protected = b64(changed.to_string());
        let claims = stage.claims().to_string();
        let zeros = crate::attack::fixtures::jwe::concat_kdf(&[0; 32], &stage.enc, 32);
        let (iv, text, tag) = seal(&stage.enc, &zeros, protected.as_bytes(), claims.as_bytes())
            .unwrap_or_else(|| (random(12), Vec::new(), Vec::new()));
        let known = format!("{protected}..{}.{}.{}", b64(iv), b64(text), b64(tag));
        let kept = format!("{protected}.{rest}");
        [
            (name.to_owned(), kept),
            (format!("{name}, the key derived from zeros"), known),
        ]
    });
    Trial::all(&valid, tokens)
}
