//! Error types, separated by cause.
//!
//! - [`Rejection`]: the token is not acceptable. Anyone who can send a token can cause it.
//! - [`KeyError`]: the key material that the caller loads is not acceptable.
//! - [`Misuse`]: invalid use of the API, a bug in the calling program.
//! - [`RemoteFault`]: a remote signer failed.
//!
//! No message contains a byte of a token, a key or a claim.

use std::fmt;
use std::num::NonZeroU16;

use crate::paserk;

/// The error of every fallible function in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The token is rejected. Its sender caused this.
    Rejected(Rejection),
    /// The key material is rejected.
    Key(KeyError),
    /// Invalid use of the API: a bug in the calling program.
    Misuse(Misuse),
    /// A remote signer failed, or returned a signature that is not valid.
    Remote(RemoteFault),
    /// The cryptographic primitive failed on valid input: no randomness, or a defect in the library below.
    Primitive,
}

/// The result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns whether the token was rejected, as opposed to a key error or an invalid use of the API.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Error::Rejected(_))
    }

    /// Returns why the token was rejected, if it was.
    pub fn rejection(&self) -> Option<Rejection> {
        match self {
            Error::Rejected(rejection) => Some(*rejection),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rejected(rejection) => rejection.fmt(f),
            Error::Key(error) => error.fmt(f),
            Error::Misuse(misuse) => misuse.fmt(f),
            Error::Remote(fault) => fault.fmt(f),
            Error::Primitive => f.write_str("the cryptographic primitive failed"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Rejection> for Error {
    fn from(rejection: Rejection) -> Self {
        Error::Rejected(rejection)
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Error::Key(error)
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Error::Misuse(misuse)
    }
}

impl From<RemoteFault> for Error {
    fn from(fault: RemoteFault) -> Self {
        Error::Remote(fault)
    }
}

/// A part of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The token as a whole.
    Token,
    /// The protected header.
    Header,
    /// The payload, or the claims in it.
    Payload,
    /// The signature or MAC.
    Signature,
    /// The footer of a PASETO.
    Footer,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Token => "token",
            Part::Header => "header",
            Part::Payload => "payload",
            Part::Signature => "signature",
            Part::Footer => "footer",
        })
    }
}

/// A registered claim (RFC 7519, section 4.1; the PASETO specification has the same names).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// `iss`
    Issuer,
    /// `sub`
    Subject,
    /// `aud`
    Audience,
    /// `exp`
    Expiry,
    /// `nbf`
    NotBefore,
    /// `iat`
    IssuedAt,
    /// `jti`
    TokenId,
}

impl Claim {
    /// All registered claims, in the order in which jeton writes them.
    pub const ALL: [Claim; 7] = [
        Claim::Issuer,
        Claim::Subject,
        Claim::Audience,
        Claim::Expiry,
        Claim::NotBefore,
        Claim::IssuedAt,
        Claim::TokenId,
    ];

