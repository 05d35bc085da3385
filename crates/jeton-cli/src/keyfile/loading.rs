//! From a key file to a key for a use.

use jeton::error::KeyProblem;
use jeton::key::{Alg, Keys, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use jeton::{Claims, jws};
use serde::Serialize;

use super::{Form, KeyFile, Refused, Shape};
use crate::exit::{Failure, Outcome};

/// A key that signs or makes MACs.
pub(crate) enum Signer {
    Mac(MacKey),
    Private(SigningKey),
}

/// A key of any kind, to be shown or converted.
pub(crate) enum AnyKey {
    Mac(MacKey),
    Private(SigningKey),
    Public(VerifyingKey),
}

/// Which of the three a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Symmetric,
    Private,
    Public,
}

impl KeyFile {
    /// The key to sign with. Of a set it is the one with that id, or the only one that can sign; a
    /// single key without an id gets that id.
    pub(crate) fn to_sign(&self, alg: Option<Alg>, kid: Option<&str>) -> Outcome<Signer> {
        if let Form::Set(text) = self.form() {
            return self.select_signer(text, alg, kid);
        }
        let signer = self.signer(alg).map_err(|refused| self.refusal(refused))?;
        match (kid, signer.key_id()) {
            (None, _) => Ok(signer),
            (Some(kid), Some(own)) if kid == own => Ok(signer),
            (Some(_), Some(_)) => Err(Failure::wrong(format!(
                "{}: key refused: kid: the key has another id than --kid says",
                self.name()
            ))),
            (Some(kid), None) => signer
                .with_key_id(kid)
                .map_err(|error| Failure::wrong(format!("--kid: {error}"))),
        }
    }

    /// The key or the set to verify with.
    pub(crate) fn to_verify(&self, alg: Option<Alg>) -> Outcome<Keys> {
        let keys = match self.form() {
            Form::Set(text) => self.set(text, alg).map(Keys::from),
            _ if self.kind() == Kind::Symmetric => self.mac(alg).map(Keys::from),
            _ => self.verifying(alg).map(Keys::from),
        };
        keys.map_err(|refused| self.refusal(refused))
    }

    /// The key, whatever it is for.
    pub(crate) fn any(&self, alg: Option<Alg>) -> Outcome<AnyKey> {
        self.load_any(alg).map_err(|refused| self.refusal(refused))
    }

    /// The key, where its algorithm does not matter and need not be said.
    pub(crate) fn any_algorithm(&self) -> Outcome<AnyKey> {
        let loaded = match self.load_any(None) {
            Err(refused) if refused.known_problem() == Some(KeyProblem::AlgorithmNeeded) => {
                // The weakest demands; what these refuse is no key for any algorithm.
                let alg = match self.kind() {
                    Kind::Symmetric => Alg::Mac(MacAlg::HS256),
                    Kind::Private | Kind::Public => Alg::Sig(SigAlg::RS256),
                };
                self.load_any(Some(alg))
            }
            loaded => loaded,
        };
        loaded.map_err(|refused| self.refusal(refused))
    }

