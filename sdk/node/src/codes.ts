// Written from crates/jeton/src/error/codes.rs by `cargo xtask sdk codes`. Do not change it here.

/** The error codes with their numbers. */
export const codes = {
  /** The token has expired (`exp`). */
  TOKEN_EXPIRED: 1,
  /** The token is not valid yet (`nbf`), or `iat` is in the future. */
  TOKEN_NOT_YET_VALID: 2,
  /** The token is older than the maximum age of the policy (`iat`). */
  TOKEN_TOO_OLD: 3,
  /** The signature or MAC is not valid. */
  TOKEN_INVALID_SIGNATURE: 4,
  /** No key of the verifier matches the `kid` and `alg` of the token. */
  TOKEN_UNKNOWN_KEY: 5,
  /** The algorithm, format or version of the token does not match the key. */
  TOKEN_ALGORITHM_MISMATCH: 6,
  /** The `enc` of the token is unknown, does not match the key, or is not allowed. */
  TOKEN_ENCRYPTION_MISMATCH: 7,
  /** `iss` is not the expected issuer. */
  TOKEN_ISSUER_MISMATCH: 8,
  /** `aud` does not contain the expected audience. */
  TOKEN_AUDIENCE_MISMATCH: 9,
  /** The `typ` of the token is not the expected type. */
  TOKEN_TYPE_MISMATCH: 10,
  /** The footer of the PASETO is not the expected footer. */
  TOKEN_FOOTER_MISMATCH: 11,
  /** The token, its subject, its client or its key is revoked. */
  TOKEN_REVOKED: 12,
  /** A required claim is missing, has the wrong type, or is out of range. */
  TOKEN_INVALID_CLAIMS: 13,
  /** The claims do not match the type that the verifier expects. */
  TOKEN_CLAIMS_SHAPE: 14,
  /** The token has no `kid`, and more keys match it than the verifier tries. */
  TOKEN_WITHOUT_KEY_ID: 15,
  /** A part of the token is larger or nested deeper than its limit. */
  TOKEN_TOO_LARGE: 16,
  /** A part of the token does not have the form that its format requires. */
  TOKEN_MALFORMED: 17,
  /** A JSON object in the token has a duplicate member. */
  TOKEN_DUPLICATE_MEMBER: 18,
  /** `crit` in the header names an extension that is not supported. */
  TOKEN_CRITICAL_EXTENSION: 19,
  /** `alg` or `enc` is not in the protected header. */
  TOKEN_ALGORITHM_UNPROTECTED: 20,
  /** The header contains a private key. */
  TOKEN_WITH_PRIVATE_KEY: 21,
  /** The token is compressed (`zip`), which the verifier does not allow. */
  TOKEN_COMPRESSED: 22,
  /** The input is not a key in this encoding. */
  KEY_MALFORMED: 23,
  /** The key has a duplicate member. */
  KEY_DUPLICATE_MEMBER: 24,
  /** A required member of the key is absent. */
  KEY_MEMBER_MISSING: 25,
  /** A member of the key has the wrong JSON type. */
  KEY_MEMBER_TYPE: 26,
  /** A member of the key is not canonical base64url without padding. */
  KEY_NOT_BASE64URL: 27,
  /** The base64 of a PEM is incomplete, not canonical, or has a character that is not base64. */
  KEY_NOT_BASE64: 28,
  /** A PEM block has no END line. */
  KEY_TRUNCATED: 29,
  /** The PEM has more than one key. */
  KEY_MULTIPLE_PEM_BLOCKS: 30,
  /** The label of a PEM block contradicts its END line or its content. */
  KEY_PEM_LABEL: 31,
  /** The input is not a key, or is a key in another encoding than expected. */
  KEY_NOT_RECOGNIZED: 32,
  /** The RSA private key has no primes, so that only its public key can be used. */
  KEY_PRIMES_MISSING: 33,
  /** A member of the key is null. */
  KEY_MEMBER_NULL: 34,
  /** A member of the key does not have the length that the algorithm requires. */
  KEY_WRONG_LENGTH: 35,
  /** The key, a member or the key set is larger than its limit. */
  KEY_TOO_LARGE: 36,
  /** The key is below the minimum strength. */
  KEY_TOO_WEAK: 37,
  /** A member of the key has a value that is not valid for this type of key. */
  KEY_INVALID: 38,
  /** The private key and the public key do not match. */
  KEY_PAIR_MISMATCH: 39,
  /** The `alg` of the key is not the requested algorithm. */
  KEY_ALGORITHM_MISMATCH: 40,
  /** The type or curve of the key does not fit the algorithm. */
  KEY_TYPE_MISMATCH: 41,
  /** The `use` or the algorithm of the key does not permit the operation. */
  KEY_USE_MISMATCH: 42,
  /** The `key_ops` of the key do not permit the operation. */
  KEY_OPERATION_NOT_PERMITTED: 43,
  /** PKCS#8 and the elliptic-curve key in it name different curves. */
  KEY_CURVE_MISMATCH: 44,
  /** The key is well formed, but of a kind that is not supported. */
  KEY_UNSUPPORTED: 45,
  /** The key has no `alg`, and more than one algorithm is possible. */
  KEY_ALGORITHM_NEEDED: 46,
  /** The bytes given as a secret are the encoding of a key. */
  KEY_AS_SECRET: 47,
  /** A private key was given where a public key is expected. */
  KEY_IS_PRIVATE: 48,
  /** A public key was given where a private key is expected. */
  KEY_IS_PUBLIC: 49,
  /** The password cost of the PASERK is below the minimum, or not supported. */
  KEY_PASSWORD_COST: 50,
  /** The password cost of the PASERK or of the encrypted PKCS#8 key is above the limit. */
  KEY_PASSWORD_LIMIT: 51,
  /** The encrypted key cannot be decrypted with this key or password. */
  KEY_NOT_DECRYPTED: 52,
  /** The PASERK has another version or purpose than expected. */
  KEY_KIND_MISMATCH: 53,
  /** The key set has no usable key. */
  KEY_SET_EMPTY: 54,
  /** The `issuer` of the discovery document is not the requested issuer. */
  DISCOVERY_ISSUER_MISMATCH: 55,
  /** The discovery document is not a JSON object with `issuer` and `jwks_uri`. */
  DISCOVERY_MALFORMED: 56,
  /** The discovery document is larger than its limit. */
  DISCOVERY_TOO_LARGE: 57,
  /** The claims have no expiry, and the issuer requires one. */
  CLAIMS_WITHOUT_EXPIRY: 58,
  /** The custom claims have a member with the name of a registered claim. */
  CLAIMS_REGISTERED_NAME: 59,
  /** The claims set a claim that the issuer sets for all its tokens. */
  CLAIMS_SET_FOR_ALL: 60,
  /** The claims are not a JSON object. */
  CLAIMS_NOT_AN_OBJECT: 61,
  /** The custom claims failed to serialize. */
  CLAIMS_NOT_SERIALIZABLE: 62,
  /** The text of the claims is not valid JSON. */
  CLAIMS_SYNTAX: 63,
  /** The text of the claims has a duplicate member. */
  CLAIMS_DUPLICATE_MEMBER: 64,
  /** The text of the claims is nested deeper than its limit. */
  CLAIMS_TOO_DEEP: 65,
  /** A registered claim has the wrong type. */
  CLAIM_TYPE: 66,
  /** A time is outside the years 1970 to 9999. */
  CLAIM_RANGE: 67,
  /** A time has the wrong form: a JWT has seconds, and a PASETO a text (RFC 3339). */
  CLAIM_DATE_FORM: 68,
  /** A registered claim is set twice. */
  CLAIM_SET_TWICE: 69,
  /** A list of audiences was passed for a PASETO. */
  AUDIENCE_LIST_UNSUPPORTED: 70,
  /** An access token lacks a required claim, or the claim has the wrong type. */
  ACCESS_TOKEN_CLAIM_MISSING: 71,
  /** A policy for several issuers does not name its issuer. */
  ISSUER_NOT_CHOSEN: 72,
  /** An issuer is added twice. */
  ISSUER_TWICE: 73,
  /** The key id is empty or longer than its limit. */
  INVALID_KEY_ID: 74,
  /** The password cost is outside its limits, or for another version. */
  INVALID_PASSWORD_COST: 75,
  /** The footer is longer than its limit. */
  FOOTER_TOO_LARGE: 76,
  /** An implicit assertion was passed for PASETO version 1 or 2. */
  IMPLICIT_ASSERTION_UNSUPPORTED: 77,
  /** The header type (`typ`) is not a media type, or not `at+jwt` for access tokens. */
  INVALID_TYPE: 78,
  /** The form or the key management does not allow this number of recipients. */
  INVALID_RECIPIENTS: 79,
  /** The compact serialization has no unprotected header and no associated data. */
  COMPACT_FORM_UNSUPPORTED: 80,
  /** The header member is already set, the library decides it, or its value is not allowed. */
  INVALID_HEADER_MEMBER: 81,
  /** `apu` or `apv` is too long, or the key management does not use it. */
  INVALID_PARTY_INFO: 82,
  /** The number of PBKDF2 rounds is outside its limits. */
  INVALID_PBES2_ROUNDS: 83,
  /** The content key is for another content encryption (`enc`). */
  CONTENT_ENCRYPTION_MISMATCH: 84,
  /** The unprotected header is not an object, or has a name that must be protected. */
  INVALID_UNPROTECTED_HEADER: 85,
  /** The payload has bytes that cannot be sent unencoded. */
  INVALID_UNENCODED_PAYLOAD: 86,
  /** The number of signers is not allowed, or their settings differ. */
  INVALID_SIGNERS: 87,
  /** One RSA key was added for both RSA1_5 and RSA-OAEP. */
  RSA_KEY_SHARED: 88,
  /** The capacity of the cache is outside its limits. */
  INVALID_CACHE_ENTRIES: 89,
  /** The URL of the key set is not allowed. */
  KEY_SET_ADDRESS: 90,
  /** A certificate authority is not a certificate in PEM. */
  INVALID_CERTIFICATE_AUTHORITY: 91,
  /** The signer returned no signature. */
  SIGNER_FAILED: 92,
  /** The signature from the signer has the wrong encoding or length. */
  SIGNER_SIGNATURE_FORM: 93,
  /** The signature from the signer does not verify with the public key. */
  SIGNER_SIGNATURE_INVALID: 94,
  /** The library or the service failed on valid input. */
  INTERNAL: 95,
  /** The key set could not be fetched from its server. */
  KEY_SET_UNREACHABLE: 96,
  /** A required value is missing (null). */
  ARGUMENT_NULL: 117,
  /** A length is larger than any value in memory. */
  ARGUMENT_LENGTH: 118,
  /** A text is not valid UTF-8. */
  ARGUMENT_NOT_UTF8: 119,
  /** A value has the wrong type, or is closed. */
  ARGUMENT_HANDLE: 120,
  /** An option is unknown, missing, has the wrong type, or contradicts another. */
  INVALID_OPTION: 121,
  /** The buffer of the caller is too small for the result. */
  BUFFER_TOO_SMALL: 122,
  /** A signature was already passed for the prepared token. */
  PREPARED_TOKEN_USED: 123,
  /** The keys are not fetched yet. */
  KEY_SET_TO_FETCH: 124,
  /** The token cannot be decrypted with this key. */
  TOKEN_DECRYPTION_FAILED: 125,
} as const

/** Why something failed. It is stable, and the same in every language. */
export type Code = keyof typeof codes