    /// Returns the name of the claim in a token.
    pub const fn name(self) -> &'static str {
        match self {
            Claim::Issuer => "iss",
            Claim::Subject => "sub",
            Claim::Audience => "aud",
            Claim::Expiry => "exp",
            Claim::NotBefore => "nbf",
            Claim::IssuedAt => "iat",
            Claim::TokenId => "jti",
        }
    }

    /// Returns the registered claim with exactly this name.
    pub fn from_name(name: &str) -> Option<Claim> {
        Self::of_name(name.as_bytes())
    }

    pub(crate) fn of_name(name: &[u8]) -> Option<Claim> {
        Some(match name {
            b"iss" => Claim::Issuer,
            b"sub" => Claim::Subject,
            b"aud" => Claim::Audience,
            b"exp" => Claim::Expiry,
            b"nbf" => Claim::NotBefore,
            b"iat" => Claim::IssuedAt,
            b"jti" => Claim::TokenId,
            _ => return None,
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A part is larger than its limit.
    TooLarge(Part),
    /// A part is nested deeper than its limit.
    TooDeep(Part),
    /// A part does not have the form that its format requires.
    Malformed(Part),
    /// A JSON object has a duplicate member.
    DuplicateMember(Part),
    /// The format, version or purpose of the token does not match the key.
    WrongFormat,
    /// The header's `alg` is not the algorithm of the key.
    AlgorithmMismatch,
    /// The header's `enc` is unknown, does not match the content key, or is not allowed.
    EncryptionMismatch,
    /// The `alg` of a JWS is not in the protected header (RFC 7515, section 10.7).
    UnprotectedAlg,
    /// The `enc` of a JWE is not in the protected header.
    UnprotectedEnc,
    /// A key in the header (`jwk`, `epk`) has private members.
    PrivateKeyInHeader,
    /// The header's `crit` names an extension that is not supported (RFC 7515, section 4.1.11).
    CriticalExtension,
    /// The header's `typ` is not the type that the policy requires.
    TypeMismatch,
    /// No key of the key set matches the token's `kid` and `alg`.
    UnknownKey,
    /// The signature or MAC is not valid for this key and token.
    Signature,
    /// The token cannot be decrypted with this key. All causes give this same error.
    Decryption,
    /// The token is compressed (`zip`), and the verifier does not allow compression.
    Compressed,
    /// The PASETO footer is not the expected footer.
    FooterMismatch,
    /// A claim that the policy requires is absent.
    ClaimMissing(Claim),
    /// A claim has the wrong JSON type.
    ClaimType(Claim),
    /// A time is outside the years 1970 to 9999.
    ClaimRange(Claim),
    /// `exp` is not after the current time.
    Expired,
    /// `nbf` is after the current time.
    NotYetValid,
    /// `iat` is after the current time.
    IssuedInTheFuture,
    /// The token is older than the maximum age of the policy (`iat`).
    TooOld,
    /// `iss` is not the issuer that the policy requires.
    IssuerMismatch,
    /// `aud` does not contain the audience that the policy requires.
    AudienceMismatch,
    /// The claims do not deserialize into the caller's type.
    ClaimsShape(ShapeMismatch),
    /// The token, its subject or its client is revoked.
    Revoked,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::TooLarge(part) => write!(f, "the {part} is larger than its limit"),
            Rejection::TooDeep(part) => write!(f, "the {part} is nested deeper than its limit"),
            Rejection::Malformed(part) => write!(f, "the {part} is malformed"),
            Rejection::DuplicateMember(part) => {
                write!(f, "the {part} has a duplicate member")
            }
            Rejection::WrongFormat => {
                f.write_str("the token's format, version or purpose does not match the key")
            }
            Rejection::AlgorithmMismatch => {
                f.write_str("the header's `alg` does not match the key")
            }
            Rejection::EncryptionMismatch => {
                f.write_str("the header's `enc` does not match the key or is not allowed")
            }
            Rejection::UnprotectedAlg => {
                f.write_str("`alg` is not in the protected header: the signature does not cover it")
            }
            Rejection::UnprotectedEnc => {
                f.write_str("`enc` is not in the protected header: it is not authenticated")
            }
            Rejection::PrivateKeyInHeader => f.write_str(
                "the header contains a private key (`jwk` or `epk`), which must stay secret",
            ),
            Rejection::CriticalExtension => {
                f.write_str("the header's `crit` names an extension that is not supported")
            }
            Rejection::TypeMismatch => f.write_str("the header's `typ` is not the expected type"),
            Rejection::UnknownKey => f.write_str("no key matches the token's `kid` and `alg`"),
            Rejection::Signature => f.write_str("the signature is not valid for this key"),
            Rejection::Decryption => f.write_str("the token cannot be decrypted with this key"),
            Rejection::Compressed => {
                f.write_str("the token is compressed (`zip`), which is not allowed")
            }
            Rejection::FooterMismatch => f.write_str("the footer is not the expected footer"),
            Rejection::ClaimMissing(claim) => write!(f, "the claim `{claim}` is missing"),
            Rejection::ClaimType(claim) => write!(f, "the claim `{claim}` has the wrong type"),
            Rejection::ClaimRange(claim) => {
                write!(f, "the claim `{claim}` is outside the years 1970 to 9999")
            }
            Rejection::Expired => f.write_str("the token has expired"),
            Rejection::NotYetValid => f.write_str("the token is not valid yet (`nbf`)"),
            Rejection::IssuedInTheFuture => {
                f.write_str("the token was issued in the future (`iat`)")
            }
            Rejection::TooOld => f.write_str("the token is older than the policy allows (`iat`)"),
            Rejection::IssuerMismatch => f.write_str("`iss` is not the expected issuer"),
            Rejection::AudienceMismatch => {
                f.write_str("`aud` does not contain the expected audience")
            }
            Rejection::ClaimsShape(mismatch) => {
                write!(f, "the claims do not match the expected type{mismatch}")
            }
            Rejection::Revoked => f.write_str("the token has been revoked"),
        }
    }
}

