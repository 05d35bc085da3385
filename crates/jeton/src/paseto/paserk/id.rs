use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha384};

use super::{key_error, not_a_paserk};
use crate::base64;
use crate::crypto::blake2b::Blake2b;
use crate::error::{Error, KeyProblem, Result};
use crate::paserk_kind::{Family, Kind};

const HASH_BYTES: usize = 33;

/// The id of a key: a hash of the PASERK of the key (PASERK, operation "ID").
///
/// It does not reveal the key, so it may appear in a footer or a log. It identifies a key and proves nothing:
/// a verifier uses it to select one of its own keys, like the `kid` of a JWT.
///
/// ```
/// use jeton::paserk::Id;
///
/// let id: Id = "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs".parse()?;
/// assert_eq!(id.to_string(), "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs");
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    kind: Kind,
    hash: [u8; HASH_BYTES],
}

impl Id {
    /// Returns version and form, for example `k4.lid`.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Computes the id of a key of this kind.
    pub(crate) fn of(key: Kind, bytes: &[u8]) -> Id {
        let kind = key
            .id_kind()
            .expect("a PASERK that was made or read holds a key");
        let mut prefix = String::with_capacity(Kind::PREFIX_BYTES_MAX);
        kind.write_prefix(&mut prefix);
        let text = super::text(key, bytes);
        let mut hash = [0; HASH_BYTES];
        match Family::of(key.version()) {
            Family::Nist => {
                let long = Sha384::new()
                    .chain_update(prefix.as_bytes())
                    .chain_update(text.as_bytes())
                    .finalize();
                hash.copy_from_slice(&long[..HASH_BYTES]);
            }
            Family::Sodium => {
                hash = *Blake2b::<HASH_BYTES>::new()
                    .and(prefix.as_bytes())
                    .and(text.as_bytes())
                    .finish();
            }
        }
        Id { kind, hash }
    }
}

impl FromStr for Id {
    type Err = Error;

    /// Parses the canonical text of an id.
    fn from_str(text: &str) -> Result<Id> {
        let (kind, encoded) = Kind::split(text).ok_or(not_a_paserk())?;
        if !kind.is_id() {
            return Err(key_error(KeyProblem::Unsupported).into());
        }
        if encoded.len() != base64::encoded_length(HASH_BYTES) {
            return Err(key_error(KeyProblem::WrongLength).into());
        }
        let mut hash = [0; HASH_BYTES];
        base64::decode_into(encoded.as_bytes(), &mut hash)
            .map_err(|_| key_error(KeyProblem::NotBase64Url))?;
        Ok(Id { kind, hash })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kind, base64::encode(&self.hash))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}
