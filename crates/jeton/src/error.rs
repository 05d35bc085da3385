//! What can go wrong, parted by who caused it.
//!
//! [`Rejection`] is what anyone who can send a token can cause. [`KeyError`] is about key material
//! that the caller loads. [`Misuse`] is a mistake in the caller's program. No message repeats a
//! byte of a token, a key or a claim.

use std::fmt;

use crate::paserk;

/// The error of every fallible function in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The token is refused. Whoever sent it caused this.
    Rejected(Rejection),
    /// The key material is refused.
    Key(KeyError),
    /// The call makes no sense. The caller's program needs mending.
    Misuse(Misuse),
    /// A key that lives elsewhere did not sign as it should.
    Remote(RemoteFault),
    /// The primitive failed on good input: no randomness, or a defect below.
    Primitive,
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the token was refused, as against a wrong key or a wrong call.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Error::Rejected(_))
    }

    /// Why the token was refused, if it was.
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
    /// Every registered claim, in the order in which jeton writes them.
    pub const ALL: [Claim; 7] = [
        Claim::Issuer,
        Claim::Subject,
        Claim::Audience,
        Claim::Expiry,
        Claim::NotBefore,
        Claim::IssuedAt,
        Claim::TokenId,
    ];

    /// The claim's name in a token.
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

    /// The registered claim of that exact name.
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

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A part is larger than its limit.
    TooLarge(Part),
    /// A part is nested deeper than its limit.
    TooDeep(Part),
    /// A part does not have the form that its format demands.
    Malformed(Part),
    /// An object has two members of one name.
    DuplicateMember(Part),
    /// The token is of another format, version or purpose than the key.
    WrongFormat,
    /// The header's `alg` is not the key's.
    AlgorithmMismatch,
    /// The header's `enc` is unknown, not the content key's, or not among those allowed.
    EncryptionMismatch,
    /// The `alg` of a JWS is not in the protected header (RFC 7515, section 10.7).
    UnprotectedAlg,
    /// The `enc` of a JWE is not in the protected header.
    UnprotectedEnc,
    /// A key in the header (`jwk`, `epk`) has private members.
    PrivateKeyInHeader,
    /// The header names a critical extension that is not understood (RFC 7515, section 4.1.11).
    CriticalExtension,
    /// The header's `typ` is not what the policy demands.
    TypeMismatch,
    /// No key of the set fits the token's `kid` and `alg`.
    UnknownKey,
    /// The signature or MAC is not the key's over this token.
    Signature,
    /// The token cannot be decrypted with this key. One answer for every cause.
    Decryption,
    /// The token is compressed (`zip`), which is not allowed here.
    Compressed,
    /// The PASETO footer is not the one demanded.
    FooterMismatch,
    /// A claim that the policy demands is absent.
    ClaimMissing(Claim),
    /// A claim has the wrong JSON type.
    ClaimType(Claim),
    /// A time lies outside the years 1970 to 9999.
    ClaimRange(Claim),
    /// `exp` is not after now.
    Expired,
    /// `nbf` is after now.
    NotYetValid,
    /// `iat` is after now.
    IssuedInTheFuture,
    /// `iat` is longer ago than the policy's maximum age.
    TooOld,
    /// `iss` is another.
    IssuerMismatch,
    /// `aud` does not hold the policy's audience.
    AudienceMismatch,
    /// The claims do not fit the caller's type.
    ClaimsShape,
    /// The token, its subject or its client is no longer honoured.
    Revoked,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::TooLarge(part) => write!(f, "the {part} is larger than its limit"),
            Rejection::TooDeep(part) => write!(f, "the {part} is nested deeper than its limit"),
            Rejection::Malformed(part) => write!(f, "the {part} is malformed"),
            Rejection::DuplicateMember(part) => {
                write!(f, "the {part} has two members of one name")
            }
            Rejection::WrongFormat => {
                f.write_str("the token is of another format, version or purpose than the key")
            }
            Rejection::AlgorithmMismatch => f.write_str("the header's alg is not the key's"),
            Rejection::EncryptionMismatch => {
                f.write_str("the header's enc is not the key's or not among those allowed")
            }
            Rejection::UnprotectedAlg => {
                f.write_str("alg is not in the protected header: the signature does not cover it")
            }
            Rejection::UnprotectedEnc => {
                f.write_str("enc is not in the protected header: nothing authenticates it")
            }
            Rejection::PrivateKeyInHeader => f.write_str(
                "the header has a private key (in jwk or epk), which must be published nowhere",
            ),
            Rejection::CriticalExtension => {
                f.write_str("the header has a critical extension (crit) that is not understood")
            }
            Rejection::TypeMismatch => f.write_str("the header's typ is not the one expected"),
            Rejection::UnknownKey => f.write_str("no key fits the token's kid and alg"),
            Rejection::Signature => f.write_str("the signature is not valid for this key"),
            Rejection::Decryption => f.write_str("the token cannot be decrypted with this key"),
            Rejection::Compressed => {
                f.write_str("the token is compressed (zip), which is not allowed here")
            }
            Rejection::FooterMismatch => f.write_str("the footer is not the one expected"),
            Rejection::ClaimMissing(claim) => write!(f, "the claim {claim} is missing"),
            Rejection::ClaimType(claim) => write!(f, "the claim {claim} has the wrong type"),
            Rejection::ClaimRange(claim) => {
                write!(f, "the claim {claim} lies outside the years 1970 to 9999")
            }
            Rejection::Expired => f.write_str("the token has expired"),
            Rejection::NotYetValid => f.write_str("the token is not valid yet (nbf)"),
            Rejection::IssuedInTheFuture => f.write_str("the token was issued in the future (iat)"),
            Rejection::TooOld => f.write_str("the token is older than the policy allows (iat)"),
            Rejection::IssuerMismatch => f.write_str("the issuer (iss) is not the one expected"),
            Rejection::AudienceMismatch => {
                f.write_str("the audience (aud) does not hold the one expected")
            }
            Rejection::ClaimsShape => f.write_str("the claims do not fit the expected type"),
            Rejection::Revoked => f.write_str("the token has been revoked"),
        }
    }
}

