//! Differences between two settings of an issuer, for the audit log and for operators.

use std::fmt;

use aws_lc_rs::digest;

use crate::hex::hex;
use crate::limits;
use crate::recipient::EncryptTo;
use crate::settings::{IssuerSettings, Profile};

/// A changed field with its old and new value. Long values are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The field, for example `max_age_seconds` or `profiles[access].lifetime_seconds`.
    pub field: String,
    /// The old value, `none` if it was missing.
    pub old: String,
    /// The new value, `none` if it is removed.
    pub new: String,
}

impl Difference {
    pub(crate) fn new(field: &str, old: &str, new: &str) -> Difference {
        Difference {
            field: cut(field),
            old: cut(old),
            new: cut(new),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.field, self.old, self.new)
    }
}

impl IssuerSettings {
    /// Returns the fields in which other settings of the issuer differ from these.
    ///
    /// ```
    /// use jeton_issuer::IssuerSettings;
    /// let with = |lifetime: u32| IssuerSettings::from_json(&format!(r#"{{"iss": "i", "profiles":
    ///     [{{"name": "p", "alg": "ES256", "lifetime_seconds": {lifetime}, "audiences": ["a"]}}]}}"#));
    /// let differences = with(900)?.differences(&with(60)?);
    /// assert_eq!(differences.len(), 1);
    /// assert_eq!(differences[0].to_string(), "profiles[p].lifetime_seconds: 900 -> 60");
    /// # Ok::<(), jeton_issuer::Error>(())
    /// ```
    pub fn differences(&self, new: &IssuerSettings) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut look = |field: &str, old: &str, new: &str| {
            if old != new {
                found.push(Difference::new(field, old, new));
            }
        };
        look("iss", self.iss(), new.iss());
        for (field, old, new) in [
            (
                "publish_before_use_seconds",
                self.publish_before_use_seconds(),
                new.publish_before_use_seconds(),
            ),
            (
                "max_age_seconds",
                self.max_age_seconds(),
                new.max_age_seconds(),
            ),
            (
                "rotate_every_seconds",
                self.rotate_every_seconds(),
                new.rotate_every_seconds(),
            ),
        ] {
            look(field, &old.to_string(), &new.to_string());
        }
        for profile in self.profiles() {
            let field = |member: &str| format!("profiles[{}]{member}", profile.name);
            let Some(new) = new.profile(&profile.name) else {
                look(&field(""), &whole(profile), NONE);
                continue;
            };
            look(&field(".alg"), profile.alg.name(), new.alg.name());
            look(&field(".typ"), profile.typ.name(), new.typ.name());
            let seconds = |profile: &Profile| profile.lifetime_seconds.to_string();
            look(
                &field(".lifetime_seconds"),
                &seconds(profile),
                &seconds(new),
            );
            let audiences = |profile: &Profile| profile.audiences.join(", ");
            look(&field(".audiences"), &audiences(profile), &audiences(new));
            let recipient = |profile: &Profile| recipient(profile.encrypt_to.as_ref());
            look(&field(".encrypt_to"), &recipient(profile), &recipient(new));
        }
        for profile in new.profiles() {
            if self.profile(&profile.name).is_none() {
                let field = format!("profiles[{}]", profile.name);
                look(&field, NONE, &whole(profile));
            }
        }
        if found.is_empty() && self != new {
            let names = |settings: &IssuerSettings| {
                let names = settings.profiles().iter();
                let names: Vec<&str> = names.map(|profile| profile.name.as_str()).collect();
                names.join(", ")
            };
            found.push(Difference::new("profiles", &names(self), &names(new)));
        }
        found
    }
}

const NONE: &str = "none";

fn whole(profile: &Profile) -> String {
    let seconds = profile.lifetime_seconds;
    let mut text = format!(
        "{}, {seconds} s, for {}",
        profile.alg,
        profile.audiences.join(", ")
    );
    if !profile.typ.is_default() {
        text = format!("{text}, typ {}", profile.typ.name());
    }
    if profile.encrypt_to.is_some() {
        text = format!(
            "{text}, encrypted: {}",
            recipient(profile.encrypt_to.as_ref())
        );
    }
    text
}

/// Represents a key by its hash, so that the log contains none.
fn recipient(to: Option<&EncryptTo>) -> String {
    let Some(to) = to else {
        return NONE.to_owned();
    };
    let hash = digest::digest(&digest::SHA256, to.jwk.to_string().as_bytes());
    format!("{}, key {}", to.enc, hex(&hash.as_ref()[..8]))
}

fn cut(text: &str) -> String {
    if text.len() <= limits::SHOWN_VALUE_BYTES {
        return text.to_owned();
    }
    let end = (0..=limits::SHOWN_VALUE_BYTES)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}… ({} bytes)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn settings(more: &str, profiles: &[&str]) -> IssuerSettings {
        let profiles = profiles.join(",");
        let text = format!(r#"{{"iss":"i",{more}"profiles":[{profiles}]}}"#);
        IssuerSettings::from_json(&text).unwrap()
    }

    fn profile(name: &str, alg: &str, seconds: i64, audiences: &str) -> String {
        format!(
            r#"{{"name":"{name}","alg":"{alg}","lifetime_seconds":{seconds},"audiences":[{audiences}]}}"#
        )
    }

    #[test]
    fn differences_name_field_and_both_values() {
        let [one, two] = [("one", 60), ("two", 61)].map(|(n, s)| profile(n, "ES256", s, r#""a""#));
        let old = settings("", &[&one, &two]);
        assert_eq!(old.differences(&old), []);
        let new = settings(
            r#""publish_before_use_seconds":7200,"max_age_seconds":60,"rotate_every_seconds":86400,"#,
            &[
                &profile("three", "HS256", 5, r#""a","b""#),
                &profile("one", "EdDSA", 90, r#""b","a""#),
            ],
        );
        let found: Vec<String> = (old.differences(&new).iter())
            .map(Difference::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "publish_before_use_seconds: 3600 -> 7200",
                "max_age_seconds: 300 -> 60",
                "rotate_every_seconds: 2592000 -> 86400",
                "profiles[one].alg: ES256 -> EdDSA",
                "profiles[one].lifetime_seconds: 60 -> 90",
                "profiles[one].audiences: a -> b, a",
                "profiles[two]: ES256, 61 s, for a -> none",
                "profiles[three]: none -> HS256, 5 s, for a, b",
            ]
        );
        let turned = settings("", &[&two, &one]);
        let order = old.differences(&turned);
        assert_eq!(order[0].to_string(), "profiles: one, two -> two, one");
    }

    #[test]
    fn differences_hash_keys_and_cut_long_values() {
        const JWK: &str = r#"{"kty":"OKP","crv":"X25519","alg":"ECDH-ES","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}"#;
        let to = format!(r#"}},"encrypt_to":{{"enc":"A256GCM","jwk":{JWK}}}}}"#);
        let plain = profile("p", "ES256", 60, r#""a""#);
        let sealed = plain.replacen('}', &to[1..], 1);
        let (plain, sealed) = (settings("", &[&plain]), settings("", &[&sealed]));
        let found = plain.differences(&sealed).remove(0);
        assert_eq!(found.field, "profiles[p].encrypt_to");
        assert!(found.new.starts_with("A256GCM, key "), "{found}");
        assert!(!found.to_string().contains("3p7b"), "{found}");

        let long = "ü".repeat(400);
        let long = settings("", &[&profile("p", "ES256", 60, &format!("\"{long}\""))]);
        let found = plain.differences(&long).remove(0);
        assert!(found.new.ends_with("ü… (800 bytes)"), "{found}");
    }
}
