//! Says what a file is that is no key, and the command that takes the key out of it.

use std::path::Path;

use jeton::Error;
use jeton::error::{FoundInput, KeyProblem};
use jeton::key::{AnyKey, KeyFormat};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{KEY_ERROR_PREFIX, UNKNOWN_FORMAT};
use crate::exit::Failure;
use crate::shell;

/// The place of the key in a hint.
const MEMBER: &str = ".MEMBER";

/// The longest name of a member in a hint, characters.
const NAME_CHARS: usize = 64;

/// Returns the failure for a file that is no key: what it is, and the command for it.
pub(super) fn failure(path: &Path, name: &str, bytes: &[u8], found: FoundInput) -> Failure {
    let text = found.to_string();
    let Some((what, how)) = text.split_once("; ") else {
        let failure = Failure::error(format!("{name}: {KEY_ERROR_PREFIX}{text}"));
        return match found {
            // Digits can be a secret.
            FoundInput::JsonValue(_) => failure.hint(UNKNOWN_FORMAT),
            _ => failure,
        };
    };
    let mut how = how.to_owned();
    if how.contains(MEMBER)
        && let Some(member) = member(bytes, found)
    {
        how = how.replace(MEMBER, &shell::quoted(&member));
    }
    if path.to_str() == Some(name) {
        how = how.replace(" FILE", &format!(" {}", shell::quoted(name)));
    }
    Failure::error(format!("{name}: {KEY_ERROR_PREFIX}{what}")).hint(how)
}

/// Returns the path of the first member that has the key, as jq writes it.
fn member(bytes: &[u8], found: FoundInput) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let is_key: fn(&Value) -> bool = match found {
        FoundInput::PemInJson => |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| text.contains("-----BEGIN "))
        },
        FoundInput::JwkInJson => |value: &Value| value.get("kty").is_some(),
        FoundInput::EncodedTwiceInJson => is_encoded_key,
        _ => is_base64,
    };
    let mut path = search(&value, is_key);
    if path.is_none() && found == FoundInput::EncodedTwiceInJson {
        path = search(&value, is_encoded_twice);
    }
    let path = path?;
    match path.as_bytes() {
        [] => None,
        [b'[', ..] => Some(format!(".{path}")),
        _ => Some(path),
    }
}

fn is_base64(value: &Value) -> bool {
    let key = value.as_str().map(str::as_bytes).map(AnyKey::from_bytes);
    matches!(key, Some(Ok(key)) if key.format() == KeyFormat::Base64)
}

/// Whether a value is the base64 of a PEM or of a JWK.
fn is_encoded_twice(value: &Value) -> bool {
    let text = value.as_str().map(str::as_bytes);
    text.and_then(found_in) == Some(FoundInput::EncodedTwice)
}

/// The same without certificates: a Secret of Kubernetes has them besides the key.
fn is_encoded_key(value: &Value) -> bool {
    let decoded = |text: &str| base64_simd::forgiving_decode_to_vec(text.as_bytes()).ok();
    is_encoded_twice(value)
        && value
            .as_str()
            .and_then(decoded)
            .map(Zeroizing::new)
            .is_some_and(|inner| found_in(&inner) != Some(FoundInput::Certificate))
}

/// Returns what bytes are that are no key, if it is known.
fn found_in(bytes: &[u8]) -> Option<FoundInput> {
    match AnyKey::from_bytes(bytes) {
        Err(Error::Key(error)) => match error.problem() {
            KeyProblem::Found(found) => Some(*found),
            _ => None,
        },
        _ => None,
    }
}

/// The depth is that of a valid text for serde_json.
fn search(value: &Value, is_key: fn(&Value) -> bool) -> Option<String> {
    if is_key(value) {
        return Some(String::new());
    }
    let below = |step: String, value| Some(step + &search(value, is_key)?);
    match value {
        Value::Object(members) => members
            .iter()
            .find_map(|(name, value)| below(step(name)?, value)),
        Value::Array(values) => {
            let mut values = values.iter().enumerate();
            values.find_map(|(index, value)| below(format!("[{index}]"), value))
        }
        _ => None,
    }
}

/// Returns one step of a path: `.name` or `["my name"]`.
fn step(name: &str) -> Option<String> {
    let is_plain = name.len() <= NAME_CHARS && !name.contains(|c: char| c.is_control());
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_plain.then(|| {
        if is_word {
            format!(".{name}")
        } else {
            format!("[{}]", Value::from(name))
        }
    })
}
