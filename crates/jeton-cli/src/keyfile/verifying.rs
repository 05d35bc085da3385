//! From a key file to what a verifier trusts.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, SigAlg, VerifyingKey};
use zeroize::Zeroizing;

use super::signing::signature_alg;
use super::{Form, KeyFile, Kind, Loaded, LoadError, Shape, Skipped, problem_of};
use crate::allow::{InsecureOption, Allowed};
use crate::exit::Outcome;

/// Room for the member that says an algorithm, bytes.
const ALG_MEMBER_BYTES: usize = 32;

impl KeyFile {
    /// The key or the set to verify with.
    pub(crate) fn to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Outcome<Loaded<Keys>> {
        let Form::Set(text) = self.form() else {
            let key = self.one_to_verify(alg, allowed);
            return key
                .map(|keys| Loaded {
                    keys,
                    skipped: Skipped::default(),
                })
                .map_err(|error| self.failure(error));
        };
        match KeySet::from_json(text) {
            Err(error) if problem_of(error) != Some(KeyProblem::NoUsableKey) => {
                if problem_of(error) == Some(KeyProblem::TooLarge) {
                    // It says the limit, and how many keys there are.
                    self.elements(text)?;
                }
                return Err(self.failure(error.into()));
            }
            // Each key is asked for itself.
            _ => {}
        }
        let Loaded {
            keys: usable,
            skipped,
        } = self.usable(text, |key| key.with_algorithm(alg, allowed))?;
        let mut set = Zeroizing::new(String::with_capacity(
            text.len() + ALG_MEMBER_BYTES * usable.len(),
        ));
        for jwk in &usable {
            let before = if set.is_empty() { "{\"keys\":[" } else { "," };
            set.push_str(before);
            set.push_str(jwk);
        }
        set.push_str("]}");
        let set = match allowed.has(InsecureOption::WeakKeys) {
            true => danger::weak_key_set(&set, None),
            false => KeySet::from_json(&set),
        };
        set.map(|set| Loaded {
            keys: set.into(),
            skipped,
        })
        .map_err(|error| self.failure(error.into()))
    }

    /// One key of a set, as [`to_verify`](Self::to_verify) takes it, and alone.
    pub(crate) fn set_key_to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Outcome<Keys> {
        self.with_default_algorithm(alg, |alg| self.one_to_verify(alg, allowed))
            .map_err(|error| self.failure(error))
    }

    /// Whether it verifies only if the call says for which algorithm.
    pub(crate) fn needs_algorithm(&self, allowed: &Allowed) -> bool {
        let refused = self.one_to_verify(None, allowed).err();
        let problem = refused.and_then(|error| refused.key_problem());
        problem == Some(KeyProblem::AlgorithmNeeded)
    }

    /// The text of a set's key that one can verify with. The call's algorithm is written into it if it
    /// says none and has that one.
    fn with_algorithm(&self, alg: Option<Alg>, allowed: &Allowed) -> Result<Zeroizing<String>, LoadError> {
        let Form::Jwk(text) = self.form() else {
            return Err(self.not_one_key());
        };
        let alg = self.with_default_algorithm(alg, |alg| self.one_to_verify(alg, allowed).map(|_| alg))?;
        match (alg, text.strip_prefix('{')) {
            (Some(alg), Some(members)) => {
                let mut requested = Zeroizing::new(String::with_capacity(text.len() + ALG_MEMBER_BYTES));
                requested.push_str("{\"alg\":\"");
                requested.push_str(alg.name());
                requested.push_str("\",");
                requested.push_str(members);
                Ok(requested)
            }
            _ => Ok(text.clone()),
        }
    }

    fn one_to_verify(&self, alg: Option<Alg>, allowed: &Allowed) -> Result<Keys, LoadError> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg, allowed).map(Keys::from),
            Kind::Private | Kind::Public => {
                let key = self.verifying(alg, allowed).map(Keys::from);
                key.map_err(|error| self.explain_encryption_key(refused))
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
            (Form::Pem(text), None) => VerifyingKey::from_pem(text),
            (Form::Pem(text), Some(alg)) => VerifyingKey::from_pem_as(text, alg),
            (Form::Der(_), _) if self.kind() == Kind::Private => {
                return Err(LoadError::problem(KeyProblem::PrivateGiven));
            }
            (Form::Der(der), None) => VerifyingKey::from_der(der),
            (Form::Der(der), Some(alg)) => VerifyingKey::from_der_as(der, alg),
            (Form::Set(_) | Form::Paserk(_), _) => return Err(self.not_one_key()),
        };
        match key {
            Err(error)
                if problem_of(error) == Some(KeyProblem::TooWeak) && allowed.has(InsecureOption::WeakKeys) =>
            {
                self.weak(alg, error)
            }
            Err(error) if problem_of(error) == Some(KeyProblem::TooWeak) => {
                Err(LoadError::too_weak(error, allowed))
            }
            key => key.map_err(|error| self.name_both_algorithms(error.into(), alg.map(SigAlg::name))),
        }
    }

    /// The key behind the door, for the algorithm that the call or the key says.
    fn weak(&self, alg: Option<SigAlg>, error: jeton::Error) -> Result<VerifyingKey, LoadError> {
        Ok(match (self.form(), alg) {
            (Form::Jwk(text), alg) => {
                let requested = || Shape::of(text).alg?.parse::<SigAlg>().ok();
                danger::weak_rsa_key_from_jwk(text, alg.or_else(requested).ok_or(error)?)?
            }
            (Form::Pem(text), Some(alg)) => danger::weak_rsa_key_from_pem(text, alg)?,
            (Form::Der(der), Some(alg)) => danger::weak_rsa_key_from_der(der, alg)?,
            _ => return Err(error.into()),
        })
    }
}
