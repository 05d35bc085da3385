"""PyJWT's client of a JWK Set."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from typing import Any

from .._fetch import FetchRequest, fetch
from ._pyjwt_errors import PyJWKClientConnectionError, PyJWKClientError
from ._pyjwt_keys import PyJWK, PyJWKSet

#: The longest key set, bytes.
_LONGEST = 1 << 20

#: How often a key that is not in the set may fetch the set again, seconds.
_COOLDOWN = 30.0


class PyJWKClient:
    """Fetches a JWK Set and finds the key of a token in it. `RemoteKeySet` does more: see the migration guide."""

    def __init__(
        self,
        uri: str,
        cache_keys: bool = False,
        max_cached_keys: int = 16,
        cache_jwk_set: bool = True,
        lifespan: float = 300,
        headers: dict[str, Any] | None = None,
        timeout: float = 30,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if not uri.startswith(("https://", "http://localhost", "http://127.0.0.1")):
            raise PyJWKClientError("the address of a key set begins with https://")
        if headers or ssl_context is not None:
            raise PyJWKClientError("headers and ssl_context: use RemoteKeySet with a client of your own")
        if lifespan <= 0:
            raise PyJWKClientError(f'Lifespan must be greater than 0, the input is "{lifespan}"')
        self.uri = uri
        self.timeout = timeout
        self._lifespan = lifespan
        self._set: PyJWKSet | None = None
        self._fetched_at = 0.0
        self._lock = threading.Lock()

    def fetch_data(self) -> Any:
        """Fetches the set and returns its JSON."""
        request = FetchRequest(0, self.uri, None, False, _LONGEST, False, self.timeout)
        try:
            response = fetch(request)
        except OSError as error:
            raise PyJWKClientConnectionError("Fail to fetch data from the url") from error
        if response.status != 200 or len(response.body) > _LONGEST:
            raise PyJWKClientConnectionError(f"Fail to fetch data from the url, status {response.status}")
        try:
            return json.loads(response.body)
        except ValueError as error:
            raise PyJWKClientError("The JWKS endpoint did not return JSON") from error

    def get_jwk_set(self, refresh: bool = False) -> PyJWKSet:
        """Returns the set, which it fetches if it is not there or too old."""
        with self._lock:
            now = time.monotonic()
            if self._set is None or refresh or now - self._fetched_at > self._lifespan:
                data = self.fetch_data()
                if not isinstance(data, dict):
                    raise PyJWKClientError("The JWKS endpoint did not return a JSON object")
                self._set, self._fetched_at = PyJWKSet.from_dict(data), now
            return self._set

    def get_signing_keys(self, refresh: bool = False) -> list[PyJWK]:
        """Returns the keys that verify."""
        keys = [key for key in self.get_jwk_set(refresh) if key.public_key_use in ("sig", None) and key.key_id]
        if not keys:
            raise PyJWKClientError("The JWKS endpoint did not contain any signing keys")
        return keys

    def get_signing_key(self, kid: str) -> PyJWK:
        """Returns the key with this id. A key that is not there fetches the set again."""
        found = self.match_kid(self.get_signing_keys(), kid)
        if found is None and time.monotonic() - self._fetched_at > _COOLDOWN:
            found = self.match_kid(self.get_signing_keys(refresh=True), kid)
        if found is None:
            raise PyJWKClientError("Unable to find a signing key that matches the `kid` of the token")
        return found

    def get_signing_key_from_jwt(self, token: str | bytes) -> PyJWK:
        """Returns the key that a token names. The token is not verified by that: pass the key to `decode`."""
        text = token.decode() if isinstance(token, bytes) else token
        part = text.partition(".")[0].encode()
        try:
            header = json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
            kid = header["kid"]
        except (ValueError, KeyError, TypeError):
            raise PyJWKClientError("the token names no key") from None
        if not isinstance(kid, str):
            raise PyJWKClientError("the token names no key")
        return self.get_signing_key(kid)

    @staticmethod
    def match_kid(signing_keys: list[PyJWK], kid: str) -> PyJWK | None:
        """Returns the key with this id, or None."""
        return next((key for key in signing_keys if key.key_id == kid), None)
