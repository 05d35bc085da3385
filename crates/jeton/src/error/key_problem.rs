use std::fmt;

use super::codes::{self, Code};
use super::{FoundInput, PemLabel};
#[cfg(feature = "paseto")]
use crate::paserk_kind::Kind;

/// What is wrong with key material.
///
/// ```
/// use jeton::Error;
/// use jeton::error::KeyProblem;
/// use jeton::key::{MacAlg, MacKey};
///
/// let Err(Error::Key(error)) = MacKey::new(MacAlg::HS256, b"short") else { unreachable!() };
/// assert_eq!(error.problem(), &KeyProblem::TooWeak);
/// assert_eq!(error.to_string(), "key rejected: HMAC key has 5 bytes, minimum 32");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The input is not a key in this encoding (JWK, PEM, DER or PASERK).
    Malformed,
    /// A duplicate member.
    Duplicate,
    /// A required member is absent.
    Missing,
    /// A member has the wrong JSON type.
    WrongType,
    /// Not canonical base64url without padding.
    NotBase64Url,
    /// The base64 of a PEM is incomplete or not canonical.
    NotBase64,
    /// A line of a PEM has a character that is neither base64 nor white space.
    PemCharacter {
        /// The line, from 1.
        line: u32,
    },
    /// A PEM block has no END line.
    Truncated,
    /// A PEM has more than one key.
    SeveralBlocks,
    /// The label of a PEM block contradicts its content.
    Label {
        /// The label.
        stated: PemLabel,
        /// The label that is right for the content.
        found: PemLabel,
    },
    /// The labels of the BEGIN line and of the END line of a PEM block differ.
    Labels,
    /// The input is not a key, or is in another form than expected.
    Found(FoundInput),
    /// An EC key whose curve is written as its parameters, and not as its name (RFC 5480, section 2.1.1, requires the
    /// name).
    ExplicitCurve,
    /// An RSA private key without its primes. Only its public key can be used.
    PrimesMissing,
    /// A member that must not be null.
    Null,
    /// Not the length that the algorithm requires.
    WrongLength,
    /// Larger than its limit.
    TooLarge,
    /// Below the minimum strength: an HMAC key shorter than the hash, or RSA under 2,048 bits.
    /// The message of the [`KeyError`](super::KeyError) has the actual size and the minimum.
    TooWeak,
    /// Not a valid value for this type of key: for example a point off the curve, or an even exponent.
    Invalid,
    /// The private key and the public key do not match.
    Mismatch,
    /// The key names another algorithm (`alg`) than the requested one (RFC 7517, section 4.4).
    AnotherAlgorithm,
    /// The type or curve of the key does not fit the algorithm that the caller or the key's `alg` names.
    WrongKeyType,
    /// `use` does not permit the operation (RFC 7517, section 4.2).
    AnotherUse,
    /// `key_ops` does not permit the operation (RFC 7517, section 4.3).
    OperationNotPermitted,
    /// The parameters of an elliptic-curve key in PKCS#8 and in the key itself differ (RFC 5915).
    CurveMismatch,
    /// Well formed, but not supported.
    Unsupported,
    /// The key has no `alg`, and more than one algorithm is possible.
    AlgorithmNeeded,
    /// The bytes passed as a secret are the encoding of a key: PEM, JWK, PASERK or an OpenSSH public key.
    KeyAsSecret,
    /// A private key was passed where a public key is expected.
    PrivateGiven,
    /// A public key was passed where a private key is expected.
    PublicGiven,
    /// The password cost of a PASERK is below the minimum, or its number of lanes is not supported.
    /// [`limits`](crate::limits) lists the bounds for PBKDF2 and Argon2id.
    PasswordCost,
    /// A PASERK requires more PBKDF2 iterations than [`PasswordLimits`](crate::paserk::PasswordLimits) allows, or a
    /// PKCS#8 key requires more than [`Pkcs8Limits`](crate::key::Pkcs8Limits) allows.
    PasswordIterations {
        /// The number that the key requires.
        asked: u32,
        /// The maximum.
        limit: u32,
    },
    /// A PASERK requires more Argon2id memory than [`PasswordLimits`](crate::paserk::PasswordLimits) allows.
    PasswordMemory {
        /// The memory that the PASERK requires, MiB, rounded up.
        asked_mib: u32,
        /// The maximum, MiB, rounded down.
        limit_mib: u32,
    },
    /// A PASERK requires more Argon2id passes than [`PasswordLimits`](crate::paserk::PasswordLimits) allows.
    PasswordPasses {
        /// The number that the PASERK requires.
        asked: u32,
        /// The maximum.
        limit: u32,
    },
    /// A PASERK requires more Argon2id work than [`PasswordLimits`](crate::paserk::PasswordLimits) allows. Work
    /// is the memory in MiB times the number of passes.
    PasswordWork {
        /// The work that the PASERK requires, rounded up.
        asked_mib: u32,
        /// The maximum, rounded down.
        limit_mib: u32,
    },
    /// An encrypted PKCS#8 key requires more scrypt memory than [`Pkcs8Limits`](crate::key::Pkcs8Limits) allows. The
    /// memory is multiplied with the parallelization.
    PasswordScrypt {
        /// The memory that the key requires, MiB, rounded up.
        asked_mib: u32,
        /// The maximum, MiB, rounded down.
        limit_mib: u32,
    },
    /// An encrypted key cannot be decrypted with this key or password. All causes give this same error.
    Decryption,
    /// A PASERK has another version or purpose than expected.
    #[cfg(feature = "paseto")]
    WrongKind {
        /// The expected kind.
        wanted: Kind,
        /// The kind of the PASERK.
        given: Kind,
    },
    /// A key set has no usable key.
    NoUsableKey,
}

