//! Limits for all sizes and costs that an attacker can choose.

/// Default maximum length of the `kid` of a token, bytes, and the maximum of an id that the caller gives to a key. A
/// `did:jwk` of an RSA key has more than 500. [`Limits::key_id_bytes`](crate::Limits::key_id_bytes) changes the maximum for a token.
pub const KEY_ID_BYTES: usize = 1024;

/// Maximum length of the `kid` of a key that is read, bytes. It is larger than [`KEY_ID_BYTES`], so that raised
/// [`Limits::key_id_bytes`](crate::Limits::key_id_bytes) find such a key.
pub const KEY_ID_BYTES_MAX: usize = 16 * 1024;

/// Maximum number of keys in a key set.
pub const KEY_SET_KEYS: usize = 256;

/// Maximum length of a key set, bytes.
pub const KEY_SET_BYTES: usize = 1024 * 1024;

/// Maximum length of an encoded key (JWK, PEM, DER or PASERK), bytes.
pub const KEY_BYTES: usize = 64 * 1024;

/// Default maximum number of keys of a key set that are tried for one token without a `kid`.
/// [`Limits::keys_tried`](crate::Limits::keys_tried) changes it.
pub const KEYS_TRIED: usize = 8;

/// Maximum number of signatures of a JWS in the JSON serialization.
pub const SIGNATURES: usize = 16;

/// Maximum number of signature checks for one JWS in the JSON serialization, over all signatures and keys.
pub const SIGNATURES_TRIED: usize = 32;

/// Maximum number of recipients of a JWE in the JSON serialization.
pub const RECIPIENTS: usize = 16;

/// Maximum number of attempts to decrypt a content key of one JWE, over all recipients and keys.
pub const ENCRYPTED_KEYS_TRIED: usize = 32;

/// Maximum number of values in a JWS or JWE in the JSON serialization: members of objects plus elements of
/// arrays.
pub const DOCUMENT_VALUES: usize = 1_000;

/// Minimum number of PBKDF2 rounds (`p2c`) of a JWE (RFC 7518, section 4.8.1.2).
pub const PBES2_ROUNDS_MIN: u32 = 1_000;

/// Default maximum of PBKDF2 rounds (`p2c`) for one JWE, over all recipients: about half a second.
/// [`Limits::pbes2_rounds`](crate::Limits::pbes2_rounds) changes it.
pub const PBES2_ROUNDS: u32 = 1_000_000;

/// Maximum length of the salt input (`p2s`) of a JWE with a password, bytes. The minimum is 8 (RFC 7518,
/// section 4.8.1.1).
pub const PBES2_SALT_BYTES: usize = 1024;

/// Maximum length of a password, bytes.
pub const PASSWORD_BYTES: usize = 1024;

/// Maximum length of `apu` and of `apv` for ECDH-ES, bytes.
pub const PARTY_INFO_BYTES: usize = 1024;

/// Maximum size of the inflated content of a compressed JWE, bytes.
pub const INFLATED_BYTES: usize = 4 * 1024 * 1024;

/// Maximum ratio of inflated to compressed size of a JWE.
pub const INFLATED_RATIO: usize = 100;

/// Maximum number of entries of a cache of verified tokens.
pub const CACHE_ENTRIES: usize = 1024 * 1024;

/// Maximum length of a cached token, bytes. Longer tokens are verified each time.
pub const CACHED_TOKEN_BYTES: usize = 16 * 1024;

/// Minimum number of PBKDF2 iterations of a PASERK with a password (versions 1 and 3).
pub const PBKDF2_ITERATIONS_MIN: u32 = 1_000;

/// Maximum number of PBKDF2 iterations of a PASERK with a password: about half a second.
/// [`PasswordLimits`](crate::paserk::PasswordLimits) can lower it for reading. It is also the default maximum of an
/// encrypted PKCS#8 key; [`Pkcs8Limits`](crate::key::Pkcs8Limits) changes that one.
pub const PBKDF2_ITERATIONS: u32 = 1_000_000;

/// Default maximum of scrypt memory times parallelization of an encrypted PKCS#8 key, bytes. OpenSSL uses 16 MiB.
/// [`Pkcs8Limits`](crate::key::Pkcs8Limits) changes it.
pub const SCRYPT_MEMORY_BYTES: u64 = 256 * 1024 * 1024;

/// Minimum Argon2id memory of a PASERK with a password (versions 2 and 4), bytes.
pub const ARGON2ID_MEMORY_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// Maximum Argon2id memory of a PASERK with a password, bytes. Reading one that uses more than
/// [`ARGON2ID_MEMORY_BYTES_DEFAULT`] requires raised
/// [`PasswordLimits`](crate::paserk::PasswordLimits).
pub const ARGON2ID_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;

/// Default maximum of Argon2id memory for reading a PASERK with a password, bytes. It equals the "moderate"
/// limit of libsodium.
pub const ARGON2ID_MEMORY_BYTES_DEFAULT: u64 = 256 * 1024 * 1024;

/// Default maximum of Argon2id memory times passes for reading a PASERK with a password, bytes. It allows four
/// passes over [`ARGON2ID_MEMORY_BYTES_DEFAULT`], about a second.
pub const ARGON2ID_WORK_BYTES_DEFAULT: u64 = 4 * ARGON2ID_MEMORY_BYTES_DEFAULT;

/// Maximum number of Argon2id passes of a PASERK with a password.
pub const ARGON2ID_PASSES: u32 = 8;

/// Maximum number of Argon2id lanes of a PASERK with a password.
pub const ARGON2ID_LANES: u32 = 4;

/// Maximum length of a PASETO footer, bytes before base64url.
pub const FOOTER_BYTES: usize = 8 * 1024;

/// Maximum RSA modulus, bits. AWS-LC verifies no larger one.
pub const RSA_MODULUS_BITS: usize = 8192;

/// Minimum RSA modulus, bits (RFC 7518, section 3.3).
pub const RSA_MODULUS_BITS_MIN: usize = 2048;

/// Minimum RSA modulus that [`danger`](crate::danger) accepts for verification, bits.
pub const WEAK_RSA_MODULUS_BITS_MIN: usize = 1024;

/// Maximum public exponent of an RSA key, bits, as in AWS-LC.
pub const RSA_EXPONENT_BITS: usize = 33;

/// How far `iat` may be ahead of the clock, without a longer leeway and without a maximum age, seconds.
pub const ISSUED_AHEAD_SECONDS: u64 = 60;
