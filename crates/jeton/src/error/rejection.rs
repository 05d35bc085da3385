use std::fmt;

use super::Claim;

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
