// Written from crates/jeton/src/error/codes.rs by `cargo xtask sdk codes`. Do not change it here.

package jeton

// A Code says why something failed. It is stable, and the same in every language.
type Code int32

const (
	// The token has expired (`exp`).
	CodeTokenExpired Code = 1
	// The token is not valid yet (`nbf`), or `iat` is in the future.
	CodeTokenNotYetValid Code = 2
	// The token is older than the maximum age of the policy (`iat`).
	CodeTokenTooOld Code = 3
	// The signature or MAC is not valid.
	CodeTokenInvalidSignature Code = 4
	// No key of the verifier matches the `kid` and `alg` of the token.
	CodeTokenUnknownKey Code = 5
	// The algorithm, format or version of the token does not match the key.
	CodeTokenAlgorithmMismatch Code = 6
	// The `enc` of the token is unknown, does not match the key, or is not allowed.
	CodeTokenEncryptionMismatch Code = 7
	// `iss` is not the expected issuer.
	CodeTokenIssuerMismatch Code = 8
	// `aud` does not contain the expected audience.
	CodeTokenAudienceMismatch Code = 9
	// The `typ` of the token is not the expected type.
	CodeTokenTypeMismatch Code = 10
	// The footer of the PASETO is not the expected footer.
	CodeTokenFooterMismatch Code = 11
	// The token, its subject, its client or its key is revoked.
	CodeTokenRevoked Code = 12
	// A required claim is missing, has the wrong type, or is out of range.
	CodeTokenInvalidClaims Code = 13
	// The claims do not match the type that the verifier expects.
	CodeTokenClaimsShape Code = 14
	// The token has no `kid`, and more keys match it than the verifier tries.
	CodeTokenWithoutKeyId Code = 15
	// A part of the token is larger or nested deeper than its limit.
	CodeTokenTooLarge Code = 16
	// A part of the token does not have the form that its format requires.
	CodeTokenMalformed Code = 17
	// A JSON object in the token has a duplicate member.
	CodeTokenDuplicateMember Code = 18
	// `crit` in the header names an extension that is not supported.
	CodeTokenCriticalExtension Code = 19
	// `alg` or `enc` is not in the protected header.
	CodeTokenAlgorithmUnprotected Code = 20
	// The header contains a private key.
	CodeTokenWithPrivateKey Code = 21
	// The token is compressed (`zip`), which the verifier does not allow.
	CodeTokenCompressed Code = 22
	// The input is not a key in this encoding.
	CodeKeyMalformed Code = 23
	// The key has a duplicate member.
	CodeKeyDuplicateMember Code = 24
	// A required member of the key is absent.
	CodeKeyMemberMissing Code = 25
	// A member of the key has the wrong JSON type.
	CodeKeyMemberType Code = 26
	// A member of the key is not canonical base64url without padding.
	CodeKeyNotBase64url Code = 27
	// The base64 of a PEM is incomplete, not canonical, or has a character that is not base64.
	CodeKeyNotBase64 Code = 28
	// A PEM block has no END line.
	CodeKeyTruncated Code = 29
	// The PEM has more than one key.
	CodeKeyMultiplePemBlocks Code = 30
	// The label of a PEM block contradicts its END line or its content.
	CodeKeyPemLabel Code = 31
	// The input is not a key, or is a key in another encoding than expected.
	CodeKeyNotRecognized Code = 32
	// The RSA private key has no primes, so that only its public key can be used.
	CodeKeyPrimesMissing Code = 33
	// A member of the key is null.
	CodeKeyMemberNull Code = 34
	// A member of the key does not have the length that the algorithm requires.
	CodeKeyWrongLength Code = 35
	// The key, a member or the key set is larger than its limit.
	CodeKeyTooLarge Code = 36
	// The key is below the minimum strength.
	CodeKeyTooWeak Code = 37
	// A member of the key has a value that is not valid for this type of key.
	CodeKeyInvalid Code = 38
	// The private key and the public key do not match.
	CodeKeyPairMismatch Code = 39
	// The `alg` of the key is not the requested algorithm.
	CodeKeyAlgorithmMismatch Code = 40
	// The type or curve of the key does not fit the algorithm.
	CodeKeyTypeMismatch Code = 41
	// The `use` or the algorithm of the key does not permit the operation.
	CodeKeyUseMismatch Code = 42
	// The `key_ops` of the key do not permit the operation.
	CodeKeyOperationNotPermitted Code = 43
	// PKCS#8 and the elliptic-curve key in it name different curves.
	CodeKeyCurveMismatch Code = 44
	// The key is well formed, but of a kind that is not supported.
	CodeKeyUnsupported Code = 45
	// The key has no `alg`, and more than one algorithm is possible.
	CodeKeyAlgorithmNeeded Code = 46
	// The bytes given as a secret are the encoding of a key.
	CodeKeyAsSecret Code = 47
	// A private key was given where a public key is expected.
	CodeKeyIsPrivate Code = 48
	// A public key was given where a private key is expected.
	CodeKeyIsPublic Code = 49
	// The password cost of the PASERK is below the minimum, or not supported.
	CodeKeyPasswordCost Code = 50
	// The password cost of the PASERK or of the encrypted PKCS#8 key is above the limit.
	CodeKeyPasswordLimit Code = 51
	// The encrypted key cannot be decrypted with this key or password.
	CodeKeyNotDecrypted Code = 52
	// The PASERK has another version or purpose than expected.
	CodeKeyKindMismatch Code = 53
	// The key set has no usable key.
	CodeKeySetEmpty Code = 54
	// The `issuer` of the discovery document is not the requested issuer.
	CodeDiscoveryIssuerMismatch Code = 55
	// The discovery document is not a JSON object with `issuer` and `jwks_uri`.
	CodeDiscoveryMalformed Code = 56
	// The discovery document is larger than its limit.
	CodeDiscoveryTooLarge Code = 57
	// The claims have no expiry, and the issuer requires one.
	CodeClaimsWithoutExpiry Code = 58
	// The custom claims have a member with the name of a registered claim.
	CodeClaimsRegisteredName Code = 59
	// The claims set a claim that the issuer sets for all its tokens.
	CodeClaimsSetForAll Code = 60
	// The claims are not a JSON object.
	CodeClaimsNotAnObject Code = 61
	// The custom claims failed to serialize.
	CodeClaimsNotSerializable Code = 62
	// The text of the claims is not valid JSON.
	CodeClaimsSyntax Code = 63
	// The text of the claims has a duplicate member.
	CodeClaimsDuplicateMember Code = 64
	// The text of the claims is nested deeper than its limit.
	CodeClaimsTooDeep Code = 65
	// A registered claim has the wrong type.
	CodeClaimType Code = 66
	// A time is outside the years 1970 to 9999.
	CodeClaimRange Code = 67
	// A time has the wrong form: a JWT has seconds, and a PASETO a text (RFC 3339).
	CodeClaimDateForm Code = 68
	// A registered claim is set twice.
	CodeClaimSetTwice Code = 69
	// A list of audiences was passed for a PASETO.
	CodeAudienceListUnsupported Code = 70
	// An access token lacks a required claim, or the claim has the wrong type.
	CodeAccessTokenClaimMissing Code = 71
	// A policy for several issuers does not name its issuer.
	CodeIssuerNotChosen Code = 72
	// An issuer is added twice.
	CodeIssuerTwice Code = 73
	// The key id is empty or longer than its limit.
	CodeInvalidKeyId Code = 74
	// The password cost is outside its limits, or for another version.
	CodeInvalidPasswordCost Code = 75
	// The footer is longer than its limit.
	CodeFooterTooLarge Code = 76
	// An implicit assertion was passed for PASETO version 1 or 2.
	CodeImplicitAssertionUnsupported Code = 77
	// The header type (`typ`) is not a media type, or not `at+jwt` for access tokens.
	CodeInvalidType Code = 78
	// The form or the key management does not allow this number of recipients.
	CodeInvalidRecipients Code = 79
	// The compact serialization has no unprotected header and no associated data.
	CodeCompactFormUnsupported Code = 80
	// The header member is already set, the library decides it, or its value is not allowed.
	CodeInvalidHeaderMember Code = 81
	// `apu` or `apv` is too long, or the key management does not use it.
	CodeInvalidPartyInfo Code = 82
	// The number of PBKDF2 rounds is outside its limits.
	CodeInvalidPbes2Rounds Code = 83
	// The content key is for another content encryption (`enc`).
	CodeContentEncryptionMismatch Code = 84
	// The unprotected header is not an object, or has a name that must be protected.
	CodeInvalidUnprotectedHeader Code = 85
	// The payload has bytes that cannot be sent unencoded.
	CodeInvalidUnencodedPayload Code = 86
	// The number of signers is not allowed, or their settings differ.
	CodeInvalidSigners Code = 87
	// One RSA key was added for both RSA1_5 and RSA-OAEP.
	CodeRsaKeyShared Code = 88
	// The capacity of the cache is outside its limits.
	CodeInvalidCacheEntries Code = 89
	// The URL of the key set is not allowed.
	CodeKeySetAddress Code = 90
	// A certificate authority is not a certificate in PEM.
	CodeInvalidCertificateAuthority Code = 91
	// The signer returned no signature.
	CodeSignerFailed Code = 92
	// The signature from the signer has the wrong encoding or length.
	CodeSignerSignatureForm Code = 93
	// The signature from the signer does not verify with the public key.
	CodeSignerSignatureInvalid Code = 94
	// The library or the service failed on valid input.
	CodeInternal Code = 95
	// The key set could not be fetched from its server.
	CodeKeySetUnreachable Code = 96
	// A required value is missing (null).
	CodeArgumentNull Code = 117
	// A length is larger than any value in memory.
	CodeArgumentLength Code = 118
	// A text is not valid UTF-8.
	CodeArgumentNotUtf8 Code = 119
	// A value has the wrong type, or is closed.
	CodeArgumentHandle Code = 120
	// An option is unknown, missing, has the wrong type, or contradicts another.
	CodeInvalidOption Code = 121
	// The buffer of the caller is too small for the result.
	CodeBufferTooSmall Code = 122
	// A signature was already passed for the prepared token.
	CodePreparedTokenUsed Code = 123
	// The keys are not fetched yet.
	CodeKeySetToFetch Code = 124
	// The token cannot be decrypted with this key.
	CodeTokenDecryptionFailed Code = 125
)

