"""Issues and verifies signed and encrypted tokens: JWT, JWS, JWE and PASETO. The core is a Rust library."""

try:
    from ._jeton import VERSION as __version__
except ImportError as error:
    raise ImportError(
        f"jeton cannot load its native module: {error}. Supported: Linux on x86-64 and arm64, with glibc 2.28 or "
        "musl 1.2, or a later version, in a folder that is not mounted noexec"
    ) from error

from ._clock import FixedClock
from ._codes import CODES
from ._errors import (
    InternalError,
    InvalidClaims,
    InvalidKey,
    InvalidUse,
    JetonError,
    KeySetError,
    SignerFailed,
    TokenAlgorithmMismatch,
    TokenAlgorithmUnprotected,
    TokenAudienceMismatch,
    TokenClaimsShape,
    TokenCompressed,
    TokenCriticalExtension,
    TokenDecryptionFailed,
    TokenDuplicateMember,
    TokenEncryptionMismatch,
    TokenExpired,
    TokenFooterMismatch,
    TokenInvalidClaims,
    TokenInvalidSignature,
    TokenIssuerMismatch,
    TokenMalformed,
    TokenNotYetValid,
    TokenRejected,
    TokenRevoked,
    TokenTooLarge,
    TokenTooOld,
    TokenTypeMismatch,
    TokenUnknownKey,
    TokenWithPrivateKey,
    TokenWithoutKeyId,
)
from ._fetch import FetchRequest, FetchResponse
from ._issuer import Issuer
from ._jeton import Prepared
from ._keys import Key, KeySet
from ._multi_issuer import MultiIssuerVerifier
from ._remote import RemoteKeySet
from ._unverified import UnverifiedToken, read_unverified
from ._verifier import Verified, Verifier

__all__ = [
    "CODES",
    "FetchRequest",
    "FetchResponse",
    "FixedClock",
    "InternalError",
    "InvalidClaims",
    "InvalidKey",
    "InvalidUse",
    "Issuer",
    "JetonError",
    "Key",
    "KeySet",
    "KeySetError",
    "MultiIssuerVerifier",
    "Prepared",
    "RemoteKeySet",
    "SignerFailed",
    "TokenAlgorithmMismatch",
    "TokenAlgorithmUnprotected",
    "TokenAudienceMismatch",
    "TokenClaimsShape",
    "TokenCompressed",
    "TokenCriticalExtension",
    "TokenDecryptionFailed",
    "TokenDuplicateMember",
    "TokenEncryptionMismatch",
    "TokenExpired",
    "TokenFooterMismatch",
    "TokenInvalidClaims",
    "TokenInvalidSignature",
    "TokenIssuerMismatch",
    "TokenMalformed",
    "TokenNotYetValid",
    "TokenRejected",
    "TokenRevoked",
    "TokenTooLarge",
    "TokenTooOld",
    "TokenTypeMismatch",
    "TokenUnknownKey",
    "TokenWithPrivateKey",
    "TokenWithoutKeyId",
    "UnverifiedToken",
    "Verified",
    "Verifier",
    "__version__",
    "read_unverified",
]
