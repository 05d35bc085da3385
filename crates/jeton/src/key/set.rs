use std::fmt;

#[cfg(feature = "hmac")]
use super::MacKey;
use super::jwk::{Members, Operation};
use super::mismatch::wrong_jwk_type;
use super::other_input::{SET_DEPTH, found_object, found_text};
use super::{Alg, Keys, SigAlg, VerificationKey, VerifyingKey};
use crate::error::{FoundInput, KeyError, KeyProblem, Result};
use crate::json::{self, ScanError};
use crate::limits;

/// A set of keys for verification (RFC 7517, section 5).
///
/// Keys of an unknown type and keys that cannot verify are skipped; [`skipped`](KeySet::skipped) lists them with
/// the reason. A set that is read has at least one usable key, except with
/// [`from_published_json`](KeySet::from_published_json).
///
/// A set has at most [`limits::KEY_SET_KEYS`] keys and [`limits::KEY_SET_BYTES`] bytes. A token without a `kid`
/// tries at most [`Limits::keys_tried`](crate::Limits::keys_tried) of them.
///
/// ```
/// use jeton::jwk::KeySet;
/// use jeton::key::{SigAlg, SigningKey};
///
/// // The issuer publishes its keys.
/// let key = SigningKey::generate(SigAlg::ES256)?.with_key_id("a")?;
/// let mut set = KeySet::new();
/// set.insert(key.verifying_key())?;
/// let published = set.to_json();
///
/// // A verifier reads them.
/// let set = KeySet::from_json(&published)?;
/// assert_eq!((set.len(), set.skipped().len()), (1, 0));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<VerificationKey>,
    skipped: Vec<Skipped>,
}

/// A key of a set that was skipped, and the reason. [`KeySet::skipped`] returns it, and
/// [`PasetoKeySet::skipped`](crate::paseto::PasetoKeySet::skipped) too.
///
/// ```
/// use jeton::error::KeyProblem;
/// use jeton::jwk::KeySet;
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key();
/// let text = format!(r#"{{"keys":[{},{{"kty":"new","kid":"b"}}]}}"#, key.to_jwk());
/// let set = KeySet::from_json(&text)?;
/// let skipped = &set.skipped()[0];
/// assert_eq!((skipped.index(), skipped.key_id()), (1, Some("b")));
/// assert_eq!(skipped.reason().problem(), &KeyProblem::Unsupported);
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    index: usize,
    key_id: Option<String>,
    serves_another_use: bool,
    reason: KeyError,
}

impl Skipped {
    #[cfg(feature = "paseto")]
    pub(crate) fn of_paserk(index: usize, reason: KeyError) -> Skipped {
        Skipped {
            index,
            key_id: None,
            serves_another_use: false,
            reason,
        }
    }

    /// Returns the position of the key in the set, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the key id (`kid`), if the key has a valid one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns whether the key is for another use than signatures (`use` or `key_ops`), which is usual and no fault.
    pub fn serves_another_use(&self) -> bool {
        self.serves_another_use
    }

    /// Returns why the key cannot verify.
    pub fn reason(&self) -> &KeyError {
        &self.reason
    }
}

/// Writes the position and the reason, without the key id: `key 1: kty: missing`.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}: ", self.index)?;
        self.reason.write(f)
    }
}

/// Converts an error of the JSON reader.
pub(crate) fn scan_error(error: ScanError) -> KeyError {
    match error {
        ScanError::Syntax => KeyError::new(KeyProblem::Malformed).with_expected("a JWK Set"),
        ScanError::Depth { .. } | ScanError::TooMany => KeyError::new(KeyProblem::TooLarge),
        ScanError::Duplicate => KeyError::new(KeyProblem::Duplicate),
    }
}

struct Rejected(KeyError);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(scan_error(error))
    }
}

/// The algorithm of the caller.
#[derive(Clone, Copy)]
enum Wanted {
    /// None: each key must name or imply its own.
    Own,
    /// Applies to keys that name and imply none.
    Default(Alg),
    /// Keys of another algorithm are skipped.
    Only(Alg),
}

