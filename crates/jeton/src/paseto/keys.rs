use std::fmt;
use std::sync::Arc;

use smallvec::smallvec;

use super::key_set::Candidates;
use super::open::Open;
use super::token::Parts;
use super::{PasetoKey, PasetoKeySet};
use crate::error::Rejection;
use crate::token_limits::Limits;

/// The keys of a verifier: one key of one version and purpose, or a [set](super::PasetoKeySet) of keys.
///
/// Every PASETO key, or a reference to it, converts into it. The key is shared, not copied.
///
/// ```
/// use jeton::paseto::{PasetoKeys, v4};
/// let key = v4::SecretKey::generate()?;
/// let keys: PasetoKeys = key.public_key().into();
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PasetoKeys(pub(super) Trusted);

#[derive(Clone)]
pub(super) enum Trusted {
    One(PasetoKey),
    Set(PasetoKeySet),
}

impl PasetoKeys {
    pub(super) fn one(key: Arc<dyn Open>) -> PasetoKeys {
        PasetoKeys(Trusted::One(PasetoKey(key)))
    }

    /// Splits the token, and returns it with the keys that may have created it, all of its version and purpose.
    pub(super) fn candidates<'k, 't>(
        &'k self,
        token: &'t str,
        limits: &Limits,
    ) -> Result<(Parts<'t>, Candidates<'k>), Rejection> {
        match &self.0 {
            Trusted::One(PasetoKey(key)) => {
                let parts = Parts::of(token, key.header(), limits)?;
                let keys = smallvec![key];
                Ok((parts, Candidates { keys, count: 1 }))
            }
            Trusted::Set(set) => set.candidates(token, limits),
        }
    }
}

impl Trusted {
    pub(super) fn all(&self) -> &[PasetoKey] {
        match self {
            Trusted::One(key) => std::slice::from_ref(key),
            Trusted::Set(set) => set.keys(),
        }
    }
}

impl fmt::Debug for PasetoKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.0.all().iter().map(PasetoKey::key_id);
        f.write_str("PasetoKeys")?;
        f.debug_list().entries(ids).finish()
    }
}

impl From<PasetoKey> for PasetoKeys {
    fn from(key: PasetoKey) -> PasetoKeys {
        PasetoKeys(Trusted::One(key))
    }
}

impl From<&PasetoKey> for PasetoKeys {
    fn from(key: &PasetoKey) -> PasetoKeys {
        key.clone().into()
    }
}

impl From<&PasetoKeySet> for PasetoKeys {
    fn from(set: &PasetoKeySet) -> PasetoKeys {
        set.clone().into()
    }
}

impl From<PasetoKeySet> for PasetoKeys {
    fn from(set: PasetoKeySet) -> PasetoKeys {
        PasetoKeys(Trusted::Set(set))
    }
}

/// Defines the conversions of a key that opens tokens of one version.
macro_rules! opening_key {
    ($key:ident) => {
        impl<V> From<&$key<V>> for PasetoKey {
            fn from(key: &$key<V>) -> PasetoKey {
                PasetoKey(Arc::clone(&key.prepared) as Arc<dyn Open>)
            }
        }

        impl<V> From<$key<V>> for PasetoKey {
            fn from(key: $key<V>) -> PasetoKey {
                PasetoKey(key.prepared)
            }
        }

        impl<V> From<&$key<V>> for PasetoKeys {
            fn from(key: &$key<V>) -> PasetoKeys {
                PasetoKeys::one(Arc::clone(&key.prepared) as Arc<dyn Open>)
            }
        }

        impl<V> From<$key<V>> for PasetoKeys {
            fn from(key: $key<V>) -> PasetoKeys {
                PasetoKeys::one(key.prepared)
            }
        }
    };
}

pub(super) use opening_key;
