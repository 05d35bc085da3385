//! Helpers that create cases.

use std::path::PathBuf;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Map, Value, json};

use super::run_rust;
use super::{Case, KeyData};

/// The secret of all cases with HS256, as text.
pub(crate) const SECRET: &str = "a secret of the test cases, for HS256";

/// A time at which most tokens are valid.
pub(crate) const NOW: i64 = 1_800_000_000;

pub(crate) fn base64url(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) fn secret_key() -> KeyData {
    KeyData {
        data: SECRET.into(),
        options: members(json!({"format": "secret", "alg": "HS256"})),
    }
}

/// A key as text, with its algorithm.
pub(crate) fn key(data: impl Into<String>, options: Value) -> KeyData {
    KeyData {
        data: data.into(),
        options: members(options),
    }
}

/// A token with this header and payload, and a MAC of the secret.
pub(crate) fn hs256(header: &str, payload: &[u8]) -> String {
    hs256_by(SECRET, header, payload)
}

/// A token with this header and payload, and a MAC of this secret.
pub(crate) fn hs256_by(secret: &str, header: &str, payload: &[u8]) -> String {
    let (header, payload) = (base64url(header.as_bytes()), base64url(payload));
    with_mac(secret, &format!("{header}.{payload}"))
}

/// A token with a MAC of the secret. Its parts need not be a header and a payload.
pub(crate) fn hs256_over(input: &str) -> String {
    with_mac(SECRET, input)
}

fn with_mac(secret: &str, input: &str) -> String {
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret.as_bytes());
    let mac = aws_lc_rs::hmac::sign(&key, input.as_bytes());
    format!("{input}.{}", base64url(mac.as_ref()))
}

pub(crate) const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// The policy of most cases.
pub(crate) fn policy() -> Value {
    json!({"issuer": "https://id.example", "audience": "api"})
}

/// A case that verifies claims with the secret.
pub(crate) fn verify(id: &str, token: String, options: Value) -> Case {
    Case {
        id: id.into(),
        action: "verify".into(),
        key: Some(secret_key()),
        options: members(options),
        now: Some(NOW),
        token: Some(token),
        ..Case::default()
    }
}

/// The result that the author of a case, or the vector, expects.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Label<'l> {
    Valid,
    Invalid,
    /// This code.
    Code(&'l str),
}

impl Case {
    /// Adds the result of the Rust library, and compares it with the label.
    pub(crate) fn labelled(mut self, label: Label<'_>) -> Case {
        self.expect = run_rust::run(&self);
        let code = self.expect.code.as_deref();
        let agrees = match label {
            Label::Valid => code.is_none(),
            Label::Invalid => code.is_some(),
            Label::Code(expected) => code == Some(expected),
        };
        assert!(agrees, "{}: {label:?}, found {:?}", self.id, self.expect);
        self
    }
}

pub(crate) fn vectors(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(path)
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(vectors(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn read_json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// A part of an id.
pub(crate) fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}
