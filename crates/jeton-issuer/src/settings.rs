//! What an issuer is set to: its name, its profiles and its times.

use jeton::strict::{self, JsonError};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::limits;
use crate::recipient::EncryptTo;

/// An issuer's settings, checked: one that contradicts itself cannot be made.
///
/// ```
/// use jeton_issuer::IssuerSettings;
/// let refused = IssuerSettings::from_json(r#"{
///     "iss": "https://id.example", "publish_before_use_seconds": 3600, "max_age_seconds": 1801,
///     "profiles": [{"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]}]
/// }"#).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "`max_age_seconds`: 1801 > 3600 / 2: a key would sign before every verifier has it; \
///      wants max_age_seconds <= publish_before_use_seconds / 2"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct IssuerSettings(Written);

/// What an issuer may mint: one kind of token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What the caller calls it.
    pub name: String,
    /// Format and algorithm. The caller never chooses them.
    pub alg: KeyKind,
    /// How long its tokens live.
    pub lifetime_seconds: i64,
    /// Whom its tokens may be for. The first is what a caller gets who names none.
    pub audiences: Vec<String>,
    /// For whom they are encrypted, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypt_to: Option<EncryptTo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    iss: String,
    profiles: Vec<Profile>,
    #[serde(default)]
    publish_before_use_seconds: Option<i64>,
    /// The former name of `publish_before_use_seconds`. It is read, and never written.
    #[serde(default, skip_serializing)]
    lead_seconds: Option<i64>,
    #[serde(default = "default_max_age")]
    max_age_seconds: i64,
    #[serde(default = "default_rotation")]
    rotate_every_seconds: i64,
}

fn default_max_age() -> i64 {
    limits::MAX_AGE_SECONDS
}

fn default_rotation() -> i64 {
    limits::ROTATE_EVERY_SECONDS
}

impl IssuerSettings {
    /// Reads and checks them.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with the field and the rule.
    pub fn from_json(text: &str) -> Result<IssuerSettings> {
        // Strictly first: serde_json takes the last of duplicate members of a key.
        strict::read_members(text, limits::SETTINGS_DEPTH, |_| Ok::<_, JsonError>(()))
            .or_else(unless_serde_says_more)?;
        let written: Written = serde_json::from_str(text)
            .map_err(|error| Error::rule("settings", in_words(&error)))?;
        IssuerSettings::try_from(written)
    }

    /// `iss`.
    pub fn iss(&self) -> &str {
        &self.0.iss
    }

    /// Its profiles.
    pub fn profiles(&self) -> &[Profile] {
        &self.0.profiles
    }

    /// The profile of that name.
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.0.profiles.iter().find(|profile| profile.name == name)
    }

    /// How long a key is published before it signs.
    pub fn lead_seconds(&self) -> i64 {
        self.0.lead_seconds()
    }

    /// How long verifiers may cache the key set.
    pub fn max_age_seconds(&self) -> i64 {
        self.0.max_age_seconds
    }

    /// How long a key signs.
    pub fn rotate_every_seconds(&self) -> i64 {
        self.0.rotate_every_seconds
    }

    /// The kinds of keys that the profiles need, each once.
    pub fn kinds(&self) -> Vec<KeyKind> {
        let mut kinds = Vec::new();
        for profile in &self.0.profiles {
            if !kinds.contains(&profile.alg) {
                kinds.push(profile.alg);
            }
        }
        kinds
    }

    /// These settings, but each profile whose key could not sign yet keeps the format that it had: its
    /// algorithm and its recipient.
    pub(crate) fn keeping_formats(
        &self,
        old: &IssuerSettings,
        signing: &[KeyKind],
    ) -> Result<IssuerSettings> {
        let mut settings = self.0.clone();
        for profile in &mut settings.profiles {
            if let Some(old) = old.profile(&profile.name)
                && old.alg != profile.alg
                && !signing.contains(&profile.alg)
            {
                profile.alg = old.alg;
                profile.encrypt_to.clone_from(&old.encrypt_to);
            }
        }
        IssuerSettings::try_from(settings)
    }

    /// The longest that a token of that kind lives.
    pub fn longest_lifetime_seconds(&self, kind: KeyKind) -> i64 {
        let of_kind = self.0.profiles.iter().filter(|profile| profile.alg == kind);
        of_kind
            .map(|profile| profile.lifetime_seconds)
            .max()
            .unwrap_or(0)
    }
}

