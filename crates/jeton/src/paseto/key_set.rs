use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::open::{Open, PasetoKeys};
use super::token::Parts;
use super::{v3, v4};
use crate::error::{KeyError, KeyProblem, Part, Rejection, Result};
use crate::json::{self, ScanError};
use crate::limits;
use crate::token_limits::Limits;

/// A set of keys. The footer of a token selects one by its PASERK id: `{"kid":"k4.pid.…"}`.
///
/// The footer is read before verification, so it only selects which key to try. It must be a strict JSON
/// object of at most [`limits::FOOTER_BYTES`], with a `kid` of at most [`limits::KEY_ID_BYTES`]. A key in a
/// footer (`wpk`) is ignored. If the footer is not an object or has no `kid`, the keys of the version and
/// purpose of the token are tried, at most [`Limits::keys_tried`].
///
/// A set has at most [`limits::KEY_SET_KEYS`] keys. Replace a set as a whole; sets are never merged.
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::{TokenContext, PasetoKeySet, PasetoVerifier, v4};
/// use jeton::{Claims, Policy};
///
/// let (old, next) = (v4::SecretKey::generate()?, v4::SecretKey::generate()?);
/// let set = PasetoKeySet::new([old.public_key().into(), next.public_key().into()])?;
/// let verifier = PasetoVerifier::new(set, Policy::new("i", "a"));
///
/// let footer = format!("{{\"kid\":\"{}\"}}", next.public_key().id());
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
/// let token = next.issue_with(&claims, TokenContext::new().footer(&footer))?;
/// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
/// assert_eq!(verified.key_id(), Some(next.public_key().id().to_string().as_str()));
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PasetoKeySet {
    keys: Arc<[Arc<dyn Open>]>,
    skipped: usize,
}

/// The keys that may have created a token.
pub(super) struct Candidates<'k> {
    pub(super) keys: SmallVec<[&'k Arc<dyn Open>; limits::KEYS_TRIED]>,
    /// The number of keys, which may be more than those that are tried.
    pub(super) count: usize,
}

impl PasetoKeySet {
    /// Creates a set of these keys.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if there is no key, if there are more than
    /// [`limits::KEY_SET_KEYS`], or if a key is a duplicate.
    pub fn new(keys: impl IntoIterator<Item = PasetoKeys>) -> Result<PasetoKeySet> {
        let mut all: Vec<Arc<dyn Open>> = Vec::new();
        for PasetoKeys(keys) in keys {
            for key in keys.all() {
                if all.iter().any(|other| other.id() == key.id()) {
                    return Err(key_set_error(KeyProblem::Duplicate).into());
                }
                if all.len() == limits::KEY_SET_KEYS {
                    return Err(too_many_keys().into());
                }
                all.push(Arc::clone(key));
            }
        }
        if all.is_empty() {
            return Err(key_set_error(KeyProblem::NoUsableKey).into());
        }
        Ok(PasetoKeySet {
            keys: all.into(),
            skipped: 0,
        })
    }

    /// Creates a set from PASERKs of the forms `public` and `local`.
    ///
    /// PASERKs of an unknown kind and keys that cannot verify are skipped;
    /// [`skipped`](PasetoKeySet::skipped) counts them.
    ///
    /// # Errors
    ///
    /// Those of [`new`](PasetoKeySet::new). Skipped PASERKs count towards the limit.
    ///
    /// ```
    /// use jeton::paseto::{PasetoKeySet, v4};
    ///
    /// let key = v4::SecretKey::generate()?.public_key();
    /// let set = PasetoKeySet::from_paserks([key.to_paserk().as_str(), "k9.public.AAAA"])?;
    /// assert_eq!((set.len(), set.skipped()), (1, 1));
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn from_paserks<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<PasetoKeySet> {
        let mut keys: Vec<PasetoKeys> = Vec::new();
        let mut skipped = 0;
        for text in texts {
            if keys.len() + skipped == limits::KEY_SET_KEYS {
                return Err(too_many_keys().into());
            }
            match read(text) {
                Some(key) => keys.push(key),
                None => skipped += 1,
            }
        }
        Ok(PasetoKeySet {
            skipped,
            ..PasetoKeySet::new(keys)?
        })
    }

    /// Returns the number of keys in the set.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Always returns false: a set has at least one key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of skipped PASERKs.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    pub(super) fn keys(&self) -> &[Arc<dyn Open>] {
        &self.keys
    }

    /// Splits the token, and returns it with the keys to try.
    pub(super) fn candidates<'k, 't>(
        &'k self,
        token: &'t str,
        limits: &Limits,
    ) -> Result<(Parts<'t>, Candidates<'k>), Rejection> {
        let header = self
            .keys
            .iter()
            .map(|key| key.header())
            .find(|header| token.starts_with(header))
            .ok_or(Rejection::WrongFormat)?;
        let parts = Parts::of(token, header, limits)?;
        let kid = key_id(&parts.footer, limits)?;
        let all = self
            .keys
            .iter()
            .filter(|key| key.header() == header)
            .filter(|key| kid.as_ref().is_none_or(|kid| **key.id() == **kid));
        let count = all.clone().count();
        if count == 0 {
            return Err(Rejection::UnknownKey);
        }
        let keys = all.take(limits.keys_tried).collect();
        Ok((parts, Candidates { keys, count }))
    }
}

impl From<PasetoKeySet> for PasetoKeys {
    fn from(set: PasetoKeySet) -> PasetoKeys {
        PasetoKeys(super::open::Trusted::Set(set))
    }
}

impl fmt::Debug for PasetoKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.keys.iter().map(|key| key.id());
        f.debug_list().entries(ids).finish()
    }
}

fn too_many_keys() -> KeyError {
    KeyError::too_large("keys", limits::KEY_SET_KEYS + 1, limits::KEY_SET_KEYS)
}

fn key_set_error(problem: KeyProblem) -> KeyError {
    KeyError::at("keys", problem)
}

/// Reads a key of a current version.
fn read(text: &str) -> Option<PasetoKeys> {
    v4::PublicKey::from_paserk(text)
        .map(PasetoKeys::from)
        .or_else(|_| v4::LocalKey::from_paserk(text).map(PasetoKeys::from))
        .or_else(|_| v3::PublicKey::from_paserk(text).map(PasetoKeys::from))
        .or_else(|_| v3::LocalKey::from_paserk(text).map(PasetoKeys::from))
        .ok()
}

struct Rejected(Rejection);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(Rejection::of_json(Part::Footer, error))
    }
}

/// Returns the `kid` in an unverified footer. A footer that starts with a brace must be a valid object; others
/// have no `kid`.
fn key_id(footer: &[u8], limits: &Limits) -> Result<Option<String>, Rejection> {
    if footer.first() != Some(&b'{') {
        return Ok(None);
    }
    let mut kid = None;
    let footer = json::text(footer).map_err(|error| Rejected::from(error).0)?;
    json::read_object(footer, limits.depth(), |name, value| {
        if name == *"kid" {
            let text = value
                .string()
                .ok_or(Rejected(Rejection::Malformed(Part::Footer)))?;
            kid = Some(text.to_cow().into_owned());
        }
        Ok(())
    })
    .map_err(|Rejected(rejection)| rejection)?;
    if let Some(kid) = &kid {
        limits.check_key_id(Part::Footer, kid)?;
    }
    Ok(kid)
}
