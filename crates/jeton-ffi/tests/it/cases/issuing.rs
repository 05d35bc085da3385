//! Tokens to issue with a deterministic algorithm: the token is the same in every language.

use serde_json::{Value, json};

use super::Case;
use super::make::{Label, NOW, key, members, secret_key};

/// The key of RFC 8037, appendix A.
const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

fn issue(id: &str, claims: &str, options: Value, label: Label<'_>) -> Case {
    Case {
        id: format!("issue-{id}"),
        action: "issue".into(),
        key: Some(secret_key()),
        options: members(options),
        now: Some(NOW),
        claims: Some(claims.into()),
        ..Case::default()
    }
    .labelled(label)
}

pub(crate) fn cases() -> Vec<Case> {
    let all = || json!({"issuer": "https://id.example", "audience": "api", "lifetime": 900});
    let lifetime = || json!({"lifetime": 900});
    let twice = Label::Code("CLAIMS_SET_FOR_ALL");
    let ed25519 = |id: &str, claims: &str| {
        let mut case = issue(id, claims, all(), Label::Valid);
        case.key = Some(key(ED25519, json!({})));
        case.labelled(Label::Valid)
    };
    vec![
        issue(
            "standard",
            r#"{"sub":"user-7","admin":true}"#,
            all(),
            Label::Valid,
        ),
        issue("no-claims", "{}", all(), Label::Valid),
        issue(
            "digits-are-kept",
            r#"{"a":9007199254740993,"b":1.10,"c":-0,"d":1E400}"#,
            lifetime(),
            Label::Valid,
        ),
        issue(
            "text-is-kept",
            r#"{"a":"\u00e9\/","b":"é"}"#,
            lifetime(),
            Label::Valid,
        ),
        issue(
            "space-is-kept",
            "{ \"a\" : [ 1 ,2 ] }",
            lifetime(),
            Label::Valid,
        ),
        issue(
            "names-of-different-case",
            r#"{"admin":false,"ADMIN":true,"Exp":1}"#,
            lifetime(),
            Label::Valid,
        ),
        issue(
            "settings-with-escapes",
            "{}",
            json!({"issuer": "a\"\\\n\u{e9}", "lifetime": 1}),
            Label::Valid,
        ),
        issue(
            "audience-list",
            "{}",
            json!({"audience": ["a", "b"], "lifetime": 1}),
            Label::Valid,
        ),
        issue(
            "type",
            "{}",
            json!({"typ": "at+jwt", "lifetime": 1}),
            Label::Valid,
        ),
        issue(
            "issued-ago",
            "{}",
            json!({"issued_ago": 30, "lifetime": 60}),
            Label::Valid,
        ),
        issue(
            "expiry-in-claims",
            &format!(r#"{{"exp":{}}}"#, NOW + 9),
            json!({}),
            Label::Valid,
        ),
        issue(
            "without-expiry",
            "{}",
            json!({"without_expiry": true}),
            Label::Valid,
        ),
        issue(
            "iat-in-claims",
            &format!(r#"{{"iat":{}}}"#, NOW - 9),
            lifetime(),
            Label::Valid,
        ),
        ed25519("eddsa", r#"{"sub":"user-7"}"#),
        ed25519("eddsa-no-claims", "{}"),
        issue(
            "expiry-missing",
            r#"{"sub":"user-7"}"#,
            json!({}),
            Label::Code("CLAIMS_WITHOUT_EXPIRY"),
        ),
        issue(
            "expiry-upper-case",
            r#"{"EXP":1}"#,
            json!({}),
            Label::Code("CLAIMS_WITHOUT_EXPIRY"),
        ),
        issue("issuer-twice", r#"{"iss":"x"}"#, all(), twice),
        issue("audience-twice", r#"{"aud":"x"}"#, all(), twice),
        issue(
            "expiry-twice",
            r#"{"exp":1900000000}"#,
            all(),
            Label::Invalid,
        ),
        issue(
            "expiry-twice-escaped",
            r#"{"\u0065xp":1900000000}"#,
            all(),
            Label::Invalid,
        ),
        issue(
            "duplicate",
            r#"{"a":1,"a":2}"#,
            lifetime(),
            Label::Code("CLAIMS_DUPLICATE_MEMBER"),
        ),
        issue(
            "duplicate-escaped",
            r#"{"a":1,"\u0061":2}"#,
            lifetime(),
            Label::Code("CLAIMS_DUPLICATE_MEMBER"),
        ),
        issue(
            "not-json",
            "{a:1}",
            lifetime(),
            Label::Code("CLAIMS_SYNTAX"),
        ),
        issue("empty", "", lifetime(), Label::Invalid),
        issue(
            "list",
            "[]",
            lifetime(),
            Label::Code("CLAIMS_NOT_AN_OBJECT"),
        ),
        issue(
            "trailing-text",
            "{} {}",
            lifetime(),
            Label::Code("CLAIMS_SYNTAX"),
        ),
        issue(
            "lone-surrogate",
            r#"{"a":"\ud800"}"#,
            lifetime(),
            Label::Code("CLAIMS_SYNTAX"),
        ),
        issue(
            "too-deep",
            &format!(r#"{{"a":{}1{}}}"#, "[".repeat(200), "]".repeat(200)),
            lifetime(),
            Label::Invalid,
        ),
        issue("exp-text", r#"{"exp":"soon"}"#, json!({}), Label::Invalid),
        issue(
            "exp-milliseconds",
            r#"{"exp":1900000000000}"#,
            json!({}),
            Label::Code("CLAIM_RANGE"),
        ),
        issue(
            "sub-number",
            r#"{"sub":7}"#,
            lifetime(),
            Label::Code("CLAIM_TYPE"),
        ),
        issue(
            "aud-number",
            r#"{"aud":7}"#,
            lifetime(),
            Label::Code("CLAIM_TYPE"),
        ),
        issue(
            "access-token",
            r#"{"sub":"u","jti":"1","client_id":"web"}"#,
            json!({"access_tokens": true, "issuer": "i", "audience": "a", "lifetime": 9}),
            Label::Valid,
        ),
        issue(
            "access-token-without-jti",
            r#"{"sub":"u","client_id":"web"}"#,
            json!({"access_tokens": true, "issuer": "i", "audience": "a", "lifetime": 9}),
            Label::Code("ACCESS_TOKEN_CLAIM_MISSING"),
        ),
        issue(
            "type-not-a-type",
            "{}",
            json!({"typ": "a b", "lifetime": 1}),
            Label::Code("INVALID_TYPE"),
        ),
    ]
    .into_iter()
    .chain(headers())
    .collect()
}

/// Members of the header.
fn headers() -> Vec<Case> {
    let with = |id: &str, headers: Value, label| {
        let options = json!({"lifetime": 900, "headers": headers});
        issue(&format!("header-{id}"), "{}", options, label)
    };
    let refused = Label::Code("INVALID_OPTION");
    let public =
        json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    let mut private = public.clone();
    private["d"] = json!("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A");
    let access = json!({"access_tokens": true, "issuer": "i", "audience": "a", "lifetime": 9, "headers": {"x5t": "dA"}});
    let claims = r#"{"sub":"u","jti":"1","client_id":"web"}"#;
    let mut cases = vec![
        with("x5t", json!({"x5t": "dGhlIHRodW1icHJpbnQh"}), Label::Valid),
        with(
            "all",
            json!({"nonce": "n", "own": {"a": [1, true, null]}, "x5c": ["MIIB"], "x5t#S256": "dA"}),
            Label::Valid,
        ),
        with("empty", json!({}), Label::Valid),
        with("jwk", json!({"jwk": public}), Label::Valid),
        issue("header-access-token", claims, access, Label::Valid),
        with("jwk-private", json!({"jwk": private}), refused),
        with(
            "too-large",
            json!({"x5c": ["x".repeat(17 * 1024)]}),
            refused,
        ),
        with("upper-case", json!({"ALG": "none"}), Label::Valid),
    ];
    for name in [
        "alg", "kid", "typ", "cty", "crit", "b64", "enc", "zip", "epk", "apu", "apv", "iv", "tag",
        "p2s", "p2c",
    ] {
        cases.push(with(
            &format!("decided-{name}"),
            json!({name: "x"}),
            refused,
        ));
    }
    cases
}
