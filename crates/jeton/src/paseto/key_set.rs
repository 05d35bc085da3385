use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::open::Open;
use super::token::Parts;
use crate::error::{KeyError, KeyProblem, Part, Rejection, Result};
use crate::json::{self, ScanError};
use crate::key::set::Skipped;
use crate::limits;
use crate::token_limits::Limits;

/// A set of keys. The footer of a token selects one by its PASERK id: `{"kid":"k4.pid.…"}`.
///
/// The footer is read before verification, so it only selects which key to try. It must be a strict JSON
/// object of at most [`limits::FOOTER_BYTES`], with a `kid` of at most [`limits::KEY_ID_BYTES`]. A key in a
/// footer (`wpk`) is ignored. If the footer is not an object or has no `kid`, the keys of the version and
/// purpose of the token are tried, at most [`Limits::keys_tried`].
///
/// A set has at most [`limits::KEY_SET_KEYS`] keys. A verifier with an empty set rejects every token with
/// [`Rejection::UnknownKey`].
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::{TokenContext, PasetoKeySet, PasetoVerifier, v4};
/// use jeton::{Claims, Policy};
///
/// let (old, next) = (v4::SecretKey::generate()?, v4::SecretKey::generate()?);
/// let mut set = PasetoKeySet::new();
/// set.insert(old.public_key())?;
/// set.insert(next.public_key())?;
/// let verifier = PasetoVerifier::new(set, Policy::new("i", "a"));
///
/// let footer = format!("{{\"kid\":\"{}\"}}", next.public_key().id());
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
/// let token = next.issue_with(&claims, TokenContext::new().footer(&footer))?;
/// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
/// assert_eq!(verified.key_id(), Some(next.public_key().id().to_string().as_str()));
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct PasetoKeySet {
    keys: Vec<PasetoKey>,
    pub(super) skipped: Vec<Skipped>,
}

/// A key that verifies or decrypts, of any version and purpose: an element of a [`PasetoKeySet`].
///
/// ```
/// use jeton::paseto::{PasetoKey, v4};
///
/// let public = v4::SecretKey::generate()?.public_key();
/// let key = PasetoKey::from(&public);
/// assert_eq!((key.alg(), key.key_id()), ("v4.public", public.id().to_string().as_str()));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Clone)]
pub struct PasetoKey(pub(super) Arc<dyn Open>);

impl PasetoKey {
    /// Returns the PASERK id, for example `k4.pid.…`.
    pub fn key_id(&self) -> &str {
        self.0.id()
    }

    /// Returns the version and the purpose, for example `v4.public`.
    pub fn alg(&self) -> &'static str {
        self.0.header().trim_end_matches('.')
    }
}

impl fmt::Debug for PasetoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasetoKey({})", self.key_id())
    }
}

/// The keys that may have created a token.
pub(super) struct Candidates<'k> {
    pub(super) keys: SmallVec<[&'k Arc<dyn Open>; limits::KEYS_TRIED]>,
    /// The number of keys, which may be more than those that are tried.
    pub(super) count: usize,
}

impl PasetoKeySet {
    /// Creates an empty set.
    pub fn new() -> PasetoKeySet {
        PasetoKeySet::default()
    }

    /// Adds a key.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::TooLarge`] if the set is full ([`limits::KEY_SET_KEYS`]), and [`KeyProblem::Duplicate`] if the set
    /// has the key already.
    pub fn insert(&mut self, key: impl Into<PasetoKey>) -> Result<()> {
        let key = key.into();
        if self.keys.len() >= limits::KEY_SET_KEYS {
            return Err(too_many_keys().into());
        }
        if self.keys.iter().any(|other| other.key_id() == key.key_id()) {
            return Err(KeyError::at("keys", KeyProblem::Duplicate).into());
        }
        self.keys.push(key);
        Ok(())
    }

    /// Removes the key with this id, and returns whether there was one.
    ///
    /// ```
    /// use jeton::paseto::{PasetoKeySet, v4};
    ///
    /// let key = v4::SecretKey::generate()?.public_key();
    /// let mut set = PasetoKeySet::new();
    /// set.insert(&key)?;
    /// assert!(set.remove(&key.id().to_string()) && set.is_empty());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn remove(&mut self, key_id: &str) -> bool {
        let before = self.keys.len();
        self.keys.retain(|key| key.key_id() != key_id);
        self.keys.len() < before
    }

    /// Returns the keys in the order of the set.
    pub fn iter(&self) -> std::slice::Iter<'_, PasetoKey> {
        self.keys.iter()
    }

    /// Returns the number of keys in the set.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether the set has no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the PASERKs that were skipped when the set was read.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    pub(super) fn keys(&self) -> &[PasetoKey] {
        &self.keys
    }

    /// Splits the token, and returns it with the keys to try.
    pub(super) fn candidates<'k, 't>(
        &'k self,
        token: &'t str,
        limits: &Limits,
    ) -> Result<(Parts<'t>, Candidates<'k>), Rejection> {
        let Some(PasetoKey(first)) = self.keys.first() else {
            return Err(Rejection::UnknownKey);
        };
        let keys = self.keys.iter().map(|PasetoKey(key)| key);
        let header = keys
            .clone()
            .map(|key| key.header())
            .find(|header| token.starts_with(header))
            .ok_or_else(|| Rejection::wrong_format(token, first.header()))?;
        let parts = Parts::of(token, header, limits)?;
        let kid = key_id(&parts.footer, limits)?;
        let all = keys
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

impl<'s> IntoIterator for &'s PasetoKeySet {
    type Item = &'s PasetoKey;
    type IntoIter = std::slice::Iter<'s, PasetoKey>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for PasetoKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.keys.iter().map(PasetoKey::key_id);
        f.debug_list().entries(ids).finish()
    }
}

pub(super) fn too_many_keys() -> KeyError {
    KeyError::too_large("keys", limits::KEY_SET_KEYS + 1, limits::KEY_SET_KEYS)
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
