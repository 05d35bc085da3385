"""The exceptions. Each has a stable `code`, which is the same in all jeton libraries and the service."""

from __future__ import annotations

from ._codes import CODES


class JetonError(Exception):
    """The base of all exceptions of this library.

    The message never contains a token, a key or a claim.
    """

    #: The stable code, such as `TOKEN_EXPIRED`. `jeton.CODES` explains it.
    code: str

    def __init__(self, message: str = "", code: str = "INTERNAL") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[JetonError], tuple[str, str]]:
        return type(self), (str(self), self.code)


class TokenRejected(JetonError):
    """The token is not accepted. Respond with status 401."""


class InvalidKey(JetonError, ValueError):
    """The input is not a usable key."""


class KeySetError(JetonError):
    """A key set is invalid, has no usable keys, or cannot be fetched. Respond with status 503: the token may be valid.

    `__cause__` is the error of the HTTP client, if there is one.
    """


class InvalidClaims(JetonError, ValueError):
    """The claims cannot be issued."""


class SignerFailed(JetonError):
    """The signature passed to `Prepared.attach` is invalid: check the key, the hash, the padding and `der`."""


class InvalidUse(JetonError, ValueError):
    """A setting or an argument is wrong, or the object is closed. Fix the calling program."""


class InternalError(JetonError):
    """The library failed on valid input. Report it."""


class TokenExpired(TokenRejected):
    """The token has expired (`exp`)."""


class TokenNotYetValid(TokenRejected):
    """The token is not valid yet (`nbf`), or `iat` is in the future."""


class TokenTooOld(TokenRejected):
    """The token is older than the maximum age of the policy (`iat`)."""


class TokenInvalidSignature(TokenRejected):
    """The signature or MAC is not valid."""


class TokenDecryptionFailed(TokenRejected):
    """The token cannot be decrypted with this key."""


class TokenUnknownKey(TokenRejected):
    """No key of the verifier matches the `kid` and `alg` of the token."""


class TokenAlgorithmMismatch(TokenRejected):
    """The algorithm, format or version of the token does not match the key."""


class TokenEncryptionMismatch(TokenRejected):
    """The `enc` of the token is unknown, does not match the key, or is not allowed."""


class TokenIssuerMismatch(TokenRejected):
    """`iss` is not the expected issuer."""


class TokenAudienceMismatch(TokenRejected):
    """`aud` does not contain the expected audience."""


class TokenTypeMismatch(TokenRejected):
    """The `typ` of the token is not the expected type."""


class TokenFooterMismatch(TokenRejected):
    """The footer of the PASETO is not the expected footer."""


class TokenRevoked(TokenRejected):
    """The token, its subject, its client or its key is revoked."""


class TokenInvalidClaims(TokenRejected):
    """A required claim is missing, has the wrong type, or is out of range."""


class TokenClaimsShape(TokenRejected):
    """The claims do not match the type that the verifier expects."""


class TokenWithoutKeyId(TokenRejected):
    """The token has no `kid`, and more keys match it than the verifier tries."""


class TokenTooLarge(TokenRejected):
    """A part of the token is larger or nested deeper than its limit."""


class TokenMalformed(TokenRejected):
    """A part of the token does not have the form that its format requires."""


class TokenDuplicateMember(TokenRejected):
    """A JSON object in the token has a duplicate member."""


class TokenCriticalExtension(TokenRejected):
    """`crit` in the header names an extension that is not supported."""


class TokenAlgorithmUnprotected(TokenRejected):
    """`alg` or `enc` is not in the protected header."""


class TokenWithPrivateKey(TokenRejected):
    """The header contains a private key."""


class TokenCompressed(TokenRejected):
    """The token is compressed (`zip`), which the verifier does not allow."""


#: The class for each token code.
_OF_TOKEN: dict[str, type[TokenRejected]] = {
    "TOKEN_EXPIRED": TokenExpired,
    "TOKEN_NOT_YET_VALID": TokenNotYetValid,
    "TOKEN_TOO_OLD": TokenTooOld,
    "TOKEN_INVALID_SIGNATURE": TokenInvalidSignature,
    "TOKEN_DECRYPTION_FAILED": TokenDecryptionFailed,
    "TOKEN_UNKNOWN_KEY": TokenUnknownKey,
    "TOKEN_ALGORITHM_MISMATCH": TokenAlgorithmMismatch,
    "TOKEN_ENCRYPTION_MISMATCH": TokenEncryptionMismatch,
    "TOKEN_ISSUER_MISMATCH": TokenIssuerMismatch,
    "TOKEN_AUDIENCE_MISMATCH": TokenAudienceMismatch,
    "TOKEN_TYPE_MISMATCH": TokenTypeMismatch,
    "TOKEN_FOOTER_MISMATCH": TokenFooterMismatch,
    "TOKEN_REVOKED": TokenRevoked,
    "TOKEN_INVALID_CLAIMS": TokenInvalidClaims,
    "TOKEN_CLAIMS_SHAPE": TokenClaimsShape,
    "TOKEN_WITHOUT_KEY_ID": TokenWithoutKeyId,
    "TOKEN_TOO_LARGE": TokenTooLarge,
    "TOKEN_MALFORMED": TokenMalformed,
    "TOKEN_DUPLICATE_MEMBER": TokenDuplicateMember,
    "TOKEN_CRITICAL_EXTENSION": TokenCriticalExtension,
    "TOKEN_ALGORITHM_UNPROTECTED": TokenAlgorithmUnprotected,
    "TOKEN_WITH_PRIVATE_KEY": TokenWithPrivateKey,
    "TOKEN_COMPRESSED": TokenCompressed,
}

_KEY_SETS = ("KEY_SET_", "DISCOVERY_")
_CLAIMS = ("CLAIMS_", "CLAIM_", "AUDIENCE_", "ACCESS_TOKEN_")


def class_of(code: str) -> type[JetonError]:
    """Returns the class for a code."""
    if code == "INTERNAL":
        return InternalError
    if code.startswith("TOKEN_"):
        return _OF_TOKEN.get(code, TokenRejected)
    # The address of a key set is a setting.
    if code == "KEY_SET_ADDRESS":
        return InvalidUse
    if code.startswith(_KEY_SETS):
        return KeySetError
    if code.startswith("KEY_"):
        return InvalidKey
    if code.startswith(_CLAIMS):
        return InvalidClaims
    if code.startswith("SIGNER_"):
        return SignerFailed
    return InvalidUse


#: The parameters with another name than the setting of the native module.
# BEGIN SETTINGS: written by `cargo xtask sdk settings`.
_PARAMETERS = {
    "address": "url",
}
# END SETTINGS


def error_of(code: str, message: str) -> JetonError:
    """Creates the exception for a code. The native module calls it."""
    if code == "INVALID_OPTION":
        for setting, parameter in _PARAMETERS.items():
            message = message.replace(f"`{setting}`", f"`{parameter}`")
    return class_of(code)(message or CODES.get(code, ""), code)