/// How the claims of a token differ from the caller's type.
///
/// Names are those of the fields of the type at the top level, as they are in a token. Names that only the
/// token has are not reported.
///
/// ```
/// use jeton::error::{Rejection, ShapeMismatch};
/// use jeton::{Claims, Policy, jwt, key::MacAlg};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let key = jwt::MacKey::generate(MacAlg::HS256)?;
/// let verifier = jwt::Verifier::new(&key, Policy::new("i", "a").without_expiry());
/// let claims = Claims::new(()).issuer("i").audience("a").without_expiry();
/// let error = verifier.verify::<Visit>(&key.issue(&claims)?).unwrap_err();
/// let missing = ShapeMismatch::MissingField("page");
/// assert_eq!(error.rejection(), Some(Rejection::ClaimsShape(missing)));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeMismatch {
    /// The token has no claim for this field, and the field is required.
    MissingField(&'static str),
    /// The claim for this field has another type, or a value that the type of the field does not accept.
    WrongType(&'static str),
    /// The type does not accept unknown fields, and the token has one. If it is a registered claim, this is
    /// the claim.
    UnknownField(Option<Claim>),
    /// The field is not known: the type is not a struct, or its fields are not known in advance.
    Unnamed,
}

impl fmt::Display for ShapeMismatch {
    /// Writes the rest of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeMismatch::MissingField(field) => write!(f, ": the field `{field}` is missing"),
            ShapeMismatch::WrongType(field) => {
                write!(f, ": the field `{field}` has the wrong type")
            }
            ShapeMismatch::UnknownField(Some(claim)) => write!(
                f,
                ": the type has no field for the registered claim `{claim}`, and accepts no unknown fields"
            ),
            ShapeMismatch::UnknownField(None) => {
                f.write_str(": the type accepts no unknown fields, and there is one")
            }
            ShapeMismatch::Unnamed => Ok(()),
        }
    }
}

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
    /// [`PasswordLimits`](paserk::PasswordLimits) allows.
    PasswordIterations {
        /// The number that the PASERK requires.
        asked: u32,
        /// The maximum.
        limit: u32,
    },
    /// A PASERK requires more Argon2id memory than [`PasswordLimits`](paserk::PasswordLimits) allows.
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
    /// A PASERK requires more Argon2id work than [`PasswordLimits`](paserk::PasswordLimits) allows. Work
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
        wanted: paserk::Kind,
        /// The kind of the PASERK.
        given: paserk::Kind,
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

/// How a [remote](crate::remote) signer failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteFault {
    /// The signer returned no signature: it was not reachable, refused, or failed.
    NotSigned,
    /// The signature does not have the encoding or the length that the algorithm requires.
    SignatureForm,
    /// The signature does not verify: it was made with another key, hash or padding, or with a PSS salt
    /// of another length.
    Signature,
}

impl fmt::Display for RemoteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RemoteFault::NotSigned => "the remote signer returned no signature",
            RemoteFault::SignatureForm => {
                "the remote signature has the wrong encoding or length for its algorithm"
            }
            RemoteFault::Signature => {
                "the remote signature does not verify: check the key, the hash, the padding and the salt length"
            }
        })
    }
}

