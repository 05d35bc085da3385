//! From a key file to a key of any kind, to be shown or converted.

use jeton::error::KeyProblem;
use jeton::key::{
    Alg, ContentEnc, ContentKey, DecryptionKey, EncryptionKey, KeyManagementAlg, KeyWrapAlg,
    MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey, WrappingKey,
};
use zeroize::Zeroizing;

use super::{Form, KeyFile, Kind, LoadError, Shape};
use crate::algorithm::Algorithm;
use crate::allow::Allowed;
use crate::exit::Outcome;

/// A key of any kind, to be shown or converted. Nothing is trusted to it, so no door is needed.
pub(crate) enum AnyKey {
    Mac(MacKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    Signing(SigningKey),
    Verifying(VerifyingKey),
    Decryption(DecryptionKey),
    Encryption(EncryptionKey),
}

/// Which half of a key it is, if it has two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Symmetric,
    Private,
    Public,
}

/// What a key is for.
#[derive(Clone, Copy)]
enum Use {
    /// Signing; the algorithm, if the call says it.
    Signature(Option<Alg>),
    Management(KeyManagementAlg),
    Wrapping(KeyWrapAlg),
    Content(ContentEnc),
    /// Encryption, and nothing says which.
    Encryption,
}

impl KeyFile {
    /// The key, whatever it is for.
    pub(crate) fn any(&self, alg: Option<Algorithm>) -> Outcome<AnyKey> {
        self.load_any(alg).map_err(|error| self.failure(error))
    }

    /// The key, where its algorithm does not matter and need not be requested.
    pub(crate) fn any_algorithm(&self) -> Outcome<AnyKey> {
        self.load_any_algorithm()
            .map_err(|error| self.failure(error))
    }

    /// The same, with what is wrong as the reader says it.
    pub(crate) fn load_any_algorithm(&self) -> Result<AnyKey, LoadError> {
        match self.load_any(None) {
            Err(error) if refused.key_problem() == Some(KeyProblem::AlgorithmNeeded) => {
                // The weakest policy_args; what these refuse is no key for any algorithm.
                let mut tried = self
                    .weakest()
                    .into_iter()
                    .map(|alg| self.load_any(Some(alg)));
                match tried.find(Result::is_ok) {
                    Some(loaded) => loaded,
                    None => self.load_any(self.weakest().first().copied()),
                }
            }
            loaded => loaded,
        }
    }

    /// Algorithms, one of which takes every key of its kind that any takes.
    fn weakest(&self) -> Vec<Algorithm> {
        if self.kind() == Kind::Symmetric {
            let wraps = KeyWrapAlg::ALL.into_iter().map(Algorithm::Wrap);
            return [Algorithm::Sign(Alg::Mac(MacAlg::HS256))]
                .into_iter()
                .chain(wraps)
                .collect();
        }
        vec![
            Algorithm::Sign(Alg::Sig(SigAlg::RS256)),
            Algorithm::Manage(KeyManagementAlg::RsaOaep256),
        ]
    }

    fn load_any(&self, alg: Option<Algorithm>) -> Result<AnyKey, LoadError> {
        let closed = Allowed::default();
        let symmetric = self.kind() == Kind::Symmetric;
        match (self.intended(alg)?, self.kind()) {
            (Use::Signature(alg), Kind::Symmetric) => self.mac(alg, &closed).map(AnyKey::Mac),
            (Use::Signature(alg), Kind::Private) => match self.signing(alg) {
                Err(error) => self.agreement(refused, alg),
                Ok(key) => Ok(AnyKey::Signing(key)),
            },
            (Use::Signature(alg), Kind::Public) => match self.verifying(alg, &closed) {
                Err(error) => self.agreement(refused, alg),
                Ok(key) => Ok(AnyKey::Verifying(key)),
            },
            (Use::Management(alg), Kind::Private) => self.decryption(alg).map(AnyKey::Decryption),
            (Use::Management(alg), Kind::Public) => self.public(alg).map(AnyKey::Encryption),
            (Use::Wrapping(alg), Kind::Symmetric) => Ok(AnyKey::Wrapping(
                WrappingKey::from_jwk_as(&self.jwk()?, alg)?,
            )),
            (Use::Content(enc), Kind::Symmetric) => {
                Ok(AnyKey::Content(ContentKey::from_jwk_as(&self.jwk()?, enc)?))
            }
            (Use::Encryption, _) => Err(LoadError::problem(KeyProblem::AlgorithmNeeded)),
            _ => Err(LoadError::member(
                "alg",
                match symmetric {
                    true => "not an algorithm of a symmetric key (kty oct)".to_owned(),
                    false => "an algorithm of a symmetric key, and this is not one".to_owned(),
                },
            )),
        }
    }