    pub(super) fn signer(&self, alg: Option<Alg>) -> Result<Signer, Refused> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg).map(Signer::Mac),
            Kind::Private | Kind::Public => self.signing(alg).map(Signer::Private),
        }
    }

    fn load_any(&self, alg: Option<Alg>) -> Result<AnyKey, Refused> {
        match self.kind() {
            Kind::Symmetric => self.mac(alg).map(AnyKey::Mac),
            Kind::Private => self.signing(alg).map(AnyKey::Private),
            Kind::Public => self.verifying(alg).map(AnyKey::Public),
        }
    }

    fn kind(&self) -> Kind {
        match self.form() {
            Form::Jwk(text) => match Shape::of(text) {
                shape if shape.kty.as_deref() == Some("oct") => Kind::Symmetric,
                shape if shape.is_private() => Kind::Private,
                _ => Kind::Public,
            },
            Form::Pem(text) if text.contains("PRIVATE KEY-----") => Kind::Private,
            Form::Der(der) => match SigningKey::from_der_as(der, SigAlg::RS256) {
                // Whatever else is wrong with it, it has the form of a private key.
                Err(error) if is_malformed(error) => Kind::Public,
                _ => Kind::Private,
            },
            Form::Pem(_) | Form::Set(_) | Form::Paserk(_) => Kind::Public,
        }
    }

    fn mac(&self, alg: Option<Alg>) -> Result<MacKey, Refused> {
        let Form::Jwk(text) = self.form() else {
            return Err(self.not_one_key());
        };
        Ok(match alg {
            None => MacKey::from_jwk(text)?,
            Some(Alg::Mac(alg)) => MacKey::from_jwk_as(text, alg)?,
            Some(alg) => {
                return Err(Refused::member(
                    "alg",
                    format!("{alg} is not an algorithm of a symmetric key (kty oct)"),
                ));
            }
        })
    }

    fn signing(&self, alg: Option<Alg>) -> Result<SigningKey, Refused> {
        Ok(match (self.form(), signature_alg(alg)?) {
            (Form::Jwk(text), None) => SigningKey::from_jwk(text)?,
            (Form::Jwk(text), Some(alg)) => SigningKey::from_jwk_as(text, alg)?,
            (Form::Pem(text), None) => SigningKey::from_pem(text)?,
            (Form::Pem(text), Some(alg)) => SigningKey::from_pem_as(text, alg)?,
            (Form::Der(_), _) if self.kind() == Kind::Public => {
                return Err(Refused::problem(KeyProblem::PublicGiven));
            }
            (Form::Der(der), None) => SigningKey::from_der(der)?,
            (Form::Der(der), Some(alg)) => SigningKey::from_der_as(der, alg)?,
            (Form::Set(_) | Form::Paserk(_), _) => return Err(self.not_one_key()),
        })
    }

    fn verifying(&self, alg: Option<Alg>) -> Result<VerifyingKey, Refused> {
        Ok(match (self.form(), signature_alg(alg)?) {
            (Form::Jwk(text), None) => VerifyingKey::from_jwk(text)?,
            (Form::Jwk(text), Some(alg)) => VerifyingKey::from_jwk_as(text, alg)?,
            (Form::Pem(text), None) => VerifyingKey::from_pem(text)?,
            (Form::Pem(text), Some(alg)) => VerifyingKey::from_pem_as(text, alg)?,
            (Form::Der(_), _) if self.kind() == Kind::Private => {
                return Err(Refused::problem(KeyProblem::PrivateGiven));
            }
            (Form::Der(der), None) => VerifyingKey::from_der(der)?,
            (Form::Der(der), Some(alg)) => VerifyingKey::from_der_as(der, alg)?,
            (Form::Set(_) | Form::Paserk(_), _) => return Err(self.not_one_key()),
        })
    }

    fn not_one_key(&self) -> Refused {
        Refused::Call(match self.form() {
            Form::Paserk(_) => Failure::wrong(format!(
                "{}: a PASERK is a key for PASETO, not for JWT or JWS",
                self.name()
            ))
            .hint("an Ed25519 key can be converted: jeton key convert --to jwk FILE"),
            _ => Failure::wrong(format!(
                "{}: one key is wanted here, not a set",
                self.name()
            )),
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

    /// A JWT with these claims.
    pub(crate) fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> jeton::Result<String> {
        match self {
            Signer::Mac(key) => key.issue(claims),
            Signer::Private(key) => key.issue(claims),
        }
    }

    /// A compact JWS with these bytes, and these media types in the header.
    pub(crate) fn sign(
        &self,
        payload: &[u8],
        typ: Option<&str>,
        content_type: Option<&str>,
    ) -> jeton::Result<String> {
        let mut signer = match self {
            Signer::Mac(key) => jws::Signer::new(key),
            Signer::Private(key) => jws::Signer::new(key),
        };
        if let Some(typ) = typ {
            signer = signer.typ(typ);
        }
        if let Some(content_type) = content_type {
            signer = signer.content_type(content_type);
        }
        signer.sign(payload)
    }

    fn with_key_id(self, kid: &str) -> jeton::Result<Signer> {
        Ok(match self {
            Signer::Mac(key) => Signer::Mac(key.with_key_id(kid)?),
            Signer::Private(key) => Signer::Private(key.with_key_id(kid)?),
        })
    }
}

fn signature_alg(alg: Option<Alg>) -> Result<Option<SigAlg>, Refused> {
    match alg {
        None => Ok(None),
        Some(Alg::Sig(alg)) => Ok(Some(alg)),
        Some(alg) => Err(Refused::member(
            "alg",
            format!("{alg} is an algorithm of a symmetric key, and this is not one"),
        )),
    }
}

fn is_malformed(error: jeton::Error) -> bool {
    matches!(error, jeton::Error::Key(error) if error.problem() == KeyProblem::Malformed)
}
