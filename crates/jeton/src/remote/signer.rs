use std::fmt;

use super::{Signature, SigningInput};
use crate::claims::{Claims, CustomClaims, JsonClaims};
use crate::clock::{Clock, SystemClock};
use crate::crypto::SignatureBuffer;
use crate::error::Result;
use crate::issue::{AnyClaims, Issue};
use crate::jwt;
use crate::key::VerifyingKey;

/// Signs with a remote key and waits for the result. Implemented for closures with this signature.
///
/// The caller who requested the token receives the error, so return only
/// [`RemoteFault::NotSigned`](super::RemoteFault::NotSigned), and log the cause.
pub trait SignRemotely: Send + Sync {
    /// Returns the signature of the input, in an encoding that the result states.
    ///
    /// # Errors
    ///
    /// The cause why signing failed.
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

/// A remote private key that signs synchronously: in an HSM, or in another process.
///
/// Use it like a [`SigningKey`](crate::key::SigningKey), also in [`jws::Signer`](crate::jws::Signer) and
/// [`jwt::NestedIssuer`](crate::jwt::NestedIssuer). Every signature is verified before it is used.
pub struct RemoteSigner {
    public: VerifyingKey,
    signer: Box<dyn SignRemotely>,
}

impl RemoteSigner {
    pub(super) fn new(public: VerifyingKey, signer: Box<dyn SignRemotely>) -> RemoteSigner {
        RemoteSigner { public, signer }
    }

    /// Issues a JWT with these claims, using the system clock.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if a JWT cannot represent the claims, and
    /// [`Error::Remote`](crate::Error::Remote) or the error of the signer if signing failed.
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        jwt::issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](RemoteSigner::issue).
    pub fn issue_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        jwt::issue(self.into(), claims, clock)
    }

    /// Appends a JWT with these claims to a string. After an error the string is unchanged.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](RemoteSigner::issue).
    pub fn issue_onto<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        token: &mut String,
    ) -> Result<()> {
        jwt::issue_onto(self.into(), claims, &SystemClock, token)
    }

    /// Returns an upper bound for the length of a token with these claims, bytes. The claims are not written.
    pub fn issued_length_bound(&self, claims: &Claims<'_, JsonClaims<'_>>) -> usize {
        jwt::length_bound(self.public.headers().jwt(), self.into(), claims)
    }

    /// Returns the public key, with the same algorithm and key id.
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
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        jwt::issue(self.into(), claims, clock)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        jwt::issue_onto(self.into(), claims, clock, token)
    }
}

impl fmt::Debug for RemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSigner")
            .field("key", &self.public)
            .finish_non_exhaustive()
    }
}
