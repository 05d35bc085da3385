//! Client secrets, and the hashes that a configuration has instead of them.

use std::fmt;
use std::str::FromStr;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::limits::{ARGON2_LANES, ARGON2_MEMORY_KIB, ARGON2_PASSES};

/// Random bytes in a generated secret.
const SECRET_BYTES: usize = 32;
/// The cost of hashes that this server makes: the first choice of OWASP for Argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Bytes of the salt and of the hash that this server makes.
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// A client secret. Memory is wiped when it is dropped.
pub struct ClientSecret(Zeroizing<String>);

impl ClientSecret {
    /// Generates a secret of 256 random bits, in base64url.
    ///
    /// ```
    /// let secret = jeton_server::ClientSecret::generate()?;
    /// assert_eq!(secret.text().len(), 43);
    /// assert!(secret.hash().to_string().starts_with("sha256:"));
    /// # Ok::<(), jeton_server::SecretError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SecretError::Random`] if the system's random generator fails.
    pub fn generate() -> Result<ClientSecret, SecretError> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        rand::fill(bytes.as_mut_slice()).map_err(|_| SecretError::Random)?;
        let text = Base64UrlUnpadded::encode_string(bytes.as_slice());
        Ok(ClientSecret(Zeroizing::new(text)))
    }

    /// Returns the secret.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the hash for the configuration. SHA-256 is enough, because nobody can guess 256 random bits.
    pub fn hash(&self) -> SecretHash {
        SecretHash::Sha256(sha256(self.0.as_bytes()))
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSecret").finish_non_exhaustive()
    }
}

/// The hash of a client secret: `sha256:` and 64 hexadecimal digits, or an Argon2id hash as
/// `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`.
///
/// ```
/// use jeton_server::SecretHash;
///
/// let hash: SecretHash = format!("sha256:{}", "0".repeat(64)).parse()?;
/// assert_eq!(hash.to_string().len(), 71);
/// assert!("password".parse::<SecretHash>().is_err());
/// # Ok::<(), jeton_server::SecretError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum SecretHash {
    /// Of a generated secret.
    Sha256([u8; 32]),
    /// Of a secret from elsewhere, which may be guessable.
    Argon2id(Argon2idHash),
}

/// An Argon2id hash (RFC 9106), with its salt and cost.
#[derive(Clone, PartialEq, Eq)]
pub struct Argon2idHash {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

/// Why a secret or its hash cannot be used. It contains neither.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretError {
    /// The text is neither kind of hash.
    Format,
    /// A cost of Argon2id is out of range: its name, the value, the minimum and the maximum.
    Cost(&'static str, u32, u32, u32),
    /// The system's random generator failed.
    Random,
    /// There is not enough memory to compute the hash.
    Memory,
}

impl SecretHash {
    /// Hashes a secret from elsewhere with Argon2id.
    ///
    /// # Errors
    ///
    /// [`SecretError::Random`] and [`SecretError::Memory`].
    pub fn of_imported(secret: &str) -> Result<SecretHash, SecretError> {
        let mut salt = vec![0; SALT_BYTES];
        rand::fill(&mut salt).map_err(|_| SecretError::Random)?;
        let mut made = Argon2idHash {
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
            salt,
            hash: vec![0; HASH_BYTES],
        };
        let derived = made.derive(secret.as_bytes(), &mut Argon2Memory::default())?;
        made.hash = derived.to_vec();
        Ok(SecretHash::Argon2id(made))
    }

    /// Compares a secret in constant time. Argon2id takes tens of milliseconds: do not call it on a thread
    /// that serves connections.
    pub(crate) fn matches(
        &self,
        secret: &[u8],
        memory: &mut Argon2Memory,
    ) -> Result<bool, SecretError> {
        let is_equal = |a: &[u8], b: &[u8]| verify_slices_are_equal(a, b).is_ok();
        Ok(match self {
            SecretHash::Sha256(hash) => is_equal(&sha256(secret), hash),
            SecretHash::Argon2id(hash) => is_equal(&hash.derive(secret, memory)?, &hash.hash),
        })
    }