/// Why key material is refused: the member at fault, and never its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError {
    member: Option<&'static str>,
    problem: KeyProblem,
}

impl KeyError {
    /// The member of the JWK, or the part of the PEM, DER or PASERK, that is at fault.
    pub fn member(&self) -> Option<&'static str> {
        self.member
    }

    /// What is wrong with it.
    pub fn problem(&self) -> KeyProblem {
        self.problem
    }

    pub(crate) const fn new(problem: KeyProblem) -> Self {
        KeyError {
            member: None,
            problem,
        }
    }

    pub(crate) const fn at(member: &'static str, problem: KeyProblem) -> Self {
        KeyError {
            member: Some(member),
            problem,
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member {
            Some(member) => write!(f, "key refused: {member}: {}", self.problem),
            None => write!(f, "key refused: {}", self.problem),
        }
    }
}

/// What is wrong with key material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The text is not a key in this form (JWK, PEM, DER, PASERK).
    Malformed,
    /// A member stands twice.
    Duplicate,
    /// A member that this kind of key needs is absent.
    Missing,
    /// A member has the wrong JSON type.
    WrongType,
    /// Not base64url in its one encoding.
    NotBase64Url,
    /// Not the length that the algorithm demands.
    WrongLength,
    /// Larger than its limit.
    TooLarge,
    /// Weaker than today's minimum: an HMAC key shorter than the hash, RSA under 2,048 bits.
    TooWeak,
    /// Not a value that this kind of key can have: a point off the curve, an even exponent.
    Invalid,
    /// The private and the public half do not belong together.
    Mismatch,
    /// `alg`, `kty`, `crv`, `use` or `key_ops` contradict each other or the use.
    Contradiction,
    /// Well formed, and not supported.
    Unsupported,
    /// The key does not say its algorithm and more than one is possible.
    AlgorithmNeeded,
    /// The bytes given as a secret are the text of a key (PEM, JWK, PASERK, a line of OpenSSH's).
    KeyAsSecret,
    /// A private key where a public one is wanted.
    PrivateGiven,
    /// A public key where a private one is wanted.
    PublicGiven,
    /// A PASERK has a password's cost that no key may have: less work than the least, or lanes that are not
    /// supported. They are named for PBKDF2 and Argon2id in [`limits`](crate::limits).
    PasswordCost,
    /// A PASERK asks for more iterations of PBKDF2 than the reader allows:
    /// [`PasswordLimits`](paserk::PasswordLimits).
    PasswordIterations {
        /// How many it asks for.
        asked: u32,
        /// How many are allowed.
        limit: u32,
    },
    /// A PASERK asks for more memory of Argon2id than the reader allows, both in MiB:
    /// [`PasswordLimits`](paserk::PasswordLimits).
    PasswordMemory {
        /// How much it asks for, rounded up.
        asked_mib: u32,
        /// How much is allowed, rounded down.
        limit_mib: u32,
    },
    /// A PASERK asks for more passes over the memory of Argon2id than
    /// [`limits::ARGON2ID_PASSES`](crate::limits::ARGON2ID_PASSES).
    PasswordPasses {
        /// How many it asks for.
        asked: u32,
        /// How many there may be.
        limit: u32,
    },
    /// A PASERK asks for more memory times passes of Argon2id than the reader allows. Both are the memory
    /// in MiB times the passes: [`PasswordLimits`](paserk::PasswordLimits).
    PasswordWork {
        /// How much it asks for, rounded up.
        asked_mib: u32,
        /// How much is allowed, rounded down.
        limit_mib: u32,
    },
    /// An encrypted key that this key or password does not open. One answer for every cause.
    Decryption,
    /// A PASERK of another version or purpose.
    WrongKind {
        /// The kind that is needed here.
        wanted: paserk::Kind,
        /// The kind that the text says it is.
        given: paserk::Kind,
    },
    /// A set without one usable key.
    NoUsableKey,
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyProblem::Malformed => "not well formed",
            KeyProblem::Duplicate => "stands twice",
            KeyProblem::Missing => "missing",
            KeyProblem::WrongType => "has the wrong JSON type",
            KeyProblem::NotBase64Url => "is not base64url without padding",
            KeyProblem::WrongLength => "has the wrong length for the algorithm",
            KeyProblem::TooLarge => "is larger than its limit",
            KeyProblem::TooWeak => {
                "too weak (HMAC keys need the hash's length, RSA keys 2048 bits and an exponent of 65537 or more)"
            }
            KeyProblem::Invalid => "is not a valid value for this kind of key",
            KeyProblem::Mismatch => "private and public half do not belong together",
            KeyProblem::Contradiction => "contradicts the rest of the key or its use",
            KeyProblem::Unsupported => "is not supported",
            KeyProblem::AlgorithmNeeded => "the key does not say its algorithm; name one",
            KeyProblem::KeyAsSecret => {
                "the bytes given as a secret are the text of a key; load it as a key"
            }
            KeyProblem::PrivateGiven => "a private key was given where a public one is wanted",
            KeyProblem::PublicGiven => "a public key was given where a private one is wanted",
            KeyProblem::PasswordCost => {
                "has a password's cost that no key may have (1000 iterations or 8 MiB at least, 1 to 4 lanes)"
            }
            KeyProblem::PasswordIterations { asked, limit } => {
                return write!(
                    f,
                    "asks for {asked} iterations of PBKDF2 for a password, the limit is {limit}"
                );
            }
            KeyProblem::PasswordMemory {
                asked_mib,
                limit_mib,
            } => {
                return write!(
                    f,
                    "asks for {asked_mib} MiB of memory for a password, the limit is {limit_mib} MiB"
                );
            }
            KeyProblem::PasswordPasses { asked, limit } => {
                return write!(
                    f,
                    "asks for {asked} passes over the memory for a password, the limit is {limit}"
                );
            }
            KeyProblem::PasswordWork {
                asked_mib,
                limit_mib,
            } => {
                return write!(
                    f,
                    "asks for {asked_mib} MiB of memory times passes for a password, the limit is {limit_mib} MiB"
                );
            }
            KeyProblem::Decryption => "cannot be decrypted with this key or password",
            KeyProblem::WrongKind { wanted, given } => {
                return write!(f, "a {given} was given where a {wanted} is wanted");
            }
            KeyProblem::NoUsableKey => "the set has no key that can be used here",
        })
    }
}

