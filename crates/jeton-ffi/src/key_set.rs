//! Key sets.

use jeton::error::KeyProblem;
use jeton::jwk::{KeySet, Skipped};
use jeton::key::{Alg, DecryptionKeys, Keys, VerificationKey};
use jeton::paseto::{PasetoKey, PasetoKeySet, PasetoKeys};

use crate::argument::{Out, elements, text};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::key::{JetonKey, Key};
use crate::options::{self, KeySetOptions, signature_alg};
use crate::reason::{Fault, JetonReason};

/// Several keys of one use: keys that verify, keys that decrypt, or keys of PASETO.
pub struct JetonKeySet {
    _opaque: [u8; 0],
}

impl Handle for JetonKeySet {
    type Value = Set;
    const KIND: Kind = Kind::KeySet;
}

/// A key set of one use.
pub(crate) enum Set {
    /// Public keys and secrets that verify a JWS.
    Verification(KeySet),
    /// Keys that decrypt a JWE.
    Decryption(Vec<Key>),
    Paseto(PasetoKeySet),
}

impl Set {
    fn of(keys: &[Key]) -> Result<Set, Fault> {
        let Some(first) = keys.first() else {
            return Err(KeyProblem::NoUsableKey.into());
        };
        if first.is_paseto() {
            let mut set = PasetoKeySet::new();
            for key in keys {
                set.insert(paseto_key(key)?)?;
            }
            return Ok(Set::Paseto(set));
        }
        if decrypts(first) {
            let all = keys.iter().all(decrypts);
            return match all {
                true => Ok(Set::Decryption(keys.to_vec())),
                false => Err(KeyProblem::AnotherUse.into()),
            };
        }
        let mut set = KeySet::new();
        for key in keys {
            set.insert(verification_key(key)?)?;
        }
        Ok(Set::Verification(set))
    }

    fn skipped(&self) -> &[Skipped] {
        match self {
            Set::Verification(set) => set.skipped(),
            Set::Paseto(set) => set.skipped(),
            Set::Decryption(_) => &[],
        }
    }
}

fn decrypts(key: &Key) -> bool {
    matches!(key, Key::Decryption(_) | Key::Wrapping(_) | Key::Content(_))
}

/// The key that verifies: a secret, a public key, or that of a private key.
pub(crate) fn verification_key(key: &Key) -> Result<VerificationKey, Fault> {
    Ok(match key {
        Key::Mac(key) => (&**key).into(),
        Key::Signing(key) => key.verifying_key().into(),
        Key::Verifying(key) => key.clone().into(),
        _ => return Err(KeyProblem::AnotherUse.into()),
    })
}

/// The key that opens a PASETO.
pub(crate) fn paseto_key(key: &Key) -> Result<PasetoKey, Fault> {
    Ok(match key {
        Key::V3Local(key) => (&**key).into(),
        Key::V3Secret(key) => key.public_key().into(),
        Key::V3Public(key) => key.into(),
        Key::V4Local(key) => (&**key).into(),
        Key::V4Secret(key) => key.public_key().into(),
        Key::V4Public(key) => key.into(),
        _ => return Err(KeyProblem::AnotherUse.into()),
    })
}

/// The keys of a verifier of JWS.
pub(crate) fn keys_of_set(set: &Set) -> Result<Keys, Fault> {
    match set {
        Set::Verification(set) => Ok(set.into()),
        _ => Err(KeyProblem::AnotherUse.into()),
    }
}

/// The keys of a verifier of PASETO.
pub(crate) fn paseto_keys_of_set(set: &Set) -> Result<PasetoKeys, Fault> {
    match set {
        Set::Paseto(set) => Ok(set.into()),
        _ => Err(KeyProblem::AnotherUse.into()),
    }
}

/// The keys that decrypt a JWE.
pub(crate) fn decryption_keys(set: &Set) -> Result<DecryptionKeys, Fault> {
    let Set::Decryption(keys) = set else {
        return Err(KeyProblem::AnotherUse.into());
    };
    let mut all: Option<DecryptionKeys> = None;
    for key in keys {
        let key: DecryptionKeys = match key {
            Key::Decryption(key) => (&**key).into(),
            Key::Wrapping(key) => (&**key).into(),
            Key::Content(key) => (&**key).into(),
            _ => return Err(Fault::Internal),
        };
        all = Some(match all {
            None => key,
            Some(all) => all.and(key),
        });
    }
    all.ok_or(Fault::Internal)
}

