"""Key sets that are elsewhere. The native module decides when to fetch; this module fetches."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from . import _jeton
from ._errors import JetonError, error_of
from ._fetch import FetchRequest, FetchResponse, fetch
from ._keys import _Closing
from ._settings import to_json
from ._times import whole_seconds

T = TypeVar("T")

#: The client of a program. It raises `OSError` if there is no response. An async one is awaited.
Fetch = Callable[[FetchRequest], FetchResponse | Awaitable[FetchResponse]]

#: A verification needs at most three: the discovery document, the set, and the set again for an unknown key.
_ROUNDS = 4

#: How often it asks whether keys are to be fetched again, seconds.
_REFRESH_INTERVAL = 1.0


class RemoteKeySet(_jeton.RemoteKeys, _Closing):
    """A key set at an address, or at the address that an issuer publishes. It is fetched when it is needed.

    Pass it as the keys of a `Verifier`. Keys are fetched again when they are older than `fresh_for`, and when a token
    names a key that is not in the set, at most once in `cooldown`. If the server cannot be reached, the keys stay
    usable for `usable_for`.

    `fetch` is a client of the program, sync or async, in place of the one of the standard library.
    """

    __slots__ = ("_fetch", "_lock", "_refresh_at", "_is_refreshing")

    _fetch: Fetch
    _lock: threading.Lock
    _refresh_at: float
    _is_refreshing: bool

    def __new__(
        cls,
        url: str | None = None,
        *,
        issuer: str | None = None,
        default_alg: str | None = None,
        allow_private_addresses: bool = False,
        fresh_for: timedelta | int | None = None,
        cooldown: timedelta | int | None = None,
        usable_for: timedelta | int | None = None,
        fetch: Fetch = fetch,
    ) -> RemoteKeySet:
        settings = to_json(
            address=url,
            issuer=issuer,
            default_alg=default_alg,
            allow_private_addresses=allow_private_addresses,
            fresh_for=whole_seconds("fresh_for", fresh_for),
            cooldown=whole_seconds("cooldown", cooldown),
            usable_for=whole_seconds("usable_for", usable_for),
        )
        keys = super().__new__(cls, settings)
        keys._fetch = fetch
        keys._lock = threading.Lock()
        keys._refresh_at = 0.0
        keys._is_refreshing = False
        return keys

    def refresh(self) -> None:
        """Fetches what is to be fetched now. Call it when the program starts, so that the first token does not wait."""
        for _ in range(_ROUNDS):
            if not self._round():
                return

    async def refresh_async(self) -> None:
        """Does the same without blocking the event loop."""
        for _ in range(_ROUNDS):
            if not await self._round_async():
                return

    def _with_keys(self, verify: Callable[[], T]) -> T:
        """Verifies, and fetches first what that needs."""
        for _ in range(_ROUNDS):
            try:
                verified = verify()
            except JetonError as error:
                if error.code != "KEY_SET_TO_FETCH":
                    raise
            else:
                self._refresh_in_background()
                return verified
            # Others wait, and then find the keys.
            with self._lock:
                if not self._round():
                    time.sleep(0.01)
        return self._last(verify)

    @staticmethod
    def _last(verify: Callable[[], T]) -> T:
        try:
            return verify()
        except JetonError as error:
            if error.code != "KEY_SET_TO_FETCH":
                raise
        raise error_of("KEY_SET_UNREACHABLE", "the key set was fetched in vain")

    async def _with_keys_async(self, verify: Callable[[], T]) -> T:
        for _ in range(_ROUNDS):
            try:
                verified = verify()
            except JetonError as error:
                if error.code != "KEY_SET_TO_FETCH":
                    raise
            else:
                self._refresh_in_background()
                return verified
            if not await self._round_async():
                # Another task or thread waits for the response.
                await self._until_fetched(verify)
        return self._last(verify)

    async def _until_fetched(self, verify: Callable[[], object]) -> None:
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            await asyncio.sleep(0.01)
            try:
                verify()
            except JetonError as error:
                if error.code == "KEY_SET_TO_FETCH":
                    continue
            return

    def _round(self) -> bool:
        """Fetches what waits. Returns whether something did."""
        text = self._next()
        if text is None:
            return False
        self._fetch_now(FetchRequest._of(json.loads(text)))
        return True

    def _fetch_now(self, request: FetchRequest) -> None:
        try:
            response = self._fetch(request)
            if inspect.isawaitable(response):
                response = asyncio.run(_awaited(response))
        except Exception:
            # A client has errors of its own. The verification says that the set is unreachable.
            response = None
        self._answer(request, response)

    async def _round_async(self) -> bool:
        text = self._next()
        if text is None:
            return False
        request = FetchRequest._of(json.loads(text))
        try:
            if inspect.iscoroutinefunction(self._fetch):
                response = await self._fetch(request)
            else:
                response = await asyncio.to_thread(self._fetch, request)
            if inspect.isawaitable(response):
                response = await response
        except Exception:
            response = None
        except BaseException:
            # The task is cancelled: others must not wait for the response.
            self._answer(request, None)
            raise
        self._answer(request, response)
        return True

    def _answer(self, request: FetchRequest, response: Any) -> None:
        if not isinstance(response, FetchResponse):
            response = FetchResponse(0)
        lines = [
            f"{name}: {value}"
            for name, value in response.headers.items()
            if not {"\r", "\n"} & set(f"{name}{value}")
        ]
        body = response.body
        if len(body) > request.max_bytes + 1:
            body = body[: request.max_bytes + 1]
        try:
            self._respond(request.id, response.status, "\n".join(lines), body)
        except JetonError as error:
            # It timed out.
            if error.code != "INVALID_OPTION":
                raise

    def _refresh_in_background(self) -> None:
        """Keys that are not fresh are used, and fetched again."""
        now = time.monotonic()
        if now < self._refresh_at or self._is_refreshing:
            return
        self._refresh_at = now + _REFRESH_INTERVAL
        text = self._next()
        if text is None:
            return
        self._is_refreshing = True
        thread = threading.Thread(target=self._refresh_now, args=(text,), daemon=True)
        thread.start()

    def _refresh_now(self, text: str) -> None:
        try:
            self._fetch_now(FetchRequest._of(json.loads(text)))
            self.refresh()
        except JetonError:
            # It was closed meanwhile.
            pass
        finally:
            self._is_refreshing = False

    def __repr__(self) -> str:
        return "<jeton.RemoteKeySet closed>" if self.closed else "<jeton.RemoteKeySet>"

    __reduce__ = _Closing.__reduce__


#: How long a task waits for a response that another one fetches, seconds.
_WAIT = 10.0


async def _awaited(response: Awaitable[FetchResponse]) -> FetchResponse:
    return await response
