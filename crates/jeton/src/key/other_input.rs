//! Says what an input is that is not a JWK or a JWK Set. It is called after a reader has rejected the input.

use std::borrow::Cow;

#[cfg(feature = "pem")]
use super::der_form::DerForm;
#[cfg(feature = "pem")]
use super::key_text;
use crate::error::FoundInput;
use crate::json::{self, Kind, ScanError, Value};

/// Keys are nested in an array in the set, so the limit is higher than for a single key.
pub(super) const SET_DEPTH: u32 = 10;

/// The start of a PEM block (RFC 7468).
pub(super) const PEM_BEGIN: &str = "-----BEGIN ";

/// Whether the text has a block.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains(PEM_BEGIN)
}

/// Returns what an object is: a JWK, a JWK Set, or what users take for one.
///
/// # Errors
///
/// The text is not a valid object.
pub(super) fn found_object(text: &str) -> Result<FoundInput, ScanError> {
    let mut members = Vec::new();
    json::read_object(text, SET_DEPTH, |name, value| {
        members.push((name.to_cow(), value));
        Ok::<_, ScanError>(())
    })?;
    Ok(found_members(&members))
}

fn found_members(members: &[(Cow<'_, str>, Value<'_>)]) -> FoundInput {
    let has = |wanted: &str| members.iter().any(|(name, _)| name == wanted);
    let has_all = |wanted: [&str; 2]| wanted.into_iter().all(has);
    let values = || members.iter().map(|(_, value)| *value);
    let is_certificate = |value: Value<'_>| {
        value.kind() == Kind::String && value.raw().contains("BEGIN CERTIFICATE")
    };
    let keys = members.iter().find(|(name, _)| name == "keys");
    match () {
        () if has("kty") => FoundInput::Jwk,
        () if keys.is_some() => {
            let keys = keys.and_then(|(_, keys)| keys.elements());
            let keys = keys.map_or(0, Iterator::count);
            FoundInput::JwkSet {
                keys: u32::try_from(keys).unwrap_or(u32::MAX),
            }
        }
        () if !members.is_empty() && values().all(is_certificate) => {
            FoundInput::CertificatesByKeyId
        }
        () if has_all(["realm", "public_key"]) => FoundInput::KeycloakRealm,
        () if has("jwks_uri") => FoundInput::IssuerMetadata,
        () if has_all(["private_key", "client_email"]) => FoundInput::ServiceAccount,
        () if has_all(["KeyId", "PublicKey"]) => FoundInput::AwsKmsKey,
        () if has("ciphertext") || has_all(["payload", "signature"]) => FoundInput::Token,
        () if has_all(["payload", "signatures"]) => FoundInput::Token,
        () if has("access_token") || has("id_token") => FoundInput::Token,
        () if values().any(|value| is_pem(value.raw())) => FoundInput::PemInJson,
        () if values().any(has_jwk) => FoundInput::JwkInJson,
        () if values().any(|value| has_text(value, is_base64_key)) => FoundInput::Base64InJson,
        () if values().any(|value| has_text(value, is_base64_file)) => {
            FoundInput::EncodedTwiceInJson
        }
        () if has("error") || has("errors") => FoundInput::ServerError,
        () => FoundInput::OtherJson,
    }
}

/// Returns what a text is that is not an object, if it is known.
pub(super) fn found_text(text: &str) -> Option<FoundInput> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Some(found) = token(text) {
        return Some(found);
    }
    match text.as_bytes() {
        [b'<', ..] => return Some(markup(text)),
        [b'h', b't', b't', b'p', rest @ ..] => {
            let is_address = rest.starts_with(b"://") || rest.starts_with(b"s://");
            let is_alone = !text.contains(char::is_whitespace);
            return (is_address && is_alone).then_some(FoundInput::Address);
        }
        _ => {}
    }
    let value = json::read_value(text, SET_DEPTH + 1).ok()?;
    Some(match value.kind() {
        Kind::Array if has_jwk(value) => FoundInput::JwkList,
        Kind::Array if is_pem(value.raw()) => FoundInput::PemInJson,
        kind => FoundInput::JsonValue(kind),
    })
}

fn has_jwk(value: Value<'_>) -> bool {
    matches!(value.kind(), Kind::Object | Kind::Array) && value.raw().contains("\"kty\"")
}

/// Returns whether a value is such a text, or has one in a member at any depth.
fn has_text(value: Value<'_>, is: fn(&str) -> bool) -> bool {
    if let Some(text) = value.string() {
        return is(&text.to_cow());
    }
    if let Some(mut elements) = value.elements() {
        // A text in a list is no member: `x5c` of a JWK has certificates.
        return elements.any(|value| value.kind() != Kind::String && has_text(value, is));
    }
    if value.kind() != Kind::Object {
        return false;
    }
    let mut found = false;
    let read = json::read_object(value.raw(), SET_DEPTH, |_, value| {
        found = found || has_text(value, is);
        Ok::<_, ScanError>(())
    });
    read.is_ok() && found
}

/// Returns whether a text is the base64 of a key in DER.
#[cfg(feature = "pem")]
fn is_base64_key(text: &str) -> bool {
    let inner = key_text::base64(text.as_bytes());
    inner.is_some_and(|inner| DerForm::of(&inner).is_some())
}

/// Returns whether a text is the base64 of a PEM or of a JWK.
#[cfg(feature = "pem")]
fn is_base64_file(text: &str) -> bool {
    let inner = key_text::base64(text.as_bytes());
    inner.is_some_and(|inner| key_text::is_key_text(&inner))
}

#[cfg(not(feature = "pem"))]
fn is_base64_key(_: &str) -> bool {
    false
}

#[cfg(not(feature = "pem"))]
fn is_base64_file(_: &str) -> bool {
    false
}

/// Recognizes a compact JWS or JWE, and a PASETO.
fn token(text: &str) -> Option<FoundInput> {
    let is_jose = text.starts_with("eyJ") && matches!(text.matches('.').count(), 2 | 4);
    let is_paseto = match text.as_bytes() {
        [b'v', b'1'..=b'4', b'.', rest @ ..] => {
            rest.starts_with(b"public.") || rest.starts_with(b"local.")
        }
        _ => false,
    };
    (is_jose || is_paseto).then_some(FoundInput::Token)
}

/// Recognizes a web page, and an RSA key in the XML form of .NET (XML Signature, section 4.5.2.2).
fn markup(text: &str) -> FoundInput {
    let starts = |with: &str| {
        let start = text.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    if text.contains("RSAKeyValue>") {
        FoundInput::XmlKey
    } else if starts("<!doctype html") || starts("<html") {
        FoundInput::WebPage
    } else {
        FoundInput::Xml
    }
}