impl KeyProblem {
    /// Returns the stable code, for programs. [`codes`](super::codes) lists all codes.
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        match self {
            KeyProblem::Malformed => &codes::KEY_MALFORMED,
            KeyProblem::Duplicate => &codes::KEY_DUPLICATE_MEMBER,
            KeyProblem::Missing => &codes::KEY_MEMBER_MISSING,
            KeyProblem::WrongType => &codes::KEY_MEMBER_TYPE,
            KeyProblem::NotBase64Url => &codes::KEY_NOT_BASE64URL,
            KeyProblem::NotBase64 | KeyProblem::PemCharacter { .. } => &codes::KEY_NOT_BASE64,
            KeyProblem::Truncated => &codes::KEY_TRUNCATED,
            KeyProblem::SeveralBlocks => &codes::KEY_MULTIPLE_PEM_BLOCKS,
            KeyProblem::Label { .. } | KeyProblem::Labels => &codes::KEY_PEM_LABEL,
            KeyProblem::Found(_) => &codes::KEY_NOT_RECOGNIZED,
            KeyProblem::ExplicitCurve => &codes::KEY_UNSUPPORTED,
            KeyProblem::PrimesMissing => &codes::KEY_PRIMES_MISSING,
            KeyProblem::Null => &codes::KEY_MEMBER_NULL,
            KeyProblem::WrongLength => &codes::KEY_WRONG_LENGTH,
            KeyProblem::TooLarge => &codes::KEY_TOO_LARGE,
            KeyProblem::TooWeak => &codes::KEY_TOO_WEAK,
            KeyProblem::Invalid => &codes::KEY_INVALID,
            KeyProblem::Mismatch => &codes::KEY_PAIR_MISMATCH,
            KeyProblem::AnotherAlgorithm => &codes::KEY_ALGORITHM_MISMATCH,
            KeyProblem::WrongKeyType => &codes::KEY_TYPE_MISMATCH,
            KeyProblem::AnotherUse => &codes::KEY_USE_MISMATCH,
            KeyProblem::OperationNotPermitted => &codes::KEY_OPERATION_NOT_PERMITTED,
            KeyProblem::CurveMismatch => &codes::KEY_CURVE_MISMATCH,
            KeyProblem::Unsupported => &codes::KEY_UNSUPPORTED,
            KeyProblem::AlgorithmNeeded => &codes::KEY_ALGORITHM_NEEDED,
            KeyProblem::KeyAsSecret => &codes::KEY_AS_SECRET,
            KeyProblem::PrivateGiven => &codes::KEY_IS_PRIVATE,
            KeyProblem::PublicGiven => &codes::KEY_IS_PUBLIC,
            KeyProblem::PasswordCost => &codes::KEY_PASSWORD_COST,
            KeyProblem::PasswordIterations { .. }
            | KeyProblem::PasswordMemory { .. }
            | KeyProblem::PasswordPasses { .. }
            | KeyProblem::PasswordWork { .. }
            | KeyProblem::PasswordScrypt { .. } => &codes::KEY_PASSWORD_LIMIT,
            KeyProblem::Decryption => &codes::KEY_NOT_DECRYPTED,
            #[cfg(feature = "paseto")]
            KeyProblem::WrongKind { .. } => &codes::KEY_KIND_MISMATCH,
            KeyProblem::NoUsableKey => &codes::KEY_SET_EMPTY,
        }
    }
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyProblem::Malformed => "malformed",
            KeyProblem::Duplicate => "duplicate member",
            KeyProblem::Missing => "missing",
            KeyProblem::WrongType => "wrong JSON type",
            KeyProblem::NotBase64Url => "not base64url without padding",
            KeyProblem::NotBase64 => "the base64 is incomplete or not canonical",
            KeyProblem::PemCharacter { line } => {
                return write!(f, "line {line} of the PEM has a character that is not base64");
            }
            KeyProblem::Truncated => "the PEM block has no END line: the text is cut off",
            KeyProblem::SeveralBlocks => "the PEM has several keys; keep one block",
            KeyProblem::Label { stated, found } => {
                return write!(
                    f,
                    "the block says {stated} but contains a {found}; change the label"
                );
            }
            KeyProblem::Labels => "the BEGIN and the END line of the PEM block have different labels",
            KeyProblem::Found(found) => return found.fmt(f),
            KeyProblem::ExplicitCurve => "its curve is spelled out; use a named curve",
            KeyProblem::PrimesMissing => {
                "`p` and `q` are missing: export the key with its primes"
            }
            KeyProblem::Null => "null; remove the member",
            KeyProblem::WrongLength => "wrong length for the algorithm",
            KeyProblem::TooLarge => "larger than its limit",
            KeyProblem::TooWeak => "below the minimum strength",
            KeyProblem::Invalid => "invalid value for this type of key",
            KeyProblem::Mismatch => "private key and public key do not match",
            KeyProblem::AnotherAlgorithm => "the key is for another algorithm",
            KeyProblem::WrongKeyType => "wrong type of key",
            KeyProblem::AnotherUse => "the key is for another use",
            KeyProblem::OperationNotPermitted => "the key does not permit this operation",
            KeyProblem::CurveMismatch => "the key names two curves",
            KeyProblem::Unsupported => "not supported",
            KeyProblem::AlgorithmNeeded => "the key has no `alg`: pass the algorithm",
            KeyProblem::KeyAsSecret => {
                "the secret is the encoding of a key; load it as a key"
            }
            KeyProblem::PrivateGiven => "private key given, public key expected",
            KeyProblem::PublicGiven => "public key given, private key expected",
            KeyProblem::PasswordCost => {
                "password cost outside the limits (at least 1000 PBKDF2 iterations, or 8 MiB and 1 to 4 lanes of Argon2id)"
            }
            KeyProblem::PasswordIterations { asked, limit } => {
                return write!(
                    f,
                    "requires {asked} PBKDF2 iterations, maximum {limit}"
                );
            }
            KeyProblem::PasswordMemory {
                asked_mib,
                limit_mib,
            } => {
                return write!(
                    f,
                    "requires {asked_mib} MiB of Argon2id memory, maximum {limit_mib} MiB"
                );
            }
            KeyProblem::PasswordPasses { asked, limit } => {
                return write!(
                    f,
                    "requires {asked} Argon2id passes, maximum {limit}"
                );
            }
            KeyProblem::PasswordWork {
                asked_mib,
                limit_mib,
            } => {
                return write!(
                    f,
                    "requires {asked_mib} MiB of Argon2id memory times passes, maximum {limit_mib} MiB"
                );
            }
            KeyProblem::PasswordScrypt {
                asked_mib,
                limit_mib,
            } => {
                return write!(
                    f,
                    "requires {asked_mib} MiB of scrypt memory, maximum {limit_mib} MiB"
                );
            }
            KeyProblem::Decryption => "cannot be decrypted with this key or password",
            #[cfg(feature = "paseto")]
            KeyProblem::WrongKind { wanted, given } => {
                return write!(f, "{given} given, {wanted} expected");
            }
            KeyProblem::NoUsableKey => "the key set has no usable key",
        })
    }
}
