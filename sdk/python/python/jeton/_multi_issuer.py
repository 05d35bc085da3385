"""A verifier for several issuers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from ._clock import FixedClock
from ._errors import JetonError, error_of
from ._keys import Key, KeySet, _Closing
from ._remote import RemoteKeySet
from ._types import check_type
from ._unverified import unverified_issuer
from ._verifier import Token, Verified, Verifier

T = TypeVar("T")

#: An issuer, its keys, and its settings of a `Verifier`.
IssuerEntry = tuple[str, Key | KeySet | Sequence[Key] | RemoteKeySet, Mapping[str, Any]]

#: The settings of a `Verifier` that an entry cannot have: they are decided by this class.
_DECIDED = ("issuer", "any_issuer", "shared_keys", "decryption", "format", "clock")


class MultiIssuerVerifier(_Closing):
    """Verifies JWTs of several issuers, each with its own keys and policy. Use it from any thread.

    `issuers` has an entry for each issuer: its name, its keys, and its settings of a `Verifier`. The claim `iss` of the
    token selects the entry before keys are fetched and before the signature is verified. Only the keys and the policy
    of that entry are used, so no issuer can sign for another.

    A token of an unknown issuer causes no request and raises `TokenIssuerMismatch`. A token without `iss` raises
    `TokenInvalidClaims`. Names are compared byte for byte. Encrypted tokens are rejected. `limits` of an entry cannot
    raise the default limits. `clock` replaces the system clock in tests.

    >>> from jeton import Issuer
    >>> a, b = Key.generate("ES256"), Key.generate("EdDSA")
    >>> verifier = MultiIssuerVerifier([
    ...     ("https://a.example", a.public_key(), {"audience": "api"}),
    ...     ("https://b.example", b.public_key(), {"audience": "api", "max_age": 60}),
    ... ])
    >>> verifier.verify(Issuer(a, issuer="https://a.example", audience="api", lifetime=60).issue({"page": "/"}))["page"]
    '/'
    >>> verifier.verify(Issuer(b, issuer="https://a.example", audience="api", lifetime=60).issue({}))
    Traceback (most recent call last):
        ...
    jeton._errors.TokenAlgorithmMismatch: the header's `alg` does not match the key
    """

    __slots__ = ("_verifiers",)

    _verifiers: dict[str, Verifier]

    def __init__(self, issuers: Iterable[IssuerEntry], *, clock: FixedClock | None = None) -> None:
        self._verifiers = {}
        for index, entry in enumerate(issuers):
            try:
                issuer, keys, settings = entry
            except (TypeError, ValueError):
                raise TypeError(f"issuers[{index}] must be a tuple of an issuer, its keys and its settings") from None
            if not isinstance(issuer, str):
                raise TypeError(f"issuers[{index}] must begin with a str, not {type(issuer).__name__}")
            if issuer in self._verifiers:
                raise error_of("ISSUER_TWICE", f"issuers[{index}]: the issuer is added twice")
            try:
                self._verifiers[issuer] = _verifier(issuer, keys, settings, clock)
            except JetonError as error:
                raise error_of(error.code, f"issuers[{index}]: {error}") from None
        if not self._verifiers:
            raise error_of("INVALID_OPTION", "option `issuers`: pass at least one issuer")

    @overload
    def verify(self, token: Token, /) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: None) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: type[T]) -> T: ...
    def verify(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token and returns its claims, as a dict or as `type`."""
        check_type(type)
        return self._select(token).verify(token, type)

    def verify_json(self, token: Token, /) -> str:
        """Verifies a token and returns its claims as JSON text."""
        return self._select(token).verify_json(token)

    @overload
    def verify_complete(self, token: Token, /) -> Verified[dict[str, Any]]: ...
    @overload
    def verify_complete(self, token: Token, /, type: type[T]) -> Verified[T]: ...
    def verify_complete(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token and returns the claims with the header and the registered claims."""
        check_type(type)
        return self._select(token).verify_complete(token, type)

    @overload
    async def verify_async(self, token: Token, /) -> dict[str, Any]: ...
    @overload
    async def verify_async(self, token: Token, /, type: type[T]) -> T: ...
    async def verify_async(self, token: Token, /, type: Any = None) -> Any:
        """Verifies a token. Fetching keys does not block the event loop."""
        check_type(type)
        return await self._select(token).verify_async(token, type)

    def close(self) -> None:
        """Closes the verifiers of all issuers. Later calls raise `InvalidUse`."""
        for verifier in self._verifiers.values():
            verifier.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return all(verifier.closed for verifier in self._verifiers.values())

    def _select(self, token: Token) -> Verifier:
        verifier = self._verifiers.get(unverified_issuer(token))
        if verifier is None:
            raise error_of("TOKEN_ISSUER_MISMATCH", "`iss` is not one of the expected issuers")
        return verifier

    def __repr__(self) -> str:
        return "<jeton.MultiIssuerVerifier closed>" if self.closed else "<jeton.MultiIssuerVerifier>"


def _verifier(issuer: str, keys: Any, settings: Mapping[str, Any], clock: FixedClock | None) -> Verifier:
    for name in _DECIDED:
        if name in settings:
            raise error_of("INVALID_OPTION", f"option `{name}`: not used with several issuers")
    return Verifier(keys, issuer=issuer, clock=clock, format="jwt", **settings)
