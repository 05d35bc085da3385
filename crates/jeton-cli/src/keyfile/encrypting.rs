//! Loads the key of a JWE recipient.

use jeton::danger::{self, Password, Pbes2Alg};
use jeton::error::KeyProblem;
use jeton::key::{
    ContentEnc, ContentKey, EncryptionKey, EncryptionKeyRef, KeyManagementAlg, KeyWrapAlg,
    WrappingKey,
};

use super::{Form, KEY_ERROR_PREFIX as PREFIX, KeyFile, Kind, LoadError, Shape, problem_of};
use crate::algorithm::Algorithm;
use crate::allow::{Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};

/// A key that a JWE is encrypted for.
pub(crate) enum Recipient {
    Public(EncryptionKey),
    SymmetricKey(SymmetricKey),
}

/// A key that sender and recipient share.
pub(crate) enum SymmetricKey {
    Wrapping(WrappingKey),
    Content(ContentKey),
    Password(Password),
}

/// The algorithms that the caller requested for an encryption key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Requested {
    pub(crate) alg: Option<Algorithm>,
    pub(crate) enc: Option<ContentEnc>,
}

impl KeyFile {
    /// Loads the key to encrypt for: the key of a set with this id, or the only one that can encrypt. A single key
    /// without an id gets this id.
    pub(crate) fn to_encrypt(
        &self,
        requested: Requested,
        kid: Option<&str>,
        allowed: &Allowed,
    ) -> Outcome<Recipient> {
        let load = |file: &KeyFile| file.recipient(requested, allowed);
        self.one_of(
            "encrypt",
            kid,
            load,
            Recipient::key_id,
            Recipient::with_key_id,
        )
    }

    fn recipient(&self, requested: Requested, allowed: &Allowed) -> Result<Recipient, LoadError> {
        match self.kind() {
            Kind::Symmetric => {
                let mut fitting = self.symmetric(requested, allowed)?;
                // A key of 256 bits fits two content encryptions; the default is GCM.
                Ok(Recipient::SymmetricKey(fitting.remove(fitting.len() - 1)))
            }
            Kind::Private => Err(match self.form() {
                // The error of the library names the member at fault.
                Form::Jwk(text) => match EncryptionKey::from_jwk(text) {
                    Err(error) => error.into(),
                    Ok(_) => LoadError::problem(KeyProblem::PrivateGiven),
                },
                _ => LoadError::problem(KeyProblem::PrivateGiven),
            }),
            Kind::Public => {
                let key = self
                    .encryption(requested.alg, allowed)
                    .map(Recipient::Public);
                key.map_err(|error| self.explain_signing_key(error))
            }
        }
    }

    pub(super) fn encryption(
        &self,
        alg: Option<Algorithm>,
        allowed: &Allowed,
    ) -> Result<EncryptionKey, LoadError> {
        match self.management(alg, allowed)? {
            Some(known) => self.public(known),
            // A key on a curve without `alg` is for ECDH-ES.
            None => (self.public(KeyManagementAlg::EcdhEs))
                .map_err(|error| self.explain_missing_algorithm(error)),
        }
    }

    /// Returns the algorithm of an asymmetric key, if the caller or the key names one.
    pub(super) fn management(
        &self,
        alg: Option<Algorithm>,
        allowed: &Allowed,
    ) -> Result<Option<KeyManagementAlg>, LoadError> {
        let own = match self.form() {
            Form::Jwk(text) => Shape::of(text).alg.map(|name| Algorithm::of(&name)),
            _ => None,
        };
        match (alg, own) {
            (None, None) => Ok(None),
            (Some(Algorithm::Manage(alg)), _) | (None, Some(Some(Algorithm::Manage(alg)))) => {
                if alg == danger::RSA1_5 {
                    self.need(allowed, InsecureOption::Rsa1_5, "RSA1_5")?;
                }
                Ok(Some(alg))
            }
            (Some(alg), _) => Err(LoadError::member(
                "alg",
                format!("{} is not for an asymmetric key", alg.name()),
            )),
            (None, Some(Some(Algorithm::Sign(alg)))) => Err(LoadError::member(
                "alg",
                format!("{alg} is for signatures, and a key has one use"),
            )),
            (None, Some(_)) => Err(LoadError::member(
                "alg",
                "not an encryption algorithm for an asymmetric key".to_owned(),
            )),
        }
    }

    /// Loads the symmetric key. If its length fits several content encryptions and none is requested, there is one
    /// key for each.
    pub(super) fn symmetric(
        &self,
        requested: Requested,
        allowed: &Allowed,
    ) -> Result<Vec<SymmetricKey>, LoadError> {
        let Form::Jwk(text) = self.form() else {
            return Err(self.not_one_key());
        };
        let own = Shape::of(text).alg.map(|name| Algorithm::of(&name));
        let alg = match (requested.alg, own) {
            (Some(alg), _) => alg,
            (None, Some(Some(alg))) => alg,
            (None, Some(None)) => {
                return Err(LoadError::member(
                    "alg",
                    "not an encryption algorithm for a symmetric key (kty oct)".to_owned(),
                ));
            }
            (None, None) => return Err(self.algorithm_needed("`--alg A256KW`, A256GCMKW, dir, …")),
        };
        Ok(vec![match alg {
            Algorithm::Wrap(alg) => SymmetricKey::Wrapping(wrapping(text, alg)?),
            Algorithm::Content(enc) => SymmetricKey::Content(ContentKey::from_jwk_as(text, enc)?),
            Algorithm::Password(alg) => SymmetricKey::Password(self.password(text, alg, allowed)?),
            Algorithm::Direct => match (requested.enc, own) {
                (Some(enc), _) | (None, Some(Some(Algorithm::Content(enc)))) => {
                    SymmetricKey::Content(ContentKey::from_jwk_as(text, enc)?)
                }
                _ => return fitting(text),
            },
            Algorithm::Sign(alg) => {
                return Err(LoadError::member(
                    "alg",
                    format!("{alg} is for signatures, and a key has one use"),
                ));
            }
            Algorithm::Manage(alg) => {
                return Err(LoadError::member(
                    "alg",
                    format!("{alg} is not for a symmetric key (kty oct)"),
                ));
            }
        }])
    }

