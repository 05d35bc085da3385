//! Tokens for a verifier of several issuers, each with its own key and policy. No key signs for another issuer.

use serde_json::{Value, json};

use super::make::{
    HEADER, Label, NOW, SECRET, base64url, hs256_by, key, members, read, secret_key,
};
use super::{Case, KeyData, Trusted};

const A: &str = "https://a.example";
const B: &str = "https://b.example";

/// The secret of B. That of A is the secret of the other cases.
const SECRET_OF_B: &str = "another secret of the cases, for HS256";

fn secret_of_b() -> KeyData {
    let options = json!({"format": "secret", "alg": "HS256"});
    key(SECRET_OF_B, options)
}

fn trusted(key: KeyData, policy: Value) -> Trusted {
    Trusted {
        key: Some(key),
        keys: None,
        options: members(policy),
    }
}

/// Two issuers. The policies differ in the audience.
fn both() -> Vec<Trusted> {
    vec![
        trusted(secret_key(), json!({"issuer": A, "audience": "api"})),
        trusted(
            secret_of_b(),
            json!({"issuer": B, "audience": "other", "required": ["sub"]}),
        ),
    ]
}

fn case(id: &str, issuers: Vec<Trusted>, token: String, label: Label<'_>) -> Case {
    let case = Case {
        id: format!("issuers-{id}"),
        action: "verify".into(),
        issuers,
        now: Some(NOW),
        token: Some(token),
        ..Case::default()
    };
    case.labelled(label)
}

/// Claims that the policies of both issuers accept, for the issuer in this JSON text.
fn claims(iss: &str) -> String {
    let exp = NOW + 60;
    format!(r#"{{"iss":{iss},"aud":["api","other"],"sub":"user-7","exp":{exp}}}"#)
}

fn token(secret: &str, iss: &str) -> String {
    hs256_by(secret, HEADER, claims(&json!(iss).to_string()).as_bytes())
}

pub(crate) fn cases() -> Vec<Case> {
    let both_with = |id: &str, token: String, label| case(id, both(), token, label);
    let payload = |id: &str, payload: &str, label| {
        case(
            id,
            both(),
            hs256_by(SECRET, HEADER, payload.as_bytes()),
            label,
        )
    };
    let invalid = Label::Code("TOKEN_INVALID_SIGNATURE");
    let mismatch = Label::Code("TOKEN_ISSUER_MISMATCH");
    let no_issuer = Label::Code("TOKEN_INVALID_CLAIMS");
    let exp = NOW + 60;
    [
        vec![
            both_with("token-of-a", token(SECRET, A), Label::Valid),
            both_with("token-of-b", token(SECRET_OF_B, B), Label::Valid),
            both_with("key-of-a-for-b", token(SECRET, B), invalid),
            both_with("key-of-b-for-a", token(SECRET_OF_B, A), invalid),
            both_with("unknown", token(SECRET, "https://c.example"), mismatch),
            both_with("with-slash", token(SECRET, "https://a.example/"), mismatch),
            both_with("upper-case", token(SECRET, "https://A.example"), mismatch),
            both_with("empty", token(SECRET, ""), mismatch),
            both_with("name-of-a-prototype", token(SECRET, "__proto__"), mismatch),
            payload(
                "absent",
                &format!(r#"{{"aud":"api","exp":{exp}}}"#),
                no_issuer,
            ),
            payload("number", &claims("7"), no_issuer),
            payload("null", &claims("null"), no_issuer),
            payload("list", &claims(&json!([A, B]).to_string()), no_issuer),
            payload(
                "twice-in-the-token",
                &claims(&format!(r#""{A}","iss":"{B}""#)),
                Label::Code("TOKEN_DUPLICATE_MEMBER"),
            ),
            payload(
                "escaped",
                &claims(r#""https:\/\/\u0061.example""#),
                Label::Valid,
            ),
            payload(
                "audience-of-the-other-policy",
                &format!(r#"{{"iss":"{A}","aud":"other","exp":{exp}}}"#),
                Label::Code("TOKEN_AUDIENCE_MISMATCH"),
            ),
            case(
                "twice-in-the-verifier",
                [both(), both()].concat(),
                token(SECRET, A),
                Label::Code("ISSUER_TWICE"),
            ),
        ],
        same_key_id(),
        other_algorithm(),
    ]
    .concat()
}

/// Both issuers publish a set with a key of the same id.
fn same_key_id() -> Vec<Case> {
    let set = |secret: &str| {
        let k = base64url(secret.as_bytes());
        json!({"keys": [{"kty": "oct", "alg": "HS256", "kid": "one", "k": k}]}).to_string()
    };
    let issuer = |name: &str, secret: &str| Trusted {
        key: None,
        keys: Some(key(set(secret), json!({}))),
        options: members(json!({"issuer": name, "audience": "api"})),
    };
    let with = |id: &str, secret: &str, iss: &str, label| {
        let header = r#"{"alg":"HS256","kid":"one"}"#;
        let token = hs256_by(secret, header, claims(&json!(iss).to_string()).as_bytes());
        case(
            id,
            vec![issuer(A, SECRET), issuer(B, SECRET_OF_B)],
            token,
            label,
        )
    };
    let invalid = Label::Code("TOKEN_INVALID_SIGNATURE");
    vec![
        with("same-kid-of-b", SECRET_OF_B, B, Label::Valid),
        with("same-kid-key-of-a-for-b", SECRET, B, invalid),
        with("same-kid-key-of-b-for-a", SECRET_OF_B, A, invalid),
    ]
}

/// B has a public key. A signs with its own secret, or with the public key of B as a secret.
fn other_algorithm() -> Vec<Case> {
    let public = read("inputs/crit-and-b64/p.jwk");
    let issuers = || {
        let policy = json!({"issuer": B, "audience": "api"});
        let own = trusted(secret_key(), json!({"issuer": A, "audience": "api"}));
        vec![own, trusted(key(&*public, json!({})), policy)]
    };
    let mismatch = Label::Code("TOKEN_ALGORITHM_MISMATCH");
    vec![
        case(
            "other-algorithm-key-of-a-for-b",
            issuers(),
            token(SECRET, B),
            mismatch,
        ),
        case(
            "public-key-of-b-as-a-secret",
            issuers(),
            token(&public, B),
            mismatch,
        ),
    ]
}
