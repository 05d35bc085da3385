//! Keys that a verifier must reject.

use serde_json::{Value, json};

use super::headers::public_jwk;
use super::{Attack, Family, Kind, PASETO, made_once};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::{RawKey, b64, edit, member, unb64};
use crate::attack::trial::{Act, Trial};
use jeton_lab_model::protocol::{KeyText, Keys, Paserk};

const FAMILY: Family = Family::Key;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "secret-empty",
        "the verifier's secret is empty, and the token is signed with it",
        "an empty secret is rejected",
        "CVE-2019-20933; golang-jwt accepts it; fast-jwt CVE-2026-44351",
        |s| with_secret(s, "empty", b""),
    ),
    FAMILY.attack(
        "secret-short",
        "the verifier's secret is shorter than the hash",
        "a secret is at least as long as the hash",
        "RFC 7518 3.2",
        |s| {
            let mut trials = with_secret(s, "one byte", b"x");
            trials.extend(with_secret(s, "16 bytes", &[0x5e; 16]));
            trials
        },
    ),
    FAMILY.attack(
        "curve-unbound",
        "the verifier's key is not on the curve of the algorithm",
        "the curve of the algorithm is checked",
        "RFC 7518 3.4; golang-jwt, jwx, pascaldekloe",
        curve_unbound,
    ),
    FAMILY.attack(
        "rsa-exponent-one",
        "the verifier's RSA key has the exponent 1, so anyone can sign",
        "an RSA exponent is above 1",
        "RFC 8017 3.1; Wycheproof",
        rsa_exponent_one,
    ),
    FAMILY.attack(
        "rsa-short",
        "the verifier's RSA key has 1,024 bits",
        "an RSA key has at least 2,048 bits",
        "RFC 7518 3.3",
        rsa_short,
    ),
    FAMILY
        .attack(
            "ed25519-small-order",
            "the verifier's key is a point of small order, so anyone can sign",
            "a public key of small order is rejected",
            "RFC 8032 5.1.7; CCTV ed25519",
            small_order,
        )
        .on(&[Kind::Jwt, Kind::Paseto]),
    FAMILY.attack(
        "jwk-off-curve",
        "a JWK whose point is not on its curve",
        "a point is checked to be on its curve",
        "RFC 7518 6.2.1; CVE-2015-7940",
        |s| {
            corrupted(s, Stage::is_ecdsa, |jwk| {
                edit(jwk, "y", |y| {
                    y.last_mut().into_iter().for_each(|last| *last ^= 1)
                });
            })
        },
    ),
    FAMILY.attack(
        "jwk-halves-apart",
        "a JWK with the private half of another key",
        "both halves of a JWK match",
        "RFC 7518 6.2.2; CVE-2019-9155",
        |s| {
            let Some(other) = s.other_keys().issuing_keys().private else {
                return Vec::new();
            };
            loaded(s, "d of another key", |private, _| {
                private["d"] = other["d"].clone()
            })
        },
    ),
    FAMILY.attack(
        "jwk-short-coordinate",
        "a JWK whose coordinate lacks its last byte",
        "the length of a coordinate is checked",
        "RFC 7518 6.2.1.2",
        |s| {
            corrupted(s, Stage::is_ecdsa, |jwk| {
                edit(jwk, "x", |x| {
                    x.pop();
                });
            })
        },
    ),
    FAMILY.attack(
        "jwk-even-exponent",
        "an RSA JWK with an even exponent",
        "an RSA exponent is odd",
        "RFC 8017 3.1",
        |s| corrupted(s, Stage::is_rsa, |jwk| jwk["e"] = json!(b64([1, 0, 0]))),
    ),
    FAMILY.attack(
        "jwk-even-modulus",
        "an RSA JWK with an even modulus",
        "an RSA modulus is odd",
        "RFC 8017 3.1",
        |s| {
            corrupted(s, Stage::is_rsa, |jwk| {
                edit(jwk, "n", |n| {
                    n.last_mut().into_iter().for_each(|last| *last &= 0xfe)
                });
            })
        },
    ),
    FAMILY.attack(
        "jwk-without-coordinate",
        "a JWK without its second coordinate",
        "a JWK has all required members",
        "RFC 7518 6.2.1.3",
        |s| {
            corrupted(s, Stage::is_ecdsa, |jwk| {
                drop(jwk.as_object_mut().map(|j| j.remove("y")));
            })
        },
    ),
    FAMILY.attack(
        "jwk-other-algorithm",
        "a JWK whose `alg` is a different algorithm",
        "`alg` of a key is enforced",
        "RFC 7517 4.4",
        |s| {
            key_with_member(
                s,
                "alg",
                match &s.alg[..2] {
                    "HS" => json!("HS999"),
                    "RS" => json!("RSA-OAEP"),
                    "PS" => json!("RS256"),
                    _ => json!("ECDH-ES"),
                },
            )
        },
    ),
    FAMILY.attack(
        "jwk-for-encryption",
        "a JWK whose `use` is encryption",
        "`use` of a key is enforced",
        "RFC 7517 4.2",
        |s| key_with_member(s, "use", json!("enc")),
    ),
    FAMILY.attack(
        "jwk-other-operations",
        "a JWK whose `key_ops` is key wrapping",
        "`key_ops` of a key is enforced",
        "RFC 7517 4.3",
        |s| key_with_member(s, "key_ops", json!(["wrapKey"])),
    ),
    FAMILY
        .attack(
            "paserk-other-version",
            "a key with the correct bytes but another version",
            "the version of a key is checked",
            "PASETO, algorithm lucidity",
            |s| {
                let version = &s.format.name()[1..2];
                let other = if version == "4" { "2" } else { "4" };
                paserk(s, |text| {
                    text.replacen(&format!("k{version}"), &format!("k{other}"), 1)
                })
            },
        )
        .on(PASETO),
    FAMILY
        .attack(
            "paserk-other-purpose",
            "a key with the correct bytes but the other purpose",
            "the purpose of a key is checked",
            "PASETO, algorithm lucidity",
            |s| {
                paserk(s, |text| {
                    if text.contains(".local.") {
                        text.replacen(".local.", ".public.", 1)
                    } else {
                        text.replacen(".public.", ".local.", 1)
                    }
                })
            },
        )
        .on(PASETO),
    FAMILY
        .attack(
            "paserk-length",
            "a key that is one byte too long or too short",
            "the length of a key is checked",
            "PASERK specification",
            |s| {
                let mut trials = paserk(s, |text| resized(text, 1));
                trials.extend(paserk(s, |text| resized(text, -1)));
                trials
            },
        )
        .on(PASETO),
];

