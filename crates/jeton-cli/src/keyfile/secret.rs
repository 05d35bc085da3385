//! Reads an HMAC secret that is not in a key file: as text, base64, base64url or hexadecimal.
//!
//! The secret is in a file or an environment variable, never in an argument: other users of the machine see the
//! arguments of a process.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use base64ct::{Base64, Base64Unpadded, Base64Url, Base64UrlUnpadded, Encoding};
use clap::{ArgGroup, Args, ValueEnum};
use jeton::key::KeyFormat;
use jeton::limits;
use zeroize::Zeroizing;

use super::{Form, KeyFile};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::json::Members;

/// The name of a secret in messages.
const NAME: &str = "the secret";

/// An HMAC secret in place of a key file.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(group = ArgGroup::new("secret").args(["secret_file", "secret_env"]))]
pub(crate) struct SecretArgs {
    /// HMAC secret in this file, without the line break at its end (- for standard input); requires --alg. Never pass the secret itself: other users see the arguments of a process
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,

    /// HMAC secret in the environment variable of this name; requires --alg
    #[arg(long, value_name = "VARIABLE")]
    secret_env: Option<OsString>,

    /// Encoding of the secret; base64 with or without padding [default: text]
    #[arg(long, value_name = "ENCODING", requires = "secret")]
    secret_encoding: Option<SecretEncoding>,
}

/// How a secret is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretEncoding {
    // The bytes of the text are the secret. A doc comment would make every help long.
    Text,
    // With or without padding.
    Base64,
    // With or without padding.
    Base64url,
    Hex,
}

/// A secret as it is written, and its encoding.
pub(crate) struct Secret {
    text: Zeroizing<Vec<u8>>,
    encoding: SecretEncoding,
}

impl SecretArgs {
    /// Returns whether the caller named a secret.
    pub(crate) fn is_given(&self) -> bool {
        self.secret_file.is_some() || self.secret_env.is_some()
    }

    /// Reads the secret, if the caller named one.
    pub(crate) fn read(&self) -> Outcome<Option<Secret>> {
        let text = match (&self.secret_file, &self.secret_env) {
            (Some(path), _) => input::secret(path, limits::KEY_SET_BYTES)?,
            (None, Some(name)) => match env::var_os(name) {
                Some(value) => Zeroizing::new(value.into_encoded_bytes()),
                // The name is not repeated: it may be the secret.
                None => {
                    return Err(Failure::error(
                        "--secret-env: no environment variable has this name",
                    )
                    .hint("pass the name of the variable, not the secret"));
                }
            },
            (None, None) => return Ok(None),
        };
        Ok(Some(Secret {
            encoding: self.secret_encoding.unwrap_or(SecretEncoding::Text),
            ..Secret::of_file(&text)
        }))
    }
}