// The codes as errors, for [errors.Is].
const (
	ErrTokenExpired                 = CodeTokenExpired
	ErrTokenNotYetValid             = CodeTokenNotYetValid
	ErrTokenTooOld                  = CodeTokenTooOld
	ErrTokenInvalidSignature        = CodeTokenInvalidSignature
	ErrTokenUnknownKey              = CodeTokenUnknownKey
	ErrTokenAlgorithmMismatch       = CodeTokenAlgorithmMismatch
	ErrTokenEncryptionMismatch      = CodeTokenEncryptionMismatch
	ErrTokenIssuerMismatch          = CodeTokenIssuerMismatch
	ErrTokenAudienceMismatch        = CodeTokenAudienceMismatch
	ErrTokenTypeMismatch            = CodeTokenTypeMismatch
	ErrTokenFooterMismatch          = CodeTokenFooterMismatch
	ErrTokenRevoked                 = CodeTokenRevoked
	ErrTokenInvalidClaims           = CodeTokenInvalidClaims
	ErrTokenClaimsShape             = CodeTokenClaimsShape
	ErrTokenWithoutKeyId            = CodeTokenWithoutKeyId
	ErrTokenTooLarge                = CodeTokenTooLarge
	ErrTokenMalformed               = CodeTokenMalformed
	ErrTokenDuplicateMember         = CodeTokenDuplicateMember
	ErrTokenCriticalExtension       = CodeTokenCriticalExtension
	ErrTokenAlgorithmUnprotected    = CodeTokenAlgorithmUnprotected
	ErrTokenWithPrivateKey          = CodeTokenWithPrivateKey
	ErrTokenCompressed              = CodeTokenCompressed
	ErrKeyMalformed                 = CodeKeyMalformed
	ErrKeyDuplicateMember           = CodeKeyDuplicateMember
	ErrKeyMemberMissing             = CodeKeyMemberMissing
	ErrKeyMemberType                = CodeKeyMemberType
	ErrKeyNotBase64url              = CodeKeyNotBase64url
	ErrKeyNotBase64                 = CodeKeyNotBase64
	ErrKeyTruncated                 = CodeKeyTruncated
	ErrKeyMultiplePemBlocks         = CodeKeyMultiplePemBlocks
	ErrKeyPemLabel                  = CodeKeyPemLabel
	ErrKeyNotRecognized             = CodeKeyNotRecognized
	ErrKeyPrimesMissing             = CodeKeyPrimesMissing
	ErrKeyMemberNull                = CodeKeyMemberNull
	ErrKeyWrongLength               = CodeKeyWrongLength
	ErrKeyTooLarge                  = CodeKeyTooLarge
	ErrKeyTooWeak                   = CodeKeyTooWeak
	ErrKeyInvalid                   = CodeKeyInvalid
	ErrKeyPairMismatch              = CodeKeyPairMismatch
	ErrKeyAlgorithmMismatch         = CodeKeyAlgorithmMismatch
	ErrKeyTypeMismatch              = CodeKeyTypeMismatch
	ErrKeyUseMismatch               = CodeKeyUseMismatch
	ErrKeyOperationNotPermitted     = CodeKeyOperationNotPermitted
	ErrKeyCurveMismatch             = CodeKeyCurveMismatch
	ErrKeyUnsupported               = CodeKeyUnsupported
	ErrKeyAlgorithmNeeded           = CodeKeyAlgorithmNeeded
	ErrKeyAsSecret                  = CodeKeyAsSecret
	ErrKeyIsPrivate                 = CodeKeyIsPrivate
	ErrKeyIsPublic                  = CodeKeyIsPublic
	ErrKeyPasswordCost              = CodeKeyPasswordCost
	ErrKeyPasswordLimit             = CodeKeyPasswordLimit
	ErrKeyNotDecrypted              = CodeKeyNotDecrypted
	ErrKeyKindMismatch              = CodeKeyKindMismatch
	ErrKeySetEmpty                  = CodeKeySetEmpty
	ErrDiscoveryIssuerMismatch      = CodeDiscoveryIssuerMismatch
	ErrDiscoveryMalformed           = CodeDiscoveryMalformed
	ErrDiscoveryTooLarge            = CodeDiscoveryTooLarge
	ErrClaimsWithoutExpiry          = CodeClaimsWithoutExpiry
	ErrClaimsRegisteredName         = CodeClaimsRegisteredName
	ErrClaimsSetForAll              = CodeClaimsSetForAll
	ErrClaimsNotAnObject            = CodeClaimsNotAnObject
	ErrClaimsNotSerializable        = CodeClaimsNotSerializable
	ErrClaimsSyntax                 = CodeClaimsSyntax
	ErrClaimsDuplicateMember        = CodeClaimsDuplicateMember
	ErrClaimsTooDeep                = CodeClaimsTooDeep
	ErrClaimType                    = CodeClaimType
	ErrClaimRange                   = CodeClaimRange
	ErrClaimDateForm                = CodeClaimDateForm
	ErrClaimSetTwice                = CodeClaimSetTwice
	ErrAudienceListUnsupported      = CodeAudienceListUnsupported
	ErrAccessTokenClaimMissing      = CodeAccessTokenClaimMissing
	ErrIssuerNotChosen              = CodeIssuerNotChosen
	ErrIssuerTwice                  = CodeIssuerTwice
	ErrInvalidKeyId                 = CodeInvalidKeyId
	ErrInvalidPasswordCost          = CodeInvalidPasswordCost
	ErrFooterTooLarge               = CodeFooterTooLarge
	ErrImplicitAssertionUnsupported = CodeImplicitAssertionUnsupported
	ErrInvalidType                  = CodeInvalidType
	ErrInvalidRecipients            = CodeInvalidRecipients
	ErrCompactFormUnsupported       = CodeCompactFormUnsupported
	ErrInvalidHeaderMember          = CodeInvalidHeaderMember
	ErrInvalidPartyInfo             = CodeInvalidPartyInfo
	ErrInvalidPbes2Rounds           = CodeInvalidPbes2Rounds
	ErrContentEncryptionMismatch    = CodeContentEncryptionMismatch
	ErrInvalidUnprotectedHeader     = CodeInvalidUnprotectedHeader
	ErrInvalidUnencodedPayload      = CodeInvalidUnencodedPayload
	ErrInvalidSigners               = CodeInvalidSigners
	ErrRsaKeyShared                 = CodeRsaKeyShared
	ErrInvalidCacheEntries          = CodeInvalidCacheEntries
	ErrKeySetAddress                = CodeKeySetAddress
	ErrInvalidCertificateAuthority  = CodeInvalidCertificateAuthority
	ErrSignerFailed                 = CodeSignerFailed
	ErrSignerSignatureForm          = CodeSignerSignatureForm
	ErrSignerSignatureInvalid       = CodeSignerSignatureInvalid
	ErrInternal                     = CodeInternal
	ErrKeySetUnreachable            = CodeKeySetUnreachable
	ErrArgumentNull                 = CodeArgumentNull
	ErrArgumentLength               = CodeArgumentLength
	ErrArgumentNotUtf8              = CodeArgumentNotUtf8
	ErrArgumentHandle               = CodeArgumentHandle
	ErrInvalidOption                = CodeInvalidOption
	ErrBufferTooSmall               = CodeBufferTooSmall
	ErrPreparedTokenUsed            = CodePreparedTokenUsed
	ErrKeySetToFetch                = CodeKeySetToFetch
	ErrTokenDecryptionFailed        = CodeTokenDecryptionFailed
)

