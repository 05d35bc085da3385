//! Verifies one token in a thousand with jeton.

use jeton::error::{KeyError, KeyProblem};
use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, MacAlg, MacKey, SigAlg, VerifyingKey};
use jeton::{
    Policy,
    jwt::JwtVerifier,
    paseto::{PasetoKeySet, PasetoVerifier},
};
use serde_json::Value;

use jeton_lab_model::servers::Algorithm;

/// One in this many answers has its token verified, beginning with the first of a load.
pub(super) const ONE_IN: u64 = 1000;

/// The verification keys of a server's tokens.
#[derive(Debug)]
pub struct Checker {
    verifier: Verifier,
}

#[derive(Debug)]
enum Verifier {
    Jwt(JwtVerifier),
    Paseto(PasetoVerifier),
}

impl Checker {
    /// Creates a checker for tokens of this algorithm from the bytes of a file. HS256: the secret.
    /// ES256: the public key (SubjectPublicKeyInfo in PEM). RS256 and EdDSA: a set of public keys
    /// (RFC 7517). v4.public: PASERKs, one per line.
    ///
    /// # Errors
    ///
    /// A sentence, if the keys are invalid. v4.local is not supported: only the server has its key.
    pub fn read(algorithm: Algorithm, file: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(file);
        let set = |alg| -> jeton::Result<KeySet> {
            let set = KeySet::from_json_as(&text, Alg::Sig(alg))?;
            if set.is_empty() {
                Err(KeyError::from(KeyProblem::NoUsableKey).into())
            } else {
                Ok(set)
            }
        };
        let verifier = match algorithm {
            Algorithm::Hs256 => return Self::hs256(file),
            Algorithm::Es256 => return Self::es256(&text),
            Algorithm::Rs256 => set(SigAlg::RS256).map(of_jwt),
            Algorithm::EdDsa => set(SigAlg::EdDSA).map(of_jwt),
            Algorithm::V4Public => match PasetoKeySet::from_paserks(text.lines()) {
                Ok(keys) if keys.is_empty() => Err(KeyError::from(KeyProblem::NoUsableKey).into()),
                keys => keys.map(|keys| Verifier::Paseto(PasetoVerifier::new(keys, policy()))),
            },
            Algorithm::V4Local => {
                return Err(
                    "v4.local tokens cannot be checked: only the server has the key".to_owned(),
                );
            }
        };
        let verifier =
            verifier.map_err(|error| format!("invalid public keys for {algorithm}: {error}"))?;
        Ok(Self { verifier })
    }

    /// Creates a checker for HS256 with this secret.
    ///
    /// # Errors
    ///
    /// A sentence, if the secret has fewer than 32 bytes.
    pub fn hs256(secret: &[u8]) -> Result<Self, String> {
        let key = MacKey::new(MacAlg::HS256, secret)
            .map_err(|error| format!("invalid secret for HS256: {error}"))?;
        Ok(Self {
            verifier: of_jwt(key),
        })
    }

    /// Creates a checker for ES256 with this public key, SubjectPublicKeyInfo in PEM.
    ///
    /// # Errors
    ///
    /// A sentence, if the key is invalid.
    pub fn es256(public: &str) -> Result<Self, String> {
        let key = VerifyingKey::from_pem_as(public, SigAlg::ES256)
            .map_err(|error| format!("invalid public key for ES256: {error}"))?;
        Ok(Self {
            verifier: of_jwt(key),
        })
    }

    /// Returns what is wrong with a token that must have this subject, if anything.
    pub(crate) fn check(&self, token: &str, sub: &str) -> Result<(), String> {
        let verified = match &self.verifier {
            Verifier::Jwt(verifier) => verifier.verify::<Value>(token),
            Verifier::Paseto(verifier) => verifier.verify::<Value>(token),
        };
        let verified = verified.map_err(|error| error.to_string())?;
        if verified.subject() == Some(sub) {
            Ok(())
        } else {
            Err("its subject differs from the one in the answer".to_owned())
        }
    }
}

fn of_jwt(keys: impl Into<Keys>) -> Verifier {
    Verifier::Jwt(JwtVerifier::new(keys, policy()))
}

/// Only the key identifies the issuer: the tokens of the report have only a subject and two times.
/// The server uses this machine's clock, and a token is verified in the second it was issued.
fn policy() -> Policy {
    Policy::new("", "").any_issuer().any_audience()
}