type ReadKey = fn(&Members<'_>, Option<Alg>) -> Result<VerificationKey, KeyError>;

impl KeySet {
    /// Creates an empty set.
    pub fn new() -> KeySet {
        KeySet::default()
    }

    /// Reads a JWK Set. A key without `alg` is only accepted if its curve implies the algorithm.
    ///
    /// A key that cannot be used is skipped (RFC 7517, section 5), and [`skipped`](KeySet::skipped) says why. A set
    /// without a usable key is no error: check [`is_empty`](KeySet::is_empty). A verifier with an empty set rejects every
    /// token with [`Rejection::UnknownKey`](crate::error::Rejection::UnknownKey). All readers of sets do this.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is not a JWK Set, or exceeds [`limits::KEY_SET_BYTES`] or
    /// [`limits::KEY_SET_KEYS`].
    ///
    /// ```
    /// use jeton::jwk::KeySet;
    ///
    /// let set = KeySet::from_json(r#"{"keys":[{"kty":"new"}]}"#)?;
    /// assert!(set.is_empty());
    /// assert_eq!(set.skipped()[0].to_string(), "key 0: kty: not supported: expected EC, OKP, RSA or AKP");
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<KeySet> {
        Ok(Self::read(text, Wanted::Own, None, read_key)?)
    }

    /// Reads a JWK Set in which some keys have no `alg`, as Microsoft Entra publishes it. The algorithm applies only
    /// to keys that neither name nor imply one, and fit it. All others keep their own.
    ///
    /// # Errors
    ///
    /// Those of [`from_json`](KeySet::from_json).
    ///
    /// ```
    /// use jeton::jwk::KeySet;
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let rsa = SigningKey::generate(SigAlg::RS256)?.verifying_key().to_jwk();
    /// let ec = SigningKey::generate(SigAlg::ES256)?.verifying_key().to_jwk();
    /// let text = format!(r#"{{"keys":[{},{ec}]}}"#, rsa.replace(r#""alg":"RS256","#, ""));
    /// assert_eq!(KeySet::from_json(&text)?.len(), 1);
    /// assert_eq!(KeySet::from_json_with_default(&text, SigAlg::RS256)?.len(), 2);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_json_with_default(text: &str, alg: impl Into<Alg>) -> Result<KeySet> {
        Ok(Self::read(
            text,
            Wanted::Default(alg.into()),
            None,
            read_key,
        )?)
    }

    /// Reads a JWK Set whose keys are all for one algorithm. It applies to keys without `alg`. Keys with
    /// another `alg` are skipped.
    ///
    /// # Errors
    ///
    /// Those of [`from_json`](KeySet::from_json).
    pub fn from_json_as(text: &str, alg: impl Into<Alg>) -> Result<KeySet> {
        Ok(Self::read(text, Wanted::Only(alg.into()), None, read_key)?)
    }

    /// Reads a JWK Set that an issuer publishes, and keeps only its public keys. Anyone who reads the set could sign
    /// with a symmetric or private key in it, so these are skipped ([`KeyProblem::PrivateGiven`]).
    ///
    /// The default applies to keys without `alg`, as in [`from_json_with_default`](KeySet::from_json_with_default).
    ///
    /// # Errors
    ///
    /// Those of [`from_json`](KeySet::from_json).
    ///
    /// ```
    /// use jeton::error::KeyProblem;
    /// use jeton::jwk::KeySet;
    /// use jeton::key::{MacAlg, MacKey};
    ///
    /// let secret = MacKey::generate(MacAlg::HS256)?.to_jwk();
    /// let set = KeySet::from_published_json(&format!(r#"{{"keys":[{}]}}"#, *secret), None)?;
    /// assert!(set.is_empty());
    /// assert_eq!(set.skipped()[0].reason().problem(), &KeyProblem::PrivateGiven);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_published_json(text: &str, default: impl Into<Option<SigAlg>>) -> Result<KeySet> {
        let wanted = Wanted::default_of(default.into());
        Ok(Self::read(text, wanted, None, read_public_key)?)
    }

    /// Reads a JWK Set whose signature keys have this `use` in place of `sig`, as
    /// [`from_published_json`](KeySet::from_published_json) does. Keys with another `use`, or without one, are skipped.
    ///
    /// A SPIFFE bundle has `use: jwt-svid` for the keys of tokens, and `use: x509-svid` for those of certificates.
    ///
    /// # Errors
    ///
    /// Those of [`from_json`](KeySet::from_json), and [`KeyProblem::AnotherUse`] for the use `enc`: keys for
    /// encryption verify nothing.
    ///
    /// ```
    /// use jeton::jwk::KeySet;
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key().to_jwk();
    /// let bundle = format!(r#"{{"keys":[{}]}}"#, key.replacen('{', r#"{"use":"jwt-svid","#, 1));
    /// assert!(KeySet::from_published_json(&bundle, None)?.is_empty());
    /// let set = KeySet::from_published_json_with_use(&bundle, "jwt-svid", None)?;
    /// assert_eq!(set.len(), 1);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_published_json_with_use(
        text: &str,
        key_use: &str,
        default: impl Into<Option<SigAlg>>,
    ) -> Result<KeySet> {
        if key_use == "enc" {
            let error = KeyError::at("use", KeyProblem::AnotherUse).with_found(Some("enc"));
            return Err(error.into());
        }
        let wanted = Wanted::default_of(default.into());
        Ok(Self::read(text, wanted, Some(key_use), read_public_key)?)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`KeyProblem::TooLarge`] if the set is full ([`limits::KEY_SET_KEYS`]), and [`KeyProblem::Duplicate`] if the
    /// set has a key with the same id and algorithm.
    pub fn insert(&mut self, key: impl Into<VerificationKey>) -> Result<()> {
        let key = key.into();
        if self.keys.len() >= limits::KEY_SET_KEYS {
            let keys = self.keys.len() + 1;
            return Err(KeyError::too_large("keys", keys, limits::KEY_SET_KEYS).into());
        }
        let is_same = |other: &VerificationKey| {
            key.key_id().is_some() && (other.key_id(), other.alg()) == (key.key_id(), key.alg())
        };
        if self.keys.iter().any(is_same) {
            return Err(KeyError::at("kid", KeyProblem::Duplicate).into());
        }
        self.keys.push(key);
        Ok(())
    }

    /// Removes all keys with this id, and returns whether there was one.
    pub fn remove(&mut self, key_id: &str) -> bool {
        let before = self.keys.len();
        self.keys.retain(|key| key.key_id() != Some(key_id));
        self.keys.len() < before
    }

    /// Returns the keys in the order of the set.
    ///
    /// ```
    /// use jeton::jwk::KeySet;
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let mut set = KeySet::new();
    /// set.insert(SigningKey::generate(SigAlg::ES256)?.verifying_key().with_key_id("a")?)?;
    /// let ids: Vec<_> = set.iter().map(|key| key.key_id()).collect();
    /// assert_eq!(ids, [Some("a")]);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn iter(&self) -> std::slice::Iter<'_, VerificationKey> {
        self.keys.iter()
    }

    /// Returns the public keys as a JWK Set, each with `use: sig`. Symmetric keys are left out, because they are
    /// secret.
    pub fn to_json(&self) -> String {
        let public = self.keys.iter().filter_map(VerificationKey::public);
        let public = public.map(VerifyingKey::to_jwk_with_use);
        format!("{{\"keys\":[{}]}}", public.collect::<Vec<_>>().join(","))
    }

    /// Returns the number of keys in the set.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether the set has no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys that were skipped when the set was read: of an unknown type, for another use, or not valid.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// `key_use` is the `use` of the signature keys, if it is not `sig`.
    fn read(
        text: &str,
        wanted: Wanted,
        key_use: Option<&str>,
        read_key: ReadKey,
    ) -> Result<KeySet, KeyError> {
        let mut set = KeySet::new();
        for (index, element) in elements(text)?.into_iter().enumerate() {
            match wanted.read(element, key_use, read_key) {
                Ok(key) => set.keys.push(key),
                Err(reason) => {
                    let skipped = skipped(index, element, key_use, reason);
                    set.skipped.push(skipped);
                }
            }
        }
        Ok(set)
    }
}

