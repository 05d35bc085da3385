//! Settings as JSON text. An unknown member is an error, so that no setting is silently ignored.

use std::str::FromStr;

use jeton::Limits;
use jeton::error::codes;
use jeton::key::{Alg, ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::format::{Format, Serialization};

/// Reads settings. Empty text means no settings.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    if text.is_empty() {
        return read("{}");
    }
    if text.len() > SETTINGS_BYTES {
        return Err(Fault::argument(
            &codes::INVALID_OPTION,
            "the options are longer than 65536 bytes",
        ));
    }
    // serde would read a list as a struct.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Fault::Options { line: 1, column: 1 });
    }
    serde_json::from_str(text).map_err(|error| wrong::<T>(text, &error))
}

/// Names the wrong option: the text is parsed again, so that a correct one is parsed without a path. Only the name is in
/// the error: the value may be a password.
#[cold]
fn wrong<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Fault {
    let mut again = serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut again) {
        Err(found) if error.is_data() => found.path().to_string(),
        _ => String::new(),
    };
    let is_name = |char: char| char.is_ascii_lowercase() || matches!(char, '_' | '.');
    if path.is_empty() || path.len() > OPTION_NAME_BYTES || !path.chars().all(is_name) {
        return Fault::Options {
            line: error.line(),
            column: error.column(),
        };
    }
    Fault::option(path, "does not apply here, or has the wrong type")
}

/// The longest name of an option in an error.
const OPTION_NAME_BYTES: usize = 64;

/// Returns an error for the first of these settings that is set.
pub(crate) fn check_unset<const N: usize>(
    settings: [(&'static str, bool); N],
    why: &'static str,
) -> Result<(), Fault> {
    match settings.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(Fault::option(name, why)),
        None => Ok(()),
    }
}

const SETTINGS_BYTES: usize = 64 * 1024;

/// Settings of [`Key::generate`](crate::Key::generate).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GenerateOptions {
    pub(crate) kid: Option<String>,
    /// The size of an RSA key in bits.
    pub(crate) rsa_bits: Option<usize>,
    /// The curve of a key for ECDH-ES.
    pub(crate) crv: Option<String>,
    /// The content encryption of a key for `dir`.
    pub(crate) enc: Option<String>,
}

/// Settings of [`Key::import`](crate::Key::import).
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ImportOptions {
    pub(crate) format: KeyText,
    pub(crate) alg: Option<String>,
    pub(crate) enc: Option<String>,
    pub(crate) kid: Option<String>,
    /// The PBKDF2 rounds of `insecure-password`.
    pub(crate) rounds: Option<u32>,
    #[serde(deserialize_with = "wiped")]
    pub(crate) password: Option<Zeroizing<String>>,
}

fn wiped<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Zeroizing<String>>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(Zeroizing::new))
}

/// The format of a key to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyText {
    /// A JWK, PEM, DER or PASERK, detected from the content.
    #[default]
    Any,
    /// The bytes are the secret.
    Secret,
    /// The secret in base64 or base64url, with or without padding.
    SecretBase64,
    /// The bytes are a secret, which may be shorter than its hash. For systems that cannot change their secret.
    InsecureSecret,
    /// The bytes are a password, which encrypts JWEs (PBES2).
    InsecurePassword,
    /// A public RSA key below 2,048 bits. For systems that cannot change their key.
    InsecureRsa,
    /// An X.509 certificate with the public key. The certificate is not verified.
    Certificate,
}

/// Settings of [`KeySet::import`](crate::KeySet::import).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct KeySetOptions {
    /// The algorithm of keys without `alg`.
    pub(crate) default_alg: Option<String>,
    /// The set is published by another party: secret and private keys in it are skipped.
    pub(crate) published: bool,
}

/// One text or a list of texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Texts::One(text) => vec![text],
            Texts::Several(texts) => texts,
        }
    }
}

/// Settings of [`Issuer::new`](crate::Issuer::new).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IssuerOptions {
    pub(crate) format: Format,
    pub(crate) issuer: Option<String>,
    pub(crate) audience: Option<Texts>,
    /// Seconds.
    pub(crate) lifetime: Option<u64>,
    pub(crate) without_expiry: bool,
    /// Seconds.
    pub(crate) issued_ago: Option<u64>,
    pub(crate) typ: Option<String>,
    pub(crate) cty: Option<String>,
    pub(crate) access_tokens: bool,
    pub(crate) enc: Option<String>,
    pub(crate) detached: bool,
    pub(crate) unencoded: bool,
    pub(crate) serialization: Serialization,
    pub(crate) footer: Option<String>,
    pub(crate) implicit_assertion: Option<String>,
}

