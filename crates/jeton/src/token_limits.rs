use crate::base64;
use crate::error::{Measure, Part, Rejection};
use crate::json::{self, Bounds};
use crate::limits::{DOCUMENT_VALUES, KEY_ID_BYTES, KEYS_TRIED, PBES2_ROUNDS};

/// The size limits of a verifier, checked before anything else.
///
/// ```
/// use jeton::Limits;
/// const TIGHT: Limits = Limits::new().token_bytes(8 * 1024).header_bytes(1024);
/// assert!(TIGHT.token_bytes < Limits::default().token_bytes);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a token, bytes as received. Default: 2 MiB.
    pub token_bytes: usize,
    /// Maximum length of a header, bytes before base64url. Default: 16 KiB, enough for a chain of certificates
    /// (`x5c`).
    pub header_bytes: usize,
    /// Maximum length of the `kid` of a token, bytes. Default: [`KEY_ID_BYTES`](crate::limits::KEY_ID_BYTES).
    pub key_id_bytes: usize,
    /// Maximum number of keys of a key set that are tried for one token without a `kid`. Default: [`KEYS_TRIED`](crate::limits::KEYS_TRIED).
    pub keys_tried: usize,
    /// Maximum nesting depth of objects and arrays in a header or in claims. Default: 32, at most 127.
    pub json_depth: u32,
    /// Maximum number of PBKDF2 rounds (`p2c`) for a JWE, over all recipients. Default: 1,000,000. Only used for
    /// decryption with a [`Password`](crate::danger::Password).
    pub pbes2_rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::new()
    }
}

impl Limits {
    /// Returns the default limits.
    pub const fn new() -> Limits {
        Limits {
            token_bytes: 2 * 1024 * 1024,
            header_bytes: 16 * 1024,
            key_id_bytes: KEY_ID_BYTES,
            keys_tried: KEYS_TRIED,
            json_depth: 32,
            pbes2_rounds: PBES2_ROUNDS,
        }
    }

    /// Sets the maximum length of a token, bytes as received.
    #[must_use]
    pub const fn token_bytes(mut self, bytes: usize) -> Limits {
        self.token_bytes = bytes;
        self
    }

    /// Sets the maximum length of a header, bytes before base64url.
    #[must_use]
    pub const fn header_bytes(mut self, bytes: usize) -> Limits {
        self.header_bytes = bytes;
        self
    }

    /// Sets the maximum length of the `kid` of a token, bytes.
    #[must_use]
    pub const fn key_id_bytes(mut self, bytes: usize) -> Limits {
        self.key_id_bytes = bytes;
        self
    }

    /// Sets the maximum number of keys that are tried for one token without a `kid`.
    #[must_use]
    pub const fn keys_tried(mut self, keys: usize) -> Limits {
        self.keys_tried = keys;
        self
    }

    /// Sets the maximum nesting depth of objects and arrays in a header or in claims, at most 127.
    #[must_use]
    pub const fn json_depth(mut self, depth: u32) -> Limits {
        self.json_depth = depth;
        self
    }

    /// Sets the maximum number of PBKDF2 rounds (`p2c`) for a JWE, over all recipients.
    #[must_use]
    pub const fn pbes2_rounds(mut self, rounds: u32) -> Limits {
        self.pbes2_rounds = rounds;
        self
    }

    /// Checks that a header has at most [`header_bytes`](Limits::header_bytes), from its base64url.
    #[inline]
    pub(crate) fn check_header(&self, encoded: &str) -> Result<(), Rejection> {
        // Base64url is longer than the decoded bytes, so the first comparison is enough for nearly all headers.
        if encoded.len() > self.header_bytes
            && encoded.len() > base64::encoded_length(self.header_bytes)
        {
            return Err(Rejection::too_large(
                Part::Header,
                encoded.len() / 4 * 3 + (encoded.len() % 4).saturating_sub(1),
                self.header_bytes,
            ));
        }
        Ok(())
    }

    /// Checks the length of the `kid` in this part.
    #[inline]
    pub(crate) fn check_key_id(&self, part: Part, kid: &str) -> Result<(), Rejection> {
        if kid.len() > self.key_id_bytes {
            return Err(Rejection::over(
                part,
                Measure::KeyIdBytes,
                kid.len(),
                self.key_id_bytes,
            ));
        }
        Ok(())
    }

    pub(crate) fn depth(&self) -> u32 {
        self.json_depth.min(json::DEPTH_MAX)
    }

    /// Returns the limits for a whole document in the JSON serialization from an unknown sender.
    pub(crate) fn document(&self) -> Bounds {
        Bounds {
            depth: self.depth(),
            values: DOCUMENT_VALUES,
        }
    }
}
