use std::fmt;
use std::num::NonZeroU32;

use super::codes::{self, Code};
use crate::paserk::Kind;

/// Why key material is rejected. It names the member, and never contains its value.
///
/// ```
/// use jeton::error::{Error, KeyProblem};
/// use jeton::key::{SigAlg, SigningKey};
///
/// let pem = SigningKey::generate(SigAlg::ES256)?.to_pem()?;
/// let Err(Error::Key(error)) = SigningKey::from_pem_as(&pem, SigAlg::RS256) else {
///     unreachable!("an EC key is not for RS256");
/// };
/// assert_eq!(error.problem(), KeyProblem::WrongKeyType);
/// assert_eq!((error.found(), error.expected()), (Some("EC P-256"), Some("RSA for RS256")));
/// assert_eq!(error.code(), "KEY_OF_ANOTHER_TYPE");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyError {
    member: Option<&'static str>,
    problem: KeyProblem,
    found: Option<&'static str>,
    expected: Option<&'static str>,
    sizes: Option<Sizes>,
}

/// The size of a key or member, and the limit. The unit follows from the member.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sizes {
    actual: u32,
    limit: NonZeroU32,
}

impl KeyError {
    /// Returns the member of the JWK, or the part of the PEM, DER or PASERK, that is wrong.
    pub fn member(&self) -> Option<&'static str> {
        self.member
    }

    /// Returns what is wrong with the key.
    pub fn problem(&self) -> KeyProblem {
        self.problem
    }

    /// Returns what was found, if it has a name: `EC P-256`, `certificate`. It is never a value of the key.
    pub fn found(&self) -> Option<&'static str> {
        self.found
    }

    /// Returns what was expected: `RSA for RS256`, `sig`.
    pub fn expected(&self) -> Option<&'static str> {
        self.expected
    }

    /// Returns the actual size and the limit, if the problem is a size. A reader that stops at a limit counts up to it. The unit is bits for `n` and `e`, keys
    /// for `keys`, and bytes for all others. An actual size above [`u32::MAX`] is given as that.
    pub fn sizes(&self) -> Option<(u32, u32)> {
        self.sizes
            .map(|Sizes { actual, limit }| (actual, limit.get()))
    }

    /// Returns the stable code of the problem, for programs. [`codes`](super::codes) lists all codes.
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        self.problem.entry()
    }

    pub(crate) const fn new(problem: KeyProblem) -> Self {
        KeyError {
            member: None,
            problem,
            found: None,
            expected: None,
            sizes: None,
        }
    }

    pub(crate) const fn at(member: &'static str, problem: KeyProblem) -> Self {
        KeyError {
            member: Some(member),
            ..KeyError::new(problem)
        }
    }

    /// Adds what was found. It must not be a value of the key.
    pub(crate) const fn with_found(mut self, found: Option<&'static str>) -> Self {
        self.found = found;
        self
    }

    /// Adds what was expected.
    pub(crate) const fn with_expected(mut self, expected: &'static str) -> Self {
        self.expected = Some(expected);
        self
    }

    /// Adds the actual size and the limit.
    pub(crate) fn with_sizes(mut self, actual: usize, limit: usize) -> Self {
        let saturated = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        self.sizes = NonZeroU32::new(saturated(limit)).map(|limit| Sizes {
            actual: saturated(actual),
            limit,
        });
        self
    }

    /// An error for a key of `actual` bits (RSA) or bytes, which is less than `minimum`.
    pub(crate) fn too_weak(member: &'static str, actual: usize, minimum: usize) -> Self {
        KeyError::at(member, KeyProblem::TooWeak).with_sizes(actual, minimum)
    }

    /// An error for a member of `actual` bits (RSA) or bytes, which is more than `maximum`.
    pub(crate) fn too_large(member: &'static str, actual: usize, maximum: usize) -> Self {
        KeyError::at(member, KeyProblem::TooLarge).with_sizes(actual, maximum)
    }

    /// An error for a whole input of `actual` bytes, which is more than `maximum`.
    pub(crate) fn input_too_large(actual: usize, maximum: usize) -> Self {
        KeyError::new(KeyProblem::TooLarge).with_sizes(actual, maximum)
    }

    /// Writes the error without `key rejected: `.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sizes) = self.sizes {
            return self.write_sizes(sizes, f);
        }
        if let Some(member) = self.member {
            write!(f, "{member}: ")?;
        }
        fmt::Display::fmt(&self.problem, f)?;
        match (self.found, self.expected) {
            (Some(found), Some(expected)) => write!(f, ": found {found}, expected {expected}"),
            (Some(found), None) => write!(f, ": found {found}"),
            (None, Some(expected)) => write!(f, ": expected {expected}"),
            (None, None) => Ok(()),
        }
    }

    pub(super) fn write_debug(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        struct Text<'e>(&'e KeyError);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f)
            }
        }
        super::write_debug(f, name, self.code(), &Text(self))
    }

    fn write_sizes(&self, sizes: Sizes, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sizes { actual, limit } = sizes;
        let (what, unit) = match self.member {
            Some("n") => ("RSA modulus", "bits"),
            Some("e") => ("RSA exponent", "bits"),
            Some("k") => ("HMAC key", "bytes"),
            Some("keys") => ("key set", "keys"),
            Some(other) => (other, "bytes"),
            None => ("input", "bytes"),
        };
        let bound = match self.problem {
            KeyProblem::TooLarge => "maximum",
            KeyProblem::TooWeak => "minimum",
            _ => "expected",
        };
        write!(f, "{what} has {actual} {unit}, {bound} {limit}")
    }
}