/// Creates a set of these keys, which have the same use: keys that verify, that decrypt, or that open a PASETO. Of a
/// private key for signatures, the set has the public key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_new(
    keys: *const *const JetonKey,
    count: usize,
    out: *mut *const JetonKeySet,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes handles and a place for one.
        let (out, handles) = unsafe { (Out::new(out)?, elements(keys, count)?) };
        if count > jeton::limits::KEY_SET_KEYS {
            return Err(KeyProblem::TooLarge.into());
        }
        let mut keys = Vec::with_capacity(handles.len());
        for &handle in handles {
            // SAFETY: as above.
            keys.push((*unsafe { handle::get(handle) }?).clone());
        }
        out.put(handle::create(Set::of(&keys)?));
        Ok(())
    })
}

/// Imports a JWK Set, or PASERKs with one in each line. Keys that cannot be used are skipped:
/// `jeton_key_set_export` says why. A set without a usable key is an error.
///
/// Options: `default_alg` is the algorithm of keys without `alg`. `published` skips secret and private keys, which
/// a set that others can read must not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_import(
    data: *const u8,
    length: usize,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonKeySet,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes texts and a place for a handle.
        let (out, text, options): (_, _, KeySetOptions) = unsafe {
            (
                Out::new(out)?,
                text(data, length)?,
                options::read(options, options_length)?,
            )
        };
        out.put(handle::create(import(text, &options)?));
        Ok(())
    })
}

fn import(text: &str, options: &KeySetOptions) -> Result<Set, Fault> {
    let text = text.trim_ascii();
    if text.starts_with('k') {
        let lines = text
            .lines()
            .map(str::trim_ascii)
            .filter(|line| !line.is_empty());
        let set = PasetoKeySet::from_paserks(lines)?;
        return match set.is_empty() {
            true => Err(KeyProblem::NoUsableKey.into()),
            false => Ok(Set::Paseto(set)),
        };
    }
    let default = options.default_alg.as_deref();
    let default = default
        .map(|alg| signature_alg("default_alg", alg))
        .transpose()?;
    let set = match (options.published, default) {
        (true, None) => KeySet::from_published_json(text, None)?,
        (true, Some(Alg::Sig(alg))) => KeySet::from_published_json(text, alg)?,
        (true, Some(_)) => {
            return Err(Fault::option(
                "default_alg",
                "a published key has no MAC algorithm",
            ));
        }
        (false, None) => KeySet::from_json(text)?,
        (false, Some(alg)) => KeySet::from_json_with_default(text, alg)?,
    };
    match set.is_empty() {
        true => Err(KeyProblem::NoUsableKey.into()),
        false => Ok(Set::Verification(set)),
    }
}

/// Writes what `what` names into a buffer of the library:
///
/// - `jwks`: the public keys as a JWK Set.
/// - `ids`: the ids of the keys, one in each line; an empty line for a key without id.
/// - `skipped`: why keys were skipped when the set was read, one in each line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_set_export(
    keys: *const JetonKeySet,
    what: *const u8,
    what_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text and a place for a buffer.
        let (out, set, what) =
            unsafe { (Out::new(out)?, handle::get(keys)?, text(what, what_length)?) };
        let written = match (&*set, what) {
            (Set::Verification(set), "jwks") => set.to_json(),
            (Set::Verification(set), "ids") => {
                lines(set.iter().map(|key| key.key_id().unwrap_or_default()))
            }
            (Set::Paseto(set), "ids") => lines(set.iter().map(PasetoKey::key_id)),
            (set, "skipped") => lines(set.skipped()),
            _ => {
                return Err(Fault::option(
                    "what",
                    "unknown, or not available for this set",
                ));
            }
        };
        out.put_bytes(written);
        Ok(())
    })
}

fn lines(items: impl IntoIterator<Item: std::fmt::Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join("\n")
}
