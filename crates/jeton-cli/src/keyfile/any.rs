//! Loads a key of any kind, to show or to convert it.

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

/// A key of any kind, to show or to convert it. It protects nothing here, so it needs no --allow.
pub(crate) enum AnyKey {
    Mac(MacKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    Signing(SigningKey),
    Verifying(VerifyingKey),
    Decryption(DecryptionKey),
    Encryption(EncryptionKey),
}

/// The kind of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Symmetric,
    Private,
    Public,
}

/// The use of a key.
#[derive(Clone, Copy)]
enum Use {
    /// Signatures; the algorithm, if the caller passed one.
    Signature(Option<Alg>),
    Management(KeyManagementAlg),
    Wrapping(KeyWrapAlg),
    Content(ContentEnc),
    /// Encryption with an unknown algorithm.
    Encryption,
}

impl KeyFile {
    /// Loads a key for any use.
    pub(crate) fn any(&self, alg: Option<Algorithm>) -> Outcome<AnyKey> {
        self.load_any(alg).map_err(|error| self.failure(error))
    }

    /// Loads the public key of a key, or the symmetric key. An RSA key without its primes has a public key, too.
    pub(crate) fn any_public(&self, alg: Option<Algorithm>) -> Outcome<Option<AnyKey>> {
        match self.load_any(alg) {
            Err(error) if error.key_problem() == Some(KeyProblem::PrimesMissing) => {
                self.public_half()?.any(alg).map(Some)
            }
            loaded => Ok(loaded.map_err(|error| self.failure(error))?.public()),
        }
    }

    /// Returns the public half of a JWK.
    fn public_half(&self) -> Outcome<KeyFile> {
        let public = self
            .jwk()
            .and_then(|jwk| Ok(jeton::key::AnyKey::from_bytes(jwk.as_bytes())?.public()?))
            .map_err(|error| self.failure(error))?;
        Ok(KeyFile {
            name: self.name.clone(),
            file: self.file.clone(),
            format: self.format,
            form: Form::Jwk(Zeroizing::new(public.text().unwrap_or_default().to_owned())),
        })
    }

    /// Returns whether the key fits several algorithms and names none.
    pub(crate) fn names_no_algorithm(&self) -> bool {
        let error = self.load_any(None).err();
        error.and_then(|error| error.key_problem()) == Some(KeyProblem::AlgorithmNeeded)
    }

    /// Loads a key where its algorithm does not matter.
    pub(crate) fn any_algorithm(&self) -> Outcome<AnyKey> {
        self.load_any_algorithm()
            .map_err(|error| self.failure(error))
    }

    /// Loads a key where its algorithm does not matter; returns the error of the reader.
    pub(crate) fn load_any_algorithm(&self) -> Result<AnyKey, LoadError> {
        match self.load_any(None) {
            Err(error) if error.key_problem() == Some(KeyProblem::AlgorithmNeeded) => {
                // The algorithms with the lowest requirements: a key that fits none of them is unusable.
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

    /// Returns the algorithms with the lowest requirements for this kind of key.
    fn weakest(&self) -> Vec<Algorithm> {
        if self.kind() == Kind::Symmetric {
            let wraps = KeyWrapAlg::ALL.iter().copied().map(Algorithm::Wrap);
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

    pub(super) fn load_any(&self, alg: Option<Algorithm>) -> Result<AnyKey, LoadError> {
        let allowed = Allowed::default();
        let symmetric = self.kind() == Kind::Symmetric;
        match (self.intended(alg)?, self.kind()) {
            (Use::Signature(alg), Kind::Symmetric) => self.mac(alg, &allowed).map(AnyKey::Mac),
            (Use::Signature(alg), Kind::Private) => match self.signing(alg) {
                Err(error) => self.key_agreement(error, alg),
                Ok(key) => Ok(AnyKey::Signing(key)),
            },
            (Use::Signature(alg), Kind::Public) => match self.verifying(alg, &allowed) {
                Err(error) => self.key_agreement(error, alg),
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
                if symmetric {
                    "not an algorithm for a symmetric key (kty oct)".to_owned()
                } else {
                    "an algorithm for a symmetric key (kty oct), and this key has another type"
                        .to_owned()
                },
            )),
        }
    }

    /// Returns the use that the caller or the key names.
    fn intended(&self, alg: Option<Algorithm>) -> Result<Use, LoadError> {
        let shape = match self.form() {
            Form::Jwk(text) => Shape::of(text),
            _ => Shape::default(),
        };
        let own = shape.alg.as_deref().and_then(Algorithm::of);
        let curve = matches!(shape.kty.as_deref(), Some("EC" | "OKP"));
        Ok(match alg.or(own) {
            // The library compares the caller's algorithm with the key's.
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
                    format!("{alg} is for passwords, not for keys"),
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

    /// Loads a PEM or DER whose curve is only for key agreement, if the caller named no algorithm.
    fn key_agreement(&self, error: LoadError, alg: Option<Alg>) -> Result<AnyKey, LoadError> {
        let unsupported = error.key_problem() == Some(KeyProblem::Unsupported);
        if alg.is_some() || !unsupported || matches!(self.form(), Form::Jwk(_)) {
            return Err(error);
        }
        let alg = KeyManagementAlg::EcdhEs;
        let key = match self.kind() {
            Kind::Private => self.decryption(alg).map(AnyKey::Decryption),
            _ => self.public(alg).map(AnyKey::Encryption),
        };
        key.map_err(|_| error)
    }

    pub(super) fn public(&self, alg: KeyManagementAlg) -> Result<EncryptionKey, LoadError> {
        Ok(match self.form() {
            Form::Jwk(text) => EncryptionKey::from_jwk_as(text, alg)?,
            Form::Der(der, _) => EncryptionKey::from_der_as(der, alg)?,
            Form::Set(_) | Form::Paserk(_) | Form::Several(_) => {
                return Err(self.not_one_key());
            }
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

    /// Returns the public key; `None` for a symmetric key.
    pub(crate) fn public(&self) -> Option<AnyKey> {
        match self {
            AnyKey::Mac(_) | AnyKey::Wrapping(_) | AnyKey::Content(_) => None,
            AnyKey::Signing(key) => Some(AnyKey::Verifying(key.verifying_key())),
            AnyKey::Verifying(key) => Some(AnyKey::Verifying(key.clone())),
            AnyKey::Decryption(key) => Some(AnyKey::Encryption(key.encryption_key())),
            AnyKey::Encryption(key) => Some(AnyKey::Encryption(key.clone())),
        }
    }

    /// Returns the thumbprint (RFC 7638). For a symmetric key it is a hash of the secret.
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

    /// Returns the key id (`kid`).
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            AnyKey::Mac(key) => key.key_id(),
            AnyKey::Wrapping(key) => key.key_id(),
            AnyKey::Content(key) => key.key_id(),
            AnyKey::Signing(key) => key.key_id(),
            AnyKey::Verifying(key) => key.key_id(),
            AnyKey::Decryption(key) => key.key_id(),
            AnyKey::Encryption(key) => key.key_id(),
        }
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
