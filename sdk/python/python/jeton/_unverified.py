"""Tokens that are read and not verified."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _jeton
from ._errors import error_of
from ._verifier import Token


@dataclass(frozen=True)
class UnverifiedToken:
    """What a token says. Anyone can write such a token: use it to select keys, and for logs."""

    #: The protected header, or `None` for a PASETO.
    header: dict[str, Any] | None
    #: The claims, or `None` if they are encrypted.
    claims: dict[str, Any] | None
    #: The footer of a PASETO.
    footer: bytes | None

    def __repr__(self) -> str:
        return "<jeton.UnverifiedToken>"


def read_unverified(token: Token, /) -> UnverifiedToken:
    """Reads a compact token without verifying it. Raises `TokenRejected` if the token is malformed or too large.

    >>> from jeton import Issuer, Key
    >>> token = Issuer(Key.generate("ES256"), lifetime=60).issue({"page": "/"})
    >>> read_unverified(token).claims["page"]
    '/'
    """
    try:
        read = json.loads(_jeton._unverified(token))
    # An integer may have more digits than the program allows.
    except ValueError:
        raise error_of("TOKEN_CLAIMS_SHAPE", "an integer of the token has too many digits") from None
    footer = read["footer"]
    return UnverifiedToken(read["header"], read["claims"], None if footer is None else footer.encode())


# Only the issuer is read, so the other claims need not have a form in Python.
_ISSUER_ONLY = json.JSONDecoder(parse_int=lambda _: None, parse_float=lambda _: None).decode


def unverified_issuer(token: Token) -> str:
    """Returns the claim `iss` of a JWT, which is not verified."""
    read = _ISSUER_ONLY(_jeton._unverified(token))
    if read["format"] != "jwt":
        raise error_of("TOKEN_MALFORMED", f"the token is a {read['format'].upper()}: a signed JWT is expected")
    issuer = read["claims"].get("iss")
    if not isinstance(issuer, str):
        raise error_of("TOKEN_INVALID_CLAIMS", "the claim `iss` is missing")
    return issuer
