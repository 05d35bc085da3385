//! Names the members of a JWK that are ignored because of their value: null, or malformed certificates. The key is
//! used, and the owner of the key can correct it.

use std::collections::BTreeMap;

use super::{Form, KeyFile};
use crate::json::Members;
use crate::output;

impl KeyFile {
    /// Returns a note about each ignored member of one JWK.
    ///
    /// Some issuers publish an `x5t` of another length or encoding, for example the hexadecimal digits in base64url.
    /// Verifiers do not use it, so only `is_verbose` lists it.
    pub(crate) fn ignored_members(&self, is_verbose: bool) -> Vec<String> {
        let Form::Jwk(text) = self.form() else {
            return Vec::new();
        };
        let Ok(key) = jeton::key::AnyKey::from_bytes(text.as_bytes()) else {
            return Vec::new();
        };
        let ignored = key.ignored_members().into_iter();
        let shown = ignored
            .filter(|one| is_verbose || one.is_null() || !is_other_thumbprint(text, one.name()));
        shown.map(|one| one.to_string()).collect()
    }

    /// Notes the ignored members of the key, or of the keys of a set.
    pub(crate) fn note_ignored(&self) {
        let Ok(Some(keys)) = self.set_keys() else {
            for ignored in self.ignored_members(false) {
                output::note(format_args!("{}: {ignored}", self.name()));
            }
            return;
        };
        let mut found: BTreeMap<String, Vec<&KeyFile>> = BTreeMap::new();
        for key in &keys {
            for ignored in key.ignored_members(false) {
                found.entry(ignored).or_default().push(key);
            }
        }
        for (ignored, keys) in found {
            match keys[..] {
                [key] => output::note(format_args!("{}: {ignored}", key.name())),
                _ => output::note(format_args!(
                    "{}, {} keys: {ignored}",
                    self.name(),
                    keys.len()
                )),
            }
        }
    }
}

/// Returns whether a certificate's thumbprint is text of another length or encoding.
fn is_other_thumbprint(jwk: &str, name: &str) -> bool {
    let Some(Members(members)) = Members::loose(jwk) else {
        return false;
    };
    let mut values = members.iter().filter(|(member, _)| member == name);
    matches!(name, "x5t" | "x5t#S256")
        && values.all(|(_, value)| serde_json::from_str::<String>(value.get()).is_ok())
}
