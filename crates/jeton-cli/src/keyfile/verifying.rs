//! Loads the keys of a verifier.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, SigAlg, VerifyingKey};
use zeroize::Zeroizing;

use super::signing::signature_alg;
use super::{Form, KeyFile, Kind, LoadError, Loaded, Shape, Skipped, problem_of};
use crate::allow::{Allowed, InsecureOption};
use crate::exit::Outcome;

/// Capacity for an added `alg` member, bytes.
const ALG_MEMBER_BYTES: usize = 32;

impl KeyFile {
    /// Loads the key or the key set to verify with.
    pub(crate) fn to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Outcome<Loaded<Keys>> {
        if !self.is_set() {
            let key = self.one_to_verify(alg, allowed);
            return key
                .map(|keys| Loaded {
                    keys,
                    skipped: Skipped::default(),
                })
                .map_err(|error| self.failure(error));
        }
        if let Form::Set(text) = self.form() {
            // Each key is checked separately below.
            KeySet::from_json(text).map_err(|error| self.failure(error.into()))?;
        }
        let load = |key: &KeyFile| key.with_algorithm(alg, allowed);
        let mut usable = Vec::new();
        let mut skipped = Skipped::default();
        // Each file has a usable key: the caller named it.
        for file in self.files() {
            let loaded = file.usable(load)?;
            usable.extend(loaded.keys);
            skipped = skipped.and(loaded.skipped);
        }
        let bytes: usize = usable.iter().map(|jwk| jwk.len() + 1).sum();
        let mut set = Zeroizing::new(String::with_capacity(bytes + ALG_MEMBER_BYTES));
        for jwk in &usable {
            let before = if set.is_empty() { "{\"keys\":[" } else { "," };
            set.push_str(before);
            set.push_str(jwk);
        }
        set.push_str("]}");
        let set = if allowed.has(InsecureOption::WeakKeys) {
            danger::weak_key_set(&set, None)
        } else {
            KeySet::from_json(&set)
        };
        set.map(|set| Loaded {
            keys: set.into(),
            skipped,
        })
        .map_err(|error| self.failure(error.into()))
    }

    /// Loads one key of a set as [`to_verify`](Self::to_verify) does.
    pub(crate) fn set_key_to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Outcome<Keys> {
        self.with_default_algorithm(alg, |alg| self.one_to_verify(alg, allowed))
            .map_err(|error| self.failure(error))
    }

    /// Returns whether the key needs an algorithm from the caller.
    pub(crate) fn needs_algorithm(&self, allowed: &Allowed) -> bool {
        let error = self.one_to_verify(None, allowed).err();
        let problem = error.and_then(|error| error.key_problem());
        problem == Some(KeyProblem::AlgorithmNeeded)
    }

    /// Returns the JWK of a set's key that can verify. The caller's algorithm is added if the key has none and the
    /// algorithm fits.
    fn with_algorithm(
        &self,
        alg: Option<Alg>,
        allowed: &Allowed,
    ) -> Result<Zeroizing<String>, LoadError> {
        let Form::Jwk(text) = self.form() else {
            return self.with_default_algorithm(alg, |alg| {
                let key = self.verifying(alg, allowed);
                let key = key.map_err(|error| self.explain_encryption_key(error))?;
                Ok(Zeroizing::new(key.to_jwk()))
            });
        };
        let alg =
            self.with_default_algorithm(alg, |alg| self.one_to_verify(alg, allowed).map(|_| alg))?;
        match (alg, text.strip_prefix('{')) {
            (Some(alg), Some(members)) => {
                let mut jwk = Zeroizing::new(String::with_capacity(text.len() + ALG_MEMBER_BYTES));
                jwk.push_str("{\"alg\":\"");
                jwk.push_str(alg.name());
                jwk.push_str("\",");
                jwk.push_str(members);
                Ok(jwk)
            }
            _ => Ok(text.clone()),
        }
    }

    fn one_to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Result<Keys, LoadError> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg, allowed).map(Keys::from),
            Kind::Private | Kind::Public => {
                let key = self.verifying(alg, allowed).map(Keys::from);
                key.map_err(|error| self.explain_encryption_key(error))
            }
        }
    }

    pub(super) fn verifying(
        &self,
        alg: Option<Alg>,
        allowed: &Allowed,
    ) -> Result<VerifyingKey, LoadError> {
        let alg = signature_alg(alg)?;
        let key = match (self.form(), alg) {
            (Form::Jwk(text), None) => VerifyingKey::from_jwk(text),
            (Form::Jwk(text), Some(alg)) => VerifyingKey::from_jwk_as(text, alg),
            (Form::Der(..), None) if self.needs_named_algorithm() => {
                return Err(LoadError::problem(KeyProblem::AlgorithmNeeded));
            }
            (Form::Der(der, _), None) => VerifyingKey::from_der(der),
            (Form::Der(der, _), Some(alg)) => VerifyingKey::from_der_as(der, alg),
            (Form::Set(_) | Form::Paserk(_) | Form::Several(_), _) => {
                return Err(self.not_one_key());
            }
        };
        match key {
            Err(error)
                if problem_of(&error) == Some(KeyProblem::TooWeak)
                    && allowed.has(InsecureOption::WeakKeys) =>
            {
                self.weak(alg, error)
            }
            Err(error) if problem_of(&error) == Some(KeyProblem::TooWeak) => {
                Err(LoadError::too_weak(error, allowed))
            }
            key => Ok(key?),
        }
    }

    /// Loads a weak key for the algorithm that the caller or the key names.
    fn weak(&self, alg: Option<SigAlg>, error: jeton::Error) -> Result<VerifyingKey, LoadError> {
        Ok(match (self.form(), alg) {
            (Form::Jwk(text), alg) => {
                let own_alg = || Shape::of(text).alg?.parse::<SigAlg>().ok();
                danger::weak_rsa_key_from_jwk(text, alg.or_else(own_alg).ok_or(error)?)?
            }
            (Form::Der(der, _), Some(alg)) => danger::weak_rsa_key_from_der(der, alg)?,
            _ => return Err(error.into()),
        })
    }
}
