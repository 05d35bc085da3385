"""Reads the header of a token, with PyJWT's exceptions."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from .exceptions import DecodeError, InvalidTokenError


def text_of(jwt: Any) -> str:
    """Returns a token as text."""
    if isinstance(jwt, bytes):
        try:
            return jwt.decode()
        except UnicodeDecodeError:
            raise DecodeError("Invalid token: not UTF-8") from None
    if not isinstance(jwt, str):
        raise DecodeError(f"Invalid token type. Token must be a {bytes}")
    return jwt


def header_of(token: str) -> dict[str, Any]:
    """Returns the header of an unverified token."""
    parts = token.split(".")
    if len(parts) < 3:
        raise DecodeError("Not enough segments")
    header = json_object(decoded(parts[0], "header"), "header")
    if header.get("b64", True) is not False:
        decoded(parts[1], "payload")
    decoded(parts[-1], "crypto")
    if "kid" in header:
        check_kid(header["kid"])
    _check_crit(header)
    return header


def unverified_kid(jwt: Any) -> Any:
    """Returns the `kid` of an unverified token, which must be complete, as in PyJWT."""
    token = text_of(jwt)
    header = header_of(token)
    if header.get("b64", True) is False:
        raise DecodeError("a token with the b64 header set to false has no payload")
    json_object(decoded(token.split(".")[1], "payload"), "payload")
    return header.get("kid")


def json_object(data: bytes, name: str) -> dict[str, Any]:
    """Parses strict JSON in UTF-8, without duplicate members."""
    try:
        # As text: `json.loads` reads bytes also as UTF-16 and UTF-32.
        found = json.loads(data.decode(), object_pairs_hook=_strict_object)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"Invalid {name} string: not JSON") from error
    if not isinstance(found, dict):
        raise DecodeError(f"Invalid {name} string: must be a json object")
    return found


def check_kid(kid: Any) -> None:
    """Raises an exception if a `kid` is not a str."""
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


def decoded(text: str, name: str) -> bytes:
    """Decodes strict base64url, which must encode to the same text again."""
    try:
        raw = text.encode("ascii")
        data = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise DecodeError(f"Invalid {name} padding") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=") != raw:
        raise DecodeError(f"Invalid {name} padding")
    return data


def _strict_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("duplicate member")
    return found
