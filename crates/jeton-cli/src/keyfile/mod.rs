//! Reads key files: JWK, JWK Set, PEM, DER or PASERK, detected by their content.
//!
//! A key is loaded for one use: to sign, to verify, to encrypt, to decrypt, to be shown or to be converted. A key
//! that does not fit is an error that names the member at fault, with exit code 2.

mod any;
mod argument;
mod decrypting;
mod encrypting;
mod ignored;
mod key_use;
mod load_error;
mod other_input;
mod remote;
mod secret;
mod set;
mod signing;
mod verifying;

pub(crate) use any::{AnyKey, Half};
pub(crate) use argument::{
    ContentEncryption, DecryptionKeyFile, EncryptionKeyFiles, KeyPassword, SigningKeyFile,
    SigningKeyFiles, TokenDecryptionKeyFile, TokenEncryptionKeyFile, VerifyingKeyFile,
    suggest_secret,
};
pub(crate) use encrypting::Recipient;
pub(crate) use key_use::key_use;
pub(crate) use load_error::{LoadError, PREFIX as KEY_ERROR_PREFIX};
pub(crate) use secret::{Secret, SecretArgs, SecretEncoding};
pub(crate) use set::{Loaded, Skipped};
pub(crate) use signing::Signer;

use std::borrow::Cow;
use std::path::Path;

use jeton::error::{FoundInput, KeyProblem};
use jeton::key::{KeyFormat, KeyHalf};
use jeton::limits;
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input;

/// The hint for a file of an unknown format.
const UNKNOWN_FORMAT: &str = "a key file is a JWK, a JWK Set, PEM, DER or a PASERK; to make a key of a secret for HMAC, run `jeton key import --secret-file FILE --alg HS256`; to make a new key, run `jeton key new --alg ES256`";

/// The same hint where no secret fits: the caller named an algorithm for public keys.
const FORMATS: &str = "a key file is a JWK, a JWK Set, PEM, DER or a PASERK; to make a new key, run `jeton key new --alg ES256`";

/// The hint for a file that is not a PASERK.
const PASERK: &str = "to make a PASERK, run `jeton key new --paseto v4.public`; to convert an Ed25519 key, run `jeton key convert --to paserk FILE`";

/// A key file that has been read and not yet parsed as a key.
#[derive(Clone)]
pub(crate) struct KeyFile {
    name: String,
    /// The name of the whole file, if this is one key of a set.
    file: String,
    format: KeyFormat,
    form: Form,
}

/// The format of a key file.
#[derive(Clone)]
pub(crate) enum Form {
    Jwk(Zeroizing<String>),
    Set(Zeroizing<String>),
    /// DER, also from PEM or base64.
    Der(Zeroizing<Vec<u8>>, KeyHalf),
    Paserk(Zeroizing<String>),
    /// Several files, which together are a key set.
    Several(Vec<KeyFile>),
}

impl KeyFile {
    /// Combines files to a key set. A single file stays as it is.
    pub(crate) fn of_several(mut files: Vec<KeyFile>) -> Outcome<KeyFile> {
        match files.len() {
            0 => Err(Failure::error("no key: pass --key")),
            1 => Ok(files.remove(0)),
            count => Ok(KeyFile {
                name: format!("the {count} key files"),
                file: "FILE".to_owned(),
                format: KeyFormat::JwkSet,
                form: Form::Several(files),
            }),
        }
    }

