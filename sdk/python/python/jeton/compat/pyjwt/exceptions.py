"""The exceptions of PyJWT."""

from __future__ import annotations

from typing import NoReturn

from ..._errors import InternalError, InvalidKey, JetonError


class PyJWTError(Exception):
    """The base of all exceptions."""


class UnsafeUse(Exception):
    """PyJWT allows this use, and jeton refuses it. `rule` names the reason. The message says what to do instead.

    It is no `PyJWTError`, so that code for bad tokens does not hide it: correct the program.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule

    def __reduce__(self) -> tuple[type[UnsafeUse], tuple[str, str]]:
        return UnsafeUse, (self.rule, str(self))


class InvalidTokenError(PyJWTError):
    """The token is not accepted."""


class DecodeError(InvalidTokenError):
    """The token is malformed."""


class InvalidSignatureError(DecodeError):
    """The signature does not match."""


class ExpiredSignatureError(InvalidTokenError):
    """The token has expired (`exp`)."""


class InvalidAudienceError(InvalidTokenError):
    """`aud` is not an expected audience."""


class InvalidIssuerError(InvalidTokenError):
    """`iss` is not an expected issuer."""


class InvalidIssuedAtError(InvalidTokenError):
    """`iat` is not a number."""


class ImmatureSignatureError(InvalidTokenError):
    """`nbf` or `iat` is in the future."""


class InvalidSubjectError(InvalidTokenError):
    """`sub` is not a str, or not the expected subject."""


class InvalidJTIError(InvalidTokenError):
    """`jti` is not a str."""


class InvalidAlgorithmError(InvalidTokenError):
    """The algorithm is not allowed or not supported."""


class MissingRequiredClaimError(InvalidTokenError):
    """A required claim is missing."""

    def __init__(self, claim: str) -> None:
        super().__init__(claim)
        self.claim = claim

    def __str__(self) -> str:
        return f'Token is missing the "{self.claim}" claim'


class InvalidKeyError(PyJWTError):
    """The key cannot be used."""


class PyJWKError(PyJWTError):
    """A JWK cannot be used."""


class MissingCryptographyError(PyJWKError):
    """Never raised, because jeton does not need the package cryptography."""


class PyJWKSetError(PyJWTError):
    """A JWK Set cannot be used."""


class PyJWKClientError(PyJWTError):
    """A key is not in the key set, or the set cannot be fetched."""


class PyJWKClientConnectionError(PyJWKClientError):
    """A key set cannot be fetched."""


def raise_as_pyjwt(error: JetonError) -> NoReturn:
    """Raises PyJWT's exception for an error."""
    if error.code == "TOKEN_INVALID_SIGNATURE":
        raise InvalidSignatureError("Signature verification failed") from error
    if error.code == "TOKEN_ALGORITHM_MISMATCH":
        raise InvalidAlgorithmError("The specified alg value is not allowed") from error
    if error.code == "TOKEN_CRITICAL_EXTENSION":
        raise InvalidTokenError("Unsupported critical extension") from error
    if isinstance(error, InvalidKey):
        raise InvalidKeyError(str(error)) from error
    if isinstance(error, InternalError):
        raise error
    raise DecodeError(str(error)) from error