var codeNames = map[Code]string{
	CodeTokenExpired:                 "TOKEN_EXPIRED",
	CodeTokenNotYetValid:             "TOKEN_NOT_YET_VALID",
	CodeTokenTooOld:                  "TOKEN_TOO_OLD",
	CodeTokenInvalidSignature:        "TOKEN_INVALID_SIGNATURE",
	CodeTokenUnknownKey:              "TOKEN_UNKNOWN_KEY",
	CodeTokenAlgorithmMismatch:       "TOKEN_ALGORITHM_MISMATCH",
	CodeTokenEncryptionMismatch:      "TOKEN_ENCRYPTION_MISMATCH",
	CodeTokenIssuerMismatch:          "TOKEN_ISSUER_MISMATCH",
	CodeTokenAudienceMismatch:        "TOKEN_AUDIENCE_MISMATCH",
	CodeTokenTypeMismatch:            "TOKEN_TYPE_MISMATCH",
	CodeTokenFooterMismatch:          "TOKEN_FOOTER_MISMATCH",
	CodeTokenRevoked:                 "TOKEN_REVOKED",
	CodeTokenInvalidClaims:           "TOKEN_INVALID_CLAIMS",
	CodeTokenClaimsShape:             "TOKEN_CLAIMS_SHAPE",
	CodeTokenWithoutKeyId:            "TOKEN_WITHOUT_KEY_ID",
	CodeTokenTooLarge:                "TOKEN_TOO_LARGE",
	CodeTokenMalformed:               "TOKEN_MALFORMED",
	CodeTokenDuplicateMember:         "TOKEN_DUPLICATE_MEMBER",
	CodeTokenCriticalExtension:       "TOKEN_CRITICAL_EXTENSION",
	CodeTokenAlgorithmUnprotected:    "TOKEN_ALGORITHM_UNPROTECTED",
	CodeTokenWithPrivateKey:          "TOKEN_WITH_PRIVATE_KEY",
	CodeTokenCompressed:              "TOKEN_COMPRESSED",
	CodeKeyMalformed:                 "KEY_MALFORMED",
	CodeKeyDuplicateMember:           "KEY_DUPLICATE_MEMBER",
	CodeKeyMemberMissing:             "KEY_MEMBER_MISSING",
	CodeKeyMemberType:                "KEY_MEMBER_TYPE",
	CodeKeyNotBase64url:              "KEY_NOT_BASE64URL",
	CodeKeyNotBase64:                 "KEY_NOT_BASE64",
	CodeKeyTruncated:                 "KEY_TRUNCATED",
	CodeKeyMultiplePemBlocks:         "KEY_MULTIPLE_PEM_BLOCKS",
	CodeKeyPemLabel:                  "KEY_PEM_LABEL",
	CodeKeyNotRecognized:             "KEY_NOT_RECOGNIZED",
	CodeKeyPrimesMissing:             "KEY_PRIMES_MISSING",
	CodeKeyMemberNull:                "KEY_MEMBER_NULL",
	CodeKeyWrongLength:               "KEY_WRONG_LENGTH",
	CodeKeyTooLarge:                  "KEY_TOO_LARGE",
	CodeKeyTooWeak:                   "KEY_TOO_WEAK",
	CodeKeyInvalid:                   "KEY_INVALID",
	CodeKeyPairMismatch:              "KEY_PAIR_MISMATCH",
	CodeKeyAlgorithmMismatch:         "KEY_ALGORITHM_MISMATCH",
	CodeKeyTypeMismatch:              "KEY_TYPE_MISMATCH",
	CodeKeyUseMismatch:               "KEY_USE_MISMATCH",
	CodeKeyOperationNotPermitted:     "KEY_OPERATION_NOT_PERMITTED",
	CodeKeyCurveMismatch:             "KEY_CURVE_MISMATCH",
	CodeKeyUnsupported:               "KEY_UNSUPPORTED",
	CodeKeyAlgorithmNeeded:           "KEY_ALGORITHM_NEEDED",
	CodeKeyAsSecret:                  "KEY_AS_SECRET",
	CodeKeyIsPrivate:                 "KEY_IS_PRIVATE",
	CodeKeyIsPublic:                  "KEY_IS_PUBLIC",
	CodeKeyPasswordCost:              "KEY_PASSWORD_COST",
	CodeKeyPasswordLimit:             "KEY_PASSWORD_LIMIT",
	CodeKeyNotDecrypted:              "KEY_NOT_DECRYPTED",
	CodeKeyKindMismatch:              "KEY_KIND_MISMATCH",
	CodeKeySetEmpty:                  "KEY_SET_EMPTY",
	CodeDiscoveryIssuerMismatch:      "DISCOVERY_ISSUER_MISMATCH",
	CodeDiscoveryMalformed:           "DISCOVERY_MALFORMED",
	CodeDiscoveryTooLarge:            "DISCOVERY_TOO_LARGE",
	CodeClaimsWithoutExpiry:          "CLAIMS_WITHOUT_EXPIRY",
	CodeClaimsRegisteredName:         "CLAIMS_REGISTERED_NAME",
	CodeClaimsSetForAll:              "CLAIMS_SET_FOR_ALL",
	CodeClaimsNotAnObject:            "CLAIMS_NOT_AN_OBJECT",
	CodeClaimsNotSerializable:        "CLAIMS_NOT_SERIALIZABLE",
	CodeClaimsSyntax:                 "CLAIMS_SYNTAX",
	CodeClaimsDuplicateMember:        "CLAIMS_DUPLICATE_MEMBER",
	CodeClaimsTooDeep:                "CLAIMS_TOO_DEEP",
	CodeClaimType:                    "CLAIM_TYPE",
	CodeClaimRange:                   "CLAIM_RANGE",
	CodeClaimDateForm:                "CLAIM_DATE_FORM",
	CodeClaimSetTwice:                "CLAIM_SET_TWICE",
	CodeAudienceListUnsupported:      "AUDIENCE_LIST_UNSUPPORTED",
	CodeAccessTokenClaimMissing:      "ACCESS_TOKEN_CLAIM_MISSING",
	CodeIssuerNotChosen:              "ISSUER_NOT_CHOSEN",
	CodeIssuerTwice:                  "ISSUER_TWICE",
	CodeInvalidKeyId:                 "INVALID_KEY_ID",
	CodeInvalidPasswordCost:          "INVALID_PASSWORD_COST",
	CodeFooterTooLarge:               "FOOTER_TOO_LARGE",
	CodeImplicitAssertionUnsupported: "IMPLICIT_ASSERTION_UNSUPPORTED",
	CodeInvalidType:                  "INVALID_TYPE",
	CodeInvalidRecipients:            "INVALID_RECIPIENTS",
	CodeCompactFormUnsupported:       "COMPACT_FORM_UNSUPPORTED",
	CodeInvalidHeaderMember:          "INVALID_HEADER_MEMBER",
	CodeInvalidPartyInfo:             "INVALID_PARTY_INFO",
	CodeInvalidPbes2Rounds:           "INVALID_PBES2_ROUNDS",
	CodeContentEncryptionMismatch:    "CONTENT_ENCRYPTION_MISMATCH",
	CodeInvalidUnprotectedHeader:     "INVALID_UNPROTECTED_HEADER",
	CodeInvalidUnencodedPayload:      "INVALID_UNENCODED_PAYLOAD",
	CodeInvalidSigners:               "INVALID_SIGNERS",
	CodeRsaKeyShared:                 "RSA_KEY_SHARED",
	CodeInvalidCacheEntries:          "INVALID_CACHE_ENTRIES",
	CodeKeySetAddress:                "KEY_SET_ADDRESS",
	CodeInvalidCertificateAuthority:  "INVALID_CERTIFICATE_AUTHORITY",
	CodeSignerFailed:                 "SIGNER_FAILED",
	CodeSignerSignatureForm:          "SIGNER_SIGNATURE_FORM",
	CodeSignerSignatureInvalid:       "SIGNER_SIGNATURE_INVALID",
	CodeInternal:                     "INTERNAL",
	CodeKeySetUnreachable:            "KEY_SET_UNREACHABLE",
	CodeArgumentNull:                 "ARGUMENT_NULL",
	CodeArgumentLength:               "ARGUMENT_LENGTH",
	CodeArgumentNotUtf8:              "ARGUMENT_NOT_UTF8",
	CodeArgumentHandle:               "ARGUMENT_HANDLE",
	CodeInvalidOption:                "INVALID_OPTION",
	CodeBufferTooSmall:               "BUFFER_TOO_SMALL",
	CodePreparedTokenUsed:            "PREPARED_TOKEN_USED",
	CodeKeySetToFetch:                "KEY_SET_TO_FETCH",
	CodeTokenDecryptionFailed:        "TOKEN_DECRYPTION_FAILED",
}
