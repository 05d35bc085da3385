//! One token in a thousand is verified, with jeton.

use jeton::key::{MacAlg, MacKey, SigAlg, VerifyingKey};
use jeton::{Policy, jwt};
use serde_json::Value;

use super::answer::Answer;

/// One answer in so many has its token verified; the first of a load is one of them.
pub(super) const ONE_IN: u64 = 1000;

/// The key that a server's tokens must be signed with.
#[derive(Debug)]
pub struct Checker {
    verifier: jwt::Verifier,
}

impl Checker {
    /// For HS256 with this secret.
    ///
    /// # Errors
    /// A sentence: HS256 wants a secret of 32 bytes or more.
    pub fn hs256(secret: &[u8]) -> Result<Self, String> {
        let key = MacKey::new(MacAlg::HS256, secret)
            .map_err(|error| format!("the secret of HS256: {error}"))?;
        Ok(Self {
            verifier: jwt::Verifier::new(key, policy()),
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
            verifier: jwt::Verifier::new(key, policy()),
        })
    }

    /// What is wrong with an answer's token, if anything is.
    pub(crate) fn check(&self, answer: &Answer<'_>) -> Result<(), String> {
        let verified = self
            .verifier
            .verify::<Value>(answer.jwt)
            .map_err(|error| error.to_string())?;
        if verified.subject() == Some(answer.sub) {
            Ok(())
        } else {
            Err("its subject is not the one that the answer names".to_owned())
        }
    }
}

/// The key alone says who issued it: the report's tokens have a subject and two times. A server's
/// clock is this machine's, and a token is verified in the second it was issued in.
fn policy() -> Policy {
    Policy::new("", "").any_issuer().any_audience()
}