/// What is no JSON object is left to serde_json, whose words are about what is expected there.
fn unless_serde_says_more(error: JsonError) -> Result<()> {
    match error {
        JsonError::Duplicate { .. } | JsonError::TooDeep { .. } => {
            Err(Error::rule("settings", error.to_string()))
        }
        _ => Ok(()),
    }
}

/// serde_json's words without the values that they repeat: one may be a key in the wrong place.
fn in_words(error: &serde_json::Error) -> String {
    /// Names are told, so that a slip of the pen is seen; a longer one is none.
    const LONGEST_NAME: usize = 23;
    let words = error.to_string();
    let Some((found, wanted)) = words.rsplit_once(", expected ") else {
        return words;
    };
    let name = found.split('`').nth(1).unwrap_or_default();
    if found.starts_with("invalid ") {
        format!("wants {wanted}")
    } else if name.len() > LONGEST_NAME {
        format!("has a name that is not known, expected {wanted}")
    } else {
        words
    }
}

impl TryFrom<Written> for IssuerSettings {
    type Error = Error;

    fn try_from(written: Written) -> Result<IssuerSettings> {
        let written = written.with_current_names()?;
        check(&written)?;
        Ok(IssuerSettings(written))
    }
}

impl Written {
    /// Moves the value of a former name to the current one.
    fn with_current_names(mut self) -> Result<Written> {
        if self.publish_before_use_seconds.is_some() && self.lead_seconds.is_some() {
            return Err(Error::rule(
                "publish_before_use_seconds",
                "set together with `lead_seconds`, its former name: remove `lead_seconds`",
            ));
        }
        let seconds = self.publish_before_use_seconds.or(self.lead_seconds.take());
        self.publish_before_use_seconds = Some(seconds.unwrap_or(limits::LEAD_SECONDS));
        Ok(self)
    }

    fn lead_seconds(&self) -> i64 {
        self.publish_before_use_seconds
            .unwrap_or(limits::LEAD_SECONDS)
    }
}

impl From<IssuerSettings> for Written {
    fn from(settings: IssuerSettings) -> Written {
        settings.0
    }
}

fn check(s: &Written) -> Result<()> {
    name("iss", &s.iss)?;
    let (lead, max_age, every) = (s.lead_seconds(), s.max_age_seconds, s.rotate_every_seconds);
    if lead < limits::LEAD_SECONDS_MIN {
        return Err(Error::rule(
            "publish_before_use_seconds",
            format!(
                "{lead} < {}: a new key would sign before it has reached every node and verifier, whose \
                 clocks may differ by {} s",
                limits::LEAD_SECONDS_MIN,
                limits::CLOCK_SKEW_SECONDS
            ),
        ));
    }
    if max_age < 0 || max_age > lead / 2 {
        return Err(Error::rule(
            "max_age_seconds",
            format!(
                "{max_age} > {lead} / 2: a key would sign before every verifier has it; wants \
                 max_age_seconds <= publish_before_use_seconds / 2"
            ),
        ));
    }
    if every < 2 * lead || every > 10 * limits::LIFETIME_SECONDS {
        return Err(Error::rule(
            "rotate_every_seconds",
            format!(
                "{every} is not in {} ..= {}: wants at least twice the lead",
                2 * lead,
                10 * limits::LIFETIME_SECONDS
            ),
        ));
    }
    if s.profiles.is_empty() || s.profiles.len() > limits::PROFILES_PER_ISSUER {
        return Err(Error::rule(
            "profiles",
            format!(
                "{} profiles: wants 1 to {}",
                s.profiles.len(),
                limits::PROFILES_PER_ISSUER
            ),
        ));
    }
    for (index, profile) in s.profiles.iter().enumerate() {
        let field = |member: &str| format!("profiles[{index}].{member}");
        name(&field("name"), &profile.name)?;
        if s.profiles[..index]
            .iter()
            .any(|other| other.name == profile.name)
        {
            return Err(Error::rule(field("name"), "another profile has this name"));
        }
        if !(1..=limits::LIFETIME_SECONDS).contains(&profile.lifetime_seconds) {
            return Err(Error::rule(
                field("lifetime_seconds"),
                format!(
                    "{} is not in 1 ..= {}",
                    profile.lifetime_seconds,
                    limits::LIFETIME_SECONDS
                ),
            ));
        }
        if profile.audiences.is_empty() || profile.audiences.len() > limits::AUDIENCES_PER_PROFILE {
            return Err(Error::rule(
                field("audiences"),
                format!(
                    "{} audiences: wants 1 to {}",
                    profile.audiences.len(),
                    limits::AUDIENCES_PER_PROFILE
                ),
            ));
        }
        for audience in &profile.audiences {
            name(&field("audiences"), audience)?;
        }
        if let Some(to) = &profile.encrypt_to {
            to.recipient(&field("encrypt_to"), profile.alg)?;
        }
    }
    check_keys_at_once(s)
}

