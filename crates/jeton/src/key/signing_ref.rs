use super::{MacKey, SigningKey};
use crate::crypto::SignatureBuffer;
use crate::error::Result;
use crate::jws::Headers;

/// A [`MacKey`] or a [`SigningKey`], borrowed to sign with. Made from a reference to either.
#[derive(Debug, Clone, Copy)]
pub struct SigningKeyRef<'k>(Either<'k>);

#[derive(Debug, Clone, Copy)]
enum Either<'k> {
    Mac(&'k MacKey),
    Private(&'k SigningKey),
}

impl<'k> From<&'k MacKey> for SigningKeyRef<'k> {
    fn from(key: &'k MacKey) -> Self {
        SigningKeyRef(Either::Mac(key))
    }
}

impl<'k> From<&'k SigningKey> for SigningKeyRef<'k> {
    fn from(key: &'k SigningKey) -> Self {
        SigningKeyRef(Either::Private(key))
    }
}

impl<'k> SigningKeyRef<'k> {
    pub(crate) fn alg_name(self) -> &'static str {
        match self.0 {
            Either::Mac(key) => key.alg().name(),
            Either::Private(key) => key.alg().name(),
        }
    }

    pub(crate) fn key_id(self) -> Option<&'k str> {
        match self.0 {
            Either::Mac(key) => key.key_id(),
            Either::Private(key) => key.key_id(),
        }
    }

    pub(crate) fn headers(self) -> &'k Headers {
        match self.0 {
            Either::Mac(key) => key.headers(),
            Either::Private(key) => key.headers(),
        }
    }

    pub(crate) fn signature_bytes(self) -> usize {
        match self.0 {
            Either::Mac(key) => key.alg().key_bytes(),
            Either::Private(key) => key.signature_bytes(),
        }
    }

    /// Fills an empty buffer with the signature or MAC.
    pub(crate) fn sign_bytes(self, message: &[u8], signature: &mut SignatureBuffer) -> Result<()> {
        match self.0 {
            Either::Mac(key) => key.sign_bytes(message, signature),
            Either::Private(key) => key.sign_bytes(message, signature),
        }
    }
}