    /// The cost of Argon2id: memory, passes, lanes and length. `None`: the comparison is quick.
    pub(crate) fn cost(&self) -> Option<(u32, u32, u32, usize)> {
        match self {
            SecretHash::Sha256(_) => None,
            SecretHash::Argon2id(of) => Some((of.memory_kib, of.passes, of.lanes, of.hash.len())),
        }
    }
}

/// The memory of Argon2id. It grows to what the dearest hash needs, and is used again: megabytes that come and go
/// would stay with the allocator in pieces.
#[derive(Default)]
pub(crate) struct Argon2Memory(Vec<Block>);

impl Argon2Memory {
    fn blocks(&mut self, count: usize) -> Result<&mut [Block], SecretError> {
        let more = count.saturating_sub(self.0.len());
        // If the memory is not available, return an error instead of aborting the process.
        let reserved = self.0.try_reserve_exact(more);
        reserved.map_err(|_| SecretError::Memory)?;
        self.0.resize(self.0.len() + more, Block::new());
        Ok(&mut self.0[..count])
    }
}

impl fmt::Debug for Argon2Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Argon2Memory").finish_non_exhaustive()
    }
}

impl Argon2idHash {
    fn derive(
        &self,
        secret: &[u8],
        memory: &mut Argon2Memory,
    ) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let length = self.hash.len();
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(length));
        let params = params.map_err(|_| SecretError::Format)?;
        let blocks = memory.blocks(params.block_count())?;
        let mut hash = Zeroizing::new(vec![0; length]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into_with_memory(secret, &self.salt, &mut hash, blocks)
            .map_err(|_| SecretError::Format)?;
        Ok(hash)
    }

    /// Parses the part after `$argon2id$`.
    fn parse(text: &str) -> Result<Argon2idHash, SecretError> {
        let mut parts = text.split('$');
        let mut part = || parts.next().ok_or(SecretError::Format);
        let (version, costs, salt, hash) = (part()?, part()?, part()?, part()?);
        if version != "v=19" || parts.next().is_some() {
            return Err(SecretError::Format);
        }
        let mut costs = costs.split(',');
        let mut cost = |name: &'static str, (min, max): (u32, u32)| {
            let value = costs.next().and_then(|cost| cost.strip_prefix(name));
            let value = value.and_then(|cost| cost.strip_prefix('=')?.parse().ok());
            let value: u32 = value.ok_or(SecretError::Format)?;
            if (min..=max).contains(&value) {
                Ok(value)
            } else {
                Err(SecretError::Cost(name, value, min, max))
            }
        };
        let memory_kib = cost("m", ARGON2_MEMORY_KIB)?;
        let passes = cost("t", ARGON2_PASSES)?;
        let lanes = cost("p", ARGON2_LANES)?;
        let decode = |text: &str, bytes: std::ops::RangeInclusive<usize>| {
            let decoded = Base64Unpadded::decode_vec(text).map_err(|_| SecretError::Format)?;
            if bytes.contains(&decoded.len()) {
                Ok(decoded)
            } else {
                Err(SecretError::Format)
            }
        };
        if costs.next().is_some() {
            return Err(SecretError::Format);
        }
        Ok(Argon2idHash {
            memory_kib,
            passes,
            lanes,
            salt: decode(salt, 8..=64)?,
            hash: decode(hash, 16..=64)?,
        })
    }
}

impl FromStr for SecretHash {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<SecretHash, SecretError> {
        if let Some(rest) = text.strip_prefix("$argon2id$") {
            return Argon2idHash::parse(rest).map(SecretHash::Argon2id);
        }
        let digits = text.strip_prefix("sha256:").ok_or(SecretError::Format)?;
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() || !digits.is_ascii() {
            return Err(SecretError::Format);
        }
        for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| SecretError::Format)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| SecretError::Format)?;
        }
        Ok(SecretHash::Sha256(hash))
    }
}

