use std::fmt;
use std::sync::Arc;

use super::codes::{self, Code};
use super::{Claim, ClaimForm, FoundForm, JsonType, TimeUnit};
use crate::json::ScanError;
use crate::limits;

/// A part of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// What a token is, judged by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenKind {
    /// `v1.local`.
    V1Local,
    /// `v1.public`.
    V1Public,
    /// `v2.local`.
    V2Local,
    /// `v2.public`.
    V2Public,
    /// `v3.local`.
    V3Local,
    /// `v3.public`.
    V3Public,
    /// `v4.local`.
    V4Local,
    /// `v4.public`.
    V4Public,
    /// A JWS or a JWE: the base64url of a JSON object.
    Jose,
    /// None of these.
    Unknown,
}

impl TokenKind {
    const PASETO: [(&'static str, TokenKind); 8] = [
        ("v1.local.", TokenKind::V1Local),
        ("v1.public.", TokenKind::V1Public),
        ("v2.local.", TokenKind::V2Local),
        ("v2.public.", TokenKind::V2Public),
        ("v3.local.", TokenKind::V3Local),
        ("v3.public.", TokenKind::V3Public),
        ("v4.local.", TokenKind::V4Local),
        ("v4.public.", TokenKind::V4Public),
    ];

    /// Returns what a token is. Only its start is checked.
    ///
    /// ```
    /// use jeton::error::TokenKind;
    /// assert_eq!(TokenKind::of("v4.local.AAAA"), TokenKind::V4Local);
    /// assert_eq!(TokenKind::of("eyJhbGciOiJub25lIn0.e30."), TokenKind::Jose);
    /// ```
    pub fn of(token: &str) -> TokenKind {
        let mut kinds = TokenKind::PASETO.into_iter();
        match kinds.find(|(header, _)| token.starts_with(header)) {
            Some((_, kind)) => kind,
            // The base64url of `{"`.
            None if token.starts_with("eyJ") => TokenKind::Jose,
            None => TokenKind::Unknown,
        }
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = TokenKind::PASETO.iter();
        f.write_str(match kinds.find(|(_, kind)| kind == self) {
            Some((header, _)) => header.trim_end_matches('.'),
            None if *self == TokenKind::Jose => "a JWS or a JWE",
            None => "not a PASETO",
        })
    }
}

/// What was measured when a part of a token is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// The length, bytes.
    Bytes,
    /// The length of the `kid`, bytes: [`limits::KEY_ID_BYTES`](crate::limits::KEY_ID_BYTES).
    KeyIdBytes,
    /// The length of `p2s`, bytes: [`limits::PBES2_SALT_BYTES`](crate::limits::PBES2_SALT_BYTES).
    SaltBytes,
    /// PBKDF2 rounds, over all recipients: [`Limits::pbes2_rounds`](crate::Limits::pbes2_rounds).
    Pbes2Rounds,
    /// The inflated size, bytes: [`limits::INFLATED_BYTES`](crate::limits::INFLATED_BYTES).
    InflatedBytes,
    /// JSON values: [`limits::DOCUMENT_VALUES`](crate::limits::DOCUMENT_VALUES).
    Values,
    /// Recipients of a JWE: [`limits::RECIPIENTS`](crate::limits::RECIPIENTS).
    Recipients,
    /// Signatures of a JWS: [`limits::SIGNATURES`](crate::limits::SIGNATURES).
    Signatures,
    /// Signature checks: [`limits::SIGNATURES_TRIED`](crate::limits::SIGNATURES_TRIED).
    SignatureChecks,
}

