//! Key files: JWK, JWK Set, PEM, DER or PASERK, told apart by what is in them.
//!
//! A key is loaded for a use: to sign, to verify, or to be shown or converted. What does not fit the
//! use is refused with the member at fault, and exit code 2.

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
pub(crate) use load_error::LoadError;
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

/// A key file that has been read, and not yet taken as a key.
pub(crate) struct KeyFile {
    name: String,
    /// What the file is called, in which it may be one key of several.
    file: String,
    is_der: bool,
    form: Form,
}

/// What a key is written as.
pub(crate) enum Form {
    Jwk(Zeroizing<String>),
    Set(Zeroizing<String>),
    /// Or DER that the library reads as PEM.
    Pem(Zeroizing<String>),
    Der(Zeroizing<Vec<u8>>),
    Paserk(Zeroizing<String>),
}

impl KeyFile {
    /// Reads a file, or standard input if it is called `-`.
    pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
        let name = input::name_of(path);
        let bytes = input::key_bytes(path, limits::KEY_SET_BYTES)?;
        KeyFile::of(&name, bytes).ok_or_else(|| {
            Failure::error(format!("{name}: not a key in any form that jeton knows"))
                .hint("a key file is a JWK, a JWK Set, PEM, DER or a PASERK")
        })
    }

    /// Takes bytes for a key file, if they look like one.
    pub(crate) fn of(name: &str, bytes: Zeroizing<Vec<u8>>) -> Option<KeyFile> {
        Some(KeyFile {
            name: name.to_owned(),
            file: name.to_owned(),
            is_der: der::is(&bytes),
            form: Form::of(bytes)?,
        })
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What it is written as.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Whether it is bytes and not text.
    pub(crate) fn is_der(&self) -> bool {
        self.is_der
    }

    /// Whether it is a private or a symmetric key, sound or not.
    pub(crate) fn holds_a_secret(&self) -> bool {
        self.kind() != Kind::Public
    }

    /// Which half of a key it is, told by its form alone.
    fn kind(&self) -> Kind {
        match &self.form {
            Form::Jwk(text) => match Shape::of(text) {
                shape if shape.kty.as_deref() == Some("oct") => Kind::Symmetric,
                shape if shape.is_private() => Kind::Private,
                _ => Kind::Public,
            },
            Form::Pem(text) if text.contains("PRIVATE KEY-----") => Kind::Private,
            Form::Der(der) => match SigningKey::from_der_as(der, SigAlg::RS256) {
                // Whatever else is wrong with it, it has the form of a private key.
                Err(error) if problem_of(error) == Some(KeyProblem::Malformed) => Kind::Public,
                _ => Kind::Private,
            },
            Form::Pem(_) | Form::Set(_) | Form::Paserk(_) => Kind::Public,
        }
    }

    /// That a set or a PASERK is not the one key that is wanted.
    fn not_one_key(&self) -> LoadError {
        LoadError::Failure(match self.form {
            Form::Paserk(_) => Failure::error(format!(
                "{}: a PASERK is a key for PASETO, not for JWT, JWS or JWE",
                self.name
            ))
            .hint("an Ed25519 key can be converted: jeton key convert --to jwk FILE"),
            _ => Failure::error(format!("{}: one key is wanted here, not a set", self.name)),
        })
    }

    /// The PASERK that it holds.
    pub(crate) fn paserk(&self) -> Outcome<&str> {
        match &self.form {
            Form::Paserk(text) => Ok(text),
            _ => Err(
                Failure::error(format!("{}: a PASETO's key is a PASERK", self.name)).hint(
                    "make one: jeton key new --paseto v4.public; an Ed25519 key can be converted: jeton key convert --to paserk FILE",
                ),
            ),
        }
    }
}

impl Form {
    /// Tells by the content.
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

/// What `openssl ecparam -genkey` writes before a key is left out: the key says its curve itself.
fn without_parameters(pem: &str) -> &str {
    const END: &str = "-----END EC PARAMETERS-----";
    match pem.split_once(END) {
        Some((parameters, key)) if parameters.starts_with("-----BEGIN EC PARAMETERS-----") => {
            key.trim_start()
        }
        _ => pem,
    }
}

/// Which half of a key a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Symmetric,
    Private,
    Public,
}

/// What is wrong with a key, if that is what an error is about.
fn problem_of(error: jeton::Error) -> Option<KeyProblem> {
    match error {
        jeton::Error::Key(error) => Some(error.problem()),
        _ => None,
    }
}

/// The members that tell which reader a JWK is for. They are not trusted: the reader checks all.
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
    /// Whether it has the member that a private key of its type has: `d`, or an AKP key's `priv`.
    pub(crate) fn is_private(&self) -> bool {
        self.d.is_some() || self.r#priv.is_some()
    }

    /// What cannot be read has no shape, and the library says why.
    pub(crate) fn of(text: &'a str) -> Shape<'a> {
        serde_json::from_str(text).unwrap_or_default()
    }
}
