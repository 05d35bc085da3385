"""PyJWT's functions, with its signatures and exceptions.

    from jeton.compat import pyjwt as jwt

Unsafe uses that PyJWT allows raise `UnsafeUse`: the algorithm `none`, `verify_signature=False`, and HMAC mixed with
public-key algorithms in `algorithms`. So do unknown arguments and options, and values of a wrong type. `UnsafeUse` is
no `PyJWTError`. Short keys raise `InvalidKeyError`. The modules `algorithms` and `exceptions` have the same names as in
PyJWT.

>>> token = encode({"page": "/"}, "a secret of at least 32 bytes, please", algorithm="HS256")
>>> decode(token, "a secret of at least 32 bytes, please", algorithms=["HS256"])
{'page': '/'}
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, cast

from ..._algorithms import MACS
from ..._errors import JetonError
from ..._issuer import Issuer
from ..._keys import Key
from ..._times import unix_seconds
from . import algorithms, exceptions
from ._claims import ClaimArguments, check_claims, check_issuer
from ._client import PyJWKClient
from ._keys import PyJWK, PyJWKSet, key_of, known_algorithm, verifier_of
from ._options import OPTIONS, check_algorithms, check_content_argument, check_no_more, merged
from ._token import check_kid, decoded, header_of, json_object, text_of
from .exceptions import (
    DecodeError,
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAlgorithmError,
    InvalidAudienceError,
    InvalidIssuedAtError,
    InvalidIssuerError,
    InvalidJTIError,
    InvalidKeyError,
    InvalidSignatureError,
    InvalidSubjectError,
    InvalidTokenError,
    MissingRequiredClaimError,
    PyJWKClientConnectionError,
    PyJWKClientError,
    PyJWKError,
    PyJWKSetError,
    PyJWTError,
    UnsafeUse,
    raise_as_pyjwt,
)

__all__ = [
    "DecodeError",
    "ExpiredSignatureError",
    "ImmatureSignatureError",
    "InvalidAlgorithmError",
    "InvalidAudienceError",
    "InvalidIssuedAtError",
    "InvalidIssuerError",
    "InvalidJTIError",
    "InvalidKeyError",
    "InvalidSignatureError",
    "InvalidSubjectError",
    "InvalidTokenError",
    "MissingRequiredClaimError",
    "PyJWK",
    "PyJWKClient",
    "PyJWKClientConnectionError",
    "PyJWKClientError",
    "PyJWKError",
    "PyJWKSet",
    "PyJWKSetError",
    "PyJWT",
    "PyJWTError",
    "UnsafeUse",
    "algorithms",
    "decode",
    "decode_complete",
    "encode",
    "exceptions",
    "get_unverified_header",
]

#: Marks an algorithm that the caller did not pass. `None` means `none` in PyJWT.
_UNSET: Any = object()


class PyJWT:
    """Encodes and decodes with its own options."""

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        self.options: dict[str, Any] = merged(OPTIONS, options)

    def encode(
        self,
        payload: dict[str, Any],
        key: Any,
        algorithm: str | None = _UNSET,
        headers: dict[str, Any] | None = None,
        json_encoder: type[json.JSONEncoder] | None = None,
        sort_headers: bool = True,
    ) -> str:
        """Signs claims. A `datetime` as `exp`, `nbf` or `iat` becomes seconds, and is UTC if it has no time zone."""
        if not isinstance(payload, dict):
            raise TypeError("Expecting a dict object, as JWT only supports JSON objects as payloads.")
        payload = payload.copy()
        for name in ("exp", "iat", "nbf"):
            if isinstance(moment := payload.get(name), datetime):
                payload[name] = unix_seconds(moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc))
        if "iss" in payload and not isinstance(payload["iss"], str):
            raise TypeError("Issuer (iss) must be a string.")
        text = self._encode_payload(payload, headers, json_encoder)
        if algorithm is _UNSET:
            algorithm = key.algorithm_name if isinstance(key, PyJWK) else "HS256"
        return _sign(text, key, algorithm, headers or {}, json_encoder, sort_headers)

    def decode(
        self,
        jwt: str | bytes,
        key: Any = "",
        algorithms: Sequence[str] | None = None,
        options: dict[str, Any] | None = None,
        verify: bool | None = None,
        detached_payload: bytes | None = None,
        audience: str | Iterable[str] | None = None,
        subject: str | None = None,
        issuer: str | Container[str] | None = None,
        leeway: float | timedelta = 0,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Verifies a token and returns its claims."""
        check_no_more(kwargs)
        complete = self.decode_complete(
            jwt,
            key,
            algorithms,
            options,
            verify=verify,
            detached_payload=detached_payload,
            audience=audience,
            subject=subject,
            issuer=issuer,
            leeway=leeway,
        )
        return cast("dict[str, Any]", complete["payload"])

    def decode_complete(
        self,
        jwt: str | bytes,
        key: Any = "",
        algorithms: Sequence[str] | None = None,
        options: dict[str, Any] | None = None,
        verify: bool | None = None,
        detached_payload: bytes | None = None,
        audience: str | Iterable[str] | None = None,
        issuer: str | Container[str] | None = None,
        subject: str | None = None,
        leeway: float | timedelta = 0,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Verifies a token and returns its header, its payload and its signature."""
        check_no_more(kwargs)
        if verify is False:
            message = "The `verify` argument to `decode` does nothing in PyJWT 2.0 and newer."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        chosen = merged(self.options, options)
        arguments = ClaimArguments.checked(audience, issuer, subject, leeway)
        check_algorithms(algorithms)
        check_content_argument(detached_payload)
        complete = _verified(jwt, key, algorithms, detached_payload)
        payload = self._decode_payload(complete)
        check_claims(payload, chosen, arguments)
        complete["payload"] = payload
        return complete

    def _encode_payload(
        self,
        payload: dict[str, Any],
        headers: dict[str, Any] | None = None,
        json_encoder: type[json.JSONEncoder] | None = None,
    ) -> bytes:
        """Returns the bytes to sign. A subclass may override it."""
        return json.dumps(payload, separators=(",", ":"), cls=json_encoder).encode()

    def _decode_payload(self, decoded: dict[str, Any]) -> dict[str, Any]:
        """Parses the signed bytes. A subclass may override it."""
        return json_object(decoded["payload"], "payload")

    def _validate_iss(self, payload: dict[str, Any], issuer: str | Container[str] | None) -> None:
        check_issuer(payload, issuer)

    def get_unverified_header(self, jwt: str | bytes) -> dict[str, Any]:
        """Returns the header of an unverified token. Use it only to choose a key."""
        return header_of(text_of(jwt))


def _sign(
    payload: bytes,
    key: Any,
    algorithm: str | None,
    headers: dict[str, Any],
    json_encoder: type[json.JSONEncoder] | None,
    sort_headers: bool,
) -> str:
    alg = known_algorithm(headers.get("alg") or algorithm)
    signing = key_of(key, alg)
    if "kid" in headers:
        check_kid(headers["kid"])
    header: dict[str, Any] = {"typ": "JWT", "alg": algorithm, **headers}
    header["alg"] = alg
    if not header["typ"]:
        del header["typ"]
    for name in ("typ", "cty"):
        if not isinstance(header.get(name, ""), str):
            raise UnsafeUse("header-member", f"`headers`: `{name}` is not a str")
    try:
        if header.pop("b64", True) is False:
            members = json.loads(json.dumps(header, cls=json_encoder))
            return _sign_detached(payload, signing, members)
        text = json.dumps(header, separators=(",", ":"), cls=json_encoder, sort_keys=sort_headers)
        return signing._sign_with_header(text, payload)
    except JetonError as error:
        if error.code in ("INVALID_HEADER_MEMBER", "INVALID_OPTION"):
            raise UnsafeUse("header-member", f"`headers`: {error}") from error
        raise_as_pyjwt(error)


def _sign_detached(payload: bytes, key: Key, header: dict[str, Any]) -> str:
    if header.pop("crit", ["b64"]) != ["b64"]:
        raise UnsafeUse("header-member", "`headers`: `crit` of a detached token may name only `b64`")
    if header.pop("kid", key.kid) != key.kid:
        message = "`headers`: `kid` of a detached token is the id of the key: pass a `jeton.Key` with this `kid`"
        raise UnsafeUse("header-member", message)
    typ, cty = header.pop("typ", None), header.pop("cty", None)
    del header["alg"]
    signer = Issuer(key, format="jws", detached=True, unencoded=True, typ=typ, cty=cty, headers=header or None)
    return signer.issue_bytes(payload)


def _verified(jwt: str | bytes, key: Any, algorithms: Sequence[str] | None, content: bytes | None) -> dict[str, Any]:
    if not algorithms and not isinstance(key, PyJWK):
        raise DecodeError('It is required that you pass in a value for the "algorithms" argument when calling decode().')
    token = text_of(jwt)
    header = header_of(token)
    if "alg" not in header:
        raise InvalidAlgorithmError("Algorithm not specified")
    alg = header["alg"]
    allowed = [key.algorithm_name] if isinstance(key, PyJWK) and algorithms is None else list(algorithms or ())
    if not alg or alg not in allowed:
        raise InvalidAlgorithmError("The specified alg value is not allowed")
    _check_mix(allowed)
    alg = known_algorithm(alg)
    if isinstance(key, PyJWK) and alg != key.algorithm_name:
        raise InvalidAlgorithmError("Token algorithm does not match the key's algorithm")
    _check_content(header, content)
    try:
        payload = verifier_of(key, alg).verify_bytes(token, content=content)
    except JetonError as error:
        raise_as_pyjwt(error)
    signature = decoded(token.rpartition(".")[2], "crypto")
    return {"payload": payload, "header": header, "signature": signature}


def _check_mix(algorithms: list[str]) -> None:
    """Refuses both kinds: a public signature key could be used as the secret of a MAC."""
    macs = [alg in MACS for alg in algorithms]
    if any(macs) and not all(macs):
        message = "`algorithms` mixes HMAC and public-key algorithms: list only the algorithms of this key"
        raise UnsafeUse("mixed-algorithms", message)


def _check_content(header: dict[str, Any], content: bytes | None) -> None:
    is_detached = header.get("b64", True) is False
    if content is not None and not is_detached:
        raise DecodeError(
            'It is only valid to pass "detached_payload" when the protected header has "b64" set to false.'
        )
    if is_detached:
        crit = header.get("crit") or []
        if not isinstance(crit, list) or "b64" not in crit:
            raise InvalidTokenError("The 'b64' header parameter requires 'b64' to be listed in 'crit'.")
        if content is None:
            raise DecodeError(
                'It is required that you pass in a value for the "detached_payload" argument to decode a message'
                " having the b64 header set to false."
            )


_jwt = PyJWT()
encode = _jwt.encode
decode = _jwt.decode
decode_complete = _jwt.decode_complete
get_unverified_header = _jwt.get_unverified_header
