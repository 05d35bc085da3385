use std::fmt;

use super::{Signature, SigningInput};
use crate::crypto::SignatureBuffer;
use crate::error::Result;
use crate::key::VerifyingKey;

/// Signs with a remote key and waits for the result. Implemented for closures with this signature.
///
/// If signing fails, return [`RemoteError::not_signed`](crate::error::RemoteError::not_signed) with the cause. The cause is
/// the source of the error, and not part of its message.
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
/// Use it like a [`SigningKey`](crate::key::SigningKey), also in [`jws::JwsSigner`](crate::jws::JwsSigner) and
/// [`jwt::NestedIssuer`](crate::jwt::NestedIssuer). Every signature is verified before it is used.
pub struct RemoteSigner {
    public: VerifyingKey,
    signer: Box<dyn SignRemotely>,
}

impl RemoteSigner {
    pub(crate) fn new(public: VerifyingKey, signer: Box<dyn SignRemotely>) -> RemoteSigner {
        RemoteSigner { public, signer }
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

impl fmt::Debug for RemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSigner")
            .field("key", &self.public)
            .finish_non_exhaustive()
    }
}