/// An invalid use of the API: a bug in the calling program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// Neither `expires_in`, `expires_at` nor `without_expiry` was called.
    ExpiryNotChosen,
    /// The custom claims have a member with the name of a registered claim.
    RegisteredName(Claim),
    /// A token of a [`BatchIssuer`](crate::jwt::BatchIssuer) has a claim that the batch issuer sets for all.
    SetForAll(Claim),
    /// The claims are not a JSON object: the custom claims serialize to another value, or the text of
    /// [`Claims::from_json`](crate::Claims::from_json) is another value.
    ClaimsNotAnObject,
    /// The custom claims failed to serialize.
    ClaimsNotSerialisable,
    /// The text of the claims is not JSON. Lines and columns start at 1, columns count bytes. The position is
    /// that of the invalid byte or the one before.
    ClaimsSyntax {
        /// The line.
        line: u32,
        /// The column.
        column: u32,
    },
    /// The text of the claims has an object with a duplicate member.
    ClaimsDuplicate {
        /// The line of the second name.
        line: u32,
        /// The column after the second name.
        column: u32,
    },
    /// The text of the claims is nested deeper than [`Limits::json_depth`](crate::Limits::json_depth).
    ClaimsTooDeep {
        /// The actual depth.
        depth: u32,
        /// The limit.
        limit: u32,
    },
    /// A registered claim in the custom claims has the wrong type.
    ClaimType(Claim),
    /// A time in the custom claims is outside the years 1970 to 9999.
    ClaimRange(Claim),
    /// A time in the custom claims has the form of another token format: a JWT has seconds since 1970, a
    /// PASETO has RFC 3339 text.
    DateForm(Claim),
    /// A registered claim is in the custom claims twice, or is set or omitted by a method too.
    ClaimSetTwice(Claim),
    /// A time is outside the years 1970 to 9999.
    TimeOutOfRange,
    /// The key id is empty or longer than [`limits::KEY_ID_BYTES`](crate::limits::KEY_ID_BYTES).
    KeyId,
    /// The password cost is outside its limits, or for another version. Versions 1 and 3 use PBKDF2,
    /// versions 2 and 4 use Argon2id.
    PasswordCost,
    /// The footer is longer than [`limits::FOOTER_BYTES`](crate::limits::FOOTER_BYTES).
    FooterTooLarge,
    /// An implicit assertion was passed; PASETO versions 1 and 2 do not have it.
    ImplicitAssertion,
    /// A list of audiences was passed; `aud` of a PASETO is a single string.
    AudienceList,
    /// The header type (`typ`) is empty or has characters that a media type cannot contain.
    Type,
    /// The serialization or the key management does not allow this number of recipients.
    Recipients,
    /// The compact serialization has no associated data and no unprotected header.
    CompactForm,
    /// A header member of this name is already set, or jeton sets it.
    HeaderMember,
    /// `apu` or `apv` is longer than [`limits::PARTY_INFO_BYTES`](crate::limits::PARTY_INFO_BYTES), or
    /// the key management does not use them.
    PartyInfo,
    /// The number of PBKDF2 rounds is outside [`limits::PBES2_ROUNDS_MIN`](crate::limits::PBES2_ROUNDS_MIN)
    /// to [`limits::PBES2_ROUNDS`](crate::limits::PBES2_ROUNDS).
    Pbes2Rounds,
    /// The content key is for another `enc` than the requested one.
    ContentEncryption,
    /// The unprotected header is not an object, has a name that must be protected, or was requested for
    /// a compact token.
    UnprotectedHeader,
    /// An unencoded payload (RFC 7797) contains bytes that the serialization does not allow. A compact
    /// token allows printable ASCII without a dot, the JSON serialization UTF-8.
    UnencodedPayload,
    /// No signer, more than [`limits::SIGNATURES`](crate::limits::SIGNATURES), or signers with
    /// different settings for the encoding of the payload.
    Signers,
    /// One RSA key was added for both [`RSA1_5`](crate::danger::RSA1_5) and RSA-OAEP.
    SharedRsaKey,
    /// The capacity of a cache is 0, or more than [`limits::CACHE_ENTRIES`](crate::limits::CACHE_ENTRIES).
    CacheEntries,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::ExpiryNotChosen => f.write_str(
                "the claims have no expiry: call expires_in, expires_at or without_expiry",
            ),
            Misuse::RegisteredName(claim) => write!(
                f,
                "the custom claims have a member `{claim}`, which is a registered claim: set it on Claims, or wrap the type in WithRegistered"
            ),
            Misuse::SetForAll(claim) => write!(
                f,
                "the batch issuer sets `{claim}` for all its tokens: a token cannot set it"
            ),
            Misuse::ClaimsNotAnObject => f.write_str("the claims are not a JSON object"),
            Misuse::ClaimsNotSerialisable => {
                f.write_str("the custom claims failed to serialize")
            }
            Misuse::ClaimsSyntax { line, column } => write!(
                f,
                "the claims are not valid JSON near line {line}, column {column}"
            ),
            // The name may come from another party, so the message does not contain it.
            Misuse::ClaimsDuplicate { line, column } => write!(
                f,
                "the claims have a duplicate member: the second name ends at line {line}, column {column}"
            ),
            Misuse::ClaimsTooDeep { depth, limit } => {
                write!(f, "the claims are nested {depth} levels, limit {limit}")
            }
            Misuse::ClaimType(Claim::Audience) => {
                f.write_str("the claim `aud` must be a string or a list of strings")
            }
            Misuse::ClaimType(
                claim @ (Claim::Issuer | Claim::Subject | Claim::TokenId),
            ) => write!(f, "the claim `{claim}` must be a string"),
            Misuse::ClaimType(claim) => write!(
                f,
                "the claim `{claim}` must be a number of seconds since 1970 in a JWT, and RFC 3339 text in a PASETO"
            ),
            Misuse::ClaimRange(claim) => {
                write!(f, "the claim `{claim}` is outside the years 1970 to 9999")
            }
            Misuse::DateForm(claim) => write!(
                f,
                "the claim `{claim}` has the form of another format: a JWT has seconds since 1970, a PASETO has RFC 3339 text"
            ),
            Misuse::ClaimSetTwice(claim) => write!(
                f,
                "the claim `{claim}` is in the custom claims, and is set or omitted in another way too"
            ),
            Misuse::TimeOutOfRange => f.write_str("a time is outside the years 1970 to 9999"),
            Misuse::KeyId => f.write_str("the key id is empty or longer than 256 bytes"),
            Misuse::PasswordCost => f.write_str(
                "the password cost is outside its limits, or for another version: k1 and k3 use PBKDF2, k2 and k4 use Argon2id",
            ),
            Misuse::FooterTooLarge => f.write_str("the footer is longer than 8192 bytes"),
            Misuse::ImplicitAssertion => {
                f.write_str("PASETO versions 1 and 2 have no implicit assertion")
            }
            Misuse::AudienceList => {
                f.write_str("`aud` of a PASETO is a single string: call audience, not audiences")
            }
            Misuse::Type => f.write_str("the header type (`typ`) is not a media type"),
            Misuse::Recipients => f.write_str(
                "several recipients require the general JSON serialization and key wrapping: dir and ECDH-ES allow one recipient",
            ),
            Misuse::CompactForm => f.write_str(
                "the compact serialization has no associated data and no unprotected header: use a JSON serialization",
            ),
            Misuse::HeaderMember => {
                f.write_str("a header member of this name is already set, or set by the library")
            }
            Misuse::PartyInfo => f.write_str(
                "`apu` and `apv` have at most 1024 bytes each, and only ECDH-ES uses them",
            ),
            Misuse::Pbes2Rounds => {
                f.write_str("PBKDF2 rounds must be between 1000 and 1000000")
            }
            Misuse::ContentEncryption => {
                f.write_str("the content key is for another content encryption (`enc`)")
            }
            Misuse::UnprotectedHeader => f.write_str(
                "the unprotected header must be an object without protected names, and a compact token has none",
            ),
            Misuse::UnencodedPayload => f.write_str(
                "the payload contains bytes that cannot be sent unencoded: detach it, or do not use b64=false",
            ),
            Misuse::SharedRsaKey => f.write_str(
                "one RSA key cannot be used for both RSA1_5 and RSA-OAEP: use a separate key for each",
            ),
            Misuse::CacheEntries => f.write_str("a cache must have between 1 and 1048576 entries"),
            Misuse::Signers => f.write_str(
                "a general JWS requires 1 to 16 signers with the same setting for the payload encoding",
            ),
        }
    }
}
