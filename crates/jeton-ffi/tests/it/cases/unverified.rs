//! Tokens that are read and not verified. The author sets the expected text.

use super::Case;
use super::make::{HEADER, Label, base64url, hs256, hs256_over};

fn read(id: &str, token: impl Into<String>, label: Label<'_>) -> Case {
    Case {
        id: format!("unverified-{id}"),
        action: "unverified".into(),
        token: Some(token.into()),
        ..Case::default()
    }
    .labelled(label)
}

/// A token with this text.
fn says(id: &str, token: impl Into<String>, text: &str) -> Case {
    let case = read(id, token, Label::Valid);
    assert_eq!(case.expect.json.as_deref(), Some(text), "{id}");
    case
}

/// A JWT with this header and payload.
fn jwt(header: &str, payload: &str) -> String {
    hs256(header, payload.as_bytes())
}

fn jwe(header: &str) -> String {
    format!("{}..aXY.dGV4dA.dGFn", base64url(header.as_bytes()))
}

/// A PASETO of this kind, with a body and a footer.
fn paseto(kind: &str, body: &[u8], footer: &[u8]) -> String {
    format!("{kind}.{}.{}", base64url(body), base64url(footer))
}

/// A message and the bytes of a signature.
fn signed(message: &str, signature: usize) -> Vec<u8> {
    [message.as_bytes(), &vec![0xff; signature]].concat()
}

pub(crate) fn cases() -> Vec<Case> {
    [accepted(), rejected()].concat()
}

fn accepted() -> Vec<Case> {
    let object = |format: &str, header: &str, claims: &str, footer: &str| {
        format!(r#"{{"format":"{format}","header":{header},"claims":{claims},"footer":{footer}}}"#)
    };
    let of_jwt = |header: &str, claims: &str| object("jwt", header, claims, "null");
    let claims = r#"{"iss":"https://id.example","n":1.10,"a":[{"b":null}]}"#;
    let own = r#"{"alg":"new","kid":"k","x5t":"dA","own":{"a":[1,true]},"crit":["own"]}"#;
    let expired = r#"{"exp":1}"#;
    let encrypted = r#"{"alg":"dir","enc":"A256GCM","iss":"https://id.example"}"#;
    vec![
        says("jwt", jwt(HEADER, claims), &of_jwt(HEADER, claims)),
        says("jwt-own-header", jwt(own, claims), &of_jwt(own, claims)),
        says(
            "jwt-expired",
            jwt(HEADER, expired),
            &of_jwt(HEADER, expired),
        ),
        says(
            "jwt-none",
            "eyJhbGciOiJub25lIn0.e30.",
            &of_jwt(r#"{"alg":"none"}"#, "{}"),
        ),
        says(
            "jwt-spaces",
            jwt(" { \"alg\" : \"HS256\" } ", " { } "),
            &of_jwt(" { \"alg\" : \"HS256\" } ", " { } "),
        ),
        says(
            "jwe",
            jwe(encrypted),
            &object("jwe", encrypted, "null", "null"),
        ),
        says(
            "paseto-v4-public",
            paseto("v4.public", &signed(claims, 64), b"\"f\""),
            &object("paseto", "null", claims, r#""\"f\"""#),
        ),
        says(
            "paseto-v3-public",
            format!("v3.public.{}", base64url(&signed("{}", 96))),
            &object("paseto", "null", "{}", "null"),
        ),
        says(
            "paseto-v4-local",
            paseto("v4.local", &[1; 80], b"k"),
            &object("paseto", "null", "null", r#""k""#),
        ),
        says(
            "paseto-v3-local",
            format!("v3.local.{}", base64url(&[1; 100])),
            &object("paseto", "null", "null", "null"),
        ),
    ]
}

fn rejected() -> Vec<Case> {
    let malformed = Label::Code("TOKEN_MALFORMED");
    let duplicate = Label::Code("TOKEN_DUPLICATE_MEMBER");
    let private = r#"{"alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","d":"AA","x":"AA"}}"#;
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let large = format!(r#"{{"alg":"HS256","a":"{}"}}"#, "x".repeat(17 * 1024));
    vec![
        read("empty", "", malformed),
        read("one-part", "abc", malformed),
        read("two-parts", "e30.e30", malformed),
        read("four-parts", "e30.e30.e30.e30", malformed),
        read("six-parts", "e30.e30.e30.e30.e30.e30", malformed),
        read("json-serialization", r#"{"payload":"e30"}"#, malformed),
        read("not-ascii", "e30.e30.\u{e9}\u{1f600}..", malformed),
        read("signature-not-base64url", "e30.e30.\u{e9}", malformed),
        read("header-not-base64url", "e3=.e30.", malformed),
        read("header-list", jwt("[]", "{}"), malformed),
        read("header-not-utf8", hs256_over("_w.e30"), malformed),
        read(
            "header-twice",
            jwt(r#"{"alg":"a","alg":"b"}"#, "{}"),
            duplicate,
        ),
        read(
            "header-too-large",
            jwt(&large, "{}"),
            Label::Code("TOKEN_TOO_LARGE"),
        ),
        read(
            "header-private-key",
            jwt(private, "{}"),
            Label::Code("TOKEN_WITH_PRIVATE_KEY"),
        ),
        read(
            "jwe-header-private-key",
            jwe(private),
            Label::Code("TOKEN_WITH_PRIVATE_KEY"),
        ),
        read("jwe-header-list", jwe("[]"), malformed),
        read("claims-text", jwt(HEADER, "text"), malformed),
        read(
            "claims-twice",
            jwt(HEADER, r#"{"a":1,"\u0061":2}"#),
            duplicate,
        ),
        read("claims-too-deep", jwt(HEADER, &deep), Label::Invalid),
        read(
            "claims-exp-text",
            jwt(HEADER, r#"{"exp":"soon"}"#),
            Label::Invalid,
        ),
        read("paseto-short", "v4.public.e30", malformed),
        read("paseto-empty-footer", "v4.local.e30.", malformed),
        read(
            "paseto-footer-not-utf8",
            paseto("v4.local", &[1; 80], b"\xff"),
            malformed,
        ),
        read(
            "paseto-claims-number",
            paseto("v4.public", &signed("1", 64), b"f"),
            malformed,
        ),
        read(
            "paseto-v2",
            paseto("v2.public", &signed("{}", 64), b"f"),
            malformed,
        ),
    ]
}
