//! Loads a key that signs.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::jwt::IssuerKey;
use jeton::key::{Alg, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};

use super::{Form, KeyFile, Kind, LoadError, Shape, problem_of};
use crate::allow::{Allowed, InsecureOption};
use crate::exit::Outcome;

/// A key for signatures or MACs.
pub(crate) enum Signer {
    Mac(MacKey),
    Private(SigningKey),
}

impl KeyFile {
    /// Loads the key to sign with: the key of a set with this id, or the only one that can sign. A single key
    /// without an id gets this id.
    pub(crate) fn to_sign(
        &self,
        alg: Option<Alg>,
        kid: Option<&str>,
        allowed: &Allowed,
    ) -> Outcome<Signer> {
        let load = |file: &KeyFile| file.signer(alg, allowed);
        self.one_of("sign", kid, load, Signer::key_id, Signer::with_key_id)
    }

    pub(super) fn signer(&self, alg: Option<Alg>, allowed: &Allowed) -> Result<Signer, LoadError> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg, allowed).map(Signer::Mac),
            Kind::Private | Kind::Public => {
                let key = self.signing(alg).map(Signer::Private);
                key.map_err(|error| {
                    self.explain_encryption_key(self.explain_weak_signing_key(error, allowed))
                })
            }
        }
    }

    /// Explains that --allow weak-keys does not enable weak signing keys.
    fn explain_weak_signing_key(&self, error: LoadError, allowed: &Allowed) -> LoadError {
        match error.key_problem() {
            Some(KeyProblem::TooWeak) if allowed.has(InsecureOption::WeakKeys) => {
                LoadError::Failure(self.failure(error).hint(
                    "--allow weak-keys enables verification only; to make a new key, run `jeton key new --alg NAME`",
                ))
            }
            _ => error,
        }
    }

    pub(super) fn mac(&self, alg: Option<Alg>, allowed: &Allowed) -> Result<MacKey, LoadError> {
        let Form::Jwk(text) = self.form() else {
            return Err(self.not_one_key());
        };
        let alg = match alg {
            None => None,
            Some(Alg::Mac(alg)) => Some(alg),
            Some(alg) => {
                return Err(LoadError::member(
                    "alg",
                    format!("{alg} is not for a symmetric key (kty oct)"),
                ));
            }
        };
        let key = match alg {
            None => MacKey::from_jwk(text),
            Some(alg) => MacKey::from_jwk_as(text, alg),
        };
        match key {
            Err(error)
                if problem_of(&error) == Some(KeyProblem::TooWeak)
                    && allowed.has(InsecureOption::WeakKeys) =>
            {
                let own_alg = || Shape::of(text).alg?.parse::<MacAlg>().ok();
                let alg = alg.or_else(own_alg).ok_or(error)?;
                Ok(danger::weak_mac_key_from_jwk(text, alg)?)
            }
            Err(error) if problem_of(&error) == Some(KeyProblem::TooWeak) => {
                Err(LoadError::too_weak(error, allowed))
            }
            key => Ok(key?),
        }
    }

    pub(super) fn signing(&self, alg: Option<Alg>) -> Result<SigningKey, LoadError> {
        let alg = signature_alg(alg)?;
        Ok(match (self.form(), alg) {
            (Form::Jwk(text), None) => SigningKey::from_jwk(text)?,
            (Form::Jwk(text), Some(alg)) => SigningKey::from_jwk_as(text, alg)?,
            (Form::Der(..), None) if self.needs_named_algorithm() => {
                return Err(LoadError::problem(KeyProblem::AlgorithmNeeded));
            }
            (Form::Der(der, _), None) => SigningKey::from_der(der)?,
            (Form::Der(der, _), Some(alg)) => SigningKey::from_der_as(der, alg)?,
            (Form::Set(_) | Form::Paserk(_) | Form::Several(_), _) => {
                return Err(self.not_one_key());
            }
        })
    }
}

impl Signer {
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            Signer::Mac(key) => key.key_id(),
            Signer::Private(key) => key.key_id(),
        }
    }

    /// Returns the name of the algorithm.
    pub(crate) fn alg(&self) -> &'static str {
        match self {
            Signer::Mac(key) => key.alg().name(),
            Signer::Private(key) => key.alg().name(),
        }
    }

    /// Returns the key for the library's signers.
    pub(crate) fn into_issuer_key(self) -> IssuerKey {
        match self {
            Signer::Mac(key) => key.into(),
            Signer::Private(key) => key.into(),
        }
    }

    pub(crate) fn key(&self) -> SigningKeyRef<'_> {
        match self {
            Signer::Mac(key) => key.into(),
            Signer::Private(key) => key.into(),
        }
    }

    fn with_key_id(self, kid: &str) -> jeton::Result<Signer> {
        Ok(match self {
            Signer::Mac(key) => Signer::Mac(key.with_key_id(kid)?),
            Signer::Private(key) => Signer::Private(key.with_key_id(kid)?),
        })
    }
}

pub(super) fn signature_alg(alg: Option<Alg>) -> Result<Option<SigAlg>, LoadError> {
    match alg {
        None => Ok(None),
        Some(Alg::Sig(alg)) => Ok(Some(alg)),
        Some(alg) => Err(LoadError::member(
            "alg",
            format!("{alg} is for a symmetric key (kty oct), and this key has another type"),
        )),
    }
}
