use std::sync::Arc;

#[cfg(feature = "hmac")]
use crate::key::MacKey;
use crate::key::remote::RemoteSigner;
use crate::key::{SigningKey, SigningKeyRef};

/// The key of a [`JwtIssuer`](super::JwtIssuer): a [`MacKey`], a [`SigningKey`] or a [`RemoteSigner`]. Clones share it.
///
/// Each of these keys converts into it, and so do an `Arc` of one and a `&MacKey`.
///
/// ```
/// use std::sync::Arc;
/// use jeton::jwt::IssuerKey;
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = Arc::new(SigningKey::generate(SigAlg::ES256)?);
/// let of_issuer = IssuerKey::from(Arc::clone(&key));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct IssuerKey(Any);

#[derive(Debug, Clone)]
enum Any {
    #[cfg(feature = "hmac")]
    Mac(Arc<MacKey>),
    Private(Arc<SigningKey>),
    Remote(Arc<RemoteSigner>),
}

impl IssuerKey {
    pub(super) fn by_ref(&self) -> SigningKeyRef<'_> {
        match &self.0 {
            #[cfg(feature = "hmac")]
            Any::Mac(key) => (&**key).into(),
            Any::Private(key) => (&**key).into(),
            Any::Remote(key) => (&**key).into(),
        }
    }
}

#[cfg(feature = "hmac")]
impl From<&MacKey> for IssuerKey {
    /// The secret is shared with the issuer, not copied.
    fn from(key: &MacKey) -> Self {
        key.share().into()
    }
}

macro_rules! from {
    ($($key:ty => $variant:ident),*) => {$(
        impl From<Arc<$key>> for IssuerKey {
            fn from(key: Arc<$key>) -> Self {
                IssuerKey(Any::$variant(key))
            }
        }

        impl From<$key> for IssuerKey {
            fn from(key: $key) -> Self {
                Arc::new(key).into()
            }
        }
    )*};
}

#[cfg(feature = "hmac")]
from!(MacKey => Mac);
from!(SigningKey => Private, RemoteSigner => Remote);