/// Rotating often while tokens live long keeps many retired keys in the key set.
fn check_keys_at_once(s: &Written) -> Result<()> {
    let mut longest: Vec<(KeyKind, i64)> = Vec::new();
    for profile in &s.profiles {
        match longest.iter_mut().find(|(kind, _)| *kind == profile.alg) {
            Some((_, seconds)) => *seconds = profile.lifetime_seconds.max(*seconds),
            None => longest.push((profile.alg, profile.lifetime_seconds)),
        }
    }
    let every = s.rotate_every_seconds;
    // From the first second in the key set to the last, in rotations.
    let keys = longest.iter().map(|(_, lifetime)| {
        let more = s.lead_seconds() + lifetime + limits::GONE_AFTER_SECONDS;
        1 + (more + every - 1) / every
    });
    let keys: i64 = keys.sum();
    if keys > limits::KEYS_PER_ISSUER as i64 {
        return Err(Error::rule(
            "rotate_every_seconds",
            format!(
                "{every} would keep {keys} keys until their last tokens have expired, and verifiers are \
                 to take {} at most: rotate less often, or shorten a `lifetime_seconds`",
                limits::KEYS_PER_ISSUER
            ),
        ));
    }
    Ok(())
}

/// Whether a text can name what is issued and revoked.
#[inline]
pub(crate) fn name(field: &str, text: &str) -> Result<()> {
    // Of most names each byte is printable ASCII: that is seen at once.
    let is_plain = |text: &str| {
        text.bytes()
            .fold(true, |plain, b| plain & (b' '..0x7f).contains(&b))
    };
    if (1..=limits::NAME_BYTES).contains(&text.len()) && is_plain(text) {
        return Ok(());
    }
    unusual_name(field, text)
}

#[inline(never)]
fn unusual_name(field: &str, text: &str) -> Result<()> {
    let (bytes, most) = (text.len(), limits::NAME_BYTES);
    let wrong = match text {
        "" => format!("is empty, wants 1 to {most} bytes"),
        _ if bytes > most => format!("has {bytes} bytes, the limit is {most}"),
        _ if text.chars().any(char::is_control) => "has a control character".to_owned(),
        _ => return Ok(()),
    };
    Err(Error::rule(field, wrong))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn settings_with_the_former_name_are_read_and_written_with_the_current_one() {
        let profiles =
            r#""profiles":[{"name":"p","alg":"ES256","lifetime_seconds":60,"audiences":["a"]}]"#;
        let read =
            |names: &str| IssuerSettings::from_json(&format!(r#"{{"iss":"i",{names}{profiles}}}"#));
        let former = read(r#""lead_seconds":7200,"#).unwrap();
        assert_eq!(
            former,
            read(r#""publish_before_use_seconds":7200,"#).unwrap()
        );
        let text = serde_json::to_string(&former).unwrap();
        assert!(
            text.contains(r#""publish_before_use_seconds":7200"#),
            "{text}"
        );
        assert!(!text.contains("lead_seconds"), "{text}");
        let both = read(r#""lead_seconds":7200,"publish_before_use_seconds":7200,"#);
        let both = both.unwrap_err().to_string();
        assert!(
            both.contains("`publish_before_use_seconds`: ") && both.contains("`lead_seconds`"),
            "{both}"
        );
    }

    /// What is refused may be a secret in the wrong place: it is not repeated.
    #[test]
    fn what_is_wrong_is_said_without_its_value() {
        const SECRET: &str = "correct, expected horse battery";
        for (text, said) in [
            (format!("{{\"iss\":[\"{SECRET}\"]}}"), "wants a string at"),
            (format!("\"{SECRET}\""), "wants struct"),
            (
                format!("{{\"{SECRET}\":1}}"),
                "has a name that is not known, expected one of `iss`",
            ),
            (
                r#"{"leed_seconds":1}"#.to_owned(),
                "unknown field `leed_seconds`, expected one of `iss`",
            ),
            ("{".to_owned(), "EOF while parsing"),
        ] {
            let refused = IssuerSettings::from_json(&text).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
            assert!(!refused.contains("horse"), "{refused}");
        }
    }
}
