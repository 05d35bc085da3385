# Written from crates/jeton/src/error/codes.rs by `cargo xtask sdk codes`. Do not change it here.
"""The error codes: what each means, and what to do."""

CODES = {
    "TOKEN_EXPIRED": "The token has expired (`exp`). "
    "Request a new token.",
    "TOKEN_NOT_YET_VALID": "The token is not valid yet (`nbf`), or `iat` is in the future. "
    "Wait, or compare the clocks of issuer and verifier.",
    "TOKEN_TOO_OLD": "The token is older than the maximum age of the policy (`iat`). "
    "Request a new token.",
    "TOKEN_INVALID_SIGNATURE": "The signature or MAC is not valid. "
    "Do not use the token; check that verifier and issuer use the same key.",
    "TOKEN_UNKNOWN_KEY": "No key of the verifier matches the `kid` and `alg` of the token. "
    "Check the issuer of the token, or update the key set.",
    "TOKEN_ALGORITHM_MISMATCH": "The algorithm, format or version of the token does not match the key. "
    "Use the key and the verifier of this kind of token.",
    "TOKEN_ENCRYPTION_MISMATCH": "The `enc` of the token is unknown, does not match the key, or is not allowed. "
    "Encrypt with a content encryption that the verifier allows.",
    "TOKEN_ISSUER_MISMATCH": "`iss` is not the expected issuer. "
    "Send a token of the expected issuer.",
    "TOKEN_AUDIENCE_MISMATCH": "`aud` does not contain the expected audience. "
    "Request a token for this audience.",
    "TOKEN_TYPE_MISMATCH": "The `typ` of the token is not the expected type. "
    "Send a token of the expected type.",
    "TOKEN_FOOTER_MISMATCH": "The footer of the PASETO is not the expected footer. "
    "Send a token with the expected footer.",
    "TOKEN_REVOKED": "The token, its subject, its client or its key is revoked. "
    "Request a new token, if the subject is still allowed to.",
    "TOKEN_INVALID_CLAIMS": "A required claim is missing, has the wrong type, or is out of range. "
    "Correct the claims at the issuer.",
    "TOKEN_CLAIMS_SHAPE": "The claims do not match the type that the verifier expects. "
    "Correct the custom claims at the issuer, or the type in the program.",
    "TOKEN_WITHOUT_KEY_ID": "The token has no `kid`, and more keys match it than the verifier tries. "
    "Issue tokens with `kid`, or raise the limit.",
    "TOKEN_TOO_LARGE": "A part of the token is larger or nested deeper than its limit. "
    "Send a smaller token, or raise the limit.",
    "TOKEN_MALFORMED": "A part of the token does not have the form that its format requires. "
    "Send the token as it was issued.",
    "TOKEN_DUPLICATE_MEMBER": "A JSON object in the token has a duplicate member. "
    "Correct the JSON at the issuer.",
    "TOKEN_CRITICAL_EXTENSION": "`crit` in the header names an extension that is not supported. "
    "Issue tokens without this extension.",
    "TOKEN_ALGORITHM_UNPROTECTED": "`alg` or `enc` is not in the protected header. "
    "Move it to the protected header.",
    "TOKEN_WITH_PRIVATE_KEY": "The header contains a private key. "
    "Replace this key: it is no longer secret.",
    "TOKEN_COMPRESSED": "The token is compressed (`zip`), which the verifier does not allow. "
    "Issue tokens without compression.",
    "KEY_MALFORMED": "The input is not a key in this encoding. "
    "Check the encoding of the key: JWK, PEM, DER or PASERK.",
    "KEY_DUPLICATE_MEMBER": "The key has a duplicate member. "
    "Remove one of the two members.",
    "KEY_MEMBER_MISSING": "A required member of the key is absent. "
    "Add the member.",
    "KEY_MEMBER_TYPE": "A member of the key has the wrong JSON type. "
    "Correct the member.",
    "KEY_NOT_BASE64URL": "A member of the key is not canonical base64url without padding. "
    "Encode the member again.",
    "KEY_NOT_BASE64": "The base64 of a PEM is incomplete, not canonical, or has a character that is not base64. "
    "Copy the whole file again.",
    "KEY_TRUNCATED": "A PEM block has no END line. "
    "Copy the whole file again.",
    "KEY_MULTIPLE_PEM_BLOCKS": "The PEM has more than one key. "
    "Give one file with one key.",
    "KEY_PEM_LABEL": "The label of a PEM block contradicts its END line or its content. "
    "Write the label that the message names.",
    "KEY_NOT_RECOGNIZED": "The input is not a key, or is a key in another encoding than expected. "
    "Do what the message says: it names the input that was found.",
    "KEY_PRIMES_MISSING": "The RSA private key has no primes, so that only its public key can be used. "
    "Export the key with `p`, `q`, `dp`, `dq` and `qi`.",
    "KEY_MEMBER_NULL": "A member of the key is null. "
    "Remove the member.",
    "KEY_WRONG_LENGTH": "A member of the key does not have the length that the algorithm requires. "
    "Export the key again; do not remove leading zero bytes.",
    "KEY_TOO_LARGE": "The key, a member or the key set is larger than its limit. "
    "Use a smaller key or fewer keys.",
    "KEY_TOO_WEAK": "The key is below the minimum strength. "
    "Generate a new, longer key.",
    "KEY_INVALID": "A member of the key has a value that is not valid for this type of key. "
    "Do not use the key; generate a new one.",
    "KEY_PAIR_MISMATCH": "The private key and the public key do not match. "
    "Export both halves from the same key.",
    "KEY_ALGORITHM_MISMATCH": "The `alg` of the key is not the requested algorithm. "
    "Pass the algorithm of the key, or another key.",
    "KEY_TYPE_MISMATCH": "The type or curve of the key does not fit the algorithm. "
    "Pass an algorithm for this type of key, or another key.",
    "KEY_USE_MISMATCH": "The `use` or the algorithm of the key does not permit the operation. "
    "Pass a key for this use.",
    "KEY_OPERATION_NOT_PERMITTED": "The `key_ops` of the key do not permit the operation. "
    "Pass a key that permits the operation.",
    "KEY_CURVE_MISMATCH": "PKCS#8 and the elliptic-curve key in it name different curves. "
    "Export the key again.",
    "KEY_UNSUPPORTED": "The key is well formed, but of a kind that is not supported. "
    "Use a supported type of key.",
    "KEY_ALGORITHM_NEEDED": "The key has no `alg`, and more than one algorithm is possible. "
    "Pass the algorithm.",
    "KEY_AS_SECRET": "The bytes given as a secret are the encoding of a key. "
    "Load the bytes as a key.",
    "KEY_IS_PRIVATE": "A private key was given where a public key is expected. "
    "Pass the public key; keep the private key secret.",
    "KEY_IS_PUBLIC": "A public key was given where a private key is expected. "
    "Pass the private key.",
    "KEY_PASSWORD_COST": "The password cost of the PASERK is below the minimum, or not supported. "
    "Encrypt the key again with a higher cost.",
    "KEY_PASSWORD_LIMIT": "The password cost of the PASERK or of the encrypted PKCS#8 key is above the limit. "
    "Raise the limit if the source of the key is trusted.",
    "KEY_NOT_DECRYPTED": "The encrypted key cannot be decrypted with this key or password. "
    "Check the password or the wrapping key.",
    "KEY_KIND_MISMATCH": "The PASERK has another version or purpose than expected. "
    "Pass a PASERK of the expected kind.",
    "KEY_SET_EMPTY": "The key set has no usable key. "
    "Check why each key of the set is skipped.",
    "DISCOVERY_ISSUER_MISMATCH": "The `issuer` of the discovery document is not the requested issuer. "
    "Compare the issuer with the document byte for byte, including a slash at the end.",
    "DISCOVERY_MALFORMED": "The discovery document is not a JSON object with `issuer` and `jwks_uri`. "
    "Check the address of the issuer.",
    "DISCOVERY_TOO_LARGE": "The discovery document is larger than its limit. "
    "Check the address of the issuer.",
    "CLAIMS_WITHOUT_EXPIRY": "The claims have no expiry, and the issuer requires one. "
    "Set the expiry, or choose tokens without expiry.",
    "CLAIMS_REGISTERED_NAME": "The custom claims have a member with the name of a registered claim. "
    "Set the claim with its method.",
    "CLAIMS_SET_FOR_ALL": "The claims set a claim that the issuer sets for all its tokens. "
    "Set the claim in one place.",
    "CLAIMS_NOT_AN_OBJECT": "The claims are not a JSON object. "
    "Pass an object.",
    "CLAIMS_NOT_SERIALIZABLE": "The custom claims failed to serialize. "
    "Check the serialization of the type.",
    "CLAIMS_SYNTAX": "The text of the claims is not valid JSON. "
    "Correct the JSON at the reported position.",
    "CLAIMS_DUPLICATE_MEMBER": "The text of the claims has a duplicate member. "
    "Remove one of the two members.",
    "CLAIMS_TOO_DEEP": "The text of the claims is nested deeper than its limit. "
    "Reduce the nesting.",
    "CLAIM_TYPE": "A registered claim has the wrong type. "
    "Pass the type that the claim requires.",
    "CLAIM_RANGE": "A time is outside the years 1970 to 9999. "
    "Pass seconds since 1970, not milliseconds.",
    "CLAIM_DATE_FORM": "A time has the wrong form: a JWT has seconds, and a PASETO a text (RFC 3339). "
    "Pass seconds for a JWT, and RFC 3339 text for a PASETO.",
    "CLAIM_SET_TWICE": "A registered claim is set twice. "
    "Set the claim in one place.",
    "AUDIENCE_LIST_UNSUPPORTED": "A list of audiences was passed for a PASETO. "
    "Pass a single audience.",
    "ACCESS_TOKEN_CLAIM_MISSING": "An access token lacks a required claim, or the claim has the wrong type. "
    "Set the claim that the message names.",
    "ISSUER_NOT_CHOSEN": "A policy for several issuers does not name its issuer. "
    "Name the issuer in each policy.",
    "ISSUER_TWICE": "An issuer is added twice. "
    "Add each issuer once, with all its keys.",
    "INVALID_KEY_ID": "The key id is empty or longer than its limit. "
    "Pass a shorter key id.",
    "INVALID_PASSWORD_COST": "The password cost is outside its limits, or for another version. "
    "Pass a cost within the limits.",
    "FOOTER_TOO_LARGE": "The footer is longer than its limit. "
    "Pass a shorter footer.",
    "IMPLICIT_ASSERTION_UNSUPPORTED": "An implicit assertion was passed for PASETO version 1 or 2. "
    "Use version 3 or 4.",
    "INVALID_TYPE": "The header type (`typ`) is not a media type, or not `at+jwt` for access tokens. "
    "Pass a media type, such as `at+jwt`.",
    "INVALID_RECIPIENTS": "The form or the key management does not allow this number of recipients. "
    "Use the general JSON serialization and key wrapping.",
    "COMPACT_FORM_UNSUPPORTED": "The compact serialization has no unprotected header and no associated data. "
    "Use a JSON serialization.",
    "INVALID_HEADER_MEMBER": "The header member is already set, the library decides it, or its value is not allowed. "
    "Remove or correct the member.",
    "INVALID_PARTY_INFO": "`apu` or `apv` is too long, or the key management does not use it. "
    "Shorten it, or use ECDH-ES.",
    "INVALID_PBES2_ROUNDS": "The number of PBKDF2 rounds is outside its limits. "
    "Pass a number within the limits.",
    "CONTENT_ENCRYPTION_MISMATCH": "The content key is for another content encryption (`enc`). "
    "Pass the `enc` of the key.",
    "INVALID_UNPROTECTED_HEADER": "The unprotected header is not an object, or has a name that must be protected. "
    "Move the member to the protected header.",
    "INVALID_UNENCODED_PAYLOAD": "The payload has bytes that cannot be sent unencoded. "
    "Detach the payload, or encode it.",
    "INVALID_SIGNERS": "The number of signers is not allowed, or their settings differ. "
    "Pass signers with the same setting for the payload.",
    "RSA_KEY_SHARED": "One RSA key was added for both RSA1_5 and RSA-OAEP. "
    "Use a separate key for each.",
    "INVALID_CACHE_ENTRIES": "The capacity of the cache is outside its limits. "
    "Pass a number within the limits.",
    "KEY_SET_ADDRESS": "The URL of the key set is not allowed. "
    "Use https to a public address, or http to a loopback host, without credentials.",
    "INVALID_CERTIFICATE_AUTHORITY": "A certificate authority is not a certificate in PEM. "
    "Pass the certificates of the authorities in PEM.",
    "SIGNER_FAILED": "The signer returned no signature. "
    "See the cause; try again if the signer was not reachable.",
    "SIGNER_SIGNATURE_FORM": "The signature from the signer has the wrong encoding or length. "
    "State the encoding that the signer returns: DER or fixed.",
    "SIGNER_SIGNATURE_INVALID": "The signature from the signer does not verify with the public key. "
    "Check the key, the hash, the padding and the length of the salt.",
    "INTERNAL": "The library or the service failed on valid input. "
    "Report it with the code and the version; the service logs the details.",
    "KEY_SET_UNREACHABLE": "The key set could not be fetched from its server. "
    "Check the address and the server; requests are repeated.",
    "ARGUMENT_NULL": "A required value is missing (null). "
    "Pass the value.",
    "ARGUMENT_LENGTH": "A length is larger than any value in memory. "
    "Pass the length of the value in bytes.",
    "ARGUMENT_NOT_UTF8": "A text is not valid UTF-8. "
    "Pass UTF-8.",
    "ARGUMENT_HANDLE": "A value has the wrong type, or is closed. "
    "Pass a value of this type that is not closed.",
    "INVALID_OPTION": "An option is unknown, missing, has the wrong type, or contradicts another. "
    "Correct the options.",
    "BUFFER_TOO_SMALL": "The buffer of the caller is too small for the result. "
    "Pass a buffer of the size that the function returned.",
    "PREPARED_TOKEN_USED": "A signature was already passed for the prepared token. "
    "Prepare the token again.",
    "KEY_SET_TO_FETCH": "The keys are not fetched yet. "
    "Fetch the keys, then verify again.",
    "TOKEN_DECRYPTION_FAILED": "The token cannot be decrypted with this key. "
    "Do not use the token; check that verifier and issuer use the same key.",
}
