use std::fmt;

use serde::Serialize;

use super::{Signature, SigningInput};
use crate::claims::Claims;
use crate::clock::{Clock, SystemClock};
use crate::crypto::SignatureBuffer;
use crate::error::Result;
use crate::issue::{AnyClaims, Issue};
use crate::jwt;
use crate::key::VerifyingKey;

/// Has something signed by whoever has the private key, and waits for it. Every closure of that
/// shape is one.
///
/// An `Err` is the answer to whoever wanted the token, so it is
/// [`RemoteFault::NotSigned`](super::RemoteFault::NotSigned) and no more; what went wrong belongs
/// into a log.
pub trait SignRemotely: Send + Sync {
    /// The signature over the input, in a form that the signer names.
    ///
    /// # Errors
    ///
    /// Whatever kept it from signing.
    fn sign(&self, input: &SigningInput<'_>) -> Result<Signature>;
}

impl<F> SignRemotely for F
where
    F: Fn(&SigningInput<'_>) -> Result<Signature> + Send + Sync,
{
    fn sign(&self, input: &SigningInput<'_>) -> Result<Signature> {
        self(input)
    }
}

/// A private key that lives elsewhere and can be waited for: an HSM, or another process.
///
/// It stands wherever a [`SigningKey`](crate::key::SigningKey) does, in
/// [`jws::Signer`](crate::jws::Signer) and [`jwt::NestedIssuer`](crate::jwt::NestedIssuer) too, and
/// issues JWTs like one. Every signature is verified before it is used.
pub struct RemoteSigner {
    public: VerifyingKey,
    signer: Box<dyn SignRemotely>,
}

impl RemoteSigner {
    pub(super) fn new(public: VerifyingKey, signer: Box<dyn SignRemotely>) -> RemoteSigner {
        RemoteSigner { public, signer }
    }

    /// A JWT with these claims. The time is the system's.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if the claims are not what a JWT can hold, and
    /// [`Error::Remote`](crate::Error::Remote) or what the signer said if it did not sign.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        jwt::issue(self.into(), claims, &SystemClock)
    }

    /// The same by another clock.
    ///
    /// # Errors
    ///
    /// As [`issue`](RemoteSigner::issue).
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        jwt::issue(self.into(), claims, clock)
    }

    /// The public half, with the same algorithm and id.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public.clone()
    }

    pub(crate) fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// Fills an empty buffer with the signature.
    pub(crate) fn sign_bytes(&self, message: &[u8], signature: &mut SignatureBuffer) -> Result<()> {
        let signed = self
            .signer
            .sign(&SigningInput::new(self.public.alg(), message))?;
        signature.extend_from_slice(&signed.checked(&self.public, message)?);
        Ok(())
    }
}

impl Issue for RemoteSigner {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        jwt::issue(self.into(), claims, clock)
    }
}

impl fmt::Debug for RemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSigner")
            .field("key", &self.public)
            .finish_non_exhaustive()
    }
}
