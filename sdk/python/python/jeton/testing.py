"""A test issuer with a local key set, to test a service without a network.

>>> from datetime import timedelta
>>> test = TestIssuer("https://id.example", audience="api")
>>> keys = test.remote_key_set()          # what the service would fetch
>>> service = test.verifier(keys)
>>> service.verify(test.issue({"sub": "user-7"}))["sub"]
'user-7'
>>> test.clock.advance(timedelta(hours=1))
>>> service.verify(test.issue({"sub": "user-7"}, expires_in=-60))
Traceback (most recent call last):
    ...
jeton._errors.TokenExpired: the token has expired
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ._clock import FixedClock
from ._fetch import FetchRequest, FetchResponse
from ._issuer import Issuer
from ._keys import Key, KeySet
from ._remote import RemoteKeySet
from ._settings import Texts
from ._times import unix_seconds
from ._verifier import Verifier

__all__ = ["FixedClock", "TestIssuer"]


class TestIssuer:
    """Issues tokens for tests, and publishes its keys without a network. Its time changes only when you set `clock`."""

    #: Stops pytest from collecting this class because of its name.
    __test__ = False

    def __init__(
        self,
        issuer: str = "https://issuer.test",
        *,
        audience: Texts = "test",
        alg: str = "ES256",
        now: datetime | int | None = None,
    ) -> None:
        self.issuer = issuer
        self.audience = audience
        start = int(time.time()) if now is None else now
        self.clock = FixedClock(start)
        self._alg = alg
        self._keys: list[Key] = []
        #: The number of requests that the key set has sent.
        self.requests = 0
        #: Set it to `True` to make all requests for keys fail, as if the server were down.
        self.is_down = False
        self.rotate()

    @property
    def key(self) -> Key:
        """The private key that signs."""
        return self._keys[-1]

    @property
    def keys(self) -> KeySet:
        """The public keys: the current key and the old keys."""
        return KeySet([key.public_key() for key in self._keys])

    @property
    def jwks_url(self) -> str:
        """The address of the published keys."""
        return f"{self.issuer}/keys"

    def rotate(self) -> None:
        """Signs with a new key from now on. The old keys stay published."""
        self._keys.append(Key.generate(self._alg, kid=f"test-{len(self._keys) + 1}"))

    def issue(
        self,
        claims: Mapping[str, Any] | None = None,
        *,
        expires_in: int = 3600,
        key: Key | None = None,
        typ: str | None = None,
        **changed: Any,
    ) -> str:
        """Issues a token. `changed` replaces registered claims, such as `iss="https://other.test"`.

        A negative `expires_in` makes an expired token. A `key` of another issuer makes an invalid signature.
        """
        now = unix_seconds(self.clock.now())
        members = {
            "iss": self.issuer,
            "aud": self.audience if isinstance(self.audience, str) else list(self.audience),
            "iat": min(now, now + expires_in),
            "exp": now + expires_in,
            **(claims or {}),
            **changed,
        }
        members = {name: value for name, value in members.items() if value is not None}
        issuer = Issuer(key or self.key, typ=typ, clock=self.clock, without_expiry="exp" not in members)
        return issuer.issue(members)

    def verifier(self, keys: Key | KeySet | RemoteKeySet | None = None, **settings: Any) -> Verifier:
        """Creates a verifier for the tokens of this issuer, with its clock."""
        settings = {"issuer": self.issuer, "audience": self.audience, "clock": self.clock, **settings}
        return Verifier(keys or self.keys, **settings)

    def remote_key_set(self, **settings: Any) -> RemoteKeySet:
        """Creates the remote key set of a service, with discovery. It sends no request over the network."""
        return RemoteKeySet(issuer=self.issuer, fetch=self.fetch, **settings)

    def fetch(self, request: FetchRequest) -> FetchResponse:
        """Responds like the issuer's server, with discovery and keys. Pass it as `fetch` to a `RemoteKeySet`."""
        self.requests += 1
        if self.is_down:
            raise OSError("the test issuer is down")
        if request.url == self.jwks_url:
            return _json(self.keys.to_jwks())
        if request.url.startswith(self.issuer) and "/.well-known/" in request.url:
            return _json({"issuer": self.issuer, "jwks_uri": self.jwks_url})
        return FetchResponse(404)


def _json(value: Any) -> FetchResponse:
    return FetchResponse(200, {"Content-Type": "application/json"}, json.dumps(value).encode())
