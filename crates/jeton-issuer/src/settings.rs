//! Settings of an issuer: its name, its profiles and its times.

use jeton::__private::{JsonError, read_members};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::limits;
use crate::recipient::EncryptTo;
use crate::token_type::TokenType;

/// Checked settings of an issuer. Contradictory settings cannot be constructed.
///
/// ```
/// use jeton_issuer::IssuerSettings;
/// let refused = IssuerSettings::from_json(r#"{
///     "iss": "https://id.example", "publish_before_use_seconds": 3600, "max_age_seconds": 1801,
///     "profiles": [{"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]}]
/// }"#).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "`max_age_seconds`: must be between 0 and 1800 (half of publish_before_use_seconds), is 1801: a key \
///      would sign before every verifier has it"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct IssuerSettings(Written);

/// A profile: one kind of token that the service may issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Format and algorithm. Callers cannot choose them.
    pub alg: KeyKind,
    /// The type of its tokens (`typ`), for JWTs.
    #[serde(default, skip_serializing_if = "TokenType::is_default")]
    pub typ: TokenType,
    /// Token lifetime, seconds.
    pub lifetime_seconds: i64,
    /// Allowed audiences. The first is the default.
    pub audiences: Vec<String>,
    /// Recipient for whom tokens are encrypted, if set.
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
    /// Parses and checks settings.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with the field and the violated rule.
    pub fn from_json(text: &str) -> Result<IssuerSettings> {
        // Strict parsing first: serde_json accepts duplicate members of a key.
        read_members(text, limits::SETTINGS_DEPTH, |_| Ok::<_, JsonError>(()))
            .or_else(unless_serde_says_more)?;
        let written: Written = serde_json::from_str(text)
            .map_err(|error| Error::rule("settings", in_words(&error)))?;
        IssuerSettings::try_from(written)
    }

    /// Returns `iss`.
    pub fn iss(&self) -> &str {
        &self.0.iss
    }

    /// Returns the profiles.
    pub fn profiles(&self) -> &[Profile] {
        &self.0.profiles
    }

    /// Returns the profile with that name.
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.0.profiles.iter().find(|profile| profile.name == name)
    }

    /// Returns the pre-publication period: how long a key is published before it signs.
    pub fn publish_before_use_seconds(&self) -> i64 {
        self.0.publish_before_use_seconds()
    }

    /// Returns how long verifiers may cache the key set.
    pub fn max_age_seconds(&self) -> i64 {
        self.0.max_age_seconds
    }

    /// Returns how long a key signs.
    pub fn rotate_every_seconds(&self) -> i64 {
        self.0.rotate_every_seconds
    }

    /// Returns the kinds of keys that the profiles need, each once.
    pub fn kinds(&self) -> Vec<KeyKind> {
        let mut kinds = Vec::new();
        for profile in &self.0.profiles {
            if !kinds.contains(&profile.alg) {
                kinds.push(profile.alg);
            }
        }
        kinds
    }

    /// Returns these settings, except that a profile without an active signing key keeps its previous
    /// format and recipient.
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

    /// Returns the longest lifetime of a token of that kind.
    pub fn longest_lifetime_seconds(&self, kind: KeyKind) -> i64 {
        let of_kind = self.0.profiles.iter().filter(|profile| profile.alg == kind);
        of_kind
            .map(|profile| profile.lifetime_seconds)
            .max()
            .unwrap_or(0)
    }
}

/// Leaves other errors to serde_json, whose messages say what is expected.
fn unless_serde_says_more(error: JsonError) -> Result<()> {
    match error {
        JsonError::Duplicate { .. } | JsonError::TooDeep { .. } => {
            Err(Error::rule("settings", error.to_string()))
        }
        _ => Ok(()),
    }
}

/// Returns the message of serde_json without values: one may be a misplaced key.
fn in_words(error: &serde_json::Error) -> String {
    /// Short unknown names are repeated to show typing errors.
    const LONGEST_NAME: usize = 23;
    let words = error.to_string();
    let Some((found, wanted)) = words.rsplit_once(", expected ") else {
        return words;
    };
    let name = found.split('`').nth(1).unwrap_or_default();
    if found.starts_with("invalid ") {
        format!("must be {wanted}")
    } else if name.len() > LONGEST_NAME {
        format!("has an unknown field, expected {wanted}")
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
        self.publish_before_use_seconds =
            Some(seconds.unwrap_or(limits::PUBLISH_BEFORE_USE_SECONDS));
        Ok(self)
    }

    fn publish_before_use_seconds(&self) -> i64 {
        self.publish_before_use_seconds
            .unwrap_or(limits::PUBLISH_BEFORE_USE_SECONDS)
    }
}

impl From<IssuerSettings> for Written {
    fn from(settings: IssuerSettings) -> Written {
        settings.0
    }
}

