//! Every number that an attacker can choose has a name and a bound here.

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
    /// Longest protected header, bytes before base64url. Default 8 KiB.
    pub header_bytes: usize,
    /// Deepest nesting of objects and arrays in a header or in claims. Default 32; more than 127 means 127.
    pub json_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            token_bytes: 2 * 1024 * 1024,
            header_bytes: 8 * 1024,
            json_depth: 32,
        }
    }
}

impl Limits {
    /// serde_json refuses what is deeper, so a higher limit would promise what cannot be kept.
    const JSON_DEPTH_MAX: u32 = 127;

    pub(crate) fn depth(&self) -> u32 {
        self.json_depth.min(Self::JSON_DEPTH_MAX)
    }
}
