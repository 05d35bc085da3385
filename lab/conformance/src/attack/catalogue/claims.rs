//! The claims and their times.

use std::time::Duration;

use serde_json::{Value, json};

use super::{About, Attack, Demand, Family, JOSE, PASETO};
use crate::attack::fixtures::Stage;
use crate::attack::trial::{Act, Setup, Step, Trial};

const DAY_S: i64 = 86_400;

const FAMILY: Family = Family::Claims;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "expired",
        "`exp` was yesterday",
        "an expired token is rejected",
        "RFC 7519 4.1.4",
        |s| {
            let (past, before) = (s.time(s.now_s - DAY_S), s.time(s.now_s - 2 * DAY_S));
            let token = s.with_claims(&[("exp", past), ("iat", before)]);
            both(s, "yesterday", token)
        },
    ),
    FAMILY
        .attack(
            "exp-missing",
            "no `exp`; the verifier requires it if the library can",
            "`exp` is present",
            "RFC 8725 3.10",
            |s| changed(s, &[("exp", Value::Null)]),
        )
        .demanding(Demand::Expiry),
    Attack {
        formats: JOSE,
        ..FAMILY.attack(
            "exp-zero",
            "`exp` is 0: the year 1970",
            "zero is a time, not a missing value",
            "golang-jwt 5: map claims with `exp` 0 never expire",
            |s| both(s, "0", s.with_claims(&[("exp", json!(0))])),
        )
    },
    Attack {
        formats: JOSE,
        ..FAMILY.attack(
            "exp-text",
            "`exp` is a string",
            "`exp` is a number",
            "RFC 7519 2; jsonwebtoken CVE-2026-25537",
            |s| {
                let later = (s.now_s + DAY_S).to_string();
                let past = (s.now_s - DAY_S).to_string();
                [later, past, "never".into(), String::new()]
                    .into_iter()
                    .flat_map(|text| changed(s, &[("exp", json!(text))]))
                    .collect()
            },
        )
    },
    Attack {
        formats: PASETO,
        ..FAMILY.attack(
            "exp-not-rfc3339",
            "`exp` is a number, or text that is not an RFC 3339 time",
            "`exp` is an RFC 3339 time",
            "PASETO specification, registered claims",
            |s| {
                [
                    json!(s.now_s + DAY_S),
                    json!("2100-01-01"),
                    json!("4102444800"),
                    json!("tomorrow"),
                    json!("2100-01-01T00:00:00"),
                    json!("2100-13-01T00:00:00Z"),
                    json!(""),
                ]
                .into_iter()
                .flat_map(|t| changed(s, &[("exp", t)]))
                .collect()
            },
        )
    },
    Attack {
        formats: PASETO,
        ..FAMILY.attack(
            "exp-offset",
            "`exp` has passed, but its UTC offset makes the digits look later",
            "the UTC offset of a time is applied",
            "RFC 3339 4.2",
            |s| {
                // Two hours ago in UTC; the digits alone read as twenty hours from now.
                let moment = jiff::Timestamp::from_second(s.now_s - 7200 + 22 * 3600)
                    .unwrap_or(jiff::Timestamp::MAX);
                let text = moment.to_string().replace('Z', "+22:00");
                let before = s.time(s.now_s - 2 * DAY_S);
                vec![Trial::token(
                    &text,
                    s.valid(),
                    s.with_claims(&[("exp", json!(text)), ("iat", before)]),
                )]
            },
        )
    },
    FAMILY.attack(
        "exp-wrong-type",
        "`exp` is null, a boolean, a list or an object",
        "a claim of the wrong type is an error, not a missing claim",
        "RFC 7519 4.1.4; jwt-go CVE-2020-26160",
        |s| {
            [
                json!(false),
                json!(true),
                json!([]),
                json!({}),
                json!([s.now_s + DAY_S]),
            ]
            .into_iter()
            .flat_map(|v| changed(s, &[("exp", v)]))
            .chain([Trial::token("null", s.valid(), null_claim(s, "exp"))])
            .collect()
        },
    ),
    Attack {
        formats: JOSE,
        ..FAMILY.attack(
            "exp-negative",
            "`exp` is negative",
            "times are not negative",
            "RFC 7519 2",
            |s| changed(s, &[("exp", json!(-1))]),
        )
    },
    Attack {
        formats: JOSE,
        ..FAMILY.attack(
            "exp-overflow",
            "`exp` is above the range of clocks",
            "times are checked for range",
            "RFC 7519 2; RFC 7493 2.2",
            |s| {
                [
                    "18446744073709551616",
                    "1e308",
                    "9223372036854775808",
                    "1e400",
                ]
                .into_iter()
                .map(|n| {
                    let token = s.token(s.claims().to_string().replacen(
                        &format!("\"exp\":{}", s.claims()["exp"]),
                        &format!("\"exp\":{n}"),
                        1,
                    ));
                    Trial::token(n, s.valid(), token)
                })
                .collect()
            },
        )
    },
    FAMILY
        .attack(
            "not-before-future",
            "`nbf` is tomorrow",
            "a token is not valid before `nbf`",
            "RFC 7519 4.1.5",
            |s| {
                both(
                    s,
                    "tomorrow",
                    s.with_claims(&[("nbf", s.time(s.now_s + DAY_S))]),
                )
            },
        )
        .demanding(Demand::NotBefore),
    Attack {
        formats: JOSE,
        ..FAMILY
            .attack(
                "not-before-wrong-type",
                "`nbf` is tomorrow, as a string or in a list",
                "`nbf` is a number",
                "RFC 7519 4.1.5",
                |s| {
                    let later = s.now_s + DAY_S;
                    [
                        json!(later.to_string()),
                        json!([later]),
                        json!(true),
                        json!({}),
                    ]
                    .into_iter()
                    .flat_map(|v| changed(s, &[("nbf", v)]))
                    .collect()
                },
            )
            .demanding(Demand::NotBefore)
    },
    Attack {
        formats: PASETO,
        ..FAMILY
            .attack(
                "not-before-number",
                "`nbf` is tomorrow, as a number",
                "`nbf` is an RFC 3339 time",
                "PASETO specification, registered claims",
                |s| {
                    [
                        json!(s.now_s + DAY_S),
                        json!([s.time(s.now_s + DAY_S)]),
                        json!({}),
                    ]
                    .into_iter()
                    .flat_map(|v| changed(s, &[("nbf", v)]))
                    .collect()
                },
            )
            .demanding(Demand::NotBefore)
    },
    FAMILY.attack(
        "issued-at-wrong-type",
        "`iat` is not a time",
        "`iat` is a time",
        "RFC 7519 4.1.6",
        |s| {
            [json!("yesterday"), json!([]), json!({}), json!(true)]
                .into_iter()
                .flat_map(|v| changed(s, &[("iat", v)]))
                .collect()
        },
    ),
    FAMILY
        .attack(
            "issuer-other",
            "a different issuer",
            "`iss` is compared",
            "RFC 7519 4.1.1; RFC 8725 3.8",
            |s| changed(s, &[("iss", json!("https://impostor.example"))]),
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "issuer-missing",
            "no issuer",
            "`iss` must be present if it is required",
            "RFC 8725 3.8",
            |s| changed(s, &[("iss", Value::Null)]),
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "issuer-near",
            "an issuer with the expected prefix, or other case, or an extra space",
            "`iss` is compared exactly",
            "RFC 7519 4.1.1",
            |s| {
                [
                    "https://issuer.example.evil",
                    "https://issuer.exampl",
                    "HTTPS://ISSUER.EXAMPLE",
                    "https://issuer.example ",
                    "https://issuer.example/",
                    "https://issuer.example\0",
                ]
                .into_iter()
                .flat_map(|iss| changed(s, &[("iss", json!(iss))]))
                .collect()
            },
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "issuer-wrong-type",
            "the issuer in a list, also with another one",
            "`iss` is one string",
            "RFC 7519 4.1.1; PyJWT CVE-2024-53861",
            |s| {
                [
                    json!(["https://issuer.example"]),
                    json!(["https://impostor.example", "https://issuer.example"]),
                    json!({"https://issuer.example": 1}),
                ]
                .into_iter()
                .flat_map(|iss| changed(s, &[("iss", iss)]))
                .collect()
            },
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "audience-other",
            "a different audience",
            "`aud` is compared",
            "RFC 7519 4.1.3; RFC 8725 3.9",
            |s| changed(s, &[("aud", json!("elsewhere"))]),
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-missing",
            "no audience",
            "`aud` must be present if it is required",
            "RFC 8725 3.9",
            |s| changed(s, &[("aud", Value::Null)]),
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-near",
            "an audience that contains the expected one, or part of it",
            "`aud` is compared exactly",
            "RFC 7519 4.1.3; jwt-go CVE-2020-26160",
            |s| {
                ["api-internal", "ap", "my api", "API", "api "]
                    .into_iter()
                    .flat_map(|aud| changed(s, &[("aud", json!(aud))]))
                    .collect()
            },
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-wrong-type",
            "an audience of the wrong type: an object, a nested list, a list with a number",
            "`aud` is a string or a list of strings",
            "RFC 7519 4.1.3; jwt-go CVE-2020-26160",
            |s| {
                [
                    json!({"api": true}),
                    json!([["api"]]),
                    json!(["api", 7]),
                    json!([null]),
                    json!([]),
                    json!(7),
                ]
                .into_iter()
                .flat_map(|aud| changed(s, &[("aud", aud)]))
                .collect()
            },
        )
        .demanding(Demand::Audience),
    Attack {
        formats: JOSE,
        ..FAMILY.attack(
            "expired-after-first-use",
            "a token that was accepted before, after its expiry",
            "times are checked again for cached tokens",
            "fast-jwt GHSA-rp9m-7r4c-75qg",
            |s| {
                let now = jiff::Timestamp::now().as_second();
                let token = s.with_claims(&[("exp", json!(now + 3)), ("iat", json!(now - 1))]);
                vec![Trial::new(
                    "four seconds later",
                    token,
                    Act::Later(Duration::from_secs(5)),
                )]
            },
        )
    },
    FAMILY
        .attack(
            "remembered-after-new-key",
            "a token that was accepted before, after the key was replaced",
            "a cache entry is bound to the key",
            "litellm CVE-2026-35030",
            |s| {
                let token = s.valid();
                let step = |stage: &Stage, is_control| Step {
                    setup: Setup::Keys(stage.keys()),
                    verifier: 0,
                    token: token.clone(),
                    is_control,
                };
                let steps = vec![step(s, true), step(s.other_keys(), false)];
                vec![Trial::steps("another key", steps)]
            },
        )
        .about(About::Protection),
    FAMILY
        .attack(
            "remembered-other-tail",
            "a token that differs from an accepted one only in its last bytes",
            "a cache entry covers the whole token",
            "fast-jwt; litellm CVE-2026-35030",
            |s| {
                let valid = s.valid();
                let other = s.other_keys().valid();
                let (input, last) = valid.rsplit_once('.').unwrap_or_default();
                let tail = other.rsplit('.').next().unwrap_or_default();
                let keep = last.len() / 2;
                let tail = &tail[tail.len().saturating_sub(last.len() - keep)..];
                vec![Trial::token(
                    "half of the last part",
                    &valid,
                    format!("{input}.{}{tail}", &last[..keep]),
                )]
            },
        )
        .about(About::Protection),
];

/// Returns the valid claims with these changes, in an authentic token.
fn changed(stage: &Stage, changes: &[(&str, Value)]) -> Vec<Trial> {
    let changed: Vec<String> = changes
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    vec![Trial::token(
        changed.join(", "),
        stage.valid(),
        stage.with_claims(changes),
    )]
}

/// Returns the token twice: read into a map, and into the typed struct.
fn both(stage: &Stage, spelling: &str, token: String) -> Vec<Trial> {
    vec![
        Trial::token(spelling, stage.valid(), token.clone()),
        Trial::token(format!("{spelling}, typed"), stage.valid(), token).typed(),
    ]
}

/// Returns the valid claims with one that is `null`.
fn null_claim(stage: &Stage, name: &str) -> String {
    let mut claims = stage.claims();
    claims[name] = Value::Null;
    stage.token(claims.to_string())
}
