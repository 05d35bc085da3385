use std::fmt;

use super::codes::{self, Code};
use super::{Claim, FoundForm, TimeUnit};

/// An invalid use of the API: a bug in the calling program.
///
/// ```
/// use jeton::Error;
/// use jeton::error::InvalidUse;
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let error = key.issue(&jeton::Claims::new(())).unwrap_err();
/// assert_eq!(error, Error::InvalidUse(InvalidUse::ExpiryNotChosen));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidUse {
    /// Neither `expires_in`, `expires_at` nor `without_expiry` was called.
    ExpiryNotChosen,
    /// The custom claims have a member with the name of a registered claim.
    RegisteredName(Claim),
    /// A token of a [`JwtIssuer`](crate::jwt::JwtIssuer) or a [`BatchIssuer`](crate::jwt::BatchIssuer) has a claim that
    /// the issuer sets for all its tokens.
    SetForAll(Claim),
    /// An access token lacks this claim, which RFC 9068, section 2.2, requires, or the claim has the wrong type.
    AccessTokenClaim(&'static str),
    /// A [`MultiIssuerVerifier`](crate::jwt::MultiIssuerVerifier) got a policy that accepts any issuer, or none.
    IssuerNotChosen,
    /// A [`MultiIssuerVerifier`](crate::jwt::MultiIssuerVerifier) has this issuer already.
    IssuerTwice,
    /// The claims are not a JSON object: the custom claims serialize to another value, or the text of
    /// [`Claims::from_json`](crate::Claims::from_json) is another value.
    ClaimsNotAnObject,
    /// The custom claims failed to serialize.
    ClaimsNotSerializable,
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
    /// A registered claim in the custom claims does not have its form.
    ClaimType {
        /// The claim.
        claim: Claim,
        /// The form that it has.
        found: FoundForm,
    },
    /// A time in the custom claims is outside the years 1970 to 9999.
    ClaimRange {
        /// The claim.
        claim: Claim,
        /// The unit in which it is within these years, if there is one.
        unit: Option<TimeUnit>,
    },
    /// A time in the custom claims has the form of another token format: a JWT has seconds since 1970, a
    /// PASETO has RFC 3339 text.
    DateForm(Claim),
    /// A registered claim is in the custom claims twice, or is set or omitted by a method too.
    ClaimSetTwice(Claim),
    /// A time is outside the years 1970 to 9999.
    TimeOutOfRange,
    /// The key id is empty or longer than [`limits::KEY_ID_BYTES`](crate::limits::KEY_ID_BYTES).
    KeyId {
        /// The actual length, bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The password cost is outside its limits, or for another version. Versions 1 and 3 use PBKDF2,
    /// versions 2 and 4 use Argon2id.
    PasswordCost,
    /// The footer is longer than [`limits::FOOTER_BYTES`](crate::limits::FOOTER_BYTES).
    FooterTooLarge {
        /// The actual length, bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An implicit assertion was passed; PASETO versions 1 and 2 do not have it.
    ImplicitAssertion,
    /// A list of audiences was passed; `aud` of a PASETO is a single string.
    AudienceList,
    /// The header type (`typ`) is empty or has characters that a media type cannot contain.
    Type,
    /// There are more recipients than the serialization and the key management allow. The limit is 1 in the compact
    /// and the flattened serialization, and for a key that agrees on the content key or is the content key (plain
    /// ECDH-ES, `dir`). Else it is [`limits::RECIPIENTS`](crate::limits::RECIPIENTS).
    Recipients {
        /// The actual number.
        recipients: usize,
        /// The limit.
        limit: usize,
    },
    /// The compact serialization has no associated data and no unprotected header.
    CompactForm,
    /// A header member of this name is already set, or jeton sets it.
    HeaderMember,
    /// jeton itself decides the header member of this name, so that no caller can add it.
    DecidedHeaderMember {
        /// The name of the member, for example `b64`.
        name: &'static str,
        /// What decides it, for example "the algorithm of the key".
        by: &'static str,
    },
    /// A header member does not serialize or is nested too deep, or the header exceeds the default
    /// [`Limits`](crate::Limits).
    HeaderValue,
    /// `jwk` of a header is not a public key.
    HeaderKey,
    /// `apu` or `apv` is longer than [`limits::PARTY_INFO_BYTES`](crate::limits::PARTY_INFO_BYTES).
    PartyInfo {
        /// The actual length, bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// `apu` and `apv` were set, but no recipient uses ECDH-ES.
    PartyInfoUnused,
    /// The number of PBKDF2 rounds is outside [`limits::PBES2_ROUNDS_MIN`](crate::limits::PBES2_ROUNDS_MIN)
    /// to [`limits::PBES2_ROUNDS`](crate::limits::PBES2_ROUNDS).
    Pbes2Rounds {
        /// The number that was passed.
        rounds: u32,
        /// The minimum.
        minimum: u32,
        /// The limit.
        limit: u32,
    },
    /// The content key is for another `enc` than the requested one.
    ContentEncryption,
    /// The unprotected header exceeds the default [`Limits`](crate::Limits), or has a value that does not serialize.
    UnprotectedHeader,
    /// An unencoded payload (RFC 7797) contains bytes that the serialization does not allow. A compact
    /// token allows printable ASCII without a dot, the JSON serialization UTF-8.
    UnencodedPayload,
    /// A general JWS has no signer, or more than [`limits::SIGNATURES`](crate::limits::SIGNATURES).
    Signers {
        /// The actual number.
        signers: usize,
        /// The limit.
        limit: usize,
    },
    /// The signers of a general JWS have different settings for the encoding of the payload (RFC 7797, section 3).
    MixedPayloadEncoding,
    /// An issuer of access tokens has another type than `at+jwt` (RFC 9068, section 2.1).
    AccessTokenType,
    /// One RSA key was added for both [`RSA1_5`](crate::danger::RSA1_5) and RSA-OAEP.
    SharedRsaKey,
    /// The capacity of a cache is 0, or more than [`limits::CACHE_ENTRIES`](crate::limits::CACHE_ENTRIES).
    CacheEntries {
        /// The number that was passed.
        entries: usize,
        /// The limit.
        limit: usize,
    },
}

impl InvalidUse {
    /// Returns the stable code, for programs. [`codes`](super::codes) lists all codes.
    ///
    /// ```
    /// use jeton::error::InvalidUse;
    /// assert_eq!(InvalidUse::ExpiryNotChosen.code(), "CLAIMS_WITHOUT_EXPIRY");
    /// ```
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        match self {
            InvalidUse::ExpiryNotChosen => &codes::CLAIMS_WITHOUT_EXPIRY,
            InvalidUse::RegisteredName(_) => &codes::CLAIMS_REGISTERED_NAME,
            InvalidUse::SetForAll(_) => &codes::CLAIMS_SET_FOR_ALL,
            InvalidUse::ClaimsNotAnObject => &codes::CLAIMS_NOT_AN_OBJECT,
            InvalidUse::ClaimsNotSerializable => &codes::CLAIMS_NOT_SERIALIZABLE,
            InvalidUse::ClaimsSyntax { .. } => &codes::CLAIMS_SYNTAX,
            InvalidUse::ClaimsDuplicate { .. } => &codes::CLAIMS_DUPLICATE_MEMBER,
            InvalidUse::ClaimsTooDeep { .. } => &codes::CLAIMS_TOO_DEEP,
            InvalidUse::ClaimType { .. } => &codes::CLAIM_TYPE,
            InvalidUse::ClaimRange { .. } | InvalidUse::TimeOutOfRange => &codes::CLAIM_RANGE,
            InvalidUse::DateForm(_) => &codes::CLAIM_DATE_FORM,
            InvalidUse::ClaimSetTwice(_) => &codes::CLAIM_SET_TWICE,
            InvalidUse::KeyId { .. } => &codes::INVALID_KEY_ID,
            InvalidUse::PasswordCost => &codes::INVALID_PASSWORD_COST,
            InvalidUse::AccessTokenClaim(_) => &codes::ACCESS_TOKEN_CLAIM_MISSING,
            InvalidUse::IssuerNotChosen => &codes::ISSUER_NOT_CHOSEN,
            InvalidUse::IssuerTwice => &codes::ISSUER_TWICE,
            InvalidUse::FooterTooLarge { .. } => &codes::FOOTER_TOO_LARGE,
            InvalidUse::ImplicitAssertion => &codes::IMPLICIT_ASSERTION_UNSUPPORTED,
            InvalidUse::AudienceList => &codes::AUDIENCE_LIST_UNSUPPORTED,
            InvalidUse::Type | InvalidUse::AccessTokenType => &codes::INVALID_TYPE,
            InvalidUse::Recipients { .. } => &codes::INVALID_RECIPIENTS,
            InvalidUse::CompactForm => &codes::COMPACT_FORM_UNSUPPORTED,
            InvalidUse::HeaderMember
            | InvalidUse::DecidedHeaderMember { .. }
            | InvalidUse::HeaderValue
            | InvalidUse::HeaderKey => &codes::INVALID_HEADER_MEMBER,
            InvalidUse::PartyInfo { .. } | InvalidUse::PartyInfoUnused => {
                &codes::INVALID_PARTY_INFO
            }
            InvalidUse::Pbes2Rounds { .. } => &codes::INVALID_PBES2_ROUNDS,
            InvalidUse::ContentEncryption => &codes::CONTENT_ENCRYPTION_MISMATCH,
            InvalidUse::UnprotectedHeader => &codes::INVALID_UNPROTECTED_HEADER,
            InvalidUse::UnencodedPayload => &codes::INVALID_UNENCODED_PAYLOAD,
            InvalidUse::Signers { .. } | InvalidUse::MixedPayloadEncoding => {
                &codes::INVALID_SIGNERS
            }
            InvalidUse::SharedRsaKey => &codes::RSA_KEY_SHARED,
            InvalidUse::CacheEntries { .. } => &codes::INVALID_CACHE_ENTRIES,
        }
    }
}

impl std::error::Error for InvalidUse {}

impl fmt::Display for InvalidUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidUse::ExpiryNotChosen => f.write_str(
                "the claims have no expiry: set a lifetime or `exp`, or choose a token without expiry",
            ),
            InvalidUse::RegisteredName(claim) => write!(
                f,
                "the custom claims have a member `{claim}`, which is a registered claim: set it on Claims, or wrap the type in WithRegistered"
            ),
            InvalidUse::SetForAll(claim) => write!(
                f,
                "the issuer sets `{claim}` for all its tokens: a token cannot set it"
            ),
            InvalidUse::AccessTokenClaim(name) => write!(
                f,
                "an access token needs the claim `{name}` (RFC 9068, section 2.2)"
            ),
            InvalidUse::AccessTokenType => {
                f.write_str("an access token has the type `at+jwt` (RFC 9068, section 2.1)")
            }
            InvalidUse::IssuerNotChosen => f.write_str(
                "the policy names no issuer: a verifier for several issuers selects the keys by `iss`",
            ),
            InvalidUse::IssuerTwice => f.write_str("an issuer is added twice"),
            InvalidUse::ClaimsNotAnObject => f.write_str("the claims are not a JSON object"),
            InvalidUse::ClaimsNotSerializable => {
                f.write_str("the custom claims failed to serialize")
            }
            InvalidUse::ClaimsSyntax { line, column } => write!(
                f,
                "the claims are not valid JSON near line {line}, column {column}"
            ),
            // The name may come from another party, so the message does not contain it.
            InvalidUse::ClaimsDuplicate { line, column } => write!(
                f,
                "the claims have a duplicate member: the second name ends at line {line}, column {column}"
            ),
            InvalidUse::ClaimsTooDeep { depth, limit } => {
                write!(f, "the claims are nested {depth} levels, limit {limit}")
            }
            InvalidUse::ClaimType { claim, found } => {
                let expected = match claim {
                    Claim::Issuer | Claim::Subject | Claim::TokenId => "a string",
                    Claim::Audience => "a string or a list of strings",
                    Claim::Expiry | Claim::NotBefore | Claim::IssuedAt => {
                        "a number of seconds since 1970 in a JWT, and RFC 3339 text in a PASETO"
                    }
                };
                write!(f, "the claim `{claim}` must be {expected}, not {found}")
            }
            InvalidUse::ClaimRange { claim, unit } => TimeUnit::write_range(*claim, *unit, f),
            InvalidUse::DateForm(claim) => write!(
                f,
                "the claim `{claim}` has the form of another format: a JWT has seconds since 1970, a PASETO has RFC 3339 text"
            ),
            InvalidUse::ClaimSetTwice(claim) => write!(
                f,
                "the claim `{claim}` is in the custom claims, and is set or omitted in another way too"
            ),
            InvalidUse::TimeOutOfRange => f.write_str("a time is outside the years 1970 to 9999"),
            InvalidUse::KeyId { bytes, limit } => write!(
                f,
                "the key id has {bytes} bytes, must be between 1 and {limit}"
            ),
            InvalidUse::PasswordCost => f.write_str(
                "the password cost is outside its limits, or for another version: k1 and k3 use PBKDF2, k2 and k4 use Argon2id",
            ),
            InvalidUse::FooterTooLarge { bytes, limit } => {
                write!(f, "the footer has {bytes} bytes, limit {limit}")
            },
            InvalidUse::ImplicitAssertion => {
                f.write_str("PASETO versions 1 and 2 have no implicit assertion")
            }
            InvalidUse::AudienceList => {
                f.write_str("`aud` of a PASETO is a single string, not a list")
            }
            InvalidUse::Type => f.write_str("the header type (`typ`) is not a media type"),
            InvalidUse::Recipients { recipients, limit } => write!(
                f,
                "{recipients} recipients, limit {limit}: only the general JSON serialization with key wrapping allows more than one"
            ),
            InvalidUse::CompactForm => f.write_str(
                "a JWT is always compact, and the compact serialization has no associated data and no unprotected header: for bytes, use a JSON serialization",
            ),
            InvalidUse::HeaderMember => {
                f.write_str("a header member of this name is already set, or set by the library")
            }
            InvalidUse::DecidedHeaderMember { name, by } => {
                write!(f, "the header member `{name}` cannot be added: {by} decides it")
            }
            InvalidUse::HeaderValue => f.write_str(
                "a header member does not serialize, or the header is too large or nested too deep",
            ),
            InvalidUse::HeaderKey => {
                f.write_str("`jwk` of the header is not a public key: it must have no private member")
            }
            InvalidUse::PartyInfo { bytes, limit } => {
                write!(f, "`apu` or `apv` has {bytes} bytes, limit {limit}")
            },
            InvalidUse::PartyInfoUnused => {
                f.write_str("only ECDH-ES uses `apu` and `apv`, and no recipient uses ECDH-ES")
            }
            InvalidUse::Pbes2Rounds {
                rounds,
                minimum,
                limit,
            } => write!(
                f,
                "{rounds} PBKDF2 rounds, must be between {minimum} and {limit}"
            ),
            InvalidUse::ContentEncryption => {
                f.write_str("the content key is for another content encryption (`enc`)")
            }
            InvalidUse::UnprotectedHeader => f.write_str(
                "the unprotected header is too large, nested too deep, or does not serialize",
            ),
            InvalidUse::UnencodedPayload => f.write_str(
                "the payload contains bytes that cannot be sent unencoded: detach it, or do not use b64=false",
            ),
            InvalidUse::SharedRsaKey => f.write_str(
                "one RSA key cannot be used for both RSA1_5 and RSA-OAEP: use a separate key for each",
            ),
            InvalidUse::CacheEntries { entries, limit } => write!(
                f,
                "the cache has {entries} entries, must be between 1 and {limit}"
            ),
            InvalidUse::Signers { signers, limit } => write!(
                f,
                "a general JWS has {signers} signers, must be between 1 and {limit}"
            ),
            InvalidUse::MixedPayloadEncoding => f.write_str(
                "the signers of a general JWS have different settings for the payload encoding (b64)",
            ),
        }
    }
}
