use std::path::{Path, PathBuf};

use jeton::Limits;
use jeton::jwk::KeySet;
use zeroize::Zeroizing;

use super::members::Member;
use crate::exit::{Failure, Outcome};
use crate::json::Members;
use crate::keyfile::{Form, KeyFile};
use crate::{atomic_file, input, output, shell};

/// A file with a JWK Set. Keys and members that this program does not know are kept as they are written.
pub(super) struct SetFile {
    path: PathBuf,
    /// The members of the set besides `keys`, as they are written.
    others: Vec<(String, String)>,
    keys: Vec<KeyFile>,
}

impl SetFile {
    /// Reads a set, which may be empty.
    pub(super) fn read(path: &Path) -> Outcome<SetFile> {
        let file = KeyFile::read_as(path, None)?;
        let name = file.name();
        let Form::Set(text) = file.form() else {
            return Err(
                Failure::error(format!("{name}: expected a key set, got one key"))
                    .hint("to make a key set of it, run `jeton key set new NEW_SET FILE`"),
            );
        };
        let keys = file.elements_or_none()?;
        let members = Members::strict(text, Limits::default().json_depth)
            .map_err(|problem| Failure::error(format!("{name}: {problem}")))?;
        let others = members.0.into_iter().filter(|(name, _)| name != "keys");
        Ok(SetFile {
            path: path.to_owned(),
            others: others
                .map(|(name, value)| (name, value.get().to_owned()))
                .collect(),
            keys,
        })
    }

    /// Returns the name for messages.
    pub(super) fn name(&self) -> String {
        input::name_of(&self.path)
    }

    pub(super) fn keys(&self) -> &[KeyFile] {
        &self.keys
    }

    /// Fails if two keys have the same id: a verifier could select the wrong one. `fail` makes the failure.
    pub(super) fn check_ids(&self, fail: fn(String) -> Failure) -> Outcome {
        let ids: Vec<Option<String>> = self.keys.iter().map(KeyFile::kid).collect();
        for (second, kid) in ids.iter().enumerate() {
            let first = ids[..second]
                .iter()
                .position(|id| kid.is_some() && id == kid);
            if let Some(first) = first {
                return Err(fail(format!(
                    "{}: the keys {} and {} have the same key id (kid)",
                    self.name(),
                    first + 1,
                    second + 1
                ))
                .hint(format!(
                    "to remove both, run `jeton key set remove {} --kid ID`; then add the right one",
                    self.argument()
                )));
            }
        }
        Ok(())
    }

    /// Fails if the set has a key that must not be published.
    pub(super) fn check_secrets(&self, accepts_symmetric: bool) -> Outcome {
        for key in self.keys.iter().filter(|key| key.has_secret()) {
            if key.is_symmetric() && accepts_symmetric {
                continue;
            }
            let name = key.name();
            if key.is_symmetric() {
                let why =
                    "a symmetric key (kty oct): everyone who reads the set could sign with it";
                return Err(Failure::error(format!("{name}: {why}"))
                    .hint("if nobody else reads the set, add `--symmetric`"));
            }
            return Err(
                Failure::error(format!("{name}: a private key in a key set")).hint(format!(
                    "to get the public keys, run `jeton key public {}`",
                    self.argument()
                )),
            );
        }
        Ok(())
    }

    /// Removes the keys with this id, and returns how many.
    pub(super) fn remove(&mut self, kid: &str) -> usize {
        let before = self.keys.len();
        self.keys.retain(|key| key.kid().as_deref() != Some(kid));
        before - self.keys.len()
    }

    /// Returns the text with more keys.
    ///
    /// A key that the set has already is skipped. Another key with the same id is an error.
    pub(super) fn with(&self, members: &[Member]) -> Outcome<(Zeroizing<String>, usize)> {
        let mut known: Vec<(String, Option<String>)> = Vec::new();
        for key in &self.keys {
            let thumbprint = key.load_any_algorithm().ok().map(|key| key.thumbprint());
            known.extend(key.kid().map(|kid| (kid, thumbprint)));
        }
        let mut added: Vec<&Member> = Vec::new();
        for member in members {
            let thumbprint = Some(member.thumbprint.clone());
            match known.iter().find(|(kid, _)| *kid == member.kid) {
                Some((_, other)) if *other == thumbprint => {
                    output::note("the set has one of the keys already");
                }
                Some(_) => {
                    return Err(Failure::error(format!(
                        "{}: another key has the same key id (kid)",
                        self.name()
                    ))
                    .hint(format!(
                        "to replace it, first run `jeton key set remove {} --kid ID`; or give one of them another kid",
                        self.argument()
                    )));
                }
                None => {
                    known.push((member.kid.clone(), thumbprint));
                    added.push(member);
                }
            }
        }
        let old = self.keys.iter().filter_map(|key| match key.form() {
            Form::Jwk(text) => Some(text.as_str()),
            _ => None,
        });
        let new = added.iter().map(|member| member.jwk.as_str());
        let text = set_text(&self.others, old.chain(new).collect());
        check(&text).map_err(|error| Failure::error(format!("{}: {error}", self.name())))?;
        Ok((text, added.len()))
    }

    /// Replaces the content of the file.
    pub(super) fn replace(&self, text: &str) -> Outcome {
        atomic_file::replace(&self.path, text.as_bytes())
    }

    /// Returns the name as an argument of a hint.
    pub(super) fn argument(&self) -> String {
        argument(&self.path)
    }
}

/// Returns an empty set that is not a file yet.
pub(super) fn empty(path: &Path) -> SetFile {
    SetFile {
        path: path.to_owned(),
        others: Vec::new(),
        keys: Vec::new(),
    }
}

/// Returns the name of a set as an argument of a hint.
pub(super) fn argument(path: &Path) -> String {
    let name = input::name_of(path);
    if path.to_str() == Some(&*name) {
        shell::quoted(&name)
    } else {
        "SET".to_owned()
    }
}

/// Writes one key per line, so that a comparison of two versions shows the changed keys.
fn set_text(others: &[(String, String)], keys: Vec<&str>) -> Zeroizing<String> {
    let bytes: usize = keys.iter().map(|key| key.len() + 4).sum();
    let other = |(name, value): &(String, String)| {
        format!(",\n{}:{value}", serde_json::Value::from(name.as_str()))
    };
    let others: String = others.iter().map(other).collect();
    // Reserved once: a reallocation would leave a copy of a secret.
    let mut text = Zeroizing::new(String::with_capacity(bytes + others.len() + 16));
    text.push_str("{\"keys\":[");
    for (index, key) in keys.into_iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(key);
    }
    text.push_str("\n]");
    text.push_str(&others);
    text.push_str("}\n");
    text
}

/// Checks the limits of a set.
fn check(text: &str) -> jeton::Result<()> {
    KeySet::from_json(text).map(drop)
}
