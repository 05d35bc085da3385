//! The JSON inside.

use serde_json::json;

use super::{Attack, Family};
use crate::attack::fixtures::Stage;
use crate::attack::trial::{Act, Trial};

const FAMILY: Family = Family::Json;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "payload-not-object",
        "the payload is JSON, but not an object",
        "claims are an object",
        "RFC 7519 7.2",
        |s| {
            let mut all = payloads(s, &["[]", "\"x\"", "7", "null", "true", ""]);
            all.extend(payloads(s, &[format!("[{}]", s.claims())]));
            all
        },
    ),
    FAMILY.attack(
        "payload-trailing-data",
        "data after the claims",
        "no data follows the claims",
        "RFC 7519 7.2",
        |s| {
            let claims = s.claims();
            payloads(
                s,
                &["{}", ",", "\0", "x", "]"].map(|more| format!("{claims}{more}")),
            )
        },
    ),
    FAMILY.attack(
        "payload-cut",
        "the claims are truncated",
        "claims are complete JSON",
        "RFC 8259",
        |s| {
            let claims = s.claims().to_string();
            payloads(
                s,
                &[&claims[..claims.len() - 1], &claims[..claims.len() / 2]],
            )
        },
    ),
    FAMILY.attack(
        "claims-duplicate",
        "a duplicate claim with different values",
        "duplicate claims are rejected",
        "RFC 7519 4",
        |s| {
            let (past, later) = (s.time(s.now_s - 86_400), s.time(s.now_s + 86_400));
            let mut without = s.claims();
            drop(without.as_object_mut().map(|c| c.remove("exp")));
            let mut text = without.to_string();
            text.pop();
            payloads(
                s,
                &[
                    format!("{text},\"exp\":{past},\"exp\":{later}}}"),
                    format!("{text},\"exp\":{later},\"exp\":{past}}}"),
                    s.claims_and("\"sub\":\"root\""),
                ],
            )
        },
    ),
    FAMILY.attack(
        "claims-duplicate-escaped",
        "a duplicate claim, one with an escape in its name",
        "claim names are compared after unescaping",
        "RFC 8259 8.3",
        |s| payloads(s, &[s.claims_and("\"s\\u0075b\":\"root\"")]),
    ),
    FAMILY.attack(
        "claims-nested-duplicate",
        "a duplicate member inside a claim",
        "duplicate members are rejected at every depth",
        "RFC 8259 4",
        |s| {
            payloads(
                s,
                &[s.claims_and("\"x\":{\"role\":\"user\",\"role\":\"root\"}")],
            )
        },
    ),
    FAMILY.attack(
        "claims-case",
        "an expired token with an `EXP` in the future",
        "claim names are compared exactly",
        "RFC 7519 4; Go's encoding/json ignores case",
        |s| {
            let past = s.time(s.now_s - 86_400);
            let later = s.time(s.now_s + 86_400);
            let mut claims = s.claims();
            claims["exp"] = past;
            let mut text = claims.to_string();
            text.pop();
            let token = s.token(format!("{text},\"EXP\":{later}}}"));
            let control = s.token(s.claims().to_string());
            vec![
                Trial::token("map", &control, &token),
                Trial::token("typed", control, token).typed(),
            ]
        },
    ),
    FAMILY.attack(
        "payload-not-utf8",
        "a string in the claims is not UTF-8",
        "claims are UTF-8",
        "RFC 7519 7.2",
        |s| {
            let mut bytes = s.claims().to_string().into_bytes();
            bytes.pop();
            bytes.extend(b",\"x\":\"\xff\xfe\"}");
            vec![Trial::token("ff fe", s.valid(), s.token(bytes))]
        },
    ),
    FAMILY.attack(
        "payload-lone-surrogate",
        "an escaped unpaired surrogate",
        "strings are Unicode",
        "RFC 8259 8.2; RFC 7493 2.1",
        |s| payloads(s, &[s.claims_and("\"x\":\"\\ud800\"")]),
    ),
    FAMILY.attack(
        "payload-byte-order-mark",
        "a byte order mark before the claims",
        "JSON has no byte order mark",
        "RFC 8259 8.1",
        |s| payloads(s, &[format!("\u{feff}{}", s.claims())]),
    ),
    FAMILY.attack(
        "payload-lenient-json",
        "comments, single quotes, trailing commas, NaN",
        "claims are strict JSON",
        "RFC 8259",
        |s| {
            payloads(
                s,
                &[
                    s.claims_and("\"x\":NaN"),
                    s.claims_and("\"x\":Infinity"),
                    s.claims_and("\"x\":1,"),
                    s.claims_and("'x':1"),
                    s.claims_and("/* x */\"x\":1"),
                    s.claims_and("\"x\":01"),
                    s.claims_and("\"x\":+1"),
                ],
            )
        },
    ),
    FAMILY.attack(
        "payload-control-character",
        "a line break inside a string",
        "control characters are escaped",
        "RFC 8259 7",
        |s| {
            payloads(
                s,
                &[
                    s.claims_and("\"x\":\"a\nb\""),
                    s.claims_and("\"x\":\"a\0b\""),
                ],
            )
        },
    ),
    FAMILY.attack(
        "claims-injected",
        "a claim whose value is JSON unless escaped, signed by the library",
        "names and values are escaped when signing",
        "jwx GHSA-4cf7-xm37-g63h",
        |s| {
            let mut claims = s.claims();
            claims["sub"] = json!("x\",\"admin\":true,\"y\":\"\u{1}\\");
            claims["admin"] = json!(false);
            let mut named = s.claims();
            named["a\":1,\"admin\":true,\"b"] = json!(7);
            named["admin"] = json!(false);
            [("value", claims), ("name", named)]
                .map(|(name, claims)| Trial::new(name, s.valid(), Act::Issue(claims)))
                .to_vec()
        },
    ),
];

/// Returns authentic tokens with these payloads.
fn payloads(stage: &Stage, payloads: &[impl AsRef<str>]) -> Vec<Trial> {
    let valid = stage.valid();
    let tokens = payloads.iter().map(|payload| {
        let payload = payload.as_ref();
        let skipped = payload.chars().count().saturating_sub(24);
        let tail: String = payload.chars().skip(skipped).collect();
        (format!("…{tail}"), stage.token(payload))
    });
    Trial::all(&valid, tokens)
}
