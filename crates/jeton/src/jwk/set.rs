use crate::error::{KeyError, KeyProblem, Result};
use crate::json::{self, ScanError};
use crate::jwk::Members;
use crate::key::{Alg, Keys, MacKey, VerificationKey, VerifyingKey, wrong_jwk_type};
use crate::limits;

/// A set of keys for verification (RFC 7517, section 5).
///
/// Keys of an unknown type and keys that cannot verify are skipped; [`skipped`](KeySet::skipped) counts
/// them. A set without a usable key is an error. Replace a set as a whole; sets are never merged.
///
/// A set has at most [`limits::KEY_SET_KEYS`] keys and [`limits::KEY_SET_BYTES`] bytes.
///
/// ```
/// use jeton::jwk::KeySet;
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key().with_key_id("a")?;
/// let text = format!(r#"{{"keys":[{},{{"kty":"new"}}]}}"#, key.to_jwk());
/// let set = KeySet::from_json(&text)?;
/// assert_eq!((set.len(), set.skipped()), (1, 1));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct KeySet {
    keys: Vec<VerificationKey>,
    skipped: usize,
}

struct Rejected(KeyError);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(KeyError::new(match error {
            ScanError::Syntax => KeyProblem::Malformed,
            ScanError::Depth { .. } | ScanError::TooMany => KeyProblem::TooLarge,
            ScanError::Duplicate => KeyProblem::Duplicate,
        }))
    }
}

impl KeySet {
    /// Reads a JWK Set. A key without `alg` is only accepted if its curve implies the algorithm.
    pub fn from_json(text: &str) -> Result<KeySet> {
        Ok(Self::read(text, None, read_key)?)
    }

    /// Reads a JWK Set whose keys are all for one algorithm. It applies to keys without `alg`. Keys with
    /// another `alg` are skipped.
    pub fn from_json_as(text: &str, alg: Alg) -> Result<KeySet> {
        Ok(Self::read(text, Some(alg), read_key)?)
    }

    /// Returns the number of keys in the set.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Always returns false: a set has at least one key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of keys that were skipped because they have an unknown type, cannot verify, or are
    /// not valid.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    fn read(
        text: &str,
        wanted: Option<Alg>,
        read_key: fn(&str, Option<Alg>) -> Result<VerificationKey, KeyError>,
    ) -> Result<KeySet, KeyError> {
        let (mut keys, mut skipped) = (Vec::new(), 0);
        for element in elements(text)? {
            match read_key(element, wanted) {
                Ok(key) => keys.push(key),
                Err(_) => skipped += 1,
            }
        }
        if keys.is_empty() {
            return Err(KeyError::at("keys", KeyProblem::NoUsableKey));
        }
        Ok(KeySet { keys, skipped })
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
/// assert!(KeySet::from_json(set).is_err());
/// assert_eq!(danger::weak_key_set(set, None)?.len(), 1);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn weak_key_set(text: &str, alg: Option<Alg>) -> Result<KeySet> {
    Ok(KeySet::read(text, alg, read_weak_key)?)
}

/// Keys are nested in an array in the set, so the limit is higher than for a single key.
const DEPTH: u32 = 10;

/// Returns the text of each key of a set, within the limits.
pub(crate) fn elements(text: &str) -> Result<Vec<&str>, KeyError> {
    if text.len() > limits::KEY_SET_BYTES {
        return Err(KeyError::input_too_large(text.len(), limits::KEY_SET_BYTES));
    }
    let mut array = None;
    json::read_object(text, DEPTH, |name, value| {
        if name == *"keys" {
            let wrong_type = || Rejected(KeyError::at("keys", KeyProblem::WrongType));
            array = Some(value.elements().ok_or_else(wrong_type)?);
        }
        Ok(())
    })
    .map_err(|Rejected(error)| error)?;
    let array = array.ok_or(KeyError::at("keys", KeyProblem::Missing))?;
    let mut keys = Vec::new();
    for element in array {
        if keys.len() == limits::KEY_SET_KEYS {
            return Err(KeyError::too_large(
                "keys",
                limits::KEY_SET_KEYS + 1,
                limits::KEY_SET_KEYS,
            ));
        }
        keys.push(element.raw());
    }
    Ok(keys)
}

fn read_key(text: &str, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    let members = Members::parse(text)?;
    match (&*members.required("kty")?, wanted) {
        ("oct", None) => MacKey::from_members(&members, None).map(VerificationKey::Mac),
        ("oct", Some(Alg::Mac(alg))) => {
            MacKey::from_members(&members, Some(alg)).map(VerificationKey::Mac)
        }
        ("oct", Some(Alg::Sig(alg))) => Err(wrong_jwk_type(&members, alg.required_key())),
        (_, Some(Alg::Mac(_))) => Err(wrong_jwk_type(&members, "oct")),
        (_, None) => VerifyingKey::from_members(&members, None).map(VerificationKey::Public),
        (_, Some(Alg::Sig(alg))) => {
            VerifyingKey::from_members(&members, Some(alg)).map(VerificationKey::Public)
        }
    }
}

/// Reads a key. If it is only below the minimum strength, it is accepted.
fn read_weak_key(text: &str, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    let too_weak = match read_key(text, wanted) {
        Err(error) if error.problem() == KeyProblem::TooWeak => error,
        read => return read,
    };
    let members = Members::parse(text)?;
    let declared = members.optional("alg")?.and_then(|alg| alg.parse().ok());
    match wanted.or(declared) {
        Some(Alg::Mac(alg)) => MacKey::weak_from_members(&members, alg).map(VerificationKey::Mac),
        Some(Alg::Sig(alg)) => {
            VerifyingKey::weak_from_members(&members, alg).map(VerificationKey::Public)
        }
        None => Err(too_weak),
    }
}
