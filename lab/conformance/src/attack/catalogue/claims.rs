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
            |s| each(s, "exp", [Value::Null]),
        )
        .demanding(Demand::Expiry),
    FAMILY
        .attack(
            "exp-zero",
            "`exp` is 0: the year 1970",
            "zero is a time, not a missing value",
            "golang-jwt 5: map claims with `exp` 0 never expire",
            |s| both(s, "0", s.with_claims(&[("exp", json!(0))])),
        )
        .on(JOSE),
    FAMILY
        .attack(
            "exp-text",
            "`exp` is a string",
            "`exp` is a number",
            "RFC 7519 2; jsonwebtoken CVE-2026-25537",
            |s| {
                let later = (s.now_s + DAY_S).to_string();
                let past = (s.now_s - DAY_S).to_string();
                each(s, "exp", [later, past, "never".into(), String::new()])
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "exp-not-rfc3339",
            "`exp` is a number, or text that is not an RFC 3339 time",
            "`exp` is an RFC 3339 time",
            "PASETO specification, registered claims",
            |s| {
                each(
                    s,
                    "exp",
                    [
                        json!(s.now_s + DAY_S),
                        json!("2100-01-01"),
                        json!("4102444800"),
                        json!("tomorrow"),
                        json!("2100-01-01T00:00:00"),
                        json!("2100-13-01T00:00:00Z"),
                        json!(""),
                    ],
                )
            },
        )
        .on(PASETO),
    FAMILY
        .attack(
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
                let token = s.with_claims(&[("exp", json!(text)), ("iat", before)]);
                vec![Trial::token(text, s.valid(), token)]
            },
        )
        .on(PASETO),
    FAMILY.attack(
        "exp-wrong-type",
        "`exp` is null, a boolean, a list or an object",
        "a claim of the wrong type is an error, not a missing claim",
        "RFC 7519 4.1.4; jwt-go CVE-2020-26160",
        |s| {
            let in_list = json!([s.now_s + DAY_S]);
            let mut claims = s.claims();
            claims["exp"] = Value::Null;
            let null = Trial::token("null", s.valid(), s.token(claims.to_string()));
            let wrong = [json!(false), json!(true), json!([]), json!({}), in_list];
            let mut all = each(s, "exp", wrong);
            all.push(null);
            all
        },
    ),
    FAMILY
        .attack(
            "exp-negative",
            "`exp` is negative",
            "times are not negative",
            "RFC 7519 2",
            |s| each(s, "exp", [json!(-1)]),
        )
        .on(JOSE),
    FAMILY
        .attack(
            "exp-overflow",
            "`exp` is above the range of clocks",
            "times are checked for range",
            "RFC 7519 2; RFC 7493 2.2",
            |s| {
                let valid = format!("\"exp\":{}", s.claims()["exp"]);
                let with = |exp: &str| {
                    let claims = s.claims().to_string();
                    s.token(claims.replacen(&valid, &format!("\"exp\":{exp}"), 1))
                };
                let large = [
                    "18446744073709551616",
                    "1e308",
                    "9223372036854775808",
                    "1e400",
                ];
                Trial::all(&s.valid(), large.map(|exp| (exp, with(exp))))
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "not-before-future",
            "`nbf` is tomorrow",
            "a token is not valid before `nbf`",
            "RFC 7519 4.1.5",
            |s| {
                let token = s.with_claims(&[("nbf", s.time(s.now_s + DAY_S))]);
                both(s, "tomorrow", token)
            },
        )
        .demanding(Demand::NotBefore),
    FAMILY
        .attack(
            "not-before-wrong-type",
            "`nbf` is tomorrow, as a string or in a list",
            "`nbf` is a number",
            "RFC 7519 4.1.5",
            |s| {
                let later = s.now_s + DAY_S;
                let text = json!(later.to_string());
                each(s, "nbf", [text, json!([later]), json!(true), json!({})])
            },
        )
        .demanding(Demand::NotBefore)
        .on(JOSE),
    FAMILY
        .attack(
            "not-before-number",
            "`nbf` is tomorrow, as a number",
            "`nbf` is an RFC 3339 time",
            "PASETO specification, registered claims",
            |s| {
                each(
                    s,
                    "nbf",
                    [
                        json!(s.now_s + DAY_S),
                        json!([s.time(s.now_s + DAY_S)]),
                        json!({}),
                    ],
                )
            },
        )
        .demanding(Demand::NotBefore)
        .on(PASETO),
    FAMILY.attack(
        "issued-at-wrong-type",
        "`iat` is not a time",
        "`iat` is a time",
        "RFC 7519 4.1.6",
        |s| {
            each(
                s,
                "iat",
                [json!("yesterday"), json!([]), json!({}), json!(true)],
            )
        },
    ),
    FAMILY
        .attack(
            "issuer-other",
            "a different issuer",
            "`iss` is compared",
            "RFC 7519 4.1.1; RFC 8725 3.8",
            |s| each(s, "iss", ["https://impostor.example"]),
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "issuer-missing",
            "no issuer",
            "`iss` must be present if it is required",
            "RFC 8725 3.8",
            |s| each(s, "iss", [Value::Null]),
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "issuer-near",
            "an issuer with the expected prefix, or other case, or an extra space",
            "`iss` is compared exactly",
            "RFC 7519 4.1.1",
            |s| {
                each(
                    s,
                    "iss",
                    [
                        "https://issuer.example.evil",
                        "https://issuer.exampl",
                        "HTTPS://ISSUER.EXAMPLE",
                        "https://issuer.example ",
                        "https://issuer.example/",
                        "https://issuer.example\0",
                    ],
                )
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
                each(
                    s,
                    "iss",
                    [
                        json!(["https://issuer.example"]),
                        json!(["https://impostor.example", "https://issuer.example"]),
                        json!({"https://issuer.example": 1}),
                    ],
                )
            },
        )
        .demanding(Demand::Issuer),
    FAMILY
        .attack(
            "audience-other",
            "a different audience",
            "`aud` is compared",
            "RFC 7519 4.1.3; RFC 8725 3.9",
            |s| each(s, "aud", ["elsewhere"]),
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-missing",
            "no audience",
            "`aud` must be present if it is required",
            "RFC 8725 3.9",
            |s| each(s, "aud", [Value::Null]),
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-near",
            "an audience that contains the expected one, or part of it",
            "`aud` is compared exactly",
            "RFC 7519 4.1.3; jwt-go CVE-2020-26160",
            |s| each(s, "aud", ["api-internal", "ap", "my api", "API", "api "]),
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "audience-wrong-type",
            "an audience of the wrong type: an object, a nested list, a list with a number",
            "`aud` is a string or a list of strings",
            "RFC 7519 4.1.3; jwt-go CVE-2020-26160",
            |s| {
                each(
                    s,
                    "aud",
                    [
                        json!({"api": true}),
                        json!([["api"]]),
                        json!(["api", 7]),
                        json!([null]),
                        json!([]),
                        json!(7),
                    ],
                )
            },
        )
        .demanding(Demand::Audience),
    FAMILY
        .attack(
            "expired-after-first-use",
            "a token that was accepted before, after its expiry",
            "times are checked again for cached tokens",
            "fast-jwt GHSA-rp9m-7r4c-75qg",
            |s| {
                let now = jiff::Timestamp::now().as_second();
                let token = s.with_claims(&[("exp", json!(now + 3)), ("iat", json!(now - 1))]);
                let act = Act::Later(Duration::from_secs(5));
                vec![Trial::new("four seconds later", token, act)]
            },
        )
        .on(JOSE),
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
                let token = format!("{input}.{}{tail}", &last[..keep]);
                vec![Trial::token("half of the last part", &valid, token)]
            },
        )
        .about(About::Protection),
];

/// Returns an authentic token for each value, which replaces that of one valid claim.
fn each<const N: usize>(stage: &Stage, claim: &str, values: [impl Into<Value>; N]) -> Vec<Trial> {
    let trial = |value: Value| {
        let spelling = format!("{claim} {value}");
        let token = stage.with_claims(&[(claim, value)]);
        Trial::token(spelling, stage.valid(), token)
    };
    values.map(|value| trial(value.into())).into()
}

/// Returns the token twice: read into a map, and into the typed struct.
fn both(stage: &Stage, spelling: &str, token: String) -> Vec<Trial> {
    vec![
        Trial::token(spelling, stage.valid(), token.clone()),
        Trial::token(format!("{spelling}, typed"), stage.valid(), token).typed(),
    ]
}
