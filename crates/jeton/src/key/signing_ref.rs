#[cfg(feature = "hmac")]
use super::MacKey;
use super::remote::RemoteSigner;
use super::{Headers, SigningKey};
use crate::crypto::SignatureBuffer;
#[cfg(feature = "hmac")]
use crate::crypto::hmac::MacPrefix;
use crate::error::Result;

/// A reference to a key that signs: a [`MacKey`], a [`SigningKey`] or a [`RemoteSigner`].
#[derive(Debug, Clone, Copy)]
pub struct SigningKeyRef<'k>(Any<'k>);

#[derive(Debug, Clone, Copy)]
enum Any<'k> {
    #[cfg(feature = "hmac")]
    Mac(&'k MacKey),
    Private(&'k SigningKey),
    Remote(&'k RemoteSigner),
}

#[cfg(feature = "hmac")]
impl<'k> From<&'k MacKey> for SigningKeyRef<'k> {
    fn from(key: &'k MacKey) -> Self {
        SigningKeyRef(Any::Mac(key))
    }
}

impl<'k> From<&'k SigningKey> for SigningKeyRef<'k> {
    fn from(key: &'k SigningKey) -> Self {
        SigningKeyRef(Any::Private(key))
    }
}

impl<'k> From<&'k RemoteSigner> for SigningKeyRef<'k> {
    fn from(key: &'k RemoteSigner) -> Self {
        SigningKeyRef(Any::Remote(key))
    }
}

impl<'k> SigningKeyRef<'k> {
    pub(crate) fn alg_name(self) -> &'static str {
        match self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => key.alg().name(),
            Any::Private(key) => key.alg().name(),
            Any::Remote(key) => key.public().alg().name(),
        }
    }

    pub(crate) fn key_id(self) -> Option<&'k str> {
        match self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => key.key_id(),
            Any::Private(key) => key.key_id(),
            Any::Remote(key) => key.public().key_id(),
        }
    }

    pub(crate) fn headers(self) -> &'k Headers {
        match self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => key.headers(),
            Any::Private(key) => key.headers(),
            Any::Remote(key) => key.public().headers(),
        }
    }

    pub(crate) fn signature_bytes(self) -> usize {
        match self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => key.alg().key_bytes(),
            Any::Private(key) => key.signature_bytes(),
            Any::Remote(key) => key.public().signature_bytes(),
        }
    }

    /// Starts a MAC over this prefix. Returns `None` for a key that signs, which needs the whole message.
    #[cfg(feature = "hmac")]
    pub(crate) fn begin(self, message: &[u8]) -> Result<Option<MacPrefix<'k>>> {
        match self.0 {
            Any::Mac(key) => key.begin(message).map(Some),
            Any::Private(_) | Any::Remote(_) => Ok(None),
        }
    }

    /// Fills an empty buffer with the signature or MAC.
    pub(crate) fn sign_bytes(self, message: &[u8], signature: &mut SignatureBuffer) -> Result<()> {
        match self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => key.sign_bytes(message, signature),
            Any::Private(key) => key.sign_bytes(message, signature),
            Any::Remote(key) => key.sign_bytes(message, signature),
        }
    }
}
