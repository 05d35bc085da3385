"""Verifiers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar, overload

from . import _jeton
from ._clock import FixedClock
from ._errors import JetonError
from ._issuer import Format, Serialization, format_of
from ._keys import Key, KeySet, _Closing
from ._remote import RemoteKeySet
from ._settings import Texts, listed, texts, to_json
from ._times import from_seconds, whole_seconds
from ._types import check_type, from_dict

T = TypeVar("T")

#: A token as str, or as the bytes of a header.
Token = str | bytes | bytearray | memoryview


@dataclass(frozen=True)
class Verified(Generic[T]):
    """A verified token: its claims, its header and its registered claims."""

    claims: T
    #: The JSON text of the claims.
    json: str
    #: The protected header, or `None` for a PASETO. A nested JWT has the header of the signed JWT.
    header: dict[str, Any] | None
    alg: str
    kid: str | None
    typ: str | None
    issuer: str | None
    subject: str | None
    audiences: tuple[str, ...]
    expires_at: datetime | None
    not_before: datetime | None
    issued_at: datetime | None
    token_id: str | None
    #: The footer of a PASETO.
    footer: bytes | None

    def __repr__(self) -> str:
        return f"<jeton.Verified {self.alg}>"


class Verifier(_jeton.Verifier, _Closing):
    """Verifies tokens of one format with its keys and its policy. Create it once, and use it from any thread.

    >>> from jeton import Issuer
    >>> key = Key.generate("ES256")
    >>> token = Issuer(key, issuer="https://id.example", audience="api", lifetime=60).issue({"page": "/"})
    >>> verifier = Verifier(key.public_key(), issuer="https://id.example", audience="api")
    >>> verifier.verify(token)["page"]
    '/'

    `keys` is a key, a list of keys, a key set, or a `RemoteKeySet`. With `decryption`, a key or several, tokens must be
    signed and then encrypted.

    Settings:

    - `issuer`: accepts only tokens of this issuer (`iss`), or of one of several with `shared_keys`.
    - `shared_keys`: accepts several issuers that share the keys of the verifier. The verifier trusts each of the keys
      for each of these issuers, so an issuer can sign for another.
    - `any_issuer`: accepts tokens of any issuer, and tokens without `iss`.
    - `audience`: accepts only tokens for this audience (`aud`), or for one of several.
    - `any_audience`: accepts tokens for any audience, and tokens without `aud`.
    - `without_expiry`: accepts tokens without `exp`. If a token has `exp`, it is still checked.
    - `typ`: accepts only tokens with this type in the header (`typ`), or with one of several. The default is `JWT`, or
      no type.
    - `access_tokens`: accepts only access tokens (RFC 9068): the type `at+jwt`, and the claims that the RFC requires.
    - `required`: rejects tokens that lack one of these claims.
    - `leeway`: sets the allowed difference between clocks for `exp`, `nbf` and `iat`. `iat` may be 60 seconds ahead of
      the clock in any case, unless `max_age` is set. The default is 0. Pass a `timedelta` or seconds.
    - `max_age`: rejects tokens without `iat`, and tokens whose `iat` is longer ago than this. Pass a `timedelta` or
      seconds.
    - `enc`: accepts only this content encryption algorithm, or one of several. It cannot be used with a remote key set.
    - `footer`: requires this footer of a PASETO. Without it, any footer is accepted.
    - `implicit_assertion`: requires this implicit assertion of a PASETO: the same as the issuer.
    - `serialization`: sets the serialization of a JWS or a JWE. The default is `compact`.
    - `cache`: caches up to this number of verified tokens, so that each signature is verified once. `exp`, `nbf` and
      `iat` are still checked for each call. The default is no cache. It cannot be used with a remote key set.

    `format` is `jwt`, or `paseto` for PASETO keys. Set it to verify bytes: `jws`, `jwe` or `paseto-bytes`. The format
    `jwe` takes `decryption` and no `keys`.

    `limits` is a dict of `token_bytes`, `header_bytes`, `json_depth`, `key_id_bytes` and `keys_tried`. `clock` replaces
    the system clock in tests.
    """

    __slots__ = ()

    def __new__(
        cls,
        keys: Key | KeySet | Sequence[Key] | RemoteKeySet | None = None,
        *,
        # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        issuer: Texts | None = None,
        shared_keys: bool = False,
        any_issuer: bool = False,
        audience: Texts | None = None,
        any_audience: bool = False,
        without_expiry: bool = False,
        typ: Texts | None = None,
        access_tokens: bool = False,
        required: Sequence[str] = (),
        leeway: timedelta | int | None = None,
        max_age: timedelta | int | None = None,
        enc: Texts | None = None,
        footer: str | None = None,
        implicit_assertion: str | None = None,
        serialization: Serialization | None = None,
        cache: int | None = None,
        # END SETTINGS
        decryption: Key | KeySet | Sequence[Key] | None = None,
        format: Format | None = None,
        limits: Mapping[str, int] | None = None,
        clock: FixedClock | None = None,
    ) -> Verifier:
        remote = keys if isinstance(keys, RemoteKeySet) else None
        key, key_set = (None, None) if isinstance(keys, RemoteKeySet) else key_or_set(keys)
        settings = to_json(
            format=format or format_of(key) or _format_of_set(key_set),
            # BEGIN SETTINGS: written by `cargo xtask sdk settings`.
            issuer=texts("issuer", issuer),
            shared_keys=shared_keys,
            any_issuer=any_issuer,
            audience=texts("audience", audience),
            any_audience=any_audience,
            without_expiry=without_expiry,
            typ=texts("typ", typ),
            access_tokens=access_tokens,
            required=listed("required", required),
            leeway=whole_seconds("leeway", leeway),
            max_age=whole_seconds("max_age", max_age),
            enc=texts("enc", enc),
            footer=footer,
            implicit_assertion=implicit_assertion,
            serialization=serialization,
            cache=cache,
            # END SETTINGS
            limits=None if limits is None else dict(limits),
        )
        return super().__new__(cls, key, key_set, _decryption(decryption), remote, clock, settings)

    @overload
    def verify(self, token: Token, /) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: None) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: type[T]) -> T: ...
    def verify(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token and returns its claims, as a dict or as `type`."""
        if type is not None:
            check_type(type)
        try:
            return _verify(self, token, type)
        except JetonError as error:
            if not self._may_fetch(error):
                raise
            failed = error
        return self._with_keys(failed, lambda: _verify(self, token, type))

    def verify_json(self, token: Token, /) -> str:
        """Verifies a token and returns its claims as JSON text."""
        try:
            return _verify_json(self, token)
        except JetonError as error:
            if not self._may_fetch(error):
                raise
            failed = error
        return self._with_keys(failed, lambda: _verify_json(self, token))

    @overload
    def verify_complete(self, token: Token, /) -> Verified[dict[str, Any]]: ...
    @overload
    def verify_complete(self, token: Token, /, type: type[T]) -> Verified[T]: ...
    def verify_complete(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token and returns the claims with the header and the registered claims."""
        check_type(type)
        try:
            return self._complete(token, type)
        except JetonError as error:
            if not self._may_fetch(error):
                raise
            failed = error
        return self._with_keys(failed, lambda: self._complete(token, type))

    @overload
    async def verify_async(self, token: Token, /) -> dict[str, Any]: ...
    @overload
    async def verify_async(self, token: Token, /, type: type[T]) -> T: ...
    async def verify_async(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token. Fetching keys and decryption with RSA or a password do not block the event loop."""
        check_type(type)
        remote = self._remote
        if remote is not None:
            return await remote._with_keys_async(lambda: self.verify(token, type))
        if self._is_slow:
            return await asyncio.to_thread(self.verify, token, type)
        return self.verify(token, type)

    def _complete(self, token: Token, type: Any) -> Verified[Any]:
        if isinstance(token, (bytearray, memoryview)):
            # Another thread could change the token between the two calls.
            token = bytes(token)
        claims, members = self._verify_complete(token)
        header = self._header(token)
        members["header"] = None if header is None else json.loads(header)
        members["audiences"] = tuple(members["audiences"])
        for name in ("expires_at", "not_before", "issued_at"):
            if members[name] is not None:
                members[name] = from_seconds(members[name])
        return Verified(claims if type is None else from_dict(claims, members["json"], type), **members)

    def _may_fetch(self, error: JetonError) -> bool:
        """Returns whether fetching remote keys may help."""
        return error.code.startswith(("KEY_", "DISCOVERY_")) and self._remote is not None

    def _with_keys(self, error: JetonError, verify: Callable[[], T]) -> T:
        remote = self._remote
        return verify() if remote is None else remote._with_keys(error, verify)

    def __repr__(self) -> str:
        return "<jeton.Verifier closed>" if self.closed else "<jeton.Verifier>"

    __reduce__ = _Closing.__reduce__


# Avoids the lookup of the base class in each call.
_verify = _jeton.Verifier.verify
_verify_json = _jeton.Verifier.verify_json


def key_or_set(keys: Any) -> tuple[Key | None, KeySet | None]:
    """Returns a single key, or a set of several keys."""
    if keys is None or isinstance(keys, Key):
        return keys, None
    if isinstance(keys, KeySet):
        return None, keys
    if isinstance(keys, Sequence) and not isinstance(keys, (str, bytes, bytearray, memoryview)):
        return None, KeySet(keys)
    raise TypeError(f"keys must be a Key, a KeySet, a RemoteKeySet or a list of keys, not {type(keys).__name__}")


def _decryption(keys: Any) -> KeySet | None:
    key, key_set = key_or_set(keys)
    return KeySet([key]) if key is not None else key_set


def _format_of_set(keys: KeySet | None) -> str | None:
    return "paseto" if keys is not None and keys.is_paseto else None
