//! Two-step signing, for keys in a KMS or an HSM.

use std::sync::{Mutex, PoisonError};

use jeton::error::codes;
use jeton::remote::{self, Signature};

use crate::fault::Fault;
use crate::format::Format;
use crate::issuer::{Issuer, Signer};

/// A token without its signature. A remote signer creates the signature.
pub struct Prepared(Mutex<Option<remote::Prepared>>);

impl Issuer {
    /// Prepares a token for a remote signer. The issuer has the public key. `data` is claims, or bytes for the format
    /// `jws`.
    ///
    /// # Errors
    ///
    /// The claims cannot be issued, or the issuer does not have a public key.
    pub fn prepare(&self, data: &[u8]) -> Result<Prepared, Fault> {
        let prepared = match self.options.format {
            Format::Jws => prepare_bytes(self, data)?,
            _ => {
                let claims = std::str::from_utf8(data).map_err(|_| Fault::not_utf8())?;
                prepare(self, claims)?
            }
        };
        Ok(Prepared(Mutex::new(Some(prepared))))
    }
}

impl Prepared {
    /// Returns the input for the signer. `what` is `message`, or `digest` (its hash) for signers that take a digest, or
    /// `alg` for the algorithm.
    ///
    /// # Errors
    ///
    /// The name is unknown, the algorithm has no digest, or [`Prepared::attach`] was called.
    pub fn input(&self, what: &str) -> Result<Vec<u8>, Fault> {
        let prepared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let input = prepared.as_ref().ok_or_else(used)?.input();
        Ok(match what {
            "message" => input.message().to_vec(),
            "digest" => input.digest().ok_or_else(|| {
                let alg = input.alg().name();
                let why = format!("{alg} signs the message, and has no digest: use the message");
                Fault::argument(&codes::INVALID_OPTION, why)
            })?,
            "alg" => input.alg().name().into(),
            _ => return Err(Fault::option("what", "must be message, digest or alg")),
        })
    }

    /// Adds the signature, verifies it with the public key, and returns the token. It takes one signature, valid or
    /// not. `form` is `fixed`, the form in a token, or `der`, which most signers return for ECDSA.
    ///
    /// # Errors
    ///
    /// The signature is not valid, or this function was called before.
    pub fn attach(&self, signature: Vec<u8>, form: &str) -> Result<String, Fault> {
        let signature = match form {
            "fixed" => Signature::Fixed(signature),
            "der" => Signature::Der(signature),
            _ => return Err(Fault::option("form", "must be fixed or der")),
        };
        let mut prepared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(prepared.take().ok_or_else(used)?.attach(&signature)?)
    }
}

fn prepare(issuer: &Issuer, text: &str) -> Result<remote::Prepared, Fault> {
    let claims = issuer.claims(text)?;
    let clock = &*issuer.clock;
    match &issuer.signer {
        Signer::Remote(key) => {
            let options = &issuer.options;
            Ok(match &options.typ {
                _ if options.access_tokens => {
                    key.prepare_access_token_with_clock(&claims, clock)?
                }
                None => key.prepare_with_clock(&claims, clock)?,
                Some(typ) => key.prepare_as_with_clock(typ, &claims, clock)?,
            })
        }
        Signer::PasetoRemote(key) => {
            Ok(key.prepare_with_clock(&claims, issuer.context(), clock)?)
        }
        _ => Err(not_remote()),
    }
}

fn prepare_bytes(issuer: &Issuer, data: &[u8]) -> Result<remote::Prepared, Fault> {
    match (&issuer.signer, &issuer.options.typ) {
        (Signer::Remote(key), None) => Ok(key.prepare_payload(data)?),
        (Signer::Remote(key), Some(typ)) => Ok(key.prepare_payload_as(typ, data)?),
        _ => Err(not_remote()),
    }
}

#[cold]
fn not_remote() -> Fault {
    Fault::argument(
        &codes::INVALID_OPTION,
        "the issuer issues tokens itself: to prepare tokens, create it with a public key",
    )
}

/// Returns the error for an issuer with a public key, which cannot issue tokens.
#[cold]
pub(crate) fn only_prepares() -> Fault {
    Fault::key(
        &codes::KEY_IS_PUBLIC,
        "the issuer has a public key, so it only prepares tokens: to issue them, create it with the private key",
    )
}

#[cold]
fn used() -> Fault {
    Fault::argument(
        &codes::PREPARED_TOKEN_USED,
        "a signature was already passed for the prepared token",
    )
}
