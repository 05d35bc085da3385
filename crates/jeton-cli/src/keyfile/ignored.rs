//! Names the members of a JWK that are ignored because of their value: null, or malformed certificates. The key is
//! used, and the owner of the key can correct it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Form, KeyFile};
use crate::json::Members;
use crate::output;

/// The members for which null counts as absent.
const NULLABLE: [&str; 6] = ["use", "key_ops", "x5u", "x5c", "x5t", "x5t#S256"];

/// Why a member is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ignored {
    /// It is null.
    Null(&'static str),
    /// It does not have the form that RFC 7517, sections 4.6 to 4.9, requires.
    Malformed(&'static str),
}

impl Ignored {
    /// Returns what a key has: `` `x5c` is null and counts as absent``.
    pub(crate) fn text(self) -> String {
        match self {
            Ignored::Null(name) => format!("`{name}` is null and counts as absent"),
            Ignored::Malformed(name) => format!("`{name}` is malformed and is ignored"),
        }
    }
}

impl KeyFile {
    /// Returns the ignored members of one JWK.
    pub(crate) fn ignored_members(&self) -> Vec<Ignored> {
        let Form::Jwk(text) = self.form() else {
            return Vec::new();
        };
        let Some(Members(members)) = Members::loose(text) else {
            return Vec::new();
        };
        let ignored = members.iter().filter_map(|(name, value)| {
            let name = NULLABLE.into_iter().find(|known| known == name)?;
            match value.get() {
                "null" => Some(Ignored::Null(name)),
                _ => is_malformed(name, value).then_some(Ignored::Malformed(name)),
            }
        });
        ignored.collect()
    }

    /// Notes the ignored members of the key, or of the keys of a set.
    pub(crate) fn note_ignored(&self) {
        let Ok(Some(keys)) = self.set_keys() else {
            for ignored in self.ignored_members() {
                output::note(format_args!("{}: {}", self.name(), ignored.text()));
            }
            return;
        };
        let mut found: BTreeMap<Ignored, Vec<&KeyFile>> = BTreeMap::new();
        for key in &keys {
            for ignored in key.ignored_members() {
                found.entry(ignored).or_default().push(key);
            }
        }
        for (ignored, keys) in found {
            let text = ignored.text();
            match keys[..] {
                [key] => output::note(format_args!("{}: {text}", key.name())),
                _ => output::note(format_args!("{}, {} keys: {text}", self.name(), keys.len())),
            }
        }
    }
}

fn is_malformed(name: &str, value: &RawValue) -> bool {
    let text = serde_json::from_str::<String>(value.get());
    match name {
        "x5u" | "x5t" | "x5t#S256" => text.is_err(),
        "x5c" => {
            let chain: Option<Vec<String>> = serde_json::from_str(value.get()).ok();
            let is_base64 = |text: &String| base64_simd::STANDARD.check(text.as_bytes()).is_ok();
            !chain.is_some_and(|chain| !chain.is_empty() && chain.iter().all(is_base64))
        }
        // The library rejects a key with another value of these.
        _ => false,
    }
}
