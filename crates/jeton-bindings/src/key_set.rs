//! Key sets.

use jeton::error::{KeyProblem, codes};
use jeton::jwk::{self, Skipped};
use jeton::key::{Alg, DecryptionKeys, Keys, VerificationKey};
use jeton::paseto::{PasetoKey, PasetoKeySet, PasetoKeys};

use crate::fault::Fault;
use crate::key::{Key, described};
use crate::settings::{self, KeySetOptions, signature_alg};

/// Several keys of one use.
pub enum KeySet {
    /// Public keys and secrets that verify a JWS.
    Verification(jwk::KeySet),
    /// Keys that decrypt a JWE.
    Decryption(Vec<Key>),
    /// Keys that verify or decrypt a PASETO.
    Paseto(PasetoKeySet),
}

impl KeySet {
    /// Creates a set of keys with the same use: keys that verify, keys that decrypt, or PASETO keys. A private signing
    /// key is added as its public key.
    ///
    /// # Errors
    ///
    /// The list is empty, has more than [`jeton::limits::KEY_SET_KEYS`] keys, or mixes different uses.
    pub fn new(keys: &[Key]) -> Result<KeySet, Fault> {
        if keys.len() > jeton::limits::KEY_SET_KEYS {
            return Err(KeyProblem::TooLarge.into());
        }
        let Some(first) = keys.first() else {
            return Err(KeyProblem::NoUsableKey.into());
        };
        if first.is_paseto() {
            let mut set = PasetoKeySet::new();
            for key in keys {
                set.insert(paseto_key(key)?)?;
            }
            return Ok(KeySet::Paseto(set));
        }
        if decrypts(first) {
            if let Some(other) = keys.iter().find(|key| !decrypts(key)) {
                return Err(wrong_use(other, "a key that decrypts, like the first key"));
            }
            return Ok(KeySet::Decryption(keys.to_vec()));
        }
        let mut set = jwk::KeySet::new();
        for key in keys {
            set.insert(verification_key(key)?)?;
        }
        Ok(KeySet::Verification(set))
    }

    /// Imports a JWK Set, or PASERKs, one per line. Unusable keys are skipped: [`KeySet::export`] returns the reasons.
    ///
    /// The settings are [`KEY_SET`](crate::settings::KEY_SET).
    ///
    /// # Errors
    ///
    /// The text is not a key set, or has no usable key.
    pub fn import(text: &str, settings: &str) -> Result<KeySet, Fault> {
        import(text, &settings::read(settings)?)
    }

    /// Exports the set, or the property that `what` names:
    ///
    /// - `jwks`: the public keys as a JWK Set.
    /// - `ids`: the key ids, one per line; an empty line for a key without id.
    /// - `skipped`: why keys were skipped during the import, one reason per line.
    ///
    /// # Errors
    ///
    /// The name is unknown, or not available for this set.
    pub fn export(&self, what: &str) -> Result<String, Fault> {
        Ok(match (self, what) {
            (KeySet::Verification(set), "jwks") => set.to_json(),
            (KeySet::Verification(set), "ids") => {
                lines(set.iter().map(|key| key.key_id().unwrap_or_default()))
            }
            (KeySet::Paseto(set), "ids") => lines(set.iter().map(PasetoKey::key_id)),
            (set, "skipped") => lines(set.skipped()),
            (set, "jwks" | "ids") => {
                return Err(Fault::argument(
                    &codes::INVALID_OPTION,
                    match set {
                        KeySet::Paseto(_) => {
                            "PASETO keys cannot be exported as a JWK Set: export each key as a PASERK"
                        }
                        _ => "a set of keys that decrypt cannot be exported",
                    },
                ));
            }
            _ => return Err(Fault::option("what", "must be jwks, ids or skipped")),
        })
    }

    /// Describes the set in an error.
    fn described(&self) -> &'static str {
        match self {
            KeySet::Verification(_) => "a set of keys that verify signatures",
            KeySet::Decryption(_) => "a set of keys that decrypt",
            KeySet::Paseto(_) => "a set of PASETO keys",
        }
    }

    fn skipped(&self) -> &[Skipped] {
        match self {
            KeySet::Verification(set) => set.skipped(),
            KeySet::Paseto(set) => set.skipped(),
            KeySet::Decryption(_) => &[],
        }
    }
}