impl Secret {
    /// Returns the secret as a symmetric key without an algorithm. The caller names the algorithm: a secret can fit
    /// several, and the header of a token must not select one.
    pub(crate) fn key_file(&self) -> Outcome<KeyFile> {
        if self.text.trim_ascii().is_empty() {
            return Err(Failure::error(format!("{NAME} is empty")));
        }
        let secret = self
            .encoding
            .decode(&self.text)
            .ok_or_else(|| self.malformed(self.encoding))?;
        let mut text = Zeroizing::new(vec![0; Base64UrlUnpadded::encoded_len(&secret)]);
        let k = Base64UrlUnpadded::encode(&secret, &mut text)
            .map_err(|_| Failure::error(format!("{NAME}: too long")))?;
        let (before, after) = (r#"{"kty":"oct","k":""#, r#""}"#);
        let mut jwk = Zeroizing::new(String::with_capacity(before.len() + k.len() + after.len()));
        jwk.push_str(before);
        jwk.push_str(k);
        jwk.push_str(after);
        Ok(KeyFile {
            name: NAME.to_owned(),
            file: NAME.to_owned(),
            format: KeyFormat::Jwk,
            form: Form::Jwk(jwk),
        })
    }

    /// Returns the content of a file as a secret.
    pub(crate) fn of_file(bytes: &[u8]) -> Secret {
        Secret {
            text: Zeroizing::new(input::without_line_end(bytes).to_vec()),
            encoding: SecretEncoding::Text,
        }
    }

    /// Returns the secrets from which a symmetric JWK can have been made by mistake: its bytes are text that is still
    /// encoded, or its `k` is the secret itself.
    pub(crate) fn of_jwk(file: &KeyFile) -> Vec<Secret> {
        let Form::Jwk(text) = file.form() else {
            return Vec::new();
        };
        let members = Members::loose(text).filter(|_| file.is_symmetric());
        let k = members.and_then(|Members(members)| {
            let (_, k) = members.into_iter().find(|(name, _)| name == "k")?;
            serde_json::from_str(k.get()).ok().map(Zeroizing::new)
        });
        let k = k.unwrap_or_else(|| Zeroizing::new(String::new()));
        let k = Zeroizing::new(k.as_bytes().to_vec());
        let bytes = base64::<Base64UrlUnpadded>(&k).unwrap_or_default();
        vec![
            Secret {
                text: bytes,
                encoding: SecretEncoding::Text,
            },
            Secret {
                text: k,
                encoding: SecretEncoding::Base64url,
            },
        ]
    }

    /// Returns the bytes of the secret in each encoding in which the text can be read.
    pub(crate) fn encodings(&self) -> Vec<(SecretEncoding, Zeroizing<Vec<u8>>)> {
        let all = SecretEncoding::value_variants().iter();
        all.filter_map(|encoding| Some((*encoding, encoding.decode(&self.text)?)))
            .collect()
    }

    /// Returns the bytes of the secret in each other encoding in which the text can be read.
    pub(crate) fn other_encodings(&self) -> Vec<(SecretEncoding, Zeroizing<Vec<u8>>)> {
        let mut all = self.encodings();
        all.retain(|(encoding, _)| *encoding != self.encoding);
        all
    }

    fn malformed(&self, encoding: SecretEncoding) -> Failure {
        let fits = |other: SecretEncoding| other.decode(&self.text).is_some();
        let hint = match encoding {
            SecretEncoding::Text => "write it in base64, and add `--secret-encoding base64`",
            SecretEncoding::Base64 if fits(SecretEncoding::Base64url) => {
                "add `--secret-encoding base64url`"
            }
            SecretEncoding::Base64url if fits(SecretEncoding::Base64) => {
                "add `--secret-encoding base64`"
            }
            _ => "if the secret is text, remove `--secret-encoding`",
        };
        Failure::error(format!("{NAME} is not {}", encoding.name())).hint(hint)
    }
}

impl SecretEncoding {
    /// Returns the value of `--secret-encoding`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SecretEncoding::Text => "text",
            SecretEncoding::Base64 => "base64",
            SecretEncoding::Base64url => "base64url",
            SecretEncoding::Hex => "hex",
        }
    }

    /// Decodes a secret. White space counts only in text: programs break long lines.
    fn decode(self, text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if self == SecretEncoding::Text {
            return std::str::from_utf8(text)
                .is_ok()
                .then(|| Zeroizing::new(text.to_vec()));
        }
        let mut symbols = Zeroizing::new(Vec::with_capacity(text.len()));
        symbols.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
        let is_padded = symbols.ends_with(b"=");
        match self {
            SecretEncoding::Base64 if is_padded => base64::<Base64>(&symbols),
            SecretEncoding::Base64 => base64::<Base64Unpadded>(&symbols),
            SecretEncoding::Base64url if is_padded => base64::<Base64Url>(&symbols),
            SecretEncoding::Base64url => base64::<Base64UrlUnpadded>(&symbols),
            SecretEncoding::Hex | SecretEncoding::Text => hexadecimal(&symbols),
        }
    }
}

/// Decodes in constant time, because the text is secret.
fn base64<E: Encoding>(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let length = E::decode(text, &mut bytes).ok()?.len();
    bytes.truncate(length);
    Some(bytes)
}

fn hexadecimal(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() / 2));
    let pairs = text.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    for pair in pairs {
        bytes.push((digit(pair[0])? << 4) | digit(pair[1])?);
    }
    Some(bytes)
}
