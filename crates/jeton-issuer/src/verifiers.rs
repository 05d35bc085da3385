//! Verifiers of an issuer's tokens, by format.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jeton::error::Rejection;
use jeton::jwk::KeySet;
use jeton::limits::KEYS_TRIED;
use jeton::paseto::{PasetoKey, PasetoKeySet, PasetoVerifier};
use jeton::{Clock, Limits, Policy, RawClaims, Timestamp, Verified, Verify, jwt::JwtVerifier};

use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;
use crate::secret_key::SecretKey;
use crate::token_type::TokenType;

pub(crate) struct Verifiers {
    jws: Option<Jws>,
    /// PASETO tokens may name no key. Each verifier tries all its keys, as many as allowed.
    paseto: Vec<PasetoVerifier>,
}

/// A profile chooses the type of its tokens, and a caller accepts every profile of the issuer.
struct Jws {
    /// Tokens of the type `JWT`, or without a type.
    jwt: JwtVerifier,
    /// Access tokens (RFC 9068).
    access_token: JwtVerifier,
}

/// The same limits as for issuing, see [`limits`]. The token size is checked before.
const LIMITS: Limits = Limits::new()
    .token_bytes(limits::TOKEN_BYTES_MAX)
    .header_bytes(8 * 1024)
    .json_depth(limits::CLAIMS_DEPTH);

/// One clock for all verifiers.
struct Shared(Arc<dyn Clock>);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Verifiers {
    /// `leeway` is the allowed difference between the times of a token and the clock.
    pub(crate) fn new(
        iss: &str,
        keyring: &Keyring,
        secrets: &HashMap<String, Arc<SecretKey>>,
        leeway: Duration,
        clock: &Arc<dyn Clock>,
    ) -> Result<Verifiers> {
        // Callers check the audience of each token. Everything else is checked here.
        let policy = Policy::new(iss.to_owned(), "")
            .any_audience()
            .leeway(leeway);
        let mut set = KeySet::new();
        let mut paseto_keys = Vec::new();
        for key in keyring.keys() {
            let secret = secrets.get(&key.kid);
            let secret = secret.ok_or_else(|| Error::Record(format!("of key {}", key.kid)))?;
            match &**secret {
                SecretKey::Jws(key) => set.insert(key.verifying_key())?,
                SecretKey::Mac(key) => set.insert(&**key)?,
                SecretKey::Remote(signer, _) => set.insert(signer.verifying_key())?,
                SecretKey::V3Local(key) => paseto_keys.push(PasetoKey::from(key)),
                SecretKey::V4Local(key) => paseto_keys.push(PasetoKey::from(key)),
                SecretKey::V3Public(key) => paseto_keys.push(key.public_key().into()),
                SecretKey::V4Public(key) => paseto_keys.push(key.public_key().into()),
            }
        }
        let jws = if set.is_empty() {
            None
        } else {
            let verifier = |policy| {
                let verifier = JwtVerifier::new(set.clone(), policy).limits(LIMITS);
                verifier.clock(Shared(clock.clone()))
            };
            Some(Jws {
                jwt: verifier(policy.clone()),
                access_token: verifier(policy.clone().typ(TokenType::AccessToken.name())),
            })
        };
        let mut paseto = Vec::new();
        for keys in paseto_keys.chunks(KEYS_TRIED) {
            let mut set = PasetoKeySet::new();
            for key in keys {
                set.insert(key.clone())?;
            }
            let verifier = PasetoVerifier::new(set, policy.clone()).limits(LIMITS);
            paseto.push(verifier.clock(Shared(clock.clone())));
        }
        Ok(Verifiers { jws, paseto })
    }

    /// Verifies a token, except its audience.
    pub(crate) fn verify(&self, token: &str) -> Result<Verified<RawClaims>, jeton::Error> {
        let is_paseto = ["v3.", "v4."]
            .iter()
            .any(|version| token.starts_with(version));
        match &self.jws {
            _ if is_paseto => self.verify_paseto(token),
            Some(jws) => jws.verify(token),
            None => Err(Rejection::UnknownKey.into()),
        }
    }

    fn verify_paseto(&self, token: &str) -> Result<Verified<RawClaims>, jeton::Error> {
        let mut rejection = None;
        for verifier in &self.paseto {
            let refused = match verifier.verify_raw(token) {
                Ok(verified) => return Ok(verified),
                Err(refused) => refused,
            };
            match refused.rejection() {
                // Another verifier may have the key.
                Some(other @ Rejection::WrongFormat { .. }) => {
                    rejection.get_or_insert_with(|| other.clone());
                }
                Some(
                    other @ (Rejection::UnknownKey | Rejection::Signature | Rejection::Decryption),
                ) => rejection = Some(other.clone()),
                _ => return Err(refused),
            }
        }
        Err(rejection.unwrap_or(Rejection::UnknownKey).into())
    }
}

impl Jws {
    /// The type is checked before the signature, so only one of them verifies a signature.
    fn verify(&self, token: &str) -> Result<Verified<RawClaims>, jeton::Error> {
        match self.jwt.verify_raw(token) {
            Err(error) if error.rejection() == Some(&Rejection::TypeMismatch) => {
                self.access_token.verify_raw(token)
            }
            other => other,
        }
    }
}