fn decrypts(key: &Key) -> bool {
    matches!(
        key,
        Key::Decryption(_) | Key::Wrapping(_) | Key::Content(_) | Key::Password(_)
    )
}

/// Returns the verification key: a secret, a public key, or the public key of a private key.
pub(crate) fn verification_key(key: &Key) -> Result<VerificationKey, Fault> {
    Ok(match key {
        Key::Mac(key) => (&**key).into(),
        Key::Signing(key) => key.verifying_key().into(),
        Key::Verifying(key) => key.clone().into(),
        key => return Err(wrong_use(key, "a key that verifies signatures")),
    })
}

/// Returns the key that verifies or decrypts a PASETO.
pub(crate) fn paseto_key(key: &Key) -> Result<PasetoKey, Fault> {
    Ok(match key {
        Key::V3Local(key) => (&**key).into(),
        Key::V3Secret(key) => key.public_key().into(),
        Key::V3Public(key) => key.into(),
        Key::V4Local(key) => (&**key).into(),
        Key::V4Secret(key) => key.public_key().into(),
        Key::V4Public(key) => key.into(),
        key => return Err(wrong_use(key, "a PASETO key")),
    })
}

/// Returns the keys of a JWS verifier.
pub(crate) fn keys_of_set(set: &KeySet) -> Result<Keys, Fault> {
    match set {
        KeySet::Verification(set) => Ok(set.into()),
        set => Err(wrong_set(set, "keys that verify signatures")),
    }
}

/// Returns the keys of a PASETO verifier.
pub(crate) fn paseto_keys_of_set(set: &KeySet) -> Result<PasetoKeys, Fault> {
    match set {
        KeySet::Paseto(set) => Ok(set.into()),
        set => Err(wrong_set(set, "PASETO keys")),
    }
}

/// Returns the keys that decrypt a JWE.
pub(crate) fn decryption_keys(set: &KeySet) -> Result<DecryptionKeys, Fault> {
    let KeySet::Decryption(keys) = set else {
        return Err(wrong_set(set, "keys that decrypt"));
    };
    let mut all: Option<DecryptionKeys> = None;
    for key in keys {
        let key: DecryptionKeys = match key {
            Key::Decryption(key) => (&**key).into(),
            Key::Wrapping(key) => (&**key).into(),
            Key::Content(key) => (&**key).into(),
            Key::Password(key) => (&**key).into(),
            _ => return Err(Fault::Internal),
        };
        all = Some(match all {
            None => key,
            Some(all) => all.and(key),
        });
    }
    all.ok_or(Fault::Internal)
}

/// Returns the error for a key that cannot be used for the operation.
#[cold]
pub(crate) fn wrong_use(key: &Key, expected: &str) -> Fault {
    let found = described(key);
    Fault::key(
        &codes::KEY_USE_MISMATCH,
        format_args!("found {found}, expected {expected}"),
    )
}

#[cold]
fn wrong_set(set: &KeySet, expected: &str) -> Fault {
    let found = set.described();
    Fault::key(
        &codes::KEY_USE_MISMATCH,
        format_args!("found {found}, expected {expected}"),
    )
}

fn import(text: &str, options: &KeySetOptions) -> Result<KeySet, Fault> {
    let text = text.trim_ascii();
    if text.starts_with('k') {
        let lines = text
            .lines()
            .map(str::trim_ascii)
            .filter(|line| !line.is_empty());
        let set = PasetoKeySet::from_paserks(lines)?;
        if set.is_empty() {
            return Err(KeyProblem::NoUsableKey.into());
        }
        return Ok(KeySet::Paseto(set));
    }
    let default = options.default_alg.as_deref();
    let default = default
        .map(|alg| signature_alg("default_alg", alg))
        .transpose()?;
    let set = match (options.published, default) {
        (true, None) => jwk::KeySet::from_published_json(text, None)?,
        (true, Some(Alg::Sig(alg))) => jwk::KeySet::from_published_json(text, alg)?,
        (true, Some(_)) => {
            return Err(Fault::option(
                "default_alg",
                "a published key cannot have a MAC algorithm",
            ));
        }
        (false, None) => jwk::KeySet::from_json(text)?,
        (false, Some(alg)) => jwk::KeySet::from_json_with_default(text, alg)?,
    };
    if set.is_empty() {
        return Err(KeyProblem::NoUsableKey.into());
    }
    Ok(KeySet::Verification(set))
}

fn lines(items: impl IntoIterator<Item: std::fmt::Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join("\n")
}
