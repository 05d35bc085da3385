//! Members that the caller adds to the header of a JWS or JWE.

use serde::Serialize;

use super::header::{decided_by, is_reserved};
use crate::error::InvalidUse;
use crate::json::{self, Kind, ScanError, Text, Value};
use crate::key::jwk;
use crate::token_limits::Limits;

/// Members by name, as JSON. The value is `None` if it failed to serialize. The errors are those of signing or encrypting.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeaderMembers(Vec<(String, Option<String>)>);

/// Why the header is not written.
enum Refused {
    Scan(ScanError),
    Member(InvalidUse),
}

impl From<ScanError> for Refused {
    fn from(error: ScanError) -> Self {
        Refused::Scan(error)
    }
}

/// Checks members that an issuer is to add to its header: without a key, so before anything is signed.
///
/// # Errors
///
/// Those of [`JwsSigner::header`](crate::jws::JwsSigner::header).
pub fn check_header_members<'m, V: Serialize>(
    members: impl IntoIterator<Item = (&'m str, V)>,
) -> Result<(), InvalidUse> {
    let mut all = HeaderMembers::default();
    for (name, value) in members {
        all.add(name.to_owned(), &value);
    }
    all.complete(r#"{"alg":""}"#.to_owned()).map(|_| ())
}

impl HeaderMembers {
    pub(crate) fn add(&mut self, name: String, value: &impl Serialize) {
        self.0.push((name, serde_json::to_string(value).ok()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that no name is also in another header of the same token (RFC 7515, section 7.2.1).
    pub(crate) fn check_disjoint(&self, other: &HeaderMembers) -> Result<(), InvalidUse> {
        let is_in_other = |name: &String| other.0.iter().any(|(other, _)| other == name);
        if self.0.iter().any(|(name, _)| is_in_other(name)) {
            Err(InvalidUse::HeaderMember)
        } else {
            Ok(())
        }
    }

    /// Returns an unprotected header, a JSON object, or `None` if it has no members.
    pub(crate) fn to_unprotected(&self) -> Result<Option<String>, InvalidUse> {
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

    /// Adds the members to a protected header, a JSON object that is not empty.
    pub(crate) fn complete(&self, header: String) -> Result<String, InvalidUse> {
        if self.0.is_empty() {
            return Ok(header);
        }
        let mut text = header;
        text.pop();
        for (name, value) in &self.0 {
            check_name(name)?;
            let value = value.as_ref().ok_or(InvalidUse::HeaderValue)?;
            text.push_str(&format!(",{}:{value}", serde_json::Value::from(&**name)));
        }
        text.push('}');
        read_written(&text, check_value)?;
        Ok(text)
    }
}

/// Checks that a caller may write a member with this name to a protected header.
pub(super) fn check_name(name: &str) -> Result<(), InvalidUse> {
    match decided_by(name) {
        Some((name, by)) => Err(InvalidUse::DecidedHeaderMember { name, by }),
        None => Ok(()),
    }
}

/// Checks the value of a member that a caller writes to a protected header: `jwk` is a public key.
pub(super) fn check_value(name: Text<'_>, value: Value<'_>) -> Result<(), InvalidUse> {
    let is_public = || value.kind() == Kind::Object && !jwk::is_private(value.raw());
    if name == *"jwk" && !is_public() {
        return Err(InvalidUse::HeaderKey);
    }
    Ok(())
}

/// Reads a header before it is written: a verifier with the default limits reads it.
pub(super) fn read_written<'t>(
    text: &'t str,
    mut member: impl FnMut(Text<'t>, Value<'t>) -> Result<(), InvalidUse>,
) -> Result<(), InvalidUse> {
    let limits = Limits::default();
    if text.len() > limits.header_bytes {
        return Err(InvalidUse::HeaderValue);
    }
    let read = json::read_object(text, limits.depth(), |name, value| {
        member(name, value).map_err(Refused::Member)
    });
    read.map_err(|refused| match refused {
        Refused::Member(invalid) => invalid,
        Refused::Scan(ScanError::Duplicate) => InvalidUse::HeaderMember,
        Refused::Scan(_) => InvalidUse::HeaderValue,
    })
}