    /// Reads a file; `-` is standard input. Notes the members that are ignored.
    pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
        KeyFile::read_as(path, None).inspect(KeyFile::note_ignored)
    }

    /// Reads a file that may be encrypted. Notes the members that are ignored.
    pub(crate) fn read_encrypted(path: &Path, password: &KeyPassword) -> Outcome<KeyFile> {
        KeyFile::read_as(path, Some(password)).inspect(KeyFile::note_ignored)
    }

    /// Reads a file that must have a key for PASETO.
    pub(crate) fn read_paserk(path: &Path) -> Outcome<KeyFile> {
        KeyFile::read(path).map_err(|failure| match failure.hint_text() {
            Some(UNKNOWN_FORMAT) => failure.hint(PASERK),
            _ => failure,
        })
    }

    /// Reads a file without notes. `password` is `None` in a command that has no option for it.
    pub(crate) fn read_as(path: &Path, password: Option<&KeyPassword>) -> Outcome<KeyFile> {
        let name = input::name_of(path);
        let bytes = input::key_bytes(path, limits::KEY_SET_BYTES)?;
        let has_option = password.is_some();
        let password = password.map(KeyPassword::read).transpose()?.flatten();
        let password = password.as_ref().map(|text| text.as_bytes());
        KeyFile::of_encrypted(&name, &bytes, password).map_err(|error| match problem_of(&error) {
            Some(KeyProblem::Found(FoundInput::EncryptedPkcs8)) => {
                let hint = if has_option {
                    "to decrypt it, add `--key-password-file FILE`".to_owned()
                } else {
                    let command = "jeton key public --key-password-file PASSWORD_FILE";
                    format!("to get the public key, run `{command} {name}`")
                };
                Failure::error(format!("{name}: the key is encrypted")).hint(hint)
            }
            Some(KeyProblem::Found(
                FoundInput::OpenSshPrivateKey | FoundInput::OpenSshPublicKey,
            )) if is_openssh_ed25519(&bytes) => Failure::error(format!(
                "{name}: {KEY_ERROR_PREFIX}this is an Ed25519 key of OpenSSH"
            ))
            .hint(
                "ssh-keygen cannot convert it; to make a new key, run `jeton key new --alg EdDSA`",
            ),
            Some(KeyProblem::Found(found)) => other_input::failure(path, &name, &bytes, found),
            Some(KeyProblem::Malformed) => {
                Failure::error(format!("{name}: unknown key format")).hint(UNKNOWN_FORMAT)
            }
            _ => Failure::error(format!("{name}: {}", load_error::message_of(error))),
        })
    }

    /// Reads the public key of a certificate, which nothing checks; `-` is standard input.
    pub(crate) fn read_certificate(path: &Path) -> Outcome<KeyFile> {
        let name = input::name_of(path);
        let bytes = input::key_bytes(path, limits::KEY_SET_BYTES)?;
        let key = jeton::key::AnyKey::from_certificate(&bytes).map_err(|error| {
            let why = load_error::message_of(error);
            Failure::error(format!("{name}: {why}"))
                .hint("if it is a key, remove `--from-certificate`")
        })?;
        Ok(KeyFile {
            file: name.clone(),
            name,
            format: key.format(),
            form: Form::Der(
                Zeroizing::new(key.der().unwrap_or_default().to_vec()),
                key.half(),
            ),
        })
    }

    /// Detects the format by the content.
    pub(crate) fn of(name: &str, bytes: &[u8]) -> jeton::Result<KeyFile> {
        KeyFile::of_encrypted(name, bytes, None)
    }

    fn of_encrypted(name: &str, bytes: &[u8], password: Option<&[u8]>) -> jeton::Result<KeyFile> {
        let (format, form) = match Form::json(bytes)? {
            Some(json) => json,
            None => {
                let key = match password {
                    None => jeton::key::AnyKey::from_bytes(bytes)?,
                    Some(password) => {
                        jeton::key::AnyKey::from_bytes_with_password(bytes, password)?
                    }
                };
                let form = match (key.der(), key.text()) {
                    (Some(der), _) => Form::Der(Zeroizing::new(der.to_vec()), key.half()),
                    (None, text) => {
                        Form::Paserk(Zeroizing::new(text.unwrap_or_default().to_owned()))
                    }
                };
                (key.format(), form)
            }
        };
        Ok(KeyFile {
            name: name.to_owned(),
            file: name.to_owned(),
            format,
            form,
        })
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the format.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the detected format.
    pub(crate) fn format(&self) -> KeyFormat {
        self.format
    }

    /// Base64 alone could also be a secret, so it needs an algorithm.
    fn needs_named_algorithm(&self) -> bool {
        self.format == KeyFormat::Base64
    }

    /// Returns whether it is a private or a symmetric key, valid or not.
    pub(crate) fn has_secret(&self) -> bool {
        self.kind() != Kind::Public
    }

    /// Returns whether it is a symmetric key, valid or not.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.kind() == Kind::Symmetric
    }

    /// Returns the kind of key, judged by its form alone.
    fn kind(&self) -> Kind {
        match &self.form {
            Form::Jwk(text) => match Shape::of(text) {
                shape if shape.kty.as_deref() == Some("oct") => Kind::Symmetric,
                shape if shape.is_private() => Kind::Private,
                _ => Kind::Public,
            },
            Form::Der(_, KeyHalf::Private) => Kind::Private,
            Form::Der(..) | Form::Set(_) | Form::Paserk(_) | Form::Several(_) => Kind::Public,
        }
    }

    /// Returns the error for a set or a PASERK where one JOSE key is expected.
    fn not_one_key(&self) -> LoadError {
        LoadError::Failure(match self.form {
            Form::Paserk(_) => Failure::error(format!(
                "{}: a PASERK is for PASETO, not for JWT, JWS or JWE",
                self.name
            ))
            .hint("to convert an Ed25519 key, run `jeton key convert --to jwk FILE`"),
            _ => Failure::error(format!("{}: expected one key, got a key set", self.name)),
        })
    }

    /// Returns the PASERK.
    pub(crate) fn paserk(&self) -> Outcome<&str> {
        match &self.form {
            Form::Paserk(text) => Ok(text),
            Form::Several(_) => Err(Failure::error(format!(
                "{}: a PASETO has one key, and it must be a PASERK",
                self.name
            ))),
            _ => Err(
                Failure::error(format!("{}: a key for PASETO must be a PASERK", self.name))
                    .hint(PASERK),
            ),
        }
    }
}

