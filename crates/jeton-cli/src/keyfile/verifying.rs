//! From a key file to what a verifier trusts.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, SigAlg, VerifyingKey};
use zeroize::Zeroizing;

use super::signing::signature_alg;
use super::{Form, KeyFile, Kind, Loaded, Refused, Shape, Skipped, problem_of};
use crate::doors::{Door, Open};
use crate::exit::Outcome;

/// Room for the member that says an algorithm, bytes.
const SAYING_BYTES: usize = 32;

impl KeyFile {
    /// The key or the set to verify with.
    pub(crate) fn to_verify(&self, alg: Option<Alg>, doors: &Open) -> Outcome<Loaded<Keys>> {
        let Form::Set(text) = self.form() else {
            let key = self.one_to_verify(alg, doors);
            return key
                .map(|keys| Loaded {
                    keys,
                    skipped: Skipped::default(),
                })
                .map_err(|refused| self.refusal(refused));
        };
        match KeySet::from_json(text) {
            Err(error) if problem_of(error) != Some(KeyProblem::NoUsableKey) => {
                if problem_of(error) == Some(KeyProblem::TooLarge) {
                    // It says the limit, and how many keys there are.
                    self.elements(text)?;
                }
                return Err(self.refusal(error.into()));
            }
            // Each key is asked for itself.
            _ => {}
        }
        let Loaded {
            keys: usable,
            skipped,
        } = self.usable(text, |key| key.saying(alg, doors))?;
        let mut set = Zeroizing::new(String::with_capacity(
            text.len() + SAYING_BYTES * usable.len(),
        ));
        for jwk in &usable {
            let before = if set.is_empty() { "{\"keys\":[" } else { "," };
            set.push_str(before);
            set.push_str(jwk);
        }
        set.push_str("]}");
        let set = match doors.has(Door::WeakKeys) {
            true => danger::weak_key_set(&set, None),
            false => KeySet::from_json(&set),
        };
        set.map(|set| Loaded {
            keys: set.into(),
            skipped,
        })
        .map_err(|error| self.refusal(error.into()))
    }

    /// One key of a set, as [`to_verify`](Self::to_verify) takes it, and alone.
    pub(crate) fn of_set_to_verify(&self, alg: Option<Alg>, doors: &Open) -> Outcome<Keys> {
        self.filled(alg, |alg| self.one_to_verify(alg, doors))
            .map_err(|refused| self.refusal(refused))
    }

    /// Whether it verifies only if the call says for which algorithm.
    pub(crate) fn needs_algorithm(&self, doors: &Open) -> bool {
        let refused = self.one_to_verify(None, doors).err();
        let problem = refused.and_then(|refused| refused.known_problem());
        problem == Some(KeyProblem::AlgorithmNeeded)
    }

    /// The text of a set's key that one can verify with. The call's algorithm is written into it if it
    /// says none and has that one.
    fn saying(&self, alg: Option<Alg>, doors: &Open) -> Result<Zeroizing<String>, Refused> {
        let Form::Jwk(text) = self.form() else {
            return Err(self.not_one_key());
        };
        let alg = self.filled(alg, |alg| self.one_to_verify(alg, doors).map(|_| alg))?;
        match (alg, text.strip_prefix('{')) {
            (Some(alg), Some(members)) => {
                let mut said = Zeroizing::new(String::with_capacity(text.len() + SAYING_BYTES));
                said.push_str("{\"alg\":\"");
                said.push_str(alg.name());
                said.push_str("\",");
                said.push_str(members);
                Ok(said)
            }
            _ => Ok(text.clone()),
        }
    }

    fn one_to_verify(&self, alg: Option<Alg>, doors: &Open) -> Result<Keys, Refused> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg, doors).map(Keys::from),
            Kind::Private | Kind::Public => {
                let key = self.verifying(alg, doors).map(Keys::from);
                key.map_err(|refused| self.unless_it_encrypts(refused))
            }
        }
    }

    pub(super) fn verifying(
        &self,
        alg: Option<Alg>,
        doors: &Open,
    ) -> Result<VerifyingKey, Refused> {
        let alg = signature_alg(alg)?;
        let key = match (self.form(), alg) {
            (Form::Jwk(text), None) => VerifyingKey::from_jwk(text),
            (Form::Jwk(text), Some(alg)) => VerifyingKey::from_jwk_as(text, alg),
            (Form::Pem(text), None) => VerifyingKey::from_pem(text),
            (Form::Pem(text), Some(alg)) => VerifyingKey::from_pem_as(text, alg),
            (Form::Der(_), _) if self.kind() == Kind::Private => {
                return Err(Refused::problem(KeyProblem::PrivateGiven));
            }
            (Form::Der(der), None) => VerifyingKey::from_der(der),
            (Form::Der(der), Some(alg)) => VerifyingKey::from_der_as(der, alg),
            (Form::Set(_) | Form::Paserk(_), _) => return Err(self.not_one_key()),
        };
        match key {
            Err(error)
                if problem_of(error) == Some(KeyProblem::TooWeak) && doors.has(Door::WeakKeys) =>
            {
                self.weak(alg, error)
            }
            Err(error) if problem_of(error) == Some(KeyProblem::TooWeak) => {
                Err(Refused::too_weak(error, doors))
            }
            key => key.map_err(|error| self.against(error.into(), alg.map(SigAlg::name))),
        }
    }

    /// The key behind the door, for the algorithm that the call or the key says.
    fn weak(&self, alg: Option<SigAlg>, error: jeton::Error) -> Result<VerifyingKey, Refused> {
        Ok(match (self.form(), alg) {
            (Form::Jwk(text), alg) => {
                let said = || Shape::of(text).alg?.parse::<SigAlg>().ok();
                danger::weak_rsa_key_from_jwk(text, alg.or_else(said).ok_or(error)?)?
            }
            (Form::Pem(text), Some(alg)) => danger::weak_rsa_key_from_pem(text, alg)?,
            (Form::Der(der), Some(alg)) => danger::weak_rsa_key_from_der(der, alg)?,
            _ => return Err(error.into()),
        })
    }
}