/// Gives the verifier this secret, and signs the token with it.
pub(super) fn with_secret(stage: &Stage, spelling: &str, secret: &[u8]) -> Vec<Trial> {
    if !stage.is_mac() {
        return Vec::new();
    }
    let [header, payload] = stage.halves(&[]);
    let token = RawKey::Secret(secret.to_vec()).token(&stage.alg, &header, &payload);
    let jwk = json!({"kty": "oct", "alg": stage.alg, "k": b64(secret)});
    let keys = Keys::private(jwk);
    let act = Act::VerifyUnder(keys, token.unwrap_or_default());
    vec![Trial::new(spelling, stage.valid(), act)]
}

fn curve_unbound(stage: &Stage) -> Vec<Trial> {
    let longer = match stage.alg.as_str() {
        "ES256" => "ES256-on-P-521",
        "ES384" => "ES384-on-P-521",
        _ => return Vec::new(),
    };
    let mut trials = Vec::new();
    if let Ok(other) = Stage::new(stage.format, "ES512", "", stage.now_s) {
        let [header, payload] = stage.halves(&[]);
        let token = other
            .raw()
            .and_then(|key| key.token(longer, &header, &payload));
        let mut keys = other.keys();
        if let Some(jwk) = keys.public.as_mut().and_then(Value::as_object_mut) {
            jwk.remove("alg");
        }
        let act = Act::VerifyUnder(keys, token.unwrap_or_default());
        trials.push(Trial::new("a key on P-521", stage.valid(), act));
    }
    if stage.alg == "ES384" {
        for (name, token) in made_once::P256_AS_ES384 {
            let act = Act::VerifyUnder(Keys::public(made_once::p256_key()), token.into());
            let spelling = format!("a key on P-256, {name}");
            trials.push(Trial::new(spelling, stage.valid(), act));
        }
    }
    trials
}

/// With the exponent 1, the signature is the padded hash itself.
fn rsa_exponent_one(stage: &Stage) -> Vec<Trial> {
    use sha2::{Digest, Sha256};
    const SHA256_INFO: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        0x05, 0x00, 0x04, 0x20,
    ];
    if stage.alg != "RS256" {
        return Vec::new();
    }
    let mut jwk = public_jwk(stage);
    jwk["e"] = json!(b64([1]));
    let bytes = member(&jwk, "n").len();
    let input = stage.halves(&[]).join(".");
    let mut padded = vec![0, 1];
    padded.resize(bytes.saturating_sub(SHA256_INFO.len() + 33), 0xff);
    padded.push(0);
    padded.extend(SHA256_INFO);
    padded.extend(Sha256::digest(input.as_bytes()));
    let act = Act::VerifyUnder(Keys::public(jwk), format!("{input}.{}", b64(padded)));
    vec![Trial::new("e = 1", stage.valid(), act)]
}

