//! Keys whose `use` is not `sig`: those of tokens in a SPIFFE bundle.

use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Form, KeyFile};
use crate::exit::{Failure, Outcome};
use crate::json::Members;

/// Parses the `use` of keys that verify.
pub(crate) fn key_use(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err("expected a `use`, for example jwt-svid"),
        "enc" => Err("keys for encryption verify no signature"),
        _ => Ok(text.to_owned()),
    }
}

impl KeyFile {
    /// Keeps the keys with this `use`, which then count as keys for signatures. A file without `use` stays as it is.
    pub(crate) fn with_use(mut self, key_use: &str) -> Outcome<KeyFile> {
        self.form = match self.form {
            Form::Set(text) => {
                let keys = keys_of(&text);
                let kept: Vec<String> = (keys.iter())
                    .filter_map(|key| without_use(key.get(), key_use))
                    .collect();
                if kept.is_empty() {
                    let (name, count) = (&self.name, keys.len());
                    let what = format!("{name}: none of the {count} keys has the `use` {key_use}");
                    return Err(Failure::error(what));
                }
                Form::Set(Zeroizing::new(format!("{{\"keys\":[{}]}}", kept.join(","))))
            }
            Form::Jwk(text) => match without_use(&text, key_use) {
                Some(key) => Form::Jwk(Zeroizing::new(key)),
                None => {
                    let what = format!("{}: the `use` of the key is not {key_use}", self.name);
                    return Err(Failure::error(what));
                }
            },
            Form::Several(files) => {
                let files = files.into_iter().map(|file| file.with_use(key_use));
                Form::Several(files.collect::<Outcome<_>>()?)
            }
            other => other,
        };
        Ok(self)
    }
}

fn keys_of(set: &str) -> Vec<&RawValue> {
    let members = Members::loose(set).map_or_else(Vec::new, |Members(members)| members);
    let keys = members.into_iter().find(|(name, _)| name == "keys");
    keys.and_then(|(_, keys)| serde_json::from_str(keys.get()).ok())
        .unwrap_or_default()
}

/// Returns a JWK without its `use`, if it has this one.
fn without_use(jwk: &str, key_use: &str) -> Option<String> {
    let Members(members) = Members::loose(jwk)?;
    let (uses, others): (Vec<_>, Vec<_>) = members.into_iter().partition(|(name, _)| name == "use");
    let [(_, found)] = &uses[..] else { return None };
    if serde_json::from_str::<String>(found.get()).ok()? != key_use {
        return None;
    }
    let others = others
        .iter()
        .map(|(name, value)| format!("{}:{value}", serde_json::Value::from(name.as_str())));
    Some(format!("{{{}}}", others.collect::<Vec<_>>().join(",")))
}
