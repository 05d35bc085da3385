//! One token in a thousand is verified, with jeton.

use jeton::jwk::KeySet;
use jeton::key::{Alg, Keys, MacAlg, MacKey, SigAlg, VerifyingKey};
use jeton::{Policy, jwt, paseto};
use serde_json::Value;

use crate::servers::Algorithm;

/// One answer in so many has its token verified; the first of a load is one of them.
pub(super) const ONE_IN: u64 = 1000;

/// The keys that a server's tokens must be made with.
#[derive(Debug)]
pub struct Checker {
    verifier: Verifier,
}

#[derive(Debug)]
enum Verifier {
    Jwt(jwt::Verifier),
    Paseto(paseto::Verifier),
}

impl Checker {
    /// For tokens of this algorithm, from the bytes of a file: for HS256 the secret, for ES256 the public
    /// key (SubjectPublicKeyInfo in PEM), for RS256 and EdDSA a set of public keys (RFC 7517), for
    /// v4.public public PASERKs, one a line.
    ///
    /// # Errors
    /// A sentence: they are no such keys, or it is v4.local, whose key a server keeps.
    pub fn read(algorithm: Algorithm, file: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(file);
        let set = |alg| KeySet::from_json_as(&text, Alg::Sig(alg));
        let verifier = match algorithm {
            Algorithm::Hs256 => return Self::hs256(file),
            Algorithm::Es256 => return Self::es256(&text),
            Algorithm::Rs256 => set(SigAlg::RS256).map(of_jwt),
            Algorithm::EdDsa => set(SigAlg::EdDSA).map(of_jwt),
            Algorithm::V4Public => paseto::KeySet::from_paserks(text.lines())
                .map(|keys| Verifier::Paseto(paseto::Verifier::new(keys, policy()))),
            Algorithm::V4Local => {
                return Err("the key of v4.local is the server's alone".to_owned());
            }
        };
        let verifier =
            verifier.map_err(|error| format!("the public keys of {algorithm}: {error}"))?;
        Ok(Self { verifier })
    }

    /// For HS256 with this secret.
    ///
    /// # Errors
    /// A sentence: HS256 wants a secret of 32 bytes or more.
    pub fn hs256(secret: &[u8]) -> Result<Self, String> {
        let key = MacKey::new(MacAlg::HS256, secret)
            .map_err(|error| format!("the secret of HS256: {error}"))?;
        Ok(Self {
            verifier: of_jwt(key),
        })
    }

    /// For ES256 with this public key, SubjectPublicKeyInfo in PEM.
    ///
    /// # Errors
    /// A sentence.
    pub fn es256(public: &str) -> Result<Self, String> {
        let key = VerifyingKey::from_pem_as(public, SigAlg::ES256)
            .map_err(|error| format!("the public key of ES256: {error}"))?;
        Ok(Self {
            verifier: of_jwt(key),
        })
    }

    /// What is wrong with a token that must have this subject, if anything is.
    pub(crate) fn check(&self, token: &str, sub: &str) -> Result<(), String> {
        let verified = match &self.verifier {
            Verifier::Jwt(verifier) => verifier.verify::<Value>(token),
            Verifier::Paseto(verifier) => verifier.verify::<Value>(token),
        };
        let verified = verified.map_err(|error| error.to_string())?;
        if verified.subject() == Some(sub) {
            Ok(())
        } else {
            Err("its subject is not the one that the answer names".to_owned())
        }
    }
}

fn of_jwt(keys: impl Into<Keys>) -> Verifier {
    Verifier::Jwt(jwt::Verifier::new(keys, policy()))
}

/// The key alone says who issued it: the report's tokens have a subject and two times. A server's
/// clock is this machine's, and a token is verified in the second it was issued in.
fn policy() -> Policy {
    Policy::new("", "").any_issuer().any_audience()
}
