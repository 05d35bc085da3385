//! What only the current versions have: remote signing, and key sets that are read from text.

use super::key_set::too_many_keys;
use super::paserk::{key_error, not_a_paserk};
use super::v3::{self, V3};
use super::v4::{self, V4};
use super::{PasetoKey, PasetoKeySet, PublicKey, RemotePublicKey};
use crate::error::{Error, KeyProblem, Result};
use crate::key::set::Skipped;
use crate::limits;
use crate::paserk_kind::{Form, Kind};

impl RemotePublicKey for PublicKey<V3> {}
impl RemotePublicKey for PublicKey<V4> {}

impl PasetoKeySet {
    /// Reads PASERKs of the forms `public` and `local`.
    ///
    /// PASERKs of an unknown kind and keys that cannot verify are skipped, and [`skipped`](PasetoKeySet::skipped) says
    /// why. A set without a usable key is no error: check [`is_empty`](PasetoKeySet::is_empty).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](PasetoKeySet::insert). Skipped PASERKs count towards the limit.
    ///
    /// ```
    /// use jeton::paseto::{PasetoKeySet, v4};
    ///
    /// let key = v4::SecretKey::generate()?.public_key();
    /// let set = PasetoKeySet::from_paserks([key.to_paserk().as_str(), "k9.public.AAAA"])?;
    /// assert_eq!((set.len(), set.skipped().len()), (1, 1));
    /// assert_eq!(set.skipped()[0].to_string(), "key 1: paserk: malformed: expected a text that begins like k4.public.");
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn from_paserks<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<PasetoKeySet> {
        let mut set = PasetoKeySet::new();
        for (index, text) in texts.into_iter().enumerate() {
            if index == limits::KEY_SET_KEYS {
                return Err(too_many_keys().into());
            }
            match read(text) {
                Ok(key) => set.insert(key)?,
                Err(Error::Key(reason)) => set.skipped.push(Skipped::of_paserk(index, reason)),
                Err(other) => return Err(other),
            }
        }
        Ok(set)
    }
}

/// Reads a key of a current version.
fn read(text: &str) -> Result<PasetoKey> {
    let (kind, _) = Kind::split(text).ok_or(not_a_paserk())?;
    Ok(match kind {
        Kind::K4_PUBLIC => v4::PublicKey::from_paserk(text)?.into(),
        Kind::K4_LOCAL => v4::LocalKey::from_paserk(text)?.into(),
        Kind::K3_PUBLIC => v3::PublicKey::from_paserk(text)?.into(),
        Kind::K3_LOCAL => v3::LocalKey::from_paserk(text)?.into(),
        secret if secret.form() == Form::Secret => {
            return Err(key_error(KeyProblem::PrivateGiven).into());
        }
        _ => return Err(key_error(KeyProblem::Unsupported).into()),
    })
}