    fn password(
        &self,
        text: &str,
        alg: Pbes2Alg,
        allowed: &Allowed,
    ) -> Result<Password, LoadError> {
        self.need(allowed, InsecureOption::Pbes2, alg.name())?;
        Ok(Password::from_jwk_as(text, alg)?)
    }

    fn need(&self, allowed: &Allowed, option: InsecureOption, name: &str) -> Result<(), LoadError> {
        let what = format!("{}: {PREFIX}alg: {name}", self.name());
        allowed.require(option, &what).map_err(LoadError::Failure)
    }

    /// For an RSA key that was tried as a key on a curve, reports the missing algorithm.
    pub(super) fn explain_missing_algorithm(&self, error: LoadError) -> LoadError {
        match error.key_problem() {
            Some(KeyProblem::WrongKeyType) if self.has_no_curve() => self
                .algorithm_needed("`--alg RSA-OAEP-256`, RSA-OAEP, RSA-OAEP-384 or RSA-OAEP-512"),
            _ => error,
        }
    }

    fn has_no_curve(&self) -> bool {
        match self.form() {
            Form::Jwk(text) => Shape::of(text).kty.as_deref() == Some("RSA"),
            _ => true,
        }
    }

    fn algorithm_needed(&self, choices: &str) -> LoadError {
        let problem = KeyProblem::AlgorithmNeeded;
        LoadError::Failure(
            Failure::error(format!("{}: {PREFIX}alg: {problem}", self.name()))
                .hint(format!("add {choices}")),
        )
    }
}

fn wrapping(text: &str, alg: KeyWrapAlg) -> jeton::Result<WrappingKey> {
    WrappingKey::from_jwk_as(text, alg)
}

/// Returns the keys of direct encryption that fit the length of the secret, GCM last.
fn fitting(text: &str) -> Result<Vec<SymmetricKey>, LoadError> {
    let mut keys = Vec::new();
    let mut refusal = None;
    for &enc in ContentEnc::ALL {
        match ContentKey::from_jwk_as(text, enc) {
            Ok(key) => keys.push(SymmetricKey::Content(key)),
            // Every other content encryption reports the length; it is the least specific error.
            Err(error) if problem_of(&error) == Some(KeyProblem::WrongLength) => {
                refusal.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match (keys.is_empty(), refusal) {
        (true, Some(error)) => Err(error.into()),
        _ => Ok(keys),
    }
}

impl Recipient {
    /// Returns the key for the library's encrypter.
    pub(crate) fn key(&self) -> EncryptionKeyRef<'_> {
        match self {
            Recipient::Public(key) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Wrapping(key)) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Content(key)) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Password(key)) => key.into(),
        }
    }

    /// Returns the content encryption, if the key is for direct encryption.
    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        match self {
            Recipient::SymmetricKey(SymmetricKey::Content(key)) => Some(key.enc()),
            _ => None,
        }
    }

    /// Returns the name of the key management; `None` for a password, whose header has more members.
    pub(crate) fn alg(&self) -> Option<&'static str> {
        match self {
            Recipient::Public(key) => Some(key.alg().name()),
            Recipient::SymmetricKey(SymmetricKey::Wrapping(key)) => Some(key.alg().name()),
            Recipient::SymmetricKey(SymmetricKey::Content(_)) => Some("dir"),
            Recipient::SymmetricKey(SymmetricKey::Password(_)) => None,
        }
    }

    /// Sets the PBKDF2 rounds, if it is a password.
    pub(crate) fn rounds(self, rounds: u32) -> jeton::Result<Recipient> {
        Ok(match self {
            Recipient::SymmetricKey(SymmetricKey::Password(key)) => {
                Recipient::SymmetricKey(SymmetricKey::Password(key.rounds(rounds)?))
            }
            other => other,
        })
    }

    pub(crate) fn is_password(&self) -> bool {
        matches!(self, Recipient::SymmetricKey(SymmetricKey::Password(_)))
    }

    fn key_id(&self) -> Option<&str> {
        match self {
            Recipient::Public(key) => key.key_id(),
            Recipient::SymmetricKey(SymmetricKey::Wrapping(key)) => key.key_id(),
            Recipient::SymmetricKey(SymmetricKey::Content(key)) => key.key_id(),
            Recipient::SymmetricKey(SymmetricKey::Password(key)) => key.key_id(),
        }
    }

    fn with_key_id(self, kid: &str) -> jeton::Result<Recipient> {
        Ok(match self {
            Recipient::Public(key) => Recipient::Public(key.with_key_id(kid)?),
            Recipient::SymmetricKey(shared) => Recipient::SymmetricKey(match shared {
                SymmetricKey::Wrapping(key) => SymmetricKey::Wrapping(key.with_key_id(kid)?),
                SymmetricKey::Content(key) => SymmetricKey::Content(key.with_key_id(kid)?),
                SymmetricKey::Password(key) => SymmetricKey::Password(key.with_key_id(kid)?),
            }),
        })
    }
}
