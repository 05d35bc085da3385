"""PyJWT's functions, with its signatures and exceptions.

    from jeton.compat import pyjwt as jwt

Unsafe uses that PyJWT allows raise `UnsafeUse`: the algorithm `none`, `verify_signature=False`, and HMAC mixed with
public-key algorithms in `algorithms`. Short keys raise `InvalidKeyError`. The modules `algorithms` and `exceptions`
have the same names as in PyJWT.

>>> token = encode({"page": "/"}, "a secret of at least 32 bytes, please", algorithm="HS256")
>>> decode(token, "a secret of at least 32 bytes, please", algorithms=["HS256"])
{'page': '/'}
"""

from __future__ import annotations

import base64
import binascii
import json
import warnings
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, cast

from ..._algorithms import MACS
from ..._errors import JetonError
from ..._issuer import Issuer
from ..._times import unix_seconds
from . import algorithms, exceptions
from ._claims import OPTIONS, check_claims, check_issuer
from ._client import PyJWKClient
from ._keys import PyJWK, PyJWKSet, key_of, known_algorithm, verifier_of
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
        self.options: dict[str, Any] = _merged(OPTIONS, options)

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
        _warn_of_more(kwargs, "decode")
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
        _warn_of_more(kwargs, "decode_complete")
        if verify is False:
            message = "The `verify` argument to `decode` does nothing in PyJWT 2.0 and newer."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        chosen = _merged(self.options, options)
        decoded = _verified(jwt, key, algorithms, detached_payload)
        payload = self._decode_payload(decoded)
        check_claims(payload, chosen, audience=audience, issuer=issuer, subject=subject, leeway=leeway)
        decoded["payload"] = payload
        return decoded

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
        try:
            payload = json.loads(decoded["payload"], object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise DecodeError("Invalid payload string: not JSON") from error
        if not isinstance(payload, dict):
            raise DecodeError("Invalid payload string: must be a json object")
        return payload

    def _validate_iss(self, payload: dict[str, Any], issuer: str | Container[str] | None) -> None:
        check_issuer(payload, issuer)

    def get_unverified_header(self, jwt: str | bytes) -> dict[str, Any]:
        """Returns the header of an unverified token. Use it only to choose a key."""
        return _header(_text(jwt))


class RemovedInPyjwt3Warning(DeprecationWarning):
    """The next version of PyJWT does not accept the argument."""


def _warn_of_more(kwargs: dict[str, Any], name: str) -> None:
    if kwargs:
        message = f"passing additional kwargs to {name}() is deprecated. Unsupported kwargs: {tuple(kwargs)}"
        warnings.warn(message, RemovedInPyjwt3Warning, stacklevel=3)


def _merged(options: dict[str, Any], more: dict[str, Any] | None) -> dict[str, Any]:
    if more is None:
        return dict(options)
    if more.get("verify_signature") not in (None, True):
        raise UnsafeUse(
            "verify_signature=False is not supported: anyone can forge such a token. "
            "To choose a key, use get_unverified_header"
        )
    if more.get("enforce_minimum_key_length") not in (None, True):
        raise UnsafeUse(
            "enforce_minimum_key_length=False is not supported: use a secret of at least 32 bytes for HS256, "
            "or an RSA key of at least 2,048 bits"
        )
    return {**options, **more}


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
        _check_kid(headers["kid"])
    header: dict[str, Any] = {"typ": "JWT", "alg": algorithm, **headers}
    header["alg"] = alg
    if not header["typ"]:
        del header["typ"]
    try:
        if header.pop("b64", True) is False:
            return _sign_detached(payload, signing, header)
        text = json.dumps(header, separators=(",", ":"), cls=json_encoder, sort_keys=sort_headers)
        return signing._sign_with_header(text, payload)
    except JetonError as error:
        if error.code == "INVALID_HEADER_MEMBER":
            raise UnsafeUse(
                "`headers` has a key, `crit` or a duplicate member: to tell other parties the key, pass `kid`"
            ) from error
        raise_as_pyjwt(error)


def _sign_detached(payload: bytes, key: Any, header: dict[str, Any]) -> str:
    if set(header) - {"alg", "typ", "crit"} or header.get("crit", ["b64"]) != ["b64"]:
        raise UnsafeUse("the header of a detached token may have only `alg`, `typ` and `crit`")
    signer = Issuer(key, format="jws", detached=True, unencoded=True, typ=header.get("typ"))
    return signer.issue_bytes(payload)


def _verified(jwt: str | bytes, key: Any, algorithms: Sequence[str] | None, content: bytes | None) -> dict[str, Any]:
    if not algorithms and not isinstance(key, PyJWK):
        raise DecodeError('It is required that you pass in a value for the "algorithms" argument when calling decode().')
    token = _text(jwt)
    header = _header(token)
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
    signature = _decoded(token.rpartition(".")[2], "crypto")
    return {"payload": payload, "header": header, "signature": signature}


def _check_mix(algorithms: list[str]) -> None:
    """Refuses both kinds: a public signature key could be used as the secret of a MAC."""
    macs = [alg in MACS for alg in algorithms]
    if any(macs) and not all(macs):
        raise UnsafeUse("`algorithms` mixes HMAC and public-key algorithms: list only the algorithms of this key")


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


def _text(jwt: Any) -> str:
    if isinstance(jwt, bytes):
        try:
            return jwt.decode()
        except UnicodeDecodeError:
            raise DecodeError("Invalid token: not UTF-8") from None
    if not isinstance(jwt, str):
        raise DecodeError(f"Invalid token type. Token must be a {bytes}")
    return jwt


def _header(token: str) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) < 3:
        raise DecodeError("Not enough segments")
    data = _decoded(parts[0], "header")
    try:
        header = json.loads(data, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise DecodeError("Invalid header string: not JSON") from error
    if not isinstance(header, dict):
        raise DecodeError("Invalid header string: must be a json object")
    if header.get("b64", True) is not False:
        _decoded(parts[1], "payload")
    _decoded(parts[-1], "crypto")
    if "kid" in header:
        _check_kid(header["kid"])
    _check_crit(header)
    return header


def _check_kid(kid: Any) -> None:
    if not isinstance(kid, str):
        raise InvalidTokenError("Key ID header parameter must be a string")


def _check_crit(header: dict[str, Any]) -> None:
    if "crit" not in header:
        return
    crit = header["crit"]
    if not isinstance(crit, list) or not crit:
        raise InvalidTokenError("Invalid 'crit' header: must be a non-empty list")
    for name in crit:
        if not isinstance(name, str):
            raise InvalidTokenError("Invalid 'crit' header: values must be strings")
        if name != "b64":
            raise InvalidTokenError(f"Unsupported critical extension: {name}")
        if name not in header:
            raise InvalidTokenError(f"Critical extension '{name}' is missing from headers")


def _decoded(text: str, name: str) -> bytes:
    """Decodes strict base64url, which must encode to the same text again."""
    try:
        raw = text.encode("ascii")
        data = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise DecodeError(f"Invalid {name} padding") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=") != raw:
        raise DecodeError(f"Invalid {name} padding")
    return data


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("duplicate member")
    return found


_jwt = PyJWT()
encode = _jwt.encode
decode = _jwt.decode
decode_complete = _jwt.decode_complete
get_unverified_header = _jwt.get_unverified_header