impl std::error::Error for KeyError {}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("key rejected: ")?;
        self.write(f)
    }
}

impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_debug(f, "KeyError")
    }
}

/// What is wrong with key material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Not the length that the algorithm requires.
    WrongLength,
    /// Larger than its limit.
    TooLarge,
    /// Below the minimum strength: an HMAC key shorter than the hash, or RSA under 2,048 bits.
    /// The message of the [`KeyError`] has the actual size and the minimum.
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
    /// A PASERK requires more PBKDF2 iterations than
    /// [`PasswordLimits`](crate::paserk::PasswordLimits) allows.
    PasswordIterations {
        /// The number that the PASERK requires.
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
    /// A PASERK requires more Argon2id passes than
    /// [`limits::ARGON2ID_PASSES`](crate::limits::ARGON2ID_PASSES).
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
    /// An encrypted key cannot be decrypted with this key or password. All causes give this same error.
    Decryption,
    /// A PASERK has another version or purpose than expected.
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
    pub fn code(self) -> &'static str {
        self.entry().name()
    }

    fn entry(self) -> &'static Code {
        match self {
            KeyProblem::Malformed => &codes::KEY_MALFORMED,
            KeyProblem::Duplicate => &codes::KEY_DUPLICATE_MEMBER,
            KeyProblem::Missing => &codes::KEY_MEMBER_MISSING,
            KeyProblem::WrongType => &codes::KEY_MEMBER_TYPE,
            KeyProblem::NotBase64Url => &codes::KEY_NOT_BASE64URL,
            KeyProblem::WrongLength => &codes::KEY_WRONG_LENGTH,
            KeyProblem::TooLarge => &codes::KEY_TOO_LARGE,
            KeyProblem::TooWeak => &codes::KEY_TOO_WEAK,
            KeyProblem::Invalid => &codes::KEY_INVALID,
            KeyProblem::Mismatch => &codes::KEY_PAIR_MISMATCH,
            KeyProblem::AnotherAlgorithm => &codes::KEY_OF_ANOTHER_ALGORITHM,
            KeyProblem::WrongKeyType => &codes::KEY_OF_ANOTHER_TYPE,
            KeyProblem::AnotherUse => &codes::KEY_FOR_ANOTHER_USE,
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
            | KeyProblem::PasswordWork { .. } => &codes::KEY_PASSWORD_LIMIT,
            KeyProblem::Decryption => &codes::KEY_NOT_DECRYPTED,
            KeyProblem::WrongKind { .. } => &codes::KEY_OF_ANOTHER_KIND,
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
            KeyProblem::AlgorithmNeeded => "the key has no `alg`; pass the algorithm",
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
            KeyProblem::Decryption => "cannot be decrypted with this key or password",
            KeyProblem::WrongKind { wanted, given } => {
                return write!(f, "{given} given, {wanted} expected");
            }
            KeyProblem::NoUsableKey => "the key set has no usable key",
        })
    }
}