impl TryFrom<String> for SecretHash {
    type Error = SecretError;

    fn try_from(text: String) -> Result<SecretHash, SecretError> {
        // The text may be a secret that was written by mistake.
        Zeroizing::new(text).parse()
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretHash::Sha256(hash) => {
                f.write_str("sha256:")?;
                hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            SecretHash::Argon2id(hash) => write!(
                f,
                "$argon2id$v=19$m={},t={},p={}${}${}",
                hash.memory_kib,
                hash.passes,
                hash.lanes,
                Base64Unpadded::encode_string(&hash.salt),
                Base64Unpadded::encode_string(&hash.hash)
            ),
        }
    }
}

impl fmt::Debug for SecretHash {
    /// Shows only the kind: an imported secret may be guessed from its hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SecretHash::Sha256(_) => "SecretHash(sha256)",
            SecretHash::Argon2id(_) => "SecretHash(argon2id)",
        })
    }
}

impl fmt::Debug for Argon2idHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Argon2idHash").finish_non_exhaustive()
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretError::Format => f.write_str(
                "must be `sha256:` and 64 hexadecimal digits, or an Argon2id hash \
                 `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`",
            ),
            SecretError::Cost(name, value, min, max) => write!(
                f,
                "the cost `{name}` of the Argon2id hash is {value}, must be between {min} and {max}"
            ),
            SecretError::Random => f.write_str("the random generator of the system failed"),
            SecretError::Memory => f.write_str("not enough memory for Argon2id"),
        }
    }
}

impl std::error::Error for SecretError {}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut array = [0; 32];
    array.copy_from_slice(digest(&SHA256, bytes).as_ref());
    array
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn generated_secret_matches_its_hash_only() {
        let mut memory = Argon2Memory::default();
        let (one, other) = (
            ClientSecret::generate().unwrap(),
            ClientSecret::generate().unwrap(),
        );
        let hash: SecretHash = one.hash().to_string().parse().unwrap();
        assert_eq!(hash.matches(one.text().as_bytes(), &mut memory), Ok(true));
        assert_eq!(
            hash.matches(other.text().as_bytes(), &mut memory),
            Ok(false)
        );
        assert_eq!(hash.matches(b"", &mut memory), Ok(false));
        let shown = format!("{one:?} {hash:?}");
        assert!(!shown.contains(one.text()), "{shown}");
    }

    /// The text form keeps salt and cost.
    #[test]
    fn imported_secret_matches_its_hash_only() {
        let mut memory = Argon2Memory::default();
        let made = SecretHash::of_imported("hunter2").unwrap();
        let read: SecretHash = made.to_string().parse().unwrap();
        assert_eq!(made, read);
        assert_eq!(read.matches(b"hunter2", &mut memory), Ok(true));
        assert_eq!(read.matches(b"hunter3", &mut memory), Ok(false));
        assert!(!format!("{read:?}").contains('$'));
    }

    #[test]
    fn hash_beyond_the_limits_is_an_error() {
        let with =
            |costs: &str| format!("$argon2id$v=19${costs}$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA");
        assert!(with("m=19456,t=2,p=1").parse::<SecretHash>().is_ok());
        for (costs, name) in [
            ("m=1048576,t=2,p=1", "m"),
            ("m=19456,t=1000,p=1", "t"),
            ("m=19456,t=2,p=64", "p"),
        ] {
            let error = with(costs).parse::<SecretHash>().unwrap_err();
            assert!(matches!(error, SecretError::Cost(of, ..) if of == name));
        }
        for text in [
            "",
            "sha256:",
            "hunter2",
            "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA",
            &with("m=19456,t=2"),
            &with("m=19456,t=2,p=1,x=1"),
            &format!("{}$x", with("m=19456,t=2,p=1")),
            &format!("sha256:{}", "é".repeat(32)),
        ] {
            assert_eq!(
                text.parse::<SecretHash>(),
                Err(SecretError::Format),
                "{text}"
            );
        }
    }
}