impl Measure {
    fn write(self, f: &mut fmt::Formatter<'_>, part: Part, actual: u32, limit: u32) -> fmt::Result {
        match self {
            Measure::Bytes => write!(f, "the {part} has {actual} bytes, limit {limit}"),
            Measure::KeyIdBytes => {
                write!(
                    f,
                    "the `kid` in the {part} has {actual} bytes, limit {limit}"
                )
            }
            Measure::SaltBytes => {
                write!(f, "`p2s` in the {part} has {actual} bytes, limit {limit}")
            }
            Measure::Pbes2Rounds => write!(
                f,
                "`p2c` in the {part} requires {actual} PBKDF2 rounds, limit {limit}"
            ),
            Measure::InflatedBytes => {
                write!(f, "the {part} inflates to more than {limit} bytes")
            }
            Measure::Values => write!(f, "the {part} has more than {limit} JSON values"),
            Measure::Recipients => write!(f, "the {part} has more than {limit} recipients"),
            Measure::Signatures => write!(f, "the {part} has more than {limit} signatures"),
            Measure::SignatureChecks => {
                write!(f, "the {part} requires more than {limit} signature checks")
            }
        }
    }
}

/// Why a token is rejected.
///
/// ```
/// use jeton::error::Rejection;
/// use jeton::key::{MacAlg, MacKey};
/// use jeton::{Claims, Policy, jwt::JwtVerifier};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let claims = Claims::new(()).issuer("another").audience("a").without_expiry();
/// let verifier = JwtVerifier::new(&key, Policy::new("i", "a").without_expiry());
/// let error = verifier.verify::<serde::de::IgnoredAny>(&key.issue(&claims)?).unwrap_err();
/// match error.rejection() {
///     Some(Rejection::Expired) => unreachable!("ask for a new token"),
///     Some(rejection) => assert_eq!(rejection, &Rejection::IssuerMismatch),
///     None => unreachable!("not the fault of the token"),
/// }
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rejection {
    /// A part is larger than its limit.
    #[non_exhaustive]
    TooLarge {
        /// The part.
        part: Part,
        /// What was measured.
        measure: Measure,
        /// The actual size, at most [`u32::MAX`]. If reading stops at the limit, it is the limit plus one.
        actual: u32,
        /// The limit, at most [`u32::MAX`].
        limit: u32,
    },
    /// A part is nested deeper than its limit. Reading stops at the first level over the limit.
    #[non_exhaustive]
    TooDeep {
        /// The part.
        part: Part,
        /// The limit.
        limit: u32,
    },
    /// The token has no `kid`, more keys of the set could have signed it than
    /// [`Limits::keys_tried`](crate::Limits::keys_tried), and the keys that were tried did not.
    TooManyKeys {
        /// The number of keys that could have signed it.
        keys: u32,
        /// The limit.
        limit: u32,
    },
    /// A part does not have the form that its format requires.
    Malformed(Part),
    /// A JSON object has a duplicate member.
    DuplicateMember(Part),
    /// The format, version or purpose of the token does not match the PASETO key.
    WrongFormat {
        /// What the token is.
        found: TokenKind,
        /// The tokens of the key; of the first key, if a key set has several.
        expected: TokenKind,
    },
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
    /// A custom claim that the policy requires is absent or null. It has the name from
    /// [`Policy::require_custom`](crate::Policy::require_custom).
    CustomClaimMissing(Arc<str>),
    /// A custom claim that the policy requires has the wrong JSON type: `client_id` of an access token is a string
    /// (RFC 8693, section 4.3).
    CustomClaimType {
        /// The name of the claim.
        name: Arc<str>,
        /// The type that it has.
        found: JsonType,
    },
    /// A registered claim does not have its form.
    ClaimType {
        /// The claim.
        claim: Claim,
        /// The form that it has.
        found: FoundForm,
        /// The form that it must have.
        expected: ClaimForm,
    },
    /// A time is outside the years 1970 to 9999.
    ClaimRange {
        /// The claim.
        claim: Claim,
        /// The unit in which it is within these years, if there is one.
        unit: Option<TimeUnit>,
    },
    /// `exp` is not after the current time.
    Expired,
    /// `nbf` is after the current time.
    NotYetValid,
    /// `iat` is after the current time by more than [`Policy::leeway`](crate::Policy::leeway) and 60 seconds.
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

impl Rejection {
    /// A part of `actual` bytes, over its limit.
    #[cold]
    pub(crate) const fn too_large(part: Part, actual: usize, limit: usize) -> Rejection {
        Rejection::over(part, Measure::Bytes, actual, limit)
    }

    /// A part that is over its limit by another measure.
    #[cold]
    pub(crate) const fn over(
        part: Part,
        measure: Measure,
        actual: usize,
        limit: usize,
    ) -> Rejection {
        Rejection::TooLarge {
            part,
            measure,
            actual: saturated(actual),
            limit: saturated(limit),
        }
    }

    /// A token of another format, version or purpose than the key, which has this header.
    #[cold]
    #[cfg(feature = "paseto")]
    pub(crate) fn wrong_format(token: &str, header: &str) -> Rejection {
        Rejection::WrongFormat {
            found: TokenKind::of(token),
            expected: TokenKind::of(header),
        }
    }

    /// A token without `kid` that more keys could have signed than are tried.
    #[cold]
    pub(crate) const fn too_many_keys(keys: usize, limit: usize) -> Rejection {
        Rejection::TooManyKeys {
            keys: saturated(keys),
            limit: saturated(limit),
        }
    }

    /// A part of which reading stopped after `limit`.
    #[cold]
    pub(crate) const fn more_than(part: Part, measure: Measure, limit: usize) -> Rejection {
        Rejection::over(part, measure, limit.saturating_add(1), limit)
    }

    /// The rejection for a text that the JSON reader rejects.
    pub(crate) const fn of_json(part: Part, error: ScanError) -> Rejection {
        match error {
            ScanError::Syntax => Rejection::Malformed(part),
            ScanError::Depth { limit } => Rejection::TooDeep { part, limit },
            ScanError::Duplicate => Rejection::DuplicateMember(part),
            ScanError::TooMany => {
                Rejection::more_than(part, Measure::Values, limits::DOCUMENT_VALUES)
            }
        }
    }

    /// Returns the stable code, for programs: `TOKEN_EXPIRED`. [`codes`](super::codes) lists all codes.
    ///
    /// ```
    /// use jeton::error::Rejection;
    /// assert_eq!(Rejection::Signature.code(), "TOKEN_INVALID_SIGNATURE");
    /// ```
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        match self {
            Rejection::TooLarge { .. } | Rejection::TooDeep { .. } => &codes::TOKEN_TOO_LARGE,
            Rejection::Malformed(_) => &codes::TOKEN_MALFORMED,
            Rejection::DuplicateMember(_) => &codes::TOKEN_DUPLICATE_MEMBER,
            Rejection::WrongFormat { .. } | Rejection::AlgorithmMismatch => {
                &codes::TOKEN_ALGORITHM_MISMATCH
            }
            Rejection::EncryptionMismatch => &codes::TOKEN_ENCRYPTION_MISMATCH,
            Rejection::UnprotectedAlg | Rejection::UnprotectedEnc => {
                &codes::TOKEN_ALGORITHM_UNPROTECTED
            }
            Rejection::PrivateKeyInHeader => &codes::TOKEN_WITH_PRIVATE_KEY,
            Rejection::CriticalExtension => &codes::TOKEN_CRITICAL_EXTENSION,
            Rejection::TypeMismatch => &codes::TOKEN_TYPE_MISMATCH,
            Rejection::TooManyKeys { .. } => &codes::TOKEN_WITHOUT_KEY_ID,
            Rejection::UnknownKey => &codes::TOKEN_UNKNOWN_KEY,
            Rejection::Signature => &codes::TOKEN_INVALID_SIGNATURE,
            Rejection::Decryption => &codes::TOKEN_DECRYPTION_FAILED,
            Rejection::Compressed => &codes::TOKEN_COMPRESSED,
            Rejection::FooterMismatch => &codes::TOKEN_FOOTER_MISMATCH,
            Rejection::ClaimMissing(_)
            | Rejection::CustomClaimMissing(_)
            | Rejection::CustomClaimType { .. }
            | Rejection::ClaimType { .. }
            | Rejection::ClaimRange { .. } => &codes::TOKEN_INVALID_CLAIMS,
            Rejection::Expired => &codes::TOKEN_EXPIRED,
            Rejection::NotYetValid | Rejection::IssuedInTheFuture => &codes::TOKEN_NOT_YET_VALID,
            Rejection::TooOld => &codes::TOKEN_TOO_OLD,
            Rejection::IssuerMismatch => &codes::TOKEN_ISSUER_MISMATCH,
            Rejection::AudienceMismatch => &codes::TOKEN_AUDIENCE_MISMATCH,
            Rejection::ClaimsShape(_) => &codes::TOKEN_CLAIMS_SHAPE,
            Rejection::Revoked => &codes::TOKEN_REVOKED,
        }
    }
}