    /// What the key is for, as the call or the key says.
    fn intended(&self, alg: Option<Algorithm>) -> Result<Use, LoadError> {
        let shape = match self.form() {
            Form::Jwk(text) => Shape::of(text),
            _ => Shape::default(),
        };
        let own = shape.alg.as_deref().and_then(Algorithm::of);
        let curve = matches!(shape.kty.as_deref(), Some("EC" | "OKP"));
        Ok(match alg.or(own) {
            // The library compares the two.
            Some(Algorithm::Sign(_)) => Use::Signature(match alg {
                Some(Algorithm::Sign(alg)) => Some(alg),
                _ => None,
            }),
            Some(Algorithm::Manage(alg)) => Use::Management(alg),
            Some(Algorithm::Wrap(alg)) => Use::Wrapping(alg),
            Some(Algorithm::Content(enc)) => Use::Content(enc),
            Some(Algorithm::Direct) => match own {
                Some(Algorithm::Content(enc)) => Use::Content(enc),
                _ => Use::Encryption,
            },
            Some(Algorithm::Password(alg)) => {
                return Err(LoadError::member(
                    "alg",
                    format!("{alg} is for a password, which is not a key"),
                ));
            }
            None if shape.crv.as_deref() == Some("X25519") => {
                Use::Management(KeyManagementAlg::EcdhEs)
            }
            None if shape.intended.as_deref() == Some("enc") && curve => {
                Use::Management(KeyManagementAlg::EcdhEs)
            }
            None if shape.intended.as_deref() == Some("enc") => Use::Encryption,
            None => Use::Signature(None),
        })
    }

    /// A PEM or DER whose curve only agrees on keys, and which no call says to be for anything else.
    fn agreement(&self, refused: LoadError, alg: Option<Alg>) -> Result<AnyKey, LoadError> {
        let unsupported = refused.key_problem() == Some(KeyProblem::Unsupported);
        if alg.is_some() || !unsupported || matches!(self.form(), Form::Jwk(_)) {
            return Err(error);
        }
        let alg = KeyManagementAlg::EcdhEs;
        let key = match self.kind() {
            Kind::Private => self.decryption(alg).map(AnyKey::Decryption),
            _ => self.public(alg).map(AnyKey::Encryption),
        };
        key.map_err(|_| refused)
    }

    pub(super) fn public(&self, alg: KeyManagementAlg) -> Result<EncryptionKey, LoadError> {
        Ok(match self.form() {
            Form::Jwk(text) => EncryptionKey::from_jwk_as(text, alg)?,
            Form::Pem(text) => EncryptionKey::from_pem_as(text, alg)?,
            Form::Der(der) => EncryptionKey::from_der_as(der, alg)?,
            Form::Set(_) | Form::Paserk(_) => return Err(self.not_one_key()),
        })
    }

    fn jwk(&self) -> Result<Zeroizing<String>, LoadError> {
        match self.form() {
            Form::Jwk(text) => Ok(text.clone()),
            _ => Err(self.not_one_key()),
        }
    }
}

impl AnyKey {
    pub(crate) fn half(&self) -> Half {
        match self {
            AnyKey::Mac(_) | AnyKey::Wrapping(_) | AnyKey::Content(_) => Half::Symmetric,
            AnyKey::Signing(_) | AnyKey::Decryption(_) => Half::Private,
            AnyKey::Verifying(_) | AnyKey::Encryption(_) => Half::Public,
        }
    }

    /// Its public half; none if it is symmetric.
    pub(crate) fn public(&self) -> Option<AnyKey> {
        match self {
            AnyKey::Mac(_) | AnyKey::Wrapping(_) | AnyKey::Content(_) => None,
            AnyKey::Signing(key) => Some(AnyKey::Verifying(key.verifying_key())),
            AnyKey::Verifying(key) => Some(AnyKey::Verifying(key.clone())),
            AnyKey::Decryption(key) => Some(AnyKey::Encryption(key.encryption_key())),
            AnyKey::Encryption(key) => Some(AnyKey::Encryption(key.clone())),
        }
    }

    /// RFC 7638. A symmetric key's is a hash of the secret.
    pub(crate) fn thumbprint(&self) -> String {
        match self {
            AnyKey::Mac(key) => key.thumbprint(),
            AnyKey::Wrapping(key) => key.thumbprint(),
            AnyKey::Content(key) => key.thumbprint(),
            AnyKey::Signing(key) => key.verifying_key().thumbprint(),
            AnyKey::Verifying(key) => key.thumbprint(),
            AnyKey::Decryption(key) => key.encryption_key().thumbprint(),
            AnyKey::Encryption(key) => key.thumbprint(),
        }
    }

    pub(crate) fn to_jwk(&self) -> jeton::Result<Zeroizing<String>> {
        Ok(match self {
            AnyKey::Mac(key) => key.to_jwk(),
            AnyKey::Wrapping(key) => key.to_jwk(),
            AnyKey::Content(key) => key.to_jwk(),
            AnyKey::Signing(key) => key.to_jwk()?,
            AnyKey::Verifying(key) => Zeroizing::new(key.to_jwk()),
            AnyKey::Decryption(key) => key.to_jwk()?,
            AnyKey::Encryption(key) => Zeroizing::new(key.to_jwk()),
        })
    }

    pub(crate) fn with_key_id(self, kid: &str) -> jeton::Result<AnyKey> {
        Ok(match self {
            AnyKey::Mac(key) => AnyKey::Mac(key.with_key_id(kid)?),
            AnyKey::Wrapping(key) => AnyKey::Wrapping(key.with_key_id(kid)?),
            AnyKey::Content(key) => AnyKey::Content(key.with_key_id(kid)?),
            AnyKey::Signing(key) => AnyKey::Signing(key.with_key_id(kid)?),
            AnyKey::Verifying(key) => AnyKey::Verifying(key.with_key_id(kid)?),
            AnyKey::Decryption(key) => AnyKey::Decryption(key.with_key_id(kid)?),
            AnyKey::Encryption(key) => AnyKey::Encryption(key.with_key_id(kid)?),
        })
    }
}
