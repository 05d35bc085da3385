//! Two-step signing, for keys in a KMS or an HSM.

use std::sync::{Mutex, PoisonError};

use jeton::error::codes;
use jeton::remote::{self, Signature};

use crate::fault::Fault;
use crate::format::Format;
use crate::issuer::{Issuer, Signer};

/// A token without its signature, which is made elsewhere.
pub struct Prepared(Mutex<Option<remote::Prepared>>);

impl Issuer {
    /// Prepares a token with an issuer whose key is public. `data` are claims, or the bytes of an issuer of the format `jws`.
    ///
    /// # Errors
    ///
    /// The claims cannot be issued, or the issuer has a key that signs.
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
    /// What is to be signed. `what` is `message`, or `digest`: the hash of the message for signers that take it. `alg` is
    /// the algorithm.
    ///
    /// # Errors
    ///
    /// The name is unknown, the algorithm signs no digest, or [`Prepared::attach`] was called.
    pub fn input(&self, what: &str) -> Result<Vec<u8>, Fault> {
        let prepared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let input = prepared.as_ref().ok_or_else(used)?.input();
        Ok(match what {
            "message" => input.message().to_vec(),
            "digest" => input
                .digest()
                .ok_or_else(|| Fault::option("what", "this algorithm signs the message"))?,
            "alg" => input.alg().name().into(),
            _ => return Err(Fault::option("what", "not message, digest or alg")),
        })
    }

    /// Adds the signature, verifies it with the public key, and returns the token. It takes one signature, valid or not.
    /// `form` is `fixed`, as a token has it, or `der`, as most signers return ECDSA signatures.
    ///
    /// # Errors
    ///
    /// The signature is not valid, or it was called before.
    pub fn attach(&self, signature: Vec<u8>, form: &str) -> Result<String, Fault> {
        let signature = match form {
            "fixed" => Signature::Fixed(signature),
            "der" => Signature::Der(signature),
            _ => return Err(Fault::option("form", "not fixed or der")),
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
    Fault::option("key", "the issuer has a key that signs")
}

#[cold]
fn used() -> Fault {
    Fault::argument(
        &codes::PREPARED_TOKEN_USED,
        "a signature was already passed for the prepared token",
    )
}