/// Returns a size in the form in which an error has it.
const fn saturated(size: usize) -> u32 {
    if size > u32::MAX as usize {
        u32::MAX
    } else {
        size as u32
    }
}

impl std::error::Error for Rejection {}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::TooLarge {
                part,
                measure,
                actual,
                limit,
            } => measure.write(f, *part, *actual, *limit),
            Rejection::TooDeep { part, limit } => {
                write!(f, "the {part} is nested more than {limit} levels")
            }
            Rejection::TooManyKeys { keys, limit } => {
                write!(
                    f,
                    "the token has no `kid`, and {keys} keys match its `alg`: at most {limit} are tried"
                )
            }
            Rejection::Malformed(part) => write!(f, "the {part} is malformed"),
            Rejection::DuplicateMember(part) => {
                write!(f, "the {part} has a duplicate member")
            }
            Rejection::WrongFormat { found, expected } => {
                write!(f, "the token is {found}, and the key requires {expected}")
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
            Rejection::CustomClaimMissing(name) => write!(f, "the claim `{name}` is missing"),
            Rejection::CustomClaimType { name, found } => {
                write!(f, "the claim `{name}` must be a string, not {found}")
            }
            Rejection::ClaimType {
                claim,
                found,
                expected,
            } => write!(f, "the claim `{claim}` must be {expected}, not {found}"),
            Rejection::ClaimRange { claim, unit } => TimeUnit::write_range(*claim, *unit, f),
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
            Rejection::ClaimsShape(ShapeMismatch::Unnamed) => {
                f.write_str("the claims do not match the expected type")
            }
            Rejection::ClaimsShape(mismatch) => {
                write!(f, "the claims do not match the expected type: {mismatch}")
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
/// use jeton::{Claims, Policy, jwt::JwtVerifier, key::{MacAlg, MacKey}};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let verifier = JwtVerifier::new(&key, Policy::new("i", "a").without_expiry());
/// let claims = Claims::new(()).issuer("i").audience("a").without_expiry();
/// let error = verifier.verify::<Visit>(&key.issue(&claims)?).unwrap_err();
/// let missing = ShapeMismatch::MissingField("page");
/// assert_eq!(error.rejection(), Some(&Rejection::ClaimsShape(missing)));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShapeMismatch {
    /// The token has no claim for this field, and the field is required.
    MissingField(&'static str),
    /// The claim for this field has another type, or a value that the type of the field does not accept.
    WrongType {
        /// The field.
        field: &'static str,
        /// The type that the claim has in the token.
        found: JsonType,
    },
    /// The type does not accept unknown fields, and the token has one. If it is a registered claim, this is
    /// the claim.
    UnknownField(Option<Claim>),
    /// The field is not known: the type is not a struct, or its fields are not known in advance.
    Unnamed,
}

impl std::error::Error for ShapeMismatch {}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeMismatch::MissingField(field) => write!(f, "the field `{field}` is missing"),
            ShapeMismatch::WrongType { field, found } => {
                write!(f, "the type of the field `{field}` does not accept {found}")
            }
            ShapeMismatch::UnknownField(Some(claim)) => write!(
                f,
                "the type has no field for the registered claim `{claim}`, and accepts no unknown fields"
            ),
            ShapeMismatch::UnknownField(None) => {
                f.write_str("the type accepts no unknown fields, and there is one")
            }
            ShapeMismatch::Unnamed => f.write_str("the shape of the claims differs from the type"),
        }
    }
}