impl Wanted {
    fn default_of(alg: Option<SigAlg>) -> Wanted {
        alg.map_or(Wanted::Own, |alg| Wanted::Default(alg.into()))
    }

    /// Reads one key of a set.
    fn read(
        self,
        text: &str,
        key_use: Option<&str>,
        read_key: ReadKey,
    ) -> Result<VerificationKey, KeyError> {
        let mut members = Members::parse(text)?;
        if let Some(key_use) = key_use {
            members.take_use(key_use)?;
        }
        match self {
            Wanted::Own => read_key(&members, None),
            Wanted::Only(alg) => read_key(&members, Some(alg)),
            Wanted::Default(alg) => match read_key(&members, None) {
                Err(error) if *error.problem() == KeyProblem::AlgorithmNeeded => {
                    read_key(&members, Some(alg))
                }
                read => read,
            },
        }
    }
}

fn skipped(index: usize, text: &str, key_use: Option<&str>, reason: KeyError) -> Skipped {
    let members = Members::parse(text);
    let key_id = members.as_ref().ok().and_then(|members| {
        let id = members.key_id().ok()??;
        Some(id.as_str().to_owned())
    });
    let serves_another_use = members.is_ok_and(|mut members| {
        let taken = key_use.map_or(Ok(()), |key_use| members.take_use(key_use));
        let permitted = taken.and_then(|()| members.permit(Operation::Verify));
        permitted.is_err_and(|error| {
            matches!(
                error.problem(),
                KeyProblem::AnotherUse | KeyProblem::OperationNotPermitted
            )
        })
    });
    Skipped {
        index,
        key_id,
        serves_another_use,
        reason,
    }
}

impl<'s> IntoIterator for &'s KeySet {
    type Item = &'s VerificationKey;
    type IntoIter = std::slice::Iter<'s, VerificationKey>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<&KeySet> for Keys {
    /// Secrets are shared with the verifier, not copied.
    fn from(set: &KeySet) -> Self {
        set.clone().into()
    }
}