fn check(s: &Written) -> Result<()> {
    name("iss", &s.iss)?;
    let publish_before_use = s.publish_before_use_seconds();
    let (max_age, every) = (s.max_age_seconds, s.rotate_every_seconds);
    if publish_before_use < limits::PUBLISH_BEFORE_USE_SECONDS_MIN {
        return Err(Error::rule(
            "publish_before_use_seconds",
            format!(
                "must be at least {}, is {publish_before_use}: a key would sign before it has reached every \
                 node and verifier",
                limits::PUBLISH_BEFORE_USE_SECONDS_MIN
            ),
        ));
    }
    if max_age < 0 || max_age > publish_before_use / 2 {
        return Err(Error::rule(
            "max_age_seconds",
            format!(
                "must be between 0 and {} (half of publish_before_use_seconds), is {max_age}: a key would \
                 sign before every verifier has it",
                publish_before_use / 2
            ),
        ));
    }
    if every < 2 * publish_before_use || every > 10 * limits::LIFETIME_SECONDS {
        return Err(Error::rule(
            "rotate_every_seconds",
            format!(
                "must be between {} (twice publish_before_use_seconds) and {}, is {every}",
                2 * publish_before_use,
                10 * limits::LIFETIME_SECONDS
            ),
        ));
    }
    if s.profiles.is_empty() || s.profiles.len() > limits::PROFILES_PER_ISSUER {
        return Err(Error::rule(
            "profiles",
            format!(
                "{} profiles: must be between 1 and {}",
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
                    "must be between 1 and {}, is {}",
                    limits::LIFETIME_SECONDS,
                    profile.lifetime_seconds
                ),
            ));
        }
        if profile.audiences.is_empty() || profile.audiences.len() > limits::AUDIENCES_PER_PROFILE {
            return Err(Error::rule(
                field("audiences"),
                format!(
                    "{} audiences: must be between 1 and {}",
                    profile.audiences.len(),
                    limits::AUDIENCES_PER_PROFILE
                ),
            ));
        }
        for audience in &profile.audiences {
            name(&field("audiences"), audience)?;
        }
        check_type(&field("typ"), profile)?;
        if let Some(to) = &profile.encrypt_to {
            to.recipient(&field("encrypt_to"), profile.alg)?;
        }
    }
    check_keys_at_once(s)
}

/// Checks that tokens of the profile can have its type.
fn check_type(field: &str, profile: &Profile) -> Result<()> {
    let is_jwt = matches!(profile.alg, KeyKind::Jws(_) | KeyKind::Mac(_));
    let why = match profile.typ {
        TokenType::Jwt => return Ok(()),
        TokenType::AccessToken if !is_jwt => {
            format!("requires a JWT algorithm, and {} is not one", profile.alg)
        }
        TokenType::AccessToken if profile.encrypt_to.is_some() => {
            "cannot be set together with `encrypt_to`".to_owned()
        }
        TokenType::AccessToken => return Ok(()),
    };
    Err(Error::rule(field, why))
}

/// Checks the number of keys: frequent rotation with long token lifetimes keeps many retired keys.
fn check_keys_at_once(s: &Written) -> Result<()> {
    let mut longest: Vec<(KeyKind, i64)> = Vec::new();
    for profile in &s.profiles {
        match longest.iter_mut().find(|(kind, _)| *kind == profile.alg) {
            Some((_, seconds)) => *seconds = profile.lifetime_seconds.max(*seconds),
            None => longest.push((profile.alg, profile.lifetime_seconds)),
        }
    }
    let every = s.rotate_every_seconds;
    // Time in the key set, in rotation periods.
    let keys = longest.iter().map(|(_, lifetime)| {
        let more = s.publish_before_use_seconds() + lifetime + limits::GONE_AFTER_SECONDS;
        1 + (more + every - 1) / every
    });
    let keys: i64 = keys.sum();
    if keys > limits::KEYS_PER_ISSUER as i64 {
        return Err(Error::rule(
            "rotate_every_seconds",
            format!(
                "{every} would keep {keys} keys until their last tokens have expired, the limit is {}: rotate \
                 less often, or shorten a `lifetime_seconds`",
                limits::KEYS_PER_ISSUER
            ),
        ));
    }
    Ok(())
}

/// Checks a name of something that is issued or revoked.
#[inline]
pub(crate) fn name(field: &str, text: &str) -> Result<()> {
    // Fast path: most names are printable ASCII.
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
        "" => format!("is empty: must have 1 to {most} bytes"),
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

    /// A rejected value may be a misplaced secret, so errors do not repeat it.
    #[test]
    fn settings_error_does_not_repeat_values() {
        const SECRET: &str = "correct, expected horse battery";
        for (text, said) in [
            (format!("{{\"iss\":[\"{SECRET}\"]}}"), "must be a string at"),
            (format!("\"{SECRET}\""), "must be struct"),
            (
                format!("{{\"{SECRET}\":1}}"),
                "has an unknown field, expected one of `iss`",
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