/// How a key that lives elsewhere ([`remote`](crate::remote)) failed to sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteFault {
    /// The signer did not sign: it was not reached, refused, or failed.
    NotSigned,
    /// The signature does not have the form or the length that the algorithm demands.
    SignatureForm,
    /// The signature is not this key's over this input: it was made with another key, another hash or
    /// padding, or a PSS salt of another length.
    Signature,
}

impl fmt::Display for RemoteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RemoteFault::NotSigned => "the remote signer did not sign",
            RemoteFault::SignatureForm => {
                "the remote signature has another form or length than its algorithm demands"
            }
            RemoteFault::Signature => {
                "the remote signature is not the public key's over this input: check the key, the hash, the padding and the salt length"
            }
        })
    }
}

/// A mistake in the caller's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// Neither `expires_in`, `expires_at` nor `without_expiry` was called.
    ExpiryNotChosen,
    /// The caller's type has a member with the name of a registered claim.
    RegisteredName(Claim),
    /// A token of a [`Series`](crate::jwt::Series) has a claim that the series sets for all of them.
    SetForAll(Claim),
    /// The caller's claims do not serialise to a JSON object.
    ClaimsNotAnObject,
    /// The caller's type failed to serialise.
    ClaimsNotSerialisable,
    /// A time lies outside the years 1970 to 9999.
    TimeOutOfRange,
    /// The key id is empty or longer than [`limits::KEY_ID_BYTES`](crate::limits::KEY_ID_BYTES).
    KeyId,
    /// The cost is not one of the version: PBKDF2 in versions 1 and 3, Argon2id in 2 and 4; or it is
    /// beyond its limits.
    PasswordCost,
    /// The footer is longer than [`limits::FOOTER_BYTES`](crate::limits::FOOTER_BYTES).
    FooterTooLarge,
    /// PASETO's versions 1 and 2 have no implicit assertions, and one was given.
    ImplicitAssertion,
    /// A PASETO's `aud` is one string; a list was given.
    AudienceList,
    /// The header type (`typ`) is empty or has characters that a media type cannot have.
    Type,
    /// The serialization or the key management does not allow for this many recipients.
    Recipients,
    /// The compact serialization has no place for associated data or an unprotected header.
    CompactForm,
    /// A header member of this name is set by jeton, or was set before.
    HeaderMember,
    /// `apu` or `apv` is longer than [`limits::PARTY_INFO_BYTES`](crate::limits::PARTY_INFO_BYTES), or
    /// the key management has neither.
    PartyInfo,
    /// The number of PBKDF2 rounds lies outside [`limits::PBES2_ROUNDS_MIN`](crate::limits::PBES2_ROUNDS_MIN)
    /// to [`limits::PBES2_ROUNDS`](crate::limits::PBES2_ROUNDS).
    Pbes2Rounds,
    /// A content key encrypts with another `enc` than the one asked for.
    ContentEncryption,
    /// The unprotected header is not an object, has a name that belongs into the protected one, or
    /// is asked for in a compact token, which has none.
    UnprotectedHeader,
    /// A payload that is to stand unencoded (RFC 7797) has bytes that cannot: in a compact token it
    /// is printable ASCII without a dot, in the JSON serialization UTF-8.
    UnencodedPayload,
    /// No signer, more than [`limits::SIGNATURES`](crate::limits::SIGNATURES), or signers that
    /// disagree whether the payload is encoded.
    Signers,
    /// One RSA key is to decrypt both by [`RSA1_5`](crate::danger::RSA1_5) and by RSA-OAEP.
    SharedRsaKey,
    /// A cache of no entries, or of more than [`limits::CACHE_ENTRIES`](crate::limits::CACHE_ENTRIES).
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
                "the claims' own type has a member {claim}, which is a registered claim: set it on Claims"
            ),
            Misuse::SetForAll(claim) => write!(
                f,
                "the series sets {claim} for all its tokens, so that none has another"
            ),
            Misuse::ClaimsNotAnObject => {
                f.write_str("the claims' own type must serialise to a JSON object")
            }
            Misuse::ClaimsNotSerialisable => {
                f.write_str("the claims' own type failed to serialise")
            }
            Misuse::TimeOutOfRange => f.write_str("a time lies outside the years 1970 to 9999"),
            Misuse::KeyId => f.write_str("the key id is empty or longer than 256 bytes"),
            Misuse::PasswordCost => f.write_str(
                "the password's cost is beyond the limits, or not one of the version: PBKDF2 in k1 and k3, Argon2id in k2 and k4",
            ),
            Misuse::FooterTooLarge => f.write_str("the footer is longer than 8192 bytes"),
            Misuse::ImplicitAssertion => {
                f.write_str("versions 1 and 2 of PASETO have no implicit assertions")
            }
            Misuse::AudienceList => {
                f.write_str("a PASETO's audience is one string: call audience, not audiences")
            }
            Misuse::Type => f.write_str("the header type (typ) is not a media type"),
            Misuse::Recipients => f.write_str(
                "this many recipients need the general JSON serialization, and keys that wrap: dir and ECDH-ES alone have one recipient",
            ),
            Misuse::CompactForm => f.write_str(
                "the compact serialization has no associated data and no unprotected header: choose a JSON one",
            ),
            Misuse::HeaderMember => {
                f.write_str("a header member of that name is set already, or set by the library")
            }
            Misuse::PartyInfo => f.write_str(
                "apu and apv have at most 1024 bytes each, and only ECDH-ES has them",
            ),
            Misuse::Pbes2Rounds => {
                f.write_str("PBKDF2 takes 1000 to 1000000 rounds here")
            }
            Misuse::ContentEncryption => {
                f.write_str("the content key is for another content encryption (enc)")
            }
            Misuse::UnprotectedHeader => f.write_str(
                "the unprotected header must be an object without the names that are signed, and a compact token has none",
            ),
            Misuse::UnencodedPayload => f.write_str(
                "the payload cannot stand unencoded here: detach it, or do not ask for b64=false",
            ),
            Misuse::SharedRsaKey => f.write_str(
                "one RSA key may not decrypt both by RSA1_5 and by RSA-OAEP: give each its own key",
            ),
            Misuse::CacheEntries => f.write_str("a cache has 1 to 1048576 entries"),
            Misuse::Signers => f.write_str(
                "a general JWS takes 1 to 16 signers that agree whether the payload is encoded",
            ),
        }
    }
}