impl Form {
    /// Recognizes JSON, which may be invalid: the error of its reader is more precise. JSON that is known to be no
    /// key is an error that says what it is.
    fn json(bytes: &[u8]) -> jeton::Result<Option<(KeyFormat, Form)>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Ok(None);
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.starts_with('{') {
            return Ok(None);
        }
        let is_other =
            |error: &jeton::Error| matches!(problem_of(error), Some(KeyProblem::Found(_)));
        if let Err(error) = jeton::key::AnyKey::from_bytes(bytes)
            && is_other(&error)
        {
            return Err(error);
        }
        let owned = Zeroizing::new(text.to_owned());
        Ok(Some(match Shape::of(text).keys {
            Some(_) => (KeyFormat::JwkSet, Form::Set(owned)),
            None => (KeyFormat::Jwk, Form::Jwk(owned)),
        }))
    }
}

/// Removes the advice for secrets from a failure, if no secret fits the algorithm.
pub(crate) fn without_secret_hint(failure: Failure, is_asymmetric: bool) -> Failure {
    match failure.hint_text() {
        Some(UNKNOWN_FORMAT) if is_asymmetric => failure.hint(FORMATS),
        _ => failure,
    }
}

/// Returns whether a key in a format of OpenSSH is for Ed25519. Other programs cannot convert such a key.
fn is_openssh_ed25519(bytes: &[u8]) -> bool {
    const NAME: &str = "ssh-ed25519";
    let text = Zeroizing::new(String::from_utf8_lossy(bytes).into_owned());
    let mut body = Zeroizing::new(String::with_capacity(text.len()));
    for line in text.lines().filter(|line| !line.starts_with("-----")) {
        body.extend(line.chars().filter(|c| !c.is_whitespace()));
    }
    let decoded = base64_simd::STANDARD
        .decode_to_vec(body.as_bytes())
        .map(Zeroizing::new);
    let name = NAME.as_bytes();
    text.contains(NAME)
        || decoded.is_ok_and(|bytes| bytes.windows(name.len()).any(|window| window == name))
}

/// The kind of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Symmetric,
    Private,
    Public,
}

/// Returns the problem, if the error is about a key.
fn problem_of(error: &jeton::Error) -> Option<KeyProblem> {
    match error {
        jeton::Error::Key(error) => Some(error.problem().clone()),
        _ => None,
    }
}

/// The members that select the reader of a JWK. They are not trusted: the reader checks every member.
#[derive(Default, Deserialize)]
pub(crate) struct Shape<'a> {
    #[serde(borrow)]
    pub(crate) kty: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) alg: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) crv: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "use")]
    pub(crate) intended: Option<Cow<'a, str>>,
    d: Option<IgnoredAny>,
    r#priv: Option<IgnoredAny>,
    pub(crate) keys: Option<IgnoredAny>,
}

impl<'a> Shape<'a> {
    /// Returns whether it has the private member of its key type: `d`, or `priv` of an AKP key.
    pub(crate) fn is_private(&self) -> bool {
        self.d.is_some() || self.r#priv.is_some()
    }

    /// Reads the members. For invalid JSON all are empty, and the library reports the error.
    pub(crate) fn of(text: &'a str) -> Shape<'a> {
        serde_json::from_str(text).unwrap_or_default()
    }
}
