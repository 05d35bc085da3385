//! Settings as JSON text. An unknown member is an error, so that no setting is silently ignored.

mod check;
mod rows;
mod table;
mod values;

use std::str::FromStr;

use jeton::error::codes;
use jeton::key::{Alg, ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};
use serde::de::DeserializeOwned;

pub use crate::format::Format;
pub(crate) use check::{check, check_headers, check_remote, check_unset};
pub use rows::{
    DECRYPTION, ENCRYPTION, GENERATED_KEY, IMPORTED_KEY, ISSUER, KEY_SET, LIMITS, REMOTE_KEYS,
    VERIFIER,
};
pub(crate) use rows::{
    GenerateOptions, ImportOptions, IssuerOptions, KeySetOptions, RemoteOptions, VerifierOptions,
};
pub(crate) use table::Options;
pub use table::{Kind, Name, Setting};
pub use values::KeyText;
pub(crate) use values::{Seconds, Secret, Texts};

use crate::fault::Fault;

/// Reads settings. Empty text means no settings.
pub(crate) fn read<T: Options + DeserializeOwned>(text: &str) -> Result<T, Fault> {
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

/// Returns the error for a setting whose value has another type than its row says.
#[cold]
pub fn wrong_type(rows: &'static [Setting], name: &'static str) -> Fault {
    let row = rows.iter().find(|row| row.name == name);
    Fault::option(name, row.map_or("unknown", |row| row.kind.expected()))
}

/// Names the wrong option: the text is parsed again, so that a correct one is parsed without a path. Only the name is in
/// the error: the value may be a password.
#[cold]
fn wrong<T: Options + DeserializeOwned>(text: &str, error: &serde_json::Error) -> Fault {
    let mut again = serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut again) {
        Err(found) if error.is_data() => found.path().to_string(),
        _ => String::new(),
    };
    // The position in a list is not needed.
    let path = path.split('[').next().unwrap_or_default();
    let is_name = |char: char| char.is_ascii_lowercase() || matches!(char, '_' | '.');
    if path.is_empty() || path.len() > OPTION_NAME_BYTES || !path.chars().all(is_name) {
        return Fault::Options {
            line: error.line(),
            column: error.column(),
        };
    }
    // A member of `limits` has a name of two parts.
    let name = path.rsplit('.').next().unwrap_or_default();
    let rows = if name == path { T::ROWS } else { LIMITS };
    let why = match rows.iter().find(|row| row.name == name) {
        Some(_) if error.to_string().starts_with("duplicate field") => "set twice",
        Some(row) => row.kind.expected(),
        None => "unknown, or does not apply here",
    };
    Fault::option(path.to_owned(), why)
}

/// The longest name of an option in an error.
const OPTION_NAME_BYTES: usize = 64;

const SETTINGS_BYTES: usize = 64 * 1024;

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
        for (text, expected) in [
            (
                r#"{"lifetime":"secret"}"#,
                "option `lifetime`: unknown, or does not apply here",
            ),
            (
                r#"{"leeway":"secret"}"#,
                "option `leeway`: must be a whole number of seconds, 0 or more",
            ),
            (
                r#"{"audience":7}"#,
                "option `audience`: must be a text or a list of texts",
            ),
            (
                r#"{"required":["secret",1]}"#,
                "option `required`: must be a list of texts",
            ),
            (
                r#"{"limits":{"token_byte":1}}"#,
                "option `limits.token_byte`: unknown, or does not apply here",
            ),
            (
                r#"{"limits":{"token_bytes":-1}}"#,
                "option `limits.token_bytes`: must be a whole number, 0 or more",
            ),
        ] {
            assert_eq!(message(text), expected, "{text}");
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