fn rsa_short(stage: &Stage) -> Vec<Trial> {
    if stage.alg != "RS256" {
        return Vec::new();
    }
    let act = Act::VerifyUnder(
        Keys::public(made_once::short_rsa_key()),
        made_once::SHORT_RSA.into(),
    );
    vec![Trial::new("1,024 bits", stage.valid(), act)]
}

/// Uses the neutral element as key and as R, and zero as S: a signature of any message.
fn small_order(stage: &Stage) -> Vec<Trial> {
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = neutral.to_vec();
    signature.extend([0; 32]);
    let (keys, token) = if stage.alg == "EdDSA" {
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": b64(neutral)});
        (
            Keys::public(jwk),
            super::headers::resigned(&stage.valid(), &signature),
        )
    } else if matches!(stage.format.name(), "v2.public" | "v4.public") {
        let version = &stage.format.name()[1..2];
        let public = format!("k{version}.public.{}", b64(neutral));
        let paserk = Paserk {
            public: Some(public),
            ..Paserk::default()
        };
        let valid = stage.valid();
        let mut body = super::headers::signature_of(&valid);
        body.truncate(body.len().saturating_sub(64));
        body.extend(&signature);
        (
            Keys::paserk(paserk),
            super::headers::resigned(&valid, &body),
        )
    } else {
        return Vec::new();
    };
    vec![Trial::new(
        "the neutral element",
        stage.valid(),
        Act::VerifyUnder(keys, token),
    )]
}

/// Changes both halves of a JWK that the library then loads, if it is of this kind.
fn corrupted(stage: &Stage, is_it: fn(&Stage) -> bool, spoil: impl Fn(&mut Value)) -> Vec<Trial> {
    if !is_it(stage) {
        return Vec::new();
    }
    loaded(stage, "both halves", |private, public| {
        spoil(private);
        spoil(public);
    })
}

/// Changes the private and the public half of a JWK that the library then loads.
pub(super) fn loaded(
    stage: &Stage,
    spelling: &str,
    spoil: impl FnOnce(&mut Value, &mut Value),
) -> Vec<Trial> {
    let keys = stage.issuing_keys();
    let (Some(mut private), Some(mut public)) = (keys.private, keys.public) else {
        return Vec::new();
    };
    let text = |private: &Value, public: &Value| KeyText {
        form: "jwk".into(),
        private: Some(private.to_string()),
        public: Some(public.to_string()),
    };
    let good = text(&private, &public);
    spoil(&mut private, &mut public);
    let bad = text(&private, &public);
    vec![Trial::new(spelling, stage.valid(), Act::Load { bad, good })]
}

/// Gives the verifier's JWK a member that forbids this use.
fn key_with_member(stage: &Stage, member: &str, value: Value) -> Vec<Trial> {
    let mut keys = stage.keys();
    for jwk in [&mut keys.private, &mut keys.public].into_iter().flatten() {
        jwk[member] = value.clone();
    }
    let act = Act::VerifyUnder(keys, stage.valid());
    vec![Trial::new(format!("{member} {value}"), stage.valid(), act).read_by_library()]
}

fn paserk(stage: &Stage, change: impl Fn(&str) -> String) -> Vec<Trial> {
    let Some(keys) = stage.keys().paserk else {
        return Vec::new();
    };
    let each = |text: &Option<String>| text.as_deref().map(&change);
    let changed = Paserk {
        local: each(&keys.local),
        secret: None,
        public: each(&keys.public),
    };
    let spelling = changed
        .local
        .as_deref()
        .or(changed.public.as_deref())
        .unwrap_or_default();
    let spelling: String = spelling.chars().take(10).collect();
    let act = Act::VerifyUnder(Keys::paserk(changed), stage.valid());
    vec![Trial::new(spelling, stage.valid(), act).read_by_library()]
}

/// Returns the key with one byte more or less.
fn resized(text: &str, by: i8) -> String {
    let (head, body) = text.rsplit_once('.').unwrap_or_default();
    let mut bytes = unb64(body);
    if by > 0 {
        bytes.push(0);
    } else {
        bytes.pop();
    }
    format!("{head}.{}", b64(bytes))
}
