//! Claims, times and policies of JWTs. The author sets the expected code.

use serde_json::{Value, json};

use super::Case;
use super::make::{HEADER, Label, NOW, hs256, policy, verify};

/// Claims that the policy of most cases accepts, with more members.
pub(crate) fn good(more: &str) -> String {
    format!(
        r#"{{"iss":"https://id.example","aud":"api","exp":{}{more}}}"#,
        NOW + 60
    )
}

/// One claims object, verified with the policy of most cases.
fn claims(id: &str, payload: &str, label: Label<'_>) -> Case {
    with(id, payload, policy(), label)
}

fn with(id: &str, payload: &str, options: Value, label: Label<'_>) -> Case {
    verify(
        &format!("claims-{id}"),
        hs256(HEADER, payload.as_bytes()),
        options,
    )
    .labelled(label)
}

pub(crate) fn cases() -> Vec<Case> {
    [valid(), numbers(), names(), times(), shapes(), policies()].concat()
}

fn valid() -> Vec<Case> {
    let all = format!(
        r#"{{"iss":"https://id.example","sub":"user-7","aud":["other","api"],"exp":{},"nbf":{NOW},"iat":{},"jti":"1","admin":true}}"#,
        NOW + 60,
        NOW - 60
    );
    [
        ("only-required", good("")),
        ("all-registered", all),
        (
            "text-with-escapes",
            good(r#","sub":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#),
        ),
        ("text-not-ascii", good(",\"sub\":\"Žluťoučký \u{1f600}\"")),
        (
            "space-around",
            format!(" \t\r\n{} ", good(r#" , "a" : [ 1 , 2 ] "#)),
        ),
        ("nested", good(r#","a":{"b":{"c":[{"d":null}]}}"#)),
        ("empty-names", good(r#","":1"#)),
        (
            "proto-name",
            good(r#","__proto__":{"admin":true},"constructor":1"#),
        ),
        ("escaped-custom-name", good(r#","\u0061dmin":false"#)),
        ("surrogate-pair-in-name", good(r#","\ud83d\ude00":1"#)),
        (
            "long-text",
            good(&format!(r#","a":"{}""#, "x".repeat(3000))),
        ),
        (
            "many-members",
            good(
                &(0..40)
                    .map(|n| format!(r#","m{n}":{n}"#))
                    .collect::<String>(),
            ),
        ),
        (
            "depth-within-limit",
            good(&format!(r#","a":{}1{}"#, "[".repeat(20), "]".repeat(20))),
        ),
    ]
    .into_iter()
    .map(|(id, payload)| claims(id, &payload, Label::Valid))
    .collect()
}

/// Numbers that other languages round.
fn numbers() -> Vec<Case> {
    [
        ("2-53", "9007199254740992"),
        ("2-53-plus-1", "9007199254740993"),
        ("2-63", "9223372036854775808"),
        ("2-64-plus-1", "18446744073709551617"),
        ("minus-2-63", "-9223372036854775808"),
        ("40-digits", "1234567890123456789012345678901234567890"),
        ("trailing-zero", "1.10"),
        ("minus-zero", "-0"),
        ("exponent", "1E400"),
        ("small-exponent", "1e-400"),
        (
            "many-fraction-digits",
            "0.1000000000000000055511151231257827",
        ),
    ]
    .into_iter()
    .map(|(id, number)| {
        claims(
            &format!("number-{id}"),
            &good(&format!(r#","n":{number}"#)),
            Label::Valid,
        )
    })
    .collect()
}

/// Names that differ in case, and names that are equal after unescaping.
fn names() -> Vec<Case> {
    let duplicate = Label::Code("TOKEN_DUPLICATE_MEMBER");
    let missing = Label::Code("TOKEN_INVALID_CLAIMS");
    let exp = NOW + 60;
    vec![
        claims(
            "name-admin-and-upper-case",
            &good(r#","ADMIN":true,"admin":false"#),
            Label::Valid,
        ),
        claims(
            "name-upper-case-only",
            &good(r#","ADMIN":true"#),
            Label::Valid,
        ),
        claims(
            "name-sub-and-upper-case",
            &good(r#","sub":"user","SUB":"admin""#),
            Label::Valid,
        ),
        claims("name-kelvin-sign", &good(",\"\u{212a}id\":1"), Label::Valid),
        claims(
            "name-long-s",
            &good(",\"\u{17f}ub\":\"admin\",\"sub\":\"user\""),
            Label::Valid,
        ),
        claims(
            "name-exp-upper-case",
            &format!(r#"{{"iss":"https://id.example","aud":"api","EXP":{exp}}}"#),
            missing,
        ),
        claims(
            "name-iss-upper-case",
            &format!(r#"{{"ISS":"https://id.example","aud":"api","exp":{exp}}}"#),
            missing,
        ),
        claims(
            "name-aud-mixed-case",
            &format!(r#"{{"iss":"https://id.example","Aud":"api","exp":{exp}}}"#),
            missing,
        ),
        claims(
            "name-iss-escaped",
            &format!(r#"{{"\u0069ss":"https://id.example","aud":"api","exp":{exp}}}"#),
            Label::Valid,
        ),
        claims(
            "duplicate-exp",
            &good(&format!(r#","exp":{}"#, NOW + 9)),
            duplicate,
        ),
        claims(
            "duplicate-exp-escaped",
            &good(r#","\u0065xp":9"#),
            duplicate,
        ),
        claims(
            "duplicate-custom",
            &good(r#","admin":false,"admin":true"#),
            duplicate,
        ),
        claims(
            "duplicate-custom-escaped",
            &good(r#","admin":false,"\u0061dmin":true"#),
            duplicate,
        ),
        claims(
            "duplicate-nested",
            &good(r#","a":{"b":1,"b":2}"#),
            duplicate,
        ),
        claims(
            "duplicate-in-list",
            &good(r#","a":[{"b":1,"b":2}]"#),
            duplicate,
        ),
    ]
}

fn times() -> Vec<Case> {
    let base = r#"{"iss":"https://id.example","aud":"api""#;
    let expired = Label::Code("TOKEN_EXPIRED");
    let early = Label::Code("TOKEN_NOT_YET_VALID");
    let wrong = Label::Code("TOKEN_INVALID_CLAIMS");
    let at = |id: &str, members: String, label| {
        claims(&format!("time-{id}"), &format!("{base}{members}}}"), label)
    };
    let mut cases = vec![
        at("exp-now", format!(r#","exp":{NOW}"#), expired),
        at(
            "exp-next-second",
            format!(r#","exp":{}"#, NOW + 1),
            Label::Valid,
        ),
        at("exp-past", format!(r#","exp":{}"#, NOW - 1), expired),
        at("exp-0", r#","exp":0"#.into(), expired),
        at("exp-fraction", format!(r#","exp":{NOW}.5"#), Label::Valid),
        at("exp-exponent", r#","exp":1.9e9"#.into(), Label::Valid),
        at("exp-text", format!(r#","exp":"{}""#, NOW + 60), wrong),
        at("exp-null", r#","exp":null"#.into(), wrong),
        at("exp-true", r#","exp":true"#.into(), wrong),
        at("exp-list", format!(r#","exp":[{}]"#, NOW + 60), wrong),
        at("exp-negative", r#","exp":-1"#.into(), wrong),
        at(
            "exp-milliseconds",
            format!(r#","exp":{}"#, (NOW + 60) * 1000),
            wrong,
        ),
        at("exp-huge", r#","exp":1e300"#.into(), wrong),
        at("exp-2-64", r#","exp":18446744073709551616"#.into(), wrong),
        at("exp-missing", String::new(), wrong),
        at(
            "nbf-now",
            format!(r#","exp":{},"nbf":{NOW}"#, NOW + 60),
            Label::Valid,
        ),
        at(
            "nbf-next-second",
            format!(r#","exp":{},"nbf":{}"#, NOW + 60, NOW + 1),
            early,
        ),
        at(
            "nbf-fraction",
            format!(r#","exp":{},"nbf":{NOW}.5"#, NOW + 60),
            early,
        ),
        at(
            "nbf-text",
            format!(r#","exp":{},"nbf":"0""#, NOW + 60),
            wrong,
        ),
        at(
            "nbf-fraction-before",
            format!(r#","exp":{},"nbf":{}.999999"#, NOW + 60, NOW - 1),
            Label::Valid,
        ),
        at(
            "iat-fraction",
            format!(r#","exp":{},"iat":{}.123456789"#, NOW + 60, NOW - 1),
            Label::Valid,
        ),
        at(
            "iat-ahead",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW + 60),
            Label::Valid,
        ),
        at(
            "iat-ahead-over",
            format!(r#","exp":{},"iat":{}.000001"#, NOW + 60, NOW + 60),
            early,
        ),
        at(
            "iat-hour-ahead",
            format!(r#","exp":{},"iat":{}"#, NOW + 7200, NOW + 3600),
            early,
        ),
        at(
            "iat-milliseconds",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW * 1000),
            wrong,
        ),
        at(
            "iat-text",
            format!(r#","exp":{},"iat":"x""#, NOW + 60),
            wrong,
        ),
        at(
            "iat-negative",
            format!(r#","exp":{},"iat":-5"#, NOW + 60),
            wrong,
        ),
    ];
    let with_options = |id: &str, members: String, more: Value, label| {
        let mut options = policy();
        for (name, value) in more.as_object().unwrap() {
            options[name] = value.clone();
        }
        with(
            &format!("time-{id}"),
            &format!("{base}{members}}}"),
            options,
            label,
        )
    };
    cases.extend([
        with_options(
            "leeway-exp",
            format!(r#","exp":{}"#, NOW - 29),
            json!({"leeway": 30}),
            Label::Valid,
        ),
        with_options(
            "leeway-exp-over",
            format!(r#","exp":{}"#, NOW - 30),
            json!({"leeway": 30}),
            expired,
        ),
        with_options(
            "leeway-nbf",
            format!(r#","exp":{},"nbf":{}"#, NOW + 60, NOW + 30),
            json!({"leeway": 30}),
            Label::Valid,
        ),
        with_options(
            "leeway-nbf-over",
            format!(r#","exp":{},"nbf":{}"#, NOW + 60, NOW + 31),
            json!({"leeway": 30}),
            early,
        ),
        with_options(
            "leeway-iat",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW + 90),
            json!({"leeway": 90}),
            Label::Valid,
        ),
        with_options(
            "leeway-iat-over",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW + 91),
            json!({"leeway": 90}),
            early,
        ),
        with_options(
            "max-age-iat-ahead",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW + 6),
            json!({"max_age": 60, "leeway": 5}),
            early,
        ),
        with_options(
            "without-expiry",
            String::new(),
            json!({"without_expiry": true}),
            Label::Valid,
        ),
        with_options(
            "without-expiry-expired",
            format!(r#","exp":{}"#, NOW - 1),
            json!({"without_expiry": true}),
            expired,
        ),
        with_options(
            "max-age",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW - 60),
            json!({"max_age": 60}),
            Label::Valid,
        ),
        with_options(
            "max-age-over",
            format!(r#","exp":{},"iat":{}"#, NOW + 60, NOW - 61),
            json!({"max_age": 60}),
            Label::Code("TOKEN_TOO_OLD"),
        ),
        with_options(
            "max-age-without-iat",
            format!(r#","exp":{}"#, NOW + 60),
            json!({"max_age": 60}),
            wrong,
        ),
    ]);
    cases
}

fn shapes() -> Vec<Case> {
    let wrong = Label::Code("TOKEN_INVALID_CLAIMS");
    let malformed = Label::Code("TOKEN_MALFORMED");
    let exp = NOW + 60;
    vec![
        claims(
            "iss-number",
            &format!(r#"{{"iss":1,"aud":"api","exp":{exp}}}"#),
            wrong,
        ),
        claims(
            "iss-list",
            &format!(r#"{{"iss":["https://id.example"],"aud":"api","exp":{exp}}}"#),
            wrong,
        ),
        claims(
            "aud-number",
            &format!(r#"{{"iss":"https://id.example","aud":1,"exp":{exp}}}"#),
            wrong,
        ),
        claims(
            "aud-list-of-numbers",
            &format!(r#"{{"iss":"https://id.example","aud":["api",1],"exp":{exp}}}"#),
            wrong,
        ),
        claims(
            "aud-empty-list",
            &format!(r#"{{"iss":"https://id.example","aud":[],"exp":{exp}}}"#),
            Label::Invalid,
        ),
        claims(
            "aud-object",
            &format!(r#"{{"iss":"https://id.example","aud":{{}},"exp":{exp}}}"#),
            wrong,
        ),
        claims("sub-number", &good(r#","sub":7"#), wrong),
        claims("sub-null", &good(r#","sub":null"#), wrong),
        claims("jti-number", &good(r#","jti":7"#), wrong),
        claims("not-an-object-list", "[]", malformed),
        claims("not-an-object-text", "\"exp\"", malformed),
        claims("not-an-object-null", "null", malformed),
        claims("empty", "", malformed),
        claims("trailing-comma", r#"{"exp":1,}"#, malformed),
        claims("trailing-text", &format!("{}x", good("")), malformed),
        claims("two-objects", &format!("{0}{0}", good("")), malformed),
        claims("single-quotes", "{'exp':1}", malformed),
        claims("comment", &good("/**/"), malformed),
        claims(
            "byte-order-mark",
            &format!("\u{feff}{}", good("")),
            malformed,
        ),
        claims("lone-surrogate", &good(r#","a":"\ud800""#), malformed),
        claims("control-character", &good(",\"a\":\"\u{1}\""), malformed),
        claims("leading-zero", &good(r#","a":01"#), malformed),
        claims("nan", &good(r#","a":NaN"#), malformed),
        claims(
            "depth-over-limit",
            &good(&format!(r#","a":{}1{}"#, "[".repeat(200), "]".repeat(200))),
            Label::Code("TOKEN_TOO_LARGE"),
        ),
        verify(
            "claims-not-utf8",
            hs256(HEADER, b"{\"a\":\"\xff\"}"),
            policy(),
        )
        .labelled(malformed),
        verify(
            "claims-utf16",
            hs256(HEADER, b"\xff\xfe{\x00}\x00"),
            policy(),
        )
        .labelled(malformed),
    ]
}

fn policies() -> Vec<Case> {
    let token = || good(r#","sub":"user-7","role":"a","none":null"#);
    let options =
        |id: &str, options: Value, label| with(&format!("policy-{id}"), &token(), options, label);
    let of = |issuer: Value, audience: Value| json!({"issuer": issuer, "audience": audience});
    let shared =
        |issuers: &[&str]| json!({"issuer": issuers, "audience": "api", "shared_keys": true});
    let (id, api) = (json!("https://id.example"), json!("api"));
    let issuer = Label::Code("TOKEN_ISSUER_MISMATCH");
    let audience = Label::Code("TOKEN_AUDIENCE_MISMATCH");
    let required = |names: Value| json!({"issuer": "https://id.example", "audience": "api", "required": names});
    vec![
        options(
            "issuers-with-shared-keys",
            shared(&["https://old.example", "https://id.example"]),
            Label::Valid,
        ),
        options(
            "issuers-with-shared-keys-other",
            shared(&["https://old.example", "https://other.example"]),
            issuer,
        ),
        options(
            "issuers-without-shared-keys",
            of(
                json!(["https://old.example", "https://id.example"]),
                api.clone(),
            ),
            Label::Code("INVALID_OPTION"),
        ),
        options(
            "issuer-list-of-one",
            of(json!(["https://id.example"]), api.clone()),
            Label::Valid,
        ),
        options(
            "issuer-other",
            of(json!("https://other.example"), api.clone()),
            issuer,
        ),
        options(
            "issuer-slash",
            of(json!("https://id.example/"), api.clone()),
            issuer,
        ),
        options(
            "issuer-case",
            of(json!("https://ID.example"), api.clone()),
            issuer,
        ),
        options("issuer-empty-list", of(json!([]), api.clone()), issuer),
        options(
            "any-issuer",
            json!({"any_issuer": true, "audience": "api"}),
            Label::Valid,
        ),
        options(
            "audience-list",
            of(id.clone(), json!(["x", "api"])),
            Label::Valid,
        ),
        options("audience-other", of(id.clone(), json!("API")), audience),
        options("audience-prefix", of(id.clone(), json!("ap")), audience),
        options(
            "any-audience",
            json!({"issuer": "https://id.example", "any_audience": true}),
            Label::Valid,
        ),
        options("required-sub", required(json!(["sub"])), Label::Valid),
        options(
            "required-jti",
            required(json!(["jti"])),
            Label::Code("TOKEN_INVALID_CLAIMS"),
        ),
        options("required-custom", required(json!(["role"])), Label::Valid),
        options(
            "required-custom-case",
            required(json!(["Role"])),
            Label::Code("TOKEN_INVALID_CLAIMS"),
        ),
        options(
            "required-custom-null",
            required(json!(["none"])),
            Label::Code("TOKEN_INVALID_CLAIMS"),
        ),
        options(
            "limit-bytes",
            json!({"any_issuer": true, "any_audience": true, "limits": {"token_bytes": 20}}),
            Label::Code("TOKEN_TOO_LARGE"),
        ),
    ]
}
