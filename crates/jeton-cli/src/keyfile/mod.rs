//! Reads key files: JWK, JWK Set, PEM, DER or PASERK, detected by their content.
//!
//! A key is loaded for one use: to sign, to verify, to encrypt, to decrypt, to be shown or to be converted. A key
//! that does not fit is an error that names the member at fault, with exit code 2.

mod any;
mod argument;
mod decrypting;
mod der;
mod encrypting;
mod load_error;
mod set;
mod signing;
mod verifying;

pub(crate) use any::{AnyKey, Half};
pub(crate) use argument::{
    DecryptionKeyFile, EncryptionKeyFiles, SigningKeyFile, SigningKeyFiles, TokenDecryptionKeyFile,
    TokenEncryptionKeyFile, VerifyingKeyFile,
};
pub(crate) use encrypting::Recipient;
pub(crate) use load_error::{LoadError, PREFIX as KEY_ERROR_PREFIX};
pub(crate) use set::{Loaded, Skipped};
pub(crate) use signing::Signer;

use std::borrow::Cow;
use std::path::Path;

use jeton::error::KeyProblem;
use jeton::key::{SigAlg, SigningKey};
use jeton::limits;
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input;

/// A key file that has been read and not yet parsed as a key.
pub(crate) struct KeyFile {
    name: String,
    /// The name of the whole file, if this is one key of a set.
    file: String,
    is_der: bool,
    form: Form,
}

/// The format of a key file.
pub(crate) enum Form {
    Jwk(Zeroizing<String>),
    Set(Zeroizing<String>),
    /// PEM, or DER that was converted to PEM for the library.
    Pem(Zeroizing<String>),
    Der(Zeroizing<Vec<u8>>),
    Paserk(Zeroizing<String>),
}

impl KeyFile {
    /// Reads a file; `-` is standard input.
    pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
        let name = input::name_of(path);
        let bytes = input::key_bytes(path, limits::KEY_SET_BYTES)?;
        KeyFile::of(&name, bytes).ok_or_else(|| {
            Failure::error(format!("{name}: unknown key format"))
                .hint("a key file is a JWK, a JWK Set, PEM, DER or a PASERK; to make a key, run `jeton key new --alg ES256`")
        })
    }

    /// Returns a key file if the bytes have one of its formats.
    pub(crate) fn of(name: &str, bytes: Zeroizing<Vec<u8>>) -> Option<KeyFile> {
        Some(KeyFile {
            name: name.to_owned(),
            file: name.to_owned(),
            is_der: der::is(&bytes),
            form: Form::of(bytes)?,
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

    /// Returns whether the file is DER.
    pub(crate) fn is_der(&self) -> bool {
        self.is_der
    }

    /// Returns whether it is a private or a symmetric key, valid or not.
    pub(crate) fn has_secret(&self) -> bool {
        self.kind() != Kind::Public
    }

    /// Returns the kind of key, judged by its form alone.
    fn kind(&self) -> Kind {
        match &self.form {
            Form::Jwk(text) => match Shape::of(text) {
                shape if shape.kty.as_deref() == Some("oct") => Kind::Symmetric,
                shape if shape.is_private() => Kind::Private,
                _ => Kind::Public,
            },
            Form::Pem(text) if text.contains("PRIVATE KEY-----") => Kind::Private,
            Form::Der(der) => match SigningKey::from_der_as(der, SigAlg::RS256) {
                // Any other error means that it has the form of a private key.
                Err(error) if problem_of(&error) == Some(KeyProblem::Malformed) => Kind::Public,
                _ => Kind::Private,
            },
            Form::Pem(_) | Form::Set(_) | Form::Paserk(_) => Kind::Public,
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
            _ => Err(
                Failure::error(format!("{}: a key for PASETO must be a PASERK", self.name)).hint(
                    "to make one, run `jeton key new --paseto v4.public`; to convert an Ed25519 key, run `jeton key convert --to paserk FILE`",
                ),
            ),
        }
    }
}

impl Form {
    /// Detects the format by the content.
    fn of(bytes: Zeroizing<Vec<u8>>) -> Option<Form> {
        if der::is(&bytes) {
            return Some(match der::in_pem(&bytes) {
                Some(pem) => Form::Pem(pem),
                None => Form::Der(bytes),
            });
        }
        let text = std::str::from_utf8(&bytes).ok()?.trim();
        let owned = || Zeroizing::new(text.to_owned());
        match text.as_bytes() {
            [b'{', ..] if Shape::of(text).keys.is_some() => Some(Form::Set(owned())),
            [b'{', ..] => Some(Form::Jwk(owned())),
            [b'k', b'1'..=b'4', b'.', ..] => Some(Form::Paserk(owned())),
            _ if text.contains("-----BEGIN ") => Some(Form::Pem(Zeroizing::new(
                without_parameters(text).to_owned(),
            ))),
            _ => None,
        }
    }
}

/// Removes the parameters that `openssl ecparam -genkey` writes before a key: the key also names its curve.
fn without_parameters(pem: &str) -> &str {
    const END: &str = "-----END EC PARAMETERS-----";
    match pem.split_once(END) {
        Some((parameters, key)) if parameters.starts_with("-----BEGIN EC PARAMETERS-----") => {
            key.trim_start()
        }
        _ => pem,
    }
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
        jeton::Error::Key(error) => Some(error.problem()),
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
