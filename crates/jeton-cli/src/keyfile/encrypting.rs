//! From a key file to a recipient of a JWE.

use jeton::danger::{self, Password, Pbes2Alg};
use jeton::error::KeyProblem;
use jeton::key::{
    ContentEnc, ContentKey, EncryptionKey, EncryptionKeyRef, KeyManagementAlg, KeyWrapAlg,
    WrappingKey,
};

use super::{Form, KeyFile, Kind, LoadError, Shape, problem_of};
use crate::algorithm::Algorithm;
use crate::allow::{InsecureOption, Allowed};
use crate::exit::{Failure, Outcome};

/// A key that a JWE is encrypted to.
pub(crate) enum Recipient {
    Public(EncryptionKey),
    SymmetricKey(SymmetricKey),
}

/// A key that both sides have.
pub(crate) enum SymmetricKey {
    Wrapping(WrappingKey),
    Content(ContentKey),
    Password(Password),
}

/// What a key for encryption is requested to be for, by the call or by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Requested {
    pub(crate) alg: Option<Algorithm>,
    pub(crate) enc: Option<ContentEnc>,
}

impl KeyFile {
    /// The key to encrypt to. Of a set it is the one with that id, or the only one that can encrypt;
    /// a single key without an id gets that id.
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
                let mut fitting = self.shared(requested, allowed)?;
                // A key of 256 bits fits two encryptions; the default is the one with GCM.
                Ok(Recipient::SymmetricKey(fitting.remove(fitting.len() - 1)))
            }
            Kind::Private => Err(match self.form() {
                // The library names the member at fault.
                Form::Jwk(text) => match EncryptionKey::from_jwk(text) {
                    Err(error) => error.into(),
                    Ok(_) => LoadError::problem(KeyProblem::PrivateGiven),
                },
                _ => LoadError::problem(KeyProblem::PrivateGiven),
            }),
            Kind::Public => {
                let key = self.encryption(requested.alg, allowed).map(Recipient::Public);
                key.map_err(|error| self.explain_signing_key(refused))
            }
        }
    }

    pub(super) fn encryption(
        &self,
        alg: Option<Algorithm>,
        allowed: &Allowed,
    ) -> Result<EncryptionKey, LoadError> {
        match self.management(alg, allowed)? {
            Some(known) => {
                let key = self.public(known);
                key.map_err(|error| self.name_both_algorithms(refused, alg.map(Algorithm::name)))
            }
            // What a curve implies.
            None => {
                (self.public(KeyManagementAlg::EcdhEs)).map_err(|error| self.explain_missing_algorithm(refused))
            }
        }
    }

    /// The algorithm of a key with two halves, if the call or the key says it.
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
                format!(
                    "{} is not for a key with a public and a private half",
                    alg.name()
                ),
            )),
            (None, Some(Some(Algorithm::Sign(alg)))) => Err(LoadError::member(
                "alg",
                format!("{alg} is for signing, and a key has one use"),
            )),
            (None, Some(_)) => Err(LoadError::member(
                "alg",
                "not one that a key with a public and a private half encrypts with".to_owned(),
            )),
        }
    }

    /// The symmetric key; more than one if its length fits several encryptions and nothing says
    /// which, never none.
    pub(super) fn shared(&self, requested: Requested, allowed: &Allowed) -> Result<Vec<SymmetricKey>, LoadError> {
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
                    "not one that a symmetric key encrypts with".to_owned(),
                ));
            }
            (None, None) => return Err(self.algorithm_needed("A256KW, A256GCMKW, dir, …")),
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
                    format!("{alg} is for signing, and a key has one use"),
                ));
            }
            Algorithm::Manage(alg) => {
                return Err(LoadError::member(
                    "alg",
                    format!("{alg} is not an algorithm of a symmetric key (kty oct)"),
                ));
            }
        }])
    }

    fn password(&self, text: &str, alg: Pbes2Alg, allowed: &Allowed) -> Result<Password, LoadError> {
        self.need(allowed, InsecureOption::Pbes2, alg.name())?;
        Ok(Password::from_jwk_as(text, alg)?)
    }

    fn need(&self, allowed: &Allowed, door: InsecureOption, name: &str) -> Result<(), LoadError> {
        let what = format!("{}: key refused: alg: {name}", self.name());
        allowed.require(door, &what).map_err(LoadError::Failure)
    }

    /// An RSA key was tried as one with a curve: then it is the algorithm that is missing.
    pub(super) fn explain_missing_algorithm(&self, refused: LoadError) -> LoadError {
        match refused.key_problem() {
            Some(KeyProblem::Contradiction) if self.has_no_curve() => {
                self.algorithm_needed("RSA-OAEP-256, RSA-OAEP, RSA-OAEP-384 or RSA-OAEP-512")
            }
            _ => refused,
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
            Failure::error(format!("{}: key refused: alg: {problem}", self.name()))
                .hint(format!("say which: --alg {choices}")),
        )
    }
}

fn wrapping(text: &str, alg: KeyWrapAlg) -> jeton::Result<WrappingKey> {
    WrappingKey::from_jwk_as(text, alg)
}

/// The keys of direct encryption that the secret's length allows, the ones with GCM last.
fn fitting(text: &str) -> Result<Vec<SymmetricKey>, LoadError> {
    let mut keys = Vec::new();
    let mut refusal = None;
    for enc in ContentEnc::ALL {
        match ContentKey::from_jwk_as(text, enc) {
            Ok(key) => keys.push(SymmetricKey::Content(key)),
            // The length is refused once for every other encryption, and says the least.
            Err(error) if problem_of(error) == Some(KeyProblem::WrongLength) => {
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
    /// The key for the library's encrypter.
    pub(crate) fn key(&self) -> EncryptionKeyRef<'_> {
        match self {
            Recipient::Public(key) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Wrapping(key)) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Content(key)) => key.into(),
            Recipient::SymmetricKey(SymmetricKey::Password(key)) => key.into(),
        }
    }

    /// The content encryption that the key is for, if it is for one.
    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        match self {
            Recipient::SymmetricKey(SymmetricKey::Content(key)) => Some(key.enc()),
            _ => None,
        }
    }

    /// The name of its key management; none for a password, whose header says more than that.
    pub(crate) fn alg(&self) -> Option<&'static str> {
        match self {
            Recipient::Public(key) => Some(key.alg().name()),
            Recipient::SymmetricKey(SymmetricKey::Wrapping(key)) => Some(key.alg().name()),
            Recipient::SymmetricKey(SymmetricKey::Content(_)) => Some("dir"),
            Recipient::SymmetricKey(SymmetricKey::Password(_)) => None,
        }
    }

    /// With so many rounds of PBKDF2, if it is a password.
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
