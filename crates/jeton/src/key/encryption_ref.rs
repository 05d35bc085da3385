#[cfg(feature = "legacy")]
use super::Password;
use super::{ContentKey, EncryptionKey, KeyWrapAlg, WrappingKey};

/// A reference to any key that encrypts.
#[derive(Debug, Clone, Copy)]
pub struct EncryptionKeyRef<'k>(pub(crate) EncryptWith<'k>);

#[derive(Debug, Clone, Copy)]
pub(crate) enum EncryptWith<'k> {
    Public(&'k EncryptionKey),
    Wrapping(&'k WrappingKey),
    Content(&'k ContentKey),
    #[cfg(feature = "legacy")]
    Password(&'k Password),
}

impl EncryptionKeyRef<'_> {
    pub(crate) fn alg_name(&self) -> &'static str {
        match self.0 {
            EncryptWith::Public(key) => key.alg().name(),
            EncryptWith::Wrapping(key) => KeyWrapAlg::name(key.alg()),
            EncryptWith::Content(_) => "dir",
            #[cfg(feature = "legacy")]
            EncryptWith::Password(key) => key.alg().name(),
        }
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        match self.0 {
            EncryptWith::Public(key) => key.key_id(),
            EncryptWith::Wrapping(key) => key.key_id(),
            EncryptWith::Content(key) => key.key_id(),
            #[cfg(feature = "legacy")]
            EncryptWith::Password(key) => key.key_id(),
        }
    }
}

impl<'k> From<&'k EncryptionKey> for EncryptionKeyRef<'k> {
    fn from(key: &'k EncryptionKey) -> Self {
        EncryptionKeyRef(EncryptWith::Public(key))
    }
}

impl<'k> From<&'k WrappingKey> for EncryptionKeyRef<'k> {
    fn from(key: &'k WrappingKey) -> Self {
        EncryptionKeyRef(EncryptWith::Wrapping(key))
    }
}

impl<'k> From<&'k ContentKey> for EncryptionKeyRef<'k> {
    fn from(key: &'k ContentKey) -> Self {
        EncryptionKeyRef(EncryptWith::Content(key))
    }
}

#[cfg(feature = "legacy")]
impl<'k> From<&'k Password> for EncryptionKeyRef<'k> {
    fn from(key: &'k Password) -> Self {
        EncryptionKeyRef(EncryptWith::Password(key))
    }
}
