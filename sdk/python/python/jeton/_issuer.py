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

    Settings for claims:

    - `issuer` and `audience`: `iss` and `aud` of all tokens. The claims of one token cannot change them.
    - `lifetime`: `exp` is this long after `iat`, a `timedelta` or seconds. Without it, each token must set `exp`.
    - `without_expiry`: tokens have no `exp`.
    - `issued_ago`: sets `iat` to this long ago, for verifiers whose clock may be behind. A `timedelta` or seconds.
    - `typ`: the header `typ`. The default is `JWT`.
    - `access_tokens`: issues access tokens (RFC 9068). Pass `sub`, `jti` and `client_id` in the claims.
    - `enc`: the content encryption. With `encryption`, the default is `A256GCM`.
    - `footer` and `implicit_assertion`: for PASETO.

    Settings for bytes:

    - `format`: `jws`, `jwe` or `paseto-bytes`.
    - `typ` and `cty`: header members.
    - `detached`: the JWS does not contain the bytes.
    - `unencoded`: the JWS contains the bytes without base64url (RFC 7797).
    - `serialization`: `compact`, `flattened` or `general`.

    In tests, `clock` replaces the system clock.
    """

    __slots__ = ()

    def __new__(
        cls,
        key: Key | None = None,
        *,
        issuer: str | None = None,
        audience: Texts | None = None,
        lifetime: timedelta | int | None = None,
        without_expiry: bool = False,
        issued_ago: timedelta | int | None = None,
        typ: str | None = None,
        access_tokens: bool = False,
        encryption: Key | None = None,
        enc: str | None = None,
        footer: str | None = None,
        implicit_assertion: str | None = None,
        format: Format | None = None,
        cty: str | None = None,
        detached: bool = False,
        unencoded: bool = False,
        serialization: Serialization | None = None,
        clock: FixedClock | None = None,
    ) -> Issuer:
        settings = to_json(
            format=format or format_of(key),
            issuer=issuer,
            audience=texts("audience", audience),
            lifetime=whole_seconds("lifetime", lifetime),
            without_expiry=without_expiry,
            issued_ago=whole_seconds("issued_ago", issued_ago),
            typ=typ,
            access_tokens=access_tokens,
            enc=enc,
            footer=footer,
            implicit_assertion=implicit_assertion,
            cty=cty,
            detached=detached,
            unencoded=unencoded,
            serialization=serialization,
        )
        return super().__new__(cls, key, encryption, clock, settings)

    def __repr__(self) -> str:
        return "<jeton.Issuer closed>" if self.closed else "<jeton.Issuer>"

    __reduce__ = _Closing.__reduce__


def format_of(key: Any) -> str | None:
    """Returns the format that a key implies."""
    return "paseto" if isinstance(key, Key) and key.is_paseto else None
