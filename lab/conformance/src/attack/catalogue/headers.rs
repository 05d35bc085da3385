//! The header: algorithms, embedded keys, extensions.

use serde_json::{Value, json};

use super::{Attack, Family, JOSE};
use crate::attack::fixtures::jws::{RawKey, b64, mac, unb64};
use crate::attack::fixtures::{Stage, jwe};
use crate::attack::trial::{Act, Trial};

const FAMILY: Family = Family::Header;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "alg-none",
        "`alg` is `none`, without a signature",
        "an unsigned token is rejected",
        "CVE-2015-2951; RFC 8725 3.2",
        alg_none,
    ),
    FAMILY.attack(
        "alg-absent",
        "the header has no `alg`",
        "`alg` is present",
        "RFC 7515 4.1.1",
        |s| {
            let token = s.with_header(&[("alg", Value::Null)]);
            vec![Trial::token(
                "valid signature, `alg` missing",
                s.valid(),
                token,
            )]
        },
    ),
    FAMILY.attack(
        "alg-wrong-type",
        "`alg` is not a string",
        "`alg` is a string",
        "RFC 7515 4.1.1",
        |s| {
            let values = [json!([s.alg]), json!({"0": s.alg}), json!(256), json!(true)];
            members(s, "alg", values)
        },
    ),
    FAMILY.attack(
        "alg-case",
        "`alg` in other case, signed with the correct key",
        "algorithm names are compared exactly",
        "RFC 7515 4.1.1",
        |s| {
            let lower = s.alg.to_lowercase();
            let others = [lower, format!("{} ", s.alg), format!("{}\0", s.alg)];
            let named = |alg: String| (format!("{alg:?}"), s.with_header(&[("alg", json!(alg))]));
            Trial::all(&s.valid(), others.map(named))
        },
    ),
    FAMILY.attack(
        "alg-sibling",
        "another algorithm for the same kind of key",
        "a key has one algorithm; a token that names another is rejected",
        "RFC 8725 3.1",
        alg_sibling,
    ),
    FAMILY.attack(
        "public-key-as-secret",
        "`alg` is HMAC, with the text of the public key as the secret",
        "a public key is never used as a secret",
        "CVE-2016-10555; PyJWT CVE-2022-29217",
        public_key_as_secret,
    ),
    FAMILY.attack(
        "embedded-jwk",
        "the attacker's key in the header's `jwk`",
        "a key in the header is not trusted",
        "CVE-2018-0114; Authlib CVE-2026-27962",
        |s| {
            let jwk = public_jwk(s.other_keys());
            embedded(s, &[("jwk", jwk)], "jwk")
        },
    ),
    FAMILY
        .attack(
            "embedded-private-key",
            "`jwk` or `epk` in the header has private members, with the correct key",
            "a private key in a header is rejected",
            "RFC 7515 4.1.3; RFC 7518 4.6.1.1",
            embedded_private_key,
        )
        .on(JOSE),
    FAMILY.attack(
        "embedded-x5c",
        "the attacker's key in the header's `x5c`",
        "a certificate in the header is not trusted",
        "RFC 7515 4.1.6",
        |s| {
            let Some(pem) = s.other_keys().public_pem() else {
                return Vec::new();
            };
            let body: String = pem.lines().filter(|l| !l.starts_with('-')).collect();
            embedded(
                s,
                &[("x5c", json!([body]))],
                "the bare public key instead of a certificate",
            )
        },
    ),
    FAMILY.attack(
        "keys-by-address",
        "`jku` and `x5u` name an address of the attacker",
        "keys are not fetched from an address in the header",
        "RFC 8725 3.10",
        |s| {
            ["jku", "x5u"]
                .into_iter()
                .map(|name| {
                    let changes = [(name, json!(s.beacon)), ("kid", json!("attacker"))];
                    let header = s.header(&changes);
                    let token = s.other_keys().headed(header);
                    Trial::new(name, s.valid(), Act::NoFetch(token))
                })
                .collect()
        },
    ),
    FAMILY.attack(
        "kid-injection",
        "`kid` is a path, query or command that yields a secret known to the attacker",
        "`kid` is an opaque name",
        "jwt_tool playbook",
        |s| {
            kid_attack(
                s,
                &[
                    "../../../../../../dev/null",
                    "/dev/null",
                    "x' UNION SELECT '';-- ",
                    "x\" | echo ''",
                    "${jndi:ldap://127.0.0.1/x}",
                ],
            )
        },
    ),
    FAMILY.attack(
        "kid-wrong-type",
        "`kid` is not a string",
        "`kid` is a string",
        "RFC 7515 4.1.4",
        |s| {
            let control = s.with_header(&[("kid", json!("7"))]);
            let mut trials = members(s, "kid", [json!(7), json!(["7"]), json!({}), json!(false)]);
            for trial in &mut trials {
                trial.control.clone_from(&control);
            }
            trials
        },
    ),
    FAMILY
        .attack(
            "crit-unknown",
            "`crit` names an unknown extension",
            "an unknown critical extension is rejected",
            "RFC 7515 4.1.11; Authlib CVE-2025-59420; PyJWT GHSA-752w-5fwx-jx9f",
            |s| {
                crit(
                    s,
                    &[("crit", json!(["x-unknown"])), ("x-unknown", json!(true))],
                    "one",
                )
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "crit-malformed",
            "`crit` is empty, or not a list of strings",
            "`crit` is a non-empty list of names",
            "RFC 7515 4.1.11",
            |s| {
                let values = [
                    json!([]),
                    json!("x-unknown"),
                    json!({}),
                    json!([7]),
                    json!(true),
                ];
                values
                    .into_iter()
                    .flat_map(|v| {
                        let name = format!("crit {v}");
                        crit(s, &[("crit", v), ("x-unknown", json!(true))], &name)
                    })
                    .collect()
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "crit-absent-member",
            "`crit` names a member that the header does not have",
            "a critical member is present",
            "RFC 7515 4.1.11",
            |s| crit(s, &[("crit", json!(["exp"]))], "exp"),
        )
        .on(JOSE),
    FAMILY
        .attack(
            "crit-registered",
            "`crit` names a member of RFC 7515 itself",
            "`crit` does not name members of RFC 7515",
            "RFC 7515 4.1.11",
            |s| crit(s, &[("crit", json!(["alg"]))], "alg"),
        )
        .on(JOSE),
    FAMILY.attack(
        "b64-without-crit",
        "`b64` is false but not critical, and the payload is not encoded",
        "`b64` has an effect only if critical and supported",
        "RFC 7797 6",
        |s| {
            let claims = s.claims();
            let text = unescaped(&claims);
            let header = b64(s.header(&[("b64", json!(false))]));
            vec![Trial::token(
                "the payload unencoded",
                s.valid(),
                s.under_texts(&header, &text, b""),
            )]
        },
    ),
    FAMILY.attack(
        "b64-in-jwt",
        "a JWT with `b64` false and critical",
        "the payload of a JWT is always encoded",
        "RFC 7797 7",
        |s| {
            let header = b64(s.header(&[("b64", json!(false)), ("crit", json!(["b64"]))]));
            let claims = s.claims();
            let plain = s.under_texts(&header, &unescaped(&claims), b"");
            let encoded = s.under_texts(&header, &b64(claims.to_string()), b"");
            let tokens = [("unencoded", plain), ("encoded", encoded)];
            let tokens = tokens.map(|(how, token)| (format!("the payload {how}"), token));
            Trial::all(&s.valid(), tokens)
        },
    ),
    FAMILY
        .attack(
            "header-duplicate-member",
            "a duplicate member in the header",
            "duplicate header members are rejected",
            "RFC 7515 4",
            |s| {
                let first = s.header(&[]).replacen('{', "{\"alg\":\"none\",", 1);
                let last = s.header(&[]).replacen('}', ",\"alg\":\"none\"}", 1);
                let typ = s.header(&[]).replacen('{', "{\"typ\":\"JOSE\",", 1);
                let headers = [("alg first", first), ("alg last", last), ("typ", typ)];
                let tokens = headers.map(|(name, header)| (name, s.headed(header)));
                Trial::all(&s.valid(), tokens)
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "header-member-case",
            "`ALG` instead of `alg`",
            "header member names are compared exactly",
            "RFC 7515 4; RFC 8259",
            |s| {
                let changes = [("alg", Value::Null), ("ALG", json!(s.alg))];
                vec![Trial::token("ALG", s.valid(), s.with_header(&changes))]
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "header-not-object",
            "the header is JSON, but not an object",
            "a header is an object",
            "RFC 7515 4",
            |s| {
                let headers = ["[]", "\"HS256\"", "7", "null", "true", ""];
                let tokens = headers.map(|header| (format!("{header:?}"), s.headed(header)));
                Trial::all(&s.valid(), tokens)
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "header-trailing-data",
            "data after the header",
            "no data follows the header",
            "RFC 7515 5.2",
            |s| {
                let longer = |more: &str| {
                    let header = format!("{}{more}", s.header(&[]));
                    (format!("{more:?}"), s.headed(header))
                };
                Trial::all(&s.valid(), ["{}", ",", "\0", "x"].map(longer))
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "header-not-utf8",
            "a string in the header is not UTF-8",
            "a header is UTF-8",
            "RFC 7515 5.2",
            |s| {
                let mut header = s.header(&[]).into_bytes();
                header.pop();
                header.extend(b",\"x\":\"\xff\xfe\"}");
                vec![Trial::token("ff fe", s.valid(), s.headed(header))]
            },
        )
        .on(JOSE),
    FAMILY.attack(
        "typ-wrong-type",
        "`typ` is not a string",
        "`typ` is a string",
        "RFC 7515 4.1.9",
        |s| members(s, "typ", [json!(7), json!(["JWT"]), json!({})]),
    ),
];

/// Returns an authentic token for each value of a member of its header.
pub(super) fn members<const N: usize>(stage: &Stage, name: &str, values: [Value; N]) -> Vec<Trial> {
    let token = |value: Value| {
        (
            format!("{name} {value}"),
            stage.with_header(&[(name, value)]),
        )
    };
    Trial::all(&stage.valid(), values.map(token))
}

fn alg_none(stage: &Stage) -> Vec<Trial> {
    let payload = b64(stage.claims().to_string());
    let valid = stage.valid();
    let signature = valid.rsplit('.').next().unwrap_or_default();
    let tokens = ["none", "None", "NONE", "nOnE", "none ", ""].map(|none| {
        let header = b64(json!({"alg": none, "typ": "JWT"}).to_string());
        let token = format!("{header}.{payload}.");
        let signed = format!("{token}{signature}");
        [
            (format!("{none:?}"), token),
            (format!("{none:?}, with a signature"), signed),
        ]
    });
    Trial::all(&valid, tokens.into_iter().flatten())
}

fn alg_sibling(stage: &Stage) -> Vec<Trial> {
    let family = match &stage.alg[..2] {
        "HS" => ["HS256", "HS384", "HS512"].as_slice(),
        "RS" | "PS" => &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        _ => &[],
    };
    let Some(key) = stage.raw() else {
        return Vec::new();
    };
    let others = family.iter().filter(|alg| **alg != stage.alg);
    let tokens = others.map(|alg| {
        let [header, payload] = stage.halves(&[("alg", json!(alg))]);
        (*alg, key.token(alg, &header, &payload).unwrap_or_default())
    });
    Trial::all(&stage.valid(), tokens)
}

fn public_key_as_secret(stage: &Stage) -> Vec<Trial> {
    let Some(pem) = stage.public_pem() else {
        return Vec::new();
    };
    let jwk = public_jwk(stage).to_string();
    let body: String = pem.lines().filter(|l| !l.starts_with('-')).collect();
    let der = base64_simd::STANDARD
        .decode_to_vec(&body)
        .unwrap_or_default();
    let unix = pem.trim_end().to_owned();
    let secrets = [
        ("PEM", format!("{unix}\n").into_bytes()),
        ("PEM without its last line break", unix.clone().into_bytes()),
        ("PEM with CR LF", unix.replace('\n', "\r\n").into_bytes()),
        ("PEM on one line", body.into_bytes()),
        ("DER", der),
        ("JWK", jwk.into_bytes()),
    ];
    let payload = b64(stage.claims().to_string());
    let tokens = secrets.into_iter().flat_map(|(form, secret)| {
        ["HS256", "HS512"].map(|alg| {
            let header = b64(json!({"alg": alg, "typ": "JWT"}).to_string());
            let token = RawKey::Secret(secret.clone()).token(alg, &header, &payload);
            (format!("{alg}, {form}"), token.unwrap_or_default())
        })
    });
    Trial::all(&stage.valid(), tokens)
}

/// Returns the public half of the stage's key; for a symmetric key, the key.
pub(super) fn public_jwk(stage: &Stage) -> Value {
    let keys = stage.keys();
    keys.public.or(keys.private).unwrap_or_default()
}

/// Returns a token that another key signed, with that key in its header.
fn embedded(stage: &Stage, changes: &[(&str, Value)], spelling: &str) -> Vec<Trial> {
    let token = stage.other_keys().headed(stage.header(changes));
    vec![Trial::token(spelling, stage.valid(), token)]
}

/// The control contains only the public half.
fn embedded_private_key(stage: &Stage) -> Vec<Trial> {
    let keys = stage.other_keys().issuing_keys();
    let public = keys
        .public
        .clone()
        .unwrap_or_else(|| json!({"kty": "OKP", "crv": "Ed25519", "x": b64([7; 32])}));
    let control = stage.with_header(&[("jwk", public.clone())]);
    let mut private = keys.private.unwrap_or_else(|| public.clone());
    if private["kty"] != "oct" && private.get("d").is_none() {
        private["d"] = json!(b64([7; 32]));
    }
    let token = stage.with_header(&[("jwk", private)]);
    let trial = Trial::token("jwk", control, token);
    [trial].into_iter().chain(private_epk(stage)).collect()
}

/// Returns the sender's ephemeral key, both halves.
fn private_epk(stage: &Stage) -> Option<Trial> {
    let managed = stage.recipient()?.manage(&stage.alg, &stage.enc)?;
    let mut epk = managed.header.get("epk")?.clone();
    epk["d"] = json!(b64([7; 32]));
    let header = stage.header(&[("epk", epk)]);
    let claims = stage.claims().to_string();
    let token = jwe::under(&header, &managed, &stage.enc, claims.as_bytes())?;
    Some(Trial::token("epk", stage.valid(), token))
}

fn kid_attack(stage: &Stage, kids: &[&str]) -> Vec<Trial> {
    let payload = b64(stage.claims().to_string());
    kids.iter()
        .map(|kid| {
            let control = stage.with_header(&[("kid", json!(kid))]);
            let header = b64(json!({"alg": "HS256", "typ": "JWT", "kid": kid}).to_string());
            let input = format!("{header}.{payload}");
            let empty = mac("HS256", b"", input.as_bytes()).unwrap_or_default();
            Trial::token(*kid, control, format!("{input}.{}", b64(empty)))
        })
        .collect()
}

/// The control has the same header without `crit`, so that unknown members are allowed.
fn crit(stage: &Stage, changes: &[(&str, Value)], spelling: &str) -> Vec<Trial> {
    let without: Vec<_> = changes
        .iter()
        .filter(|(name, _)| *name != "crit")
        .cloned()
        .collect();
    let control = stage.with_header(&without);
    vec![Trial::token(spelling, control, stage.with_header(changes))]
}

/// Returns claims as JSON without a dot, which would split an unencoded payload.
fn unescaped(claims: &Value) -> String {
    claims.to_string().replace('.', "\\u002e")
}

/// Returns the bytes of the signature of a token.
pub(super) fn signature_of(token: &str) -> Vec<u8> {
    unb64(token.rsplit('.').next().unwrap_or_default())
}

/// Returns the token with a different signature.
pub(super) fn resigned(token: &str, signature: &[u8]) -> String {
    let input = token.rsplit_once('.').map_or("", |(input, _)| input);
    format!("{input}.{}", b64(signature))
}