impl From<KeySet> for Keys {
    fn from(set: KeySet) -> Self {
        Keys::of_set(set.keys)
    }
}

/// Reads a key set whose keys may be below the minimum strength, with the limits of
/// [`weak_rsa_key_from_jwk`](crate::danger::weak_rsa_key_from_jwk) and
/// [`weak_mac_key_from_jwk`](crate::danger::weak_mac_key_from_jwk). Otherwise it behaves like
/// [`KeySet::from_json`], or [`KeySet::from_json_as`] if an algorithm is given.
///
/// ```
/// use jeton::danger;
/// use jeton::jwk::KeySet;
///
/// let set = r#"{"keys":[{"kty":"oct","alg":"HS256","k":"c2hvcnQ"}]}"#;
/// assert!(KeySet::from_json(set)?.is_empty());
/// assert_eq!(danger::weak_key_set(set, None)?.len(), 1);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn weak_key_set(text: &str, alg: impl Into<Option<Alg>>) -> Result<KeySet> {
    Ok(KeySet::read(
        text,
        alg.into().map_or(Wanted::Own, Wanted::Only),
        None,
        read_weak_key,
    )?)
}

/// Returns the text of each key of a set, within the limits.
pub(crate) fn elements(text: &str) -> Result<Vec<&str>, KeyError> {
    if text.len() > limits::KEY_SET_BYTES {
        return Err(KeyError::too_large(
            "key set",
            text.len(),
            limits::KEY_SET_BYTES,
        ));
    }
    let mut array = None;
    json::read_object(text, SET_DEPTH, |name, value| {
        if name == *"keys" {
            let wrong_type = || Rejected(KeyError::at("keys", KeyProblem::WrongType));
            array = Some(value.elements().ok_or_else(wrong_type)?);
        }
        Ok(())
    })
    .map_err(|Rejected(error)| match error.problem() {
        KeyProblem::Malformed => found_text(text).map_or(error, KeyError::input),
        _ => error,
    })?;
    let array = array.ok_or_else(|| match found_object(text) {
        Ok(FoundInput::OtherJson) | Err(_) => KeyError::at("keys", KeyProblem::Missing),
        Ok(found) => KeyError::input(found),
    })?;
    let mut keys = Vec::new();
    for element in array {
        keys.push(element.raw());
    }
    if keys.len() > limits::KEY_SET_KEYS {
        return Err(KeyError::too_large(
            "keys",
            keys.len(),
            limits::KEY_SET_KEYS,
        ));
    }
    Ok(keys)
}

fn read_key(members: &Members<'_>, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    match (&*members.required("kty")?, wanted) {
        #[cfg(feature = "hmac")]
        ("oct", None) => MacKey::from_members(members, None).map(VerificationKey::Mac),
        #[cfg(feature = "hmac")]
        ("oct", Some(Alg::Mac(alg))) => {
            MacKey::from_members(members, Some(alg)).map(VerificationKey::Mac)
        }
        #[cfg(not(feature = "hmac"))]
        ("oct", None | Some(Alg::Mac(_))) => Err(KeyError::at("kty", KeyProblem::Unsupported)),
        ("oct", Some(Alg::Sig(alg))) => Err(wrong_jwk_type(members, alg.required_key())),
        (_, Some(Alg::Mac(_))) => Err(wrong_jwk_type(members, "oct")),
        (_, None) => VerifyingKey::from_members(members, None).map(VerificationKey::Public),
        (_, Some(Alg::Sig(alg))) => {
            VerifyingKey::from_members(members, Some(alg)).map(VerificationKey::Public)
        }
    }
}

/// Reads a key that is not secret.
fn read_public_key(
    members: &Members<'_>,
    wanted: Option<Alg>,
) -> Result<VerificationKey, KeyError> {
    match read_key(members, wanted)? {
        #[cfg(feature = "hmac")]
        VerificationKey::Mac(_) => Err(KeyError::at("k", KeyProblem::PrivateGiven)),
        public => Ok(public),
    }
}

/// Reads a key. If it is only below the minimum strength, it is accepted.
fn read_weak_key(members: &Members<'_>, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    let too_weak = match read_key(members, wanted) {
        Err(error) if *error.problem() == KeyProblem::TooWeak => error,
        read => return read,
    };
    let declared = members.optional("alg")?.and_then(|alg| alg.parse().ok());
    match wanted.or(declared) {
        #[cfg(not(feature = "hmac"))]
        Some(Alg::Mac(_)) => Err(too_weak),
        #[cfg(feature = "hmac")]
        Some(Alg::Mac(alg)) => MacKey::weak_from_members(members, alg).map(VerificationKey::Mac),
        Some(Alg::Sig(alg)) => {
            VerifyingKey::weak_from_members(members, alg).map(VerificationKey::Public)
        }
        None => Err(too_weak),
    }
}
