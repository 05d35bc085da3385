//! Token types and key sets.

use serde_json::{Value, json};

use super::Case;
use super::claims::good;
use super::make::{HEADER, Label, hs256, key, policy, secret_key, verify};

pub(crate) fn cases() -> Vec<Case> {
    [headers(), sets()].concat()
}

fn headers() -> Vec<Case> {
    let typ = |id: &str, header: &str, types: Option<Value>, label| {
        let mut options = policy();
        if let Some(types) = types {
            options["typ"] = types;
        }
        verify(
            &format!("typ-{id}"),
            hs256(header, good("").as_bytes()),
            options,
        )
        .labelled(label)
    };
    let at = Some(json!("at+jwt"));
    let another = Label::Code("TOKEN_TYPE_MISMATCH");
    vec![
        typ("absent", r#"{"alg":"HS256"}"#, None, Label::Valid),
        typ(
            "lower-case",
            r#"{"alg":"HS256","typ":"jwt"}"#,
            None,
            Label::Valid,
        ),
        typ(
            "full",
            r#"{"alg":"HS256","typ":"application/JWT"}"#,
            None,
            Label::Valid,
        ),
        typ(
            "access-token-unasked",
            r#"{"alg":"HS256","typ":"at+jwt"}"#,
            None,
            another,
        ),
        typ(
            "access-token",
            r#"{"alg":"HS256","typ":"at+jwt"}"#,
            at.clone(),
            Label::Valid,
        ),
        typ(
            "access-token-full",
            r#"{"alg":"HS256","typ":"application/AT+JWT"}"#,
            at.clone(),
            Label::Valid,
        ),
        typ(
            "access-token-absent",
            r#"{"alg":"HS256"}"#,
            at.clone(),
            another,
        ),
        typ("access-token-jwt", HEADER, at, another),
        typ("list", HEADER, Some(json!(["at+jwt", "JWT"])), Label::Valid),
        typ(
            "number",
            r#"{"alg":"HS256","typ":1}"#,
            None,
            Label::Code("TOKEN_MALFORMED"),
        ),
        typ(
            "kid",
            r#"{"alg":"HS256","kid":"any","typ":"JWT"}"#,
            None,
            Label::Valid,
        ),
    ]
}

/// Key sets: `kid` selects the key, and unusable keys are skipped.
fn sets() -> Vec<Case> {
    let secret = super::make::base64url(super::make::SECRET.as_bytes());
    let jwk = |kid: &str, k: &str| json!({"kty": "oct", "alg": "HS256", "kid": kid, "k": k});
    let other = super::make::base64url(&[7; 32]);
    let two =
        json!({"keys": [jwk("old", &other), jwk("new", &secret), {"kty": "future", "kid": "x"}]});
    let case = |id: &str, kid: Option<&str>, set: &Value, label| {
        let header = match kid {
            Some(kid) => json!({"alg": "HS256", "kid": kid}),
            None => json!({"alg": "HS256"}),
        };
        let mut case = verify(
            &format!("set-{id}"),
            hs256(&header.to_string(), good("").as_bytes()),
            policy(),
        );
        case.key = None;
        case.keys = Some(key(set.to_string(), json!({})));
        case.labelled(label)
    };
    let mut unused = verify(
        "set-key-as-any-id",
        hs256(r#"{"alg":"HS256","kid":"zz"}"#, good("").as_bytes()),
        policy(),
    );
    unused.key = Some(secret_key());
    vec![
        case("kid", Some("new"), &two, Label::Valid),
        case("without-kid", None, &two, Label::Valid),
        case(
            "wrong-kid",
            Some("old"),
            &two,
            Label::Code("TOKEN_INVALID_SIGNATURE"),
        ),
        case(
            "unknown-kid",
            Some("none"),
            &two,
            Label::Code("TOKEN_UNKNOWN_KEY"),
        ),
        case(
            "unknown-kid-case",
            Some("NEW"),
            &two,
            Label::Code("TOKEN_UNKNOWN_KEY"),
        ),
        case(
            "only-unusable",
            Some("x"),
            &json!({"keys": [{"kty": "future", "kid": "x"}]}),
            Label::Code("KEY_SET_EMPTY"),
        ),
        case(
            "empty",
            Some("x"),
            &json!({"keys": []}),
            Label::Code("KEY_SET_EMPTY"),
        ),
        case("not-a-set", Some("x"), &json!({"key": []}), Label::Invalid),
        unused.labelled(Label::Valid),
    ]
}
