"""Issuers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

from . import _jeton
from ._clock import FixedClock
from ._keys import Key, _Closing
from ._settings import Texts, texts, to_json
from ._times import whole_seconds

#: The format of tokens: claims in a JWT or a PASETO, or bytes in a JWS, a JWE or a PASETO.
Format = Literal["jwt", "jws", "jwe", "paseto", "paseto-bytes"]

#: The serialization of a JWS or a JWE.
Serialization = Literal["compact", "flattened", "general"]


class Issuer(_jeton.Issuer, _Closing):
    """Issues tokens of one format with its key and its settings. Create it once, and use it from any thread.

    >>> key = Key.generate("ES256")
    >>> issuer = Issuer(key, issuer="https://id.example", audience="api", lifetime=timedelta(minutes=15))
    >>> issuer.issue({"page": "/"}).count(".")
    2

    With `encryption`, JWTs are signed and then encrypted to that key. A content key (`dir`) as `key` encrypts JWTs. A
    public key as `key` prepares tokens for an external signer: see `prepare`. A PASETO key issues PASETOs.

    Settings:

    - `issuer`: x

    `format` is `jwt`, or `paseto` for PASETO keys. Set it to issue bytes: `jws`, `jwe` or `paseto-bytes`.

    In tests, `clock` replaces the system clock.
    """

    __slots__ = ()

    def __new__(
        cls,
        key: Key | None = None,
        *,
        # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        # END SETTINGS
        encryption: Key | None = None,
        format: Format | None = None,
        clock: FixedClock | None = None,
    ) -> Issuer:
        settings = to_json(
            format=format or format_of(key),
            # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
            # END SETTINGS
        )
        return super().__new__(cls, key, encryption, clock, settings)

    def __repr__(self) -> str:
        return "<jeton.Issuer closed>" if self.closed else "<jeton.Issuer>"

    __reduce__ = _Closing.__reduce__


def format_of(key: Any) -> str | None:
    """Returns the format that a key implies."""
    return "paseto" if isinstance(key, Key) and key.is_paseto else None
