//! From a key file to what a verifier trusts.

use jeton::danger;
use jeton::error::KeyProblem;
use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, SigAlg, VerifyingKey};

use super::signing::signature_alg;
use super::{Form, KeyFile, Kind, Refused, Shape, problem_of};
use crate::doors::{Door, Open};
use crate::exit::Outcome;
use crate::output;

impl KeyFile {
    /// The key or the set to verify with.
    pub(crate) fn to_verify(&self, alg: Option<Alg>, doors: &Open) -> Outcome<Keys> {
        let Form::Set(text) = self.form() else {
            return (self.one_to_verify(alg, doors)).map_err(|refused| self.refusal(refused));
        };
        let set = match (alg, doors.has(Door::WeakKeys)) {
            (alg, true) => danger::weak_key_set(text, alg),
            (None, false) => KeySet::from_json(text),
            (Some(alg), false) => KeySet::from_json_as(text, alg),
        };
        match set {
            Ok(set) => {
                self.note_private(text)?;
                Ok(set.into())
            }
            Err(error) if problem_of(error) == Some(KeyProblem::NoUsableKey) => {
                Err(self.why_none(text, |key| key.one_to_verify(alg, doors)))
            }
            Err(error) => Err(self.refusal(error.into())),
        }
    }

    /// Says so if private keys stand in a set that only needs their public halves: they are left out,
    /// and whoever can verify could sign.
    fn note_private(&self, text: &str) -> Outcome {
        for key in self.elements(text)? {
            if key.kind() == Kind::Private {
                output::note(format_args!(
                    "{}: left out: a private key was given where a public one is wanted (d); jeton key public {}",
                    key.name(),
                    self.name()
                ));
            }
        }
        Ok(())
    }

    fn one_to_verify(&self, alg: Option<Alg>, doors: &Open) -> Result<Keys, Refused> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg, doors).map(Keys::from),
            Kind::Private | Kind::Public => self.verifying(alg, doors).map(Keys::from),
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
            key => Ok(key?),
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
