"""PyJWT's client for a JWK Set."""

from __future__ import annotations

import json
import math
import ssl
import threading
import time
import zlib
from email.utils import parsedate_to_datetime
from typing import Any

from ..._errors import JetonError
from ..._fetch import FetchRequest, FetchResponse, fetch
from ..._fork import tell_of_fork
from ..._remote import RemoteKeySet
from ._keys import PyJWK, PyJWKSet
from ._options import is_number, wrong_option
from ._token import unverified_kid
from .exceptions import PyJWKClientConnectionError, PyJWKClientError, PyJWTError

#: The maximum size of a key set, in bytes.
_LONGEST = 1 << 20

#: The pause after the first failure, in seconds. It doubles with each further failure, up to the cooldown.
_FIRST_PAUSE = 1.0

#: The maximum for `Retry-After`, in seconds.
_LONGEST_PAUSE = 300.0

#: The maximum for `timeout`, in seconds. A socket counts less than 2^31 milliseconds.
_LONGEST_TIMEOUT = 2_000_000


class PyJWKClient:
    """Fetches a JWK Set and finds the key of a token in it. `RemoteKeySet` also uses older keys if the server is down.

    A token with an unknown `kid` causes another fetch, at most once per `cooldown_duration`, even if the last fetch
    failed. Without a set that is younger than `lifespan`, the next fetch after a failure waits 1 second. This pause
    doubles with each further failure, up to `cooldown_duration`.
    """

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
        cooldown_duration: float = 30,
    ) -> None:
        try:
            # The same rule as for remote key sets: https or localhost.
            RemoteKeySet(uri).close()
        except JetonError as error:
            raise wrong_option(f"uri: {error}") from error
        for name, flag in (("cache_keys", cache_keys), ("cache_jwk_set", cache_jwk_set)):
            if not isinstance(flag, bool):
                raise wrong_option(f"{name}: not a bool")
        if isinstance(max_cached_keys, bool) or not isinstance(max_cached_keys, int) or max_cached_keys < 0:
            raise wrong_option("max_cached_keys: not an int of 0 or more")
        seconds = (("lifespan", lifespan), ("timeout", timeout), ("cooldown_duration", cooldown_duration))
        for name, value in seconds:
            if not is_number(value):
                raise wrong_option(f"{name}: not a number of seconds")
        if headers is not None and not isinstance(headers, dict):
            raise wrong_option("headers: not a dict")
        if headers or ssl_context is not None:
            raise wrong_option(
                "headers and ssl_context are not supported: use jeton.RemoteKeySet with your own client (`fetch=`)"
            )
        if not cache_jwk_set:
            raise wrong_option("cache_jwk_set=False is not supported: set a short `lifespan`")
        if lifespan <= 0:
            raise PyJWKClientError(f'Lifespan must be greater than 0, the input is "{lifespan}"')
        if not 0 < timeout <= _LONGEST_TIMEOUT:
            raise wrong_option(f"timeout: must be more than 0 and at most {_LONGEST_TIMEOUT:,} seconds")
        if not 0 <= cooldown_duration < math.inf:
            raise PyJWKClientError(f'Cooldown duration must be finite and 0 or more, the input is "{cooldown_duration}"')
        self.uri = uri
        self.timeout = timeout
        self.cooldown_duration = cooldown_duration
        self._lifespan = lifespan
        #: The set and the time of its fetch. It is read without the lock.
        self._fetched: tuple[PyJWKSet, float] | None = None
        self._lock = threading.Lock()
        self._tried_at = -math.inf
        self._failures = 0
        self._failure: PyJWTError | None = None
        #: `Retry-After` of the last response, in seconds, or 0.
        self._retry_after = 0.0
        tell_of_fork(self)

    def _forked(self) -> None:
        self._lock = threading.Lock()

    def fetch_data(self) -> Any:
        """Fetches the set and returns its JSON."""
        request = FetchRequest(0, self.uri, None, False, _LONGEST, False, self.timeout)
        try:
            response = fetch(request)
        # The host name may be invalid.
        except (OSError, UnicodeError) as error:
            raise PyJWKClientConnectionError("Fail to fetch data from the url") from error
        self._retry_after = _retry_after(response) if response.status in (429, 503) else 0.0
        if response.status != 200 or len(response.body) > _LONGEST:
            raise PyJWKClientConnectionError(f"Fail to fetch data from the url, status {response.status}")
        try:
            return json.loads(_decoded(response.body))
        except (ValueError, RecursionError, zlib.error) as error:
            raise PyJWKClientError("The JWKS endpoint did not return JSON") from error

    def get_jwk_set(self, refresh: bool = False) -> PyJWKSet:
        """Returns the set. Fetches it if it is missing or too old."""
        if not refresh and (fresh := self._fresh()) is not None:
            return fresh
        with self._lock:
            # Another thread may have fetched it, or may have failed.
            if not refresh:
                if (fresh := self._fresh()) is not None:
                    return fresh
                if self._failure is not None and time.monotonic() - self._tried_at < self._pause():
                    raise type(self._failure)(str(self._failure)) from self._failure
            return self._fetch()

    def _fresh(self) -> PyJWKSet | None:
        fetched = self._fetched
        if fetched is None or time.monotonic() - fetched[1] > self._lifespan:
            return None
        return fetched[0]

    def _pause(self) -> float:
        pause = min(math.ldexp(_FIRST_PAUSE, min(self._failures - 1, 16)), self.cooldown_duration)
        return max(pause, self._retry_after)

    def _fetch(self) -> PyJWKSet:
        """Fetches the set. The caller holds the lock."""
        try:
            data = self.fetch_data()
            if not isinstance(data, dict):
                raise PyJWKClientError("The JWKS endpoint did not return a JSON object")
            found = PyJWKSet.from_dict(data)
        except PyJWTError as error:
            self._failures += 1
            self._failure = error
            raise
        finally:
            self._tried_at = time.monotonic()
        self._fetched = found, self._tried_at
        self._failures, self._failure = 0, None
        return found

    def get_signing_keys(self, refresh: bool = False) -> list[PyJWK]:
        """Returns the keys that verify."""
        return _signing_keys(self.get_jwk_set(refresh))

    def get_signing_key(self, kid: str) -> PyJWK:
        """Returns the key with this id. Fetches the set again if the key is unknown."""
        known = self.get_jwk_set()
        found = self.match_kid(_signing_keys(known), kid)
        if found is None and (newer := self._newer_than(known)) is not None:
            found = self.match_kid(_signing_keys(newer), kid)
        if found is None:
            raise PyJWKClientError("Unable to find a signing key that matches the `kid` of the token")
        return found

    def _newer_than(self, known: PyJWKSet) -> PyJWKSet | None:
        """Returns a newer set than this one, or None during the cooldown."""
        if self._cools_down(known):
            return None
        with self._lock:
            if self._fetched is not None and self._fetched[0] is not known:
                return self._fetched[0]
            return None if self._cools_down(known) else self._fetch()

    def _cools_down(self, known: PyJWKSet) -> bool:
        fetched = self._fetched
        is_newest = fetched is not None and fetched[0] is known
        return is_newest and time.monotonic() - self._tried_at < self.cooldown_duration

    def get_signing_key_from_jwt(self, token: str | bytes) -> PyJWK:
        """Returns the key that a token names. This does not verify the token: pass the key to `decode`.

        A malformed token raises `DecodeError` or another `InvalidTokenError`, as in PyJWT.
        """
        kid = unverified_kid(token)
        if kid is None:
            raise PyJWKClientError("the token has no `kid`")
        return self.get_signing_key(kid)

    @staticmethod
    def match_kid(signing_keys: list[PyJWK], kid: str) -> PyJWK | None:
        """Returns the key with this id, or None."""
        return next((key for key in signing_keys if key.key_id == kid), None)


def _decoded(body: bytes) -> str:
    """Returns the text of a body: decompressed, and without a byte order mark, as remote key sets read it."""
    if body.startswith(b"\x1f\x8b"):
        body = zlib.decompressobj(wbits=31).decompress(body, _LONGEST + 1)
        if len(body) > _LONGEST:
            raise PyJWKClientConnectionError("Fail to fetch data from the url, the response is too large")
    return body.decode("utf-8-sig")


def _retry_after(response: FetchResponse) -> float:
    """Returns `Retry-After` in seconds, at most the limit of remote key sets."""
    names = {name.lower(): value for name, value in response.headers.items()}
    text = names.get("retry-after", "").strip()
    try:
        seconds = float(int(text)) if text.isdigit() else parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), _LONGEST_PAUSE)


def _signing_keys(found: PyJWKSet) -> list[PyJWK]:
    keys = [key for key in found.keys if key.public_key_use in ("sig", None) and key.key_id]
    if not keys:
        raise PyJWKClientError("The JWKS endpoint did not contain any signing keys")
    return keys
