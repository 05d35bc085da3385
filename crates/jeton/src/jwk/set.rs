use crate::error::{KeyError, KeyProblem, Result};
use crate::json::{self, ScanError};
use crate::jwk::Members;
use crate::key::{Alg, MacKey, VerificationKey, VerifyingKey};
use crate::limits;

/// A set of keys to verify with (RFC 7517, section 5).
///
/// Keys that jeton does not know, or that are not for verifying, are left out and do not spoil the
/// rest; [`left_out`](KeySet::left_out) counts them. A set that leaves no key is an error. A set is
/// replaced as a whole and never merged with another.
///
/// At most [`limits::KEY_SET_KEYS`] keys in at most [`limits::KEY_SET_BYTES`].
///
/// ```
/// use jeton::jwk::KeySet;
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key().with_key_id("a")?;
/// let text = format!(r#"{{"keys":[{},{{"kty":"new"}}]}}"#, key.to_jwk());
/// let set = KeySet::from_json(&text)?;
/// assert_eq!((set.len(), set.left_out()), (1, 1));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct KeySet {
    keys: Vec<VerificationKey>,
    left_out: usize,
}

struct Rejected(KeyError);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(KeyError::new(match error {
            ScanError::Syntax => KeyProblem::Malformed,
            ScanError::Depth | ScanError::TooMany => KeyProblem::TooLarge,
            ScanError::Duplicate => KeyProblem::Duplicate,
        }))
    }
}

impl KeySet {
    /// Reads a JWK Set. A key that does not say its algorithm is taken only if its curve implies it.
    pub fn from_json(text: &str) -> Result<KeySet> {
        Ok(Self::read(text, None, read_key)?)
    }

    /// Reads a JWK Set whose keys are all for one algorithm: those that do not say theirs are taken
    /// for it, those that say another are left out.
    pub fn from_json_as(text: &str, alg: Alg) -> Result<KeySet> {
        Ok(Self::read(text, Some(alg), read_key)?)
    }

    /// How many keys the set has.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Never true: a set without a key cannot be made.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many keys of the text are not in the set, because they are of an unknown kind, not for
    /// verifying, or not valid.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    pub(crate) fn into_keys(self) -> Vec<VerificationKey> {
        self.keys
    }

    /// The same with keys under today's minimum: see [`danger`](crate::danger).
    pub(crate) fn weak(text: &str, alg: Option<Alg>) -> Result<KeySet, KeyError> {
        Self::read(text, alg, read_weak_key)
    }

    fn read(
        text: &str,
        wanted: Option<Alg>,
        read_key: fn(&str, Option<Alg>) -> Result<VerificationKey, KeyError>,
    ) -> Result<KeySet, KeyError> {
        let (mut keys, mut left_out) = (Vec::new(), 0);
        for element in elements(text)? {
            match read_key(element, wanted) {
                Ok(key) => keys.push(key),
                Err(_) => left_out += 1,
            }
        }
        if keys.is_empty() {
            return Err(KeyError::at("keys", KeyProblem::NoUsableKey));
        }
        Ok(KeySet { keys, left_out })
    }
}

/// A key, in an array, in the set: each may nest a little more.
const DEPTH: u32 = 10;

/// The text of each key of a set, within the limits.
pub(crate) fn elements(text: &str) -> Result<Vec<&str>, KeyError> {
    if text.len() > limits::KEY_SET_BYTES {
        return Err(KeyError::new(KeyProblem::TooLarge));
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
            return Err(KeyError::at("keys", KeyProblem::TooLarge));
        }
        keys.push(element.raw());
    }
    Ok(keys)
}

fn read_key(text: &str, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    let members = Members::parse(text)?;
    let contradiction = Err(KeyError::at("kty", KeyProblem::Contradiction));
    match (&*members.required("kty")?, wanted) {
        ("oct", None) => MacKey::from_members(&members, None).map(VerificationKey::Mac),
        ("oct", Some(Alg::Mac(alg))) => {
            MacKey::from_members(&members, Some(alg)).map(VerificationKey::Mac)
        }
        ("oct", Some(Alg::Sig(_))) | (_, Some(Alg::Mac(_))) => contradiction,
        (_, None) => VerifyingKey::from_members(&members, None).map(VerificationKey::Public),
        (_, Some(Alg::Sig(alg))) => {
            VerifyingKey::from_members(&members, Some(alg)).map(VerificationKey::Public)
        }
    }
}

/// A key that is refused for nothing but its strength is taken after all.
fn read_weak_key(text: &str, wanted: Option<Alg>) -> Result<VerificationKey, KeyError> {
    let refused = match read_key(text, wanted) {
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
        None => Err(refused),
    }
}
