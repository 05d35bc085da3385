//! Every number that an attacker can choose has a name and a bound here.

use crate::base64;
use crate::error::{Part, Rejection};
use crate::json::{self, Bounds};

/// Longest `kid` that a token or key may carry, bytes.
pub const KEY_ID_BYTES: usize = 256;

/// Most keys that one set may hold.
pub const KEY_SET_KEYS: usize = 100;

/// Longest text of a key set, bytes.
pub const KEY_SET_BYTES: usize = 1024 * 1024;

/// Longest text of one key (JWK, PEM, DER or PASERK), bytes.
pub const KEY_BYTES: usize = 64 * 1024;

/// Most keys of a set that are tried for one token without a `kid`.
pub const KEYS_TRIED: usize = 8;

/// Most signatures on one JWS in the JSON serialization.
pub const SIGNATURES: usize = 16;

/// Most signatures that are checked for one JWS in the JSON serialization, over all its signatures and all
/// keys.
pub const SIGNATURES_TRIED: usize = 32;

/// Most recipients of one JWE in the JSON serialization.
pub const RECIPIENTS: usize = 16;

/// Most encrypted keys that are tried for one JWE, over all its recipients and all keys.
pub const ENCRYPTED_KEYS_TRIED: usize = 32;

/// Most values in one JWS or JWE in the JSON serialization: members of objects and elements of
/// arrays, over the whole text.
pub const DOCUMENT_VALUES: usize = 1_000;

/// Fewest rounds of PBKDF2 (`p2c`) that a JWE may ask for (RFC 7518, section 4.8.1.2).
pub const PBES2_ROUNDS_MIN: u32 = 1_000;

/// Most rounds of PBKDF2 (`p2c`) that one JWE may ask for, over all its recipients, unless
/// [`Limits::pbes2_rounds`] says another number: about half a second.
pub const PBES2_ROUNDS: u32 = 1_000_000;

/// Longest salt input (`p2s`) of a JWE with a password, bytes. The shortest is 8 (RFC 7518,
/// section 4.8.1.1).
pub const PBES2_SALT_BYTES: usize = 1024;

/// Longest password, bytes.
pub const PASSWORD_BYTES: usize = 1024;

/// Longest `apu` and `apv` of ECDH-ES, bytes each.
pub const PARTY_INFO_BYTES: usize = 1024;

/// Most bytes that a compressed JWE may inflate to.
pub const INFLATED_BYTES: usize = 4 * 1024 * 1024;

/// How many times its compressed size a JWE may inflate to.
pub const INFLATED_RATIO: usize = 100;

/// Most entries of a cache of verified tokens.
pub const CACHE_ENTRIES: usize = 1024 * 1024;

/// Longest token that a cache remembers, bytes. Longer ones are verified each time.
pub const CACHED_TOKEN_BYTES: usize = 16 * 1024;

/// Fewest iterations of PBKDF2 that a PASERK under a password may have (versions 1 and 3).
pub const PBKDF2_ITERATIONS_MIN: u32 = 1_000;

/// Most iterations of PBKDF2 that a PASERK under a password may have: about half a second. A reader may allow
/// fewer: [`PasswordLimits`](crate::paserk::PasswordLimits).
pub const PBKDF2_ITERATIONS: u32 = 1_000_000;

/// Least memory of Argon2id that a PASERK under a password may have (versions 2 and 4), bytes.
pub const ARGON2ID_MEMORY_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// Most memory of Argon2id that a PASERK under a password may have, bytes. One that has more than
/// [`ARGON2ID_MEMORY_BYTES_DEFAULT`] is read only where
/// [`PasswordLimits`](crate::paserk::PasswordLimits) allow it.
pub const ARGON2ID_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;

/// Most memory of Argon2id that a PASERK under a password may ask for unless its reader allows more, bytes:
/// what libsodium calls moderate.
pub const ARGON2ID_MEMORY_BYTES_DEFAULT: u64 = 256 * 1024 * 1024;

/// Most memory times passes of Argon2id that a PASERK under a password may ask for unless its reader allows
/// more, bytes: four passes over [`ARGON2ID_MEMORY_BYTES_DEFAULT`], about a second.
pub const ARGON2ID_WORK_BYTES_DEFAULT: u64 = 4 * ARGON2ID_MEMORY_BYTES_DEFAULT;

/// Most passes over that memory that a PASERK under a password may have.
pub const ARGON2ID_PASSES: u32 = 8;

/// Most lanes that a PASERK under a password may have.
pub const ARGON2ID_LANES: u32 = 4;

/// Longest PASETO footer, bytes before base64url.
pub const FOOTER_BYTES: usize = 8 * 1024;

/// Largest RSA modulus, bits. AWS-LC verifies no larger one.
pub const RSA_MODULUS_BITS: usize = 8192;

/// Smallest RSA modulus, bits (RFC 7518, section 3.3).
pub const RSA_MODULUS_BITS_MIN: usize = 2048;

/// Smallest RSA modulus that [`danger`](crate::danger) takes for verifying, bits.
pub const WEAK_RSA_MODULUS_BITS_MIN: usize = 1024;

/// Largest public exponent of an RSA key, bits: what AWS-LC takes.
pub const RSA_EXPONENT_BITS: usize = 33;

/// What a verifier accepts in size before it looks at anything else.
///
/// ```
/// use jeton::Limits;
/// let tight = Limits { token_bytes: 8 * 1024, ..Limits::default() };
/// assert!(tight.token_bytes < Limits::default().token_bytes);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest token, bytes as it arrives. Default 2 MiB.
    pub token_bytes: usize,
    /// Longest header, bytes before base64url. Default 8 KiB.
    pub header_bytes: usize,
    /// Deepest nesting of objects and arrays in a header or in claims. Default 32; more than 127 means 127.
    pub json_depth: u32,
    /// Most rounds of PBKDF2 (`p2c`) that a JWE may ask for, over all its recipients. Default 1,000,000. Only
    /// who decrypts with a [`Password`](crate::danger::Password) computes any.
    pub pbes2_rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            token_bytes: 2 * 1024 * 1024,
            header_bytes: 8 * 1024,
            json_depth: 32,
            pbes2_rounds: PBES2_ROUNDS,
        }
    }
}

impl Limits {
    /// Whether a header has at most [`header_bytes`](Limits::header_bytes), by its base64url.
    #[inline]
    pub(crate) fn check_header(&self, encoded: &str) -> Result<(), Rejection> {
        // The first comparison is enough for nearly all headers: an encoding is longer than what it encodes.
        if encoded.len() > self.header_bytes
            && encoded.len() > base64::encoded_length(self.header_bytes)
        {
            return Err(Rejection::TooLarge(Part::Header));
        }
        Ok(())
    }

    pub(crate) fn depth(&self) -> u32 {
        self.json_depth.min(json::DEPTH_MAX)
    }

    /// For a whole token in the JSON serialization, whoever sent it.
    pub(crate) fn document(&self) -> Bounds {
        Bounds {
            depth: self.depth(),
            values: DOCUMENT_VALUES,
        }
    }
}
