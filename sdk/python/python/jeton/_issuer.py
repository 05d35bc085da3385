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

    - `issuer`: sets the claim `iss`.
    - `audience`: sets the claim `aud`.
    - `lifetime`: sets the claim `exp` to this time after `iat`. Without it, the claims of each token must have `exp`,
      unless `without_expiry` is set. Pass a `timedelta` or seconds.
    - `without_expiry`: issues tokens without `exp`.
    - `issued_ago`: sets the claim `iat` to this time before now, for verifiers whose clocks are behind. `exp` is also
      earlier, because `lifetime` counts from `iat`. Pass a `timedelta` or seconds.
    - `typ`: sets the type in the header (`typ`). The default is `JWT` for claims.
    - `cty`: sets the content type in the header (`cty`).
    - `headers`: adds these members to the protected header, for example `x5t`, `x5c` or `nonce`. A member that another
      setting or the key decides is refused, for example `alg`. A nested JWT has them in its signed header.
    - `access_tokens`: issues access tokens (RFC 9068): the type `at+jwt`, and claims with `sub`, `jti` and `client_id`.
    - `enc`: sets the content encryption algorithm. The default is `A256GCM`, or the algorithm of a `dir` key.
    - `detached`: creates a JWS without its content (RFC 7515, appendix F).
    - `unencoded`: signs the content without base64url encoding (RFC 7797, `b64`: false).
    - `serialization`: sets the serialization of a JWS or a JWE. The default is `compact`.
    - `footer`: sets the footer of a PASETO, which is authenticated but not encrypted.
    - `implicit_assertion`: sets the implicit assertion of a PASETO: data that is authenticated, but not part of the
      token.

    Settings belong to the issuer, and all its tokens have them. `issue` takes only claims: for tokens with other
    `headers`, create another issuer.

    `format` is `jwt`, or `paseto` for PASETO keys. Set it to issue bytes: `jws`, `jwe` or `paseto-bytes`.

    In tests, `clock` replaces the system clock.
    """

    __slots__ = ()

    def __new__(
        cls,
        key: Key | None = None,
        *,
        # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        issuer: str | None = None,
        audience: Texts | None = None,
        lifetime: timedelta | int | None = None,
        without_expiry: bool = False,
        issued_ago: timedelta | int | None = None,
        typ: str | None = None,
        cty: str | None = None,
        headers: dict[str, Any] | None = None,
        access_tokens: bool = False,
        enc: str | None = None,
        detached: bool = False,
        unencoded: bool = False,
        serialization: Serialization | None = None,
        footer: str | None = None,
        implicit_assertion: str | None = None,
        # END SETTINGS
        encryption: Key | None = None,
        format: Format | None = None,
        clock: FixedClock | None = None,
    ) -> Issuer:
        settings = to_json(
            format=format or format_of(key),
            # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
            issuer=issuer,
            audience=texts("audience", audience),
            lifetime=whole_seconds("lifetime", lifetime),
            without_expiry=without_expiry,
            issued_ago=whole_seconds("issued_ago", issued_ago),
            typ=typ,
            cty=cty,
            headers=headers,
            access_tokens=access_tokens,
            enc=enc,
            detached=detached,
            unencoded=unencoded,
            serialization=serialization,
            footer=footer,
            implicit_assertion=implicit_assertion,
            # END SETTINGS
        )
        return super().__new__(cls, key, encryption, clock, settings)

    def __repr__(self) -> str:
        return "<jeton.Issuer closed>" if self.closed else "<jeton.Issuer>"

    __reduce__ = _Closing.__reduce__


def format_of(key: Any) -> str | None:
    """Returns the format that a key implies."""
    return "paseto" if isinstance(key, Key) and key.is_paseto else None
