use std::fmt;
use std::num::NonZeroU16;

use crate::paserk::Kind;

/// Why key material is rejected. It names the member, and never contains its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError {
    member: Option<&'static str>,
    problem: KeyProblem,
    shortfall: Option<Shortfall>,
}

/// The size of a key that is too weak, and the minimum. The unit follows from the member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shortfall {
    actual: u16,
    minimum: NonZeroU16,
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

    pub(crate) const fn new(problem: KeyProblem) -> Self {
        KeyError {
            member: None,
            problem,
            shortfall: None,
        }
    }

    pub(crate) const fn at(member: &'static str, problem: KeyProblem) -> Self {
        KeyError {
            member: Some(member),
            problem,
            shortfall: None,
        }
    }

    /// An error for a key of `actual` bits (RSA) or bytes, which is less than `minimum`.
    pub(crate) fn too_weak(member: &'static str, actual: usize, minimum: usize) -> Self {
        let shortfall = || {
            let minimum = NonZeroU16::new(minimum.try_into().ok()?)?;
            let actual = actual.try_into().ok()?;
            Some(Shortfall { actual, minimum })
        };
        KeyError {
            shortfall: shortfall(),
            ..KeyError::at(member, KeyProblem::TooWeak)
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(member), Some(Shortfall { actual, minimum })) = (self.member, self.shortfall) {
            let (what, unit) = match member {
                "n" => ("RSA modulus", "bits"),
                "e" => ("RSA exponent", "bits"),
                "k" => ("HMAC key", "bytes"),
                other => (other, "bytes"),
            };
            return write!(
                f,
                "key rejected: {what} has {actual} {unit}, minimum {minimum}"
            );
        }
        match self.member {
            Some(member) => write!(f, "key rejected: {member}: {}", self.problem),
            None => write!(f, "key rejected: {}", self.problem),
        }
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
    /// `alg`, `kty`, `crv`, `use` or `key_ops` contradict each other or the requested operation.
    Contradiction,
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
            KeyProblem::Contradiction => "contradicts the rest of the key or the requested operation",
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
