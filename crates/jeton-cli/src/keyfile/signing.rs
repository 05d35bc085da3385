//! From a key file to a key that signs.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::key::{Alg, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};

use super::{Form, KeyFile, Kind, LoadError, Shape, problem_of};
use crate::allow::{InsecureOption, Allowed};
use crate::exit::Outcome;

/// A key that signs or makes MACs.
pub(crate) enum Signer {
    Mac(MacKey),
    Private(SigningKey),
}

impl KeyFile {
    /// The key to sign with. Of a set it is the one with that id, or the only one that can sign; a
    /// single key without an id gets that id.
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
                key.map_err(|error| self.explain_encryption_key(self.explain_weak_signing_key(refused, allowed)))
            }
        }
    }

    /// The door to weak keys is open, and does not lead to one that signs.
    fn explain_weak_signing_key(&self, refused: LoadError, allowed: &Allowed) -> LoadError {
        match refused.key_problem() {
            Some(KeyProblem::TooWeak) if allowed.has(InsecureOption::WeakKeys) => {
                LoadError::Failure(self.failure(refused).hint(
                    "--allow weak-keys lets such a key verify, and never sign; make a new one: jeton key new --alg NAME",
                ))
            }
            _ => refused,
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
                    format!("{alg} is not an algorithm of a symmetric key (kty oct)"),
                ));
            }
        };
        let key = match alg {
            None => MacKey::from_jwk(text),
            Some(alg) => MacKey::from_jwk_as(text, alg),
        };
        match key {
            Err(error)
                if problem_of(error) == Some(KeyProblem::TooWeak) && allowed.has(InsecureOption::WeakKeys) =>
            {
                let requested = || Shape::of(text).alg?.parse::<MacAlg>().ok();
                let alg = alg.or_else(requested).ok_or(error)?;
                Ok(danger::weak_mac_key_from_jwk(text, alg)?)
            }
            Err(error) if problem_of(error) == Some(KeyProblem::TooWeak) => {
                Err(LoadError::too_weak(error, allowed))
            }
            key => key.map_err(|error| self.name_both_algorithms(error.into(), alg.map(MacAlg::name))),
        }
    }

    pub(super) fn signing(&self, alg: Option<Alg>) -> Result<SigningKey, LoadError> {
        let alg = signature_alg(alg)?;
        let key = match (self.form(), alg) {
            (Form::Jwk(text), None) => SigningKey::from_jwk(text),
            (Form::Jwk(text), Some(alg)) => SigningKey::from_jwk_as(text, alg),
            (Form::Pem(text), None) => SigningKey::from_pem(text),
            (Form::Pem(text), Some(alg)) => SigningKey::from_pem_as(text, alg),
            (Form::Der(_), _) if self.kind() == Kind::Public => {
                return Err(LoadError::problem(KeyProblem::PublicGiven));
            }
            (Form::Der(der), None) => SigningKey::from_der(der),
            (Form::Der(der), Some(alg)) => SigningKey::from_der_as(der, alg),
            (Form::Set(_) | Form::Paserk(_), _) => return Err(self.not_one_key()),
        };
        key.map_err(|error| self.name_both_algorithms(error.into(), alg.map(SigAlg::name)))
    }
}

impl Signer {
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            Signer::Mac(key) => key.key_id(),
            Signer::Private(key) => key.key_id(),
        }
    }

    /// Its algorithm's name.
    pub(crate) fn alg(&self) -> &'static str {
        match self {
            Signer::Mac(key) => key.alg().name(),
            Signer::Private(key) => key.alg().name(),
        }
    }

    /// The key for the library's signers.
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
            format!("{alg} is an algorithm of a symmetric key, and this is not one"),
        )),
    }
}