/// Settings of [`Verifier::new`](crate::Verifier::new).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerifierOptions {
    pub(crate) format: Format,
    pub(crate) issuer: Option<Texts>,
    pub(crate) any_issuer: bool,
    pub(crate) audience: Option<Texts>,
    pub(crate) any_audience: bool,
    pub(crate) without_expiry: bool,
    #[serde(rename = "typ")]
    pub(crate) types: Option<Texts>,
    pub(crate) access_tokens: bool,
    pub(crate) required: Vec<String>,
    /// Seconds.
    pub(crate) leeway: Option<u64>,
    /// Seconds.
    pub(crate) max_age: Option<u64>,
    pub(crate) enc: Option<Texts>,
    pub(crate) footer: Option<String>,
    pub(crate) implicit_assertion: Option<String>,
    pub(crate) serialization: Serialization,
    /// The number of verified tokens to remember.
    pub(crate) cache: Option<usize>,
    pub(crate) limits: LimitOptions,
}

/// Limits of a verifier. `jeton::Limits` documents the defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitOptions {
    token_bytes: Option<usize>,
    header_bytes: Option<usize>,
    json_depth: Option<u32>,
    key_id_bytes: Option<usize>,
    keys_tried: Option<usize>,
}

impl LimitOptions {
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::new();
        if let Some(bytes) = self.token_bytes {
            limits = limits.token_bytes(bytes);
        }
        if let Some(bytes) = self.header_bytes {
            limits = limits.header_bytes(bytes);
        }
        if let Some(depth) = self.json_depth {
            limits = limits.json_depth(depth);
        }
        if let Some(bytes) = self.key_id_bytes {
            limits = limits.key_id_bytes(bytes);
        }
        if let Some(keys) = self.keys_tried {
            limits = limits.keys_tried(keys);
        }
        limits
    }
}

/// The algorithm of any kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnyAlg {
    Mac(MacAlg),
    Sig(SigAlg),
    Wrap(KeyWrapAlg),
    Management(KeyManagementAlg),
    /// `dir`.
    Direct,
    Paseto(&'static str),
}

/// The PASETO versions and purposes.
const PASETO: [&str; 4] = ["v3.local", "v3.public", "v4.local", "v4.public"];

impl AnyAlg {
    pub(crate) fn parse(name: &str) -> Result<AnyAlg, Fault> {
        if let Ok(alg) = Alg::from_str(name) {
            return match alg {
                Alg::Mac(alg) => Ok(AnyAlg::Mac(alg)),
                Alg::Sig(alg) => Ok(AnyAlg::Sig(alg)),
                _ => Err(unknown_alg()),
            };
        }
        if let Ok(alg) = KeyWrapAlg::from_str(name) {
            return Ok(AnyAlg::Wrap(alg));
        }
        if let Ok(alg) = KeyManagementAlg::from_str(name) {
            return Ok(AnyAlg::Management(alg));
        }
        if name == "dir" {
            return Ok(AnyAlg::Direct);
        }
        let paseto = PASETO.into_iter().find(|known| *known == name);
        paseto.map(AnyAlg::Paseto).ok_or_else(unknown_alg)
    }
}

#[cold]
fn unknown_alg() -> Fault {
    Fault::option("alg", "not a supported algorithm")
}

/// Returns the content encryption with this name.
pub(crate) fn content_enc(name: &str) -> Result<ContentEnc, Fault> {
    ContentEnc::from_str(name)
        .map_err(|_| Fault::option("enc", "not a supported content encryption"))
}

/// Returns the signature or MAC algorithm with this name.
pub(crate) fn signature_alg(name: &'static str, text: &str) -> Result<Alg, Fault> {
    Alg::from_str(text).map_err(|_| Fault::option(name, "not a signature or MAC algorithm"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn message(text: &str) -> String {
        read::<VerifierOptions>(text).unwrap_err().to_string()
    }

    #[test]
    fn error_names_the_option_and_not_its_value() {
        let why = "does not apply here, or has the wrong type";
        for (text, name) in [
            (r#"{"lifetime":"secret"}"#, "lifetime"),
            (r#"{"leeway":"secret"}"#, "leeway"),
            (r#"{"audience":7}"#, "audience"),
            (r#"{"limits":{"token_byte":1}}"#, "limits.token_byte"),
        ] {
            assert_eq!(message(text), format!("option `{name}`: {why}"), "{text}");
        }
        let long = format!(r#"{{"{}":1}}"#, "x".repeat(65));
        for text in [r#"{"leeway":"#, r#"["a"]"#, r#"{"<script>":1}"#, &long] {
            assert!(
                message(text).starts_with("the options are not a JSON object: line 1"),
                "{text}"
            );
        }
    }
}
