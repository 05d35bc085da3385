//! The unprotected header of a JWS or JWE that the caller sets.

use serde::Serialize;

use super::header::is_reserved;
use crate::error::InvalidUse;
use crate::json::{self, ScanError};
use crate::token_limits::Limits;

/// Members by name, as JSON. The value is `None` if it failed to serialize. The errors are those of signing or encrypting.
#[derive(Debug, Default)]
pub(crate) struct Unprotected(Vec<(String, Option<String>)>);

impl Unprotected {
    pub(crate) fn add(&mut self, name: String, value: &impl Serialize) {
        self.0.push((name, serde_json::to_string(value).ok()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the JSON object, or `None` if it has no members.
    pub(crate) fn to_json(&self) -> Result<Option<String>, InvalidUse> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut text = String::from("{");
        for (index, (name, value)) in self.0.iter().enumerate() {
            let is_second = self.0[..index].iter().any(|(other, _)| other == name);
            if is_second || is_reserved(name) {
                return Err(InvalidUse::HeaderMember);
            }
            let value = value.as_ref().ok_or(InvalidUse::UnprotectedHeader)?;
            if index > 0 {
                text.push(',');
            }
            text.push_str(&format!("{}:{value}", serde_json::Value::from(&**name)));
        }
        text.push('}');
        // A verifier with the default limits reads it.
        let limits = Limits::default();
        let read = json::read_object(&text, limits.depth(), |_, _| Ok::<_, ScanError>(()));
        if read.is_ok() && text.len() <= limits.header_bytes {
            Ok(Some(text))
        } else {
            Err(InvalidUse::UnprotectedHeader)
        }
    }
}
