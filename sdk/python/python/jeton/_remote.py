"""Remote key sets. The native module decides when to fetch; this module sends the requests."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import json
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from . import _jeton
from ._errors import JetonError, KeySetError, error_of
from ._fetch import FetchRequest, FetchResponse, fetch
from ._fork import tell_of_fork
from ._keys import _Closing
from ._pending import PendingFetch
from ._settings import to_json
from ._times import whole_seconds

T = TypeVar("T")

#: A custom client. It raises an exception if there is no response. An async client is awaited.
Fetch = Callable[[FetchRequest], FetchResponse | Awaitable[FetchResponse]]

#: How often a verification waits: for the set, for the set again if the key is unknown, and twice for others' fetches.
_WAITS = 4


#: The pause after a failure, in seconds.
_PAUSE = 1.05


class _LoopEnded(Exception):
    """The event loop that was to send a request has ended."""


class _Here(threading.local):
    """The state of a thread."""

    #: Whether waiting is forbidden because the thread runs an event loop.
    must_not_wait = False


_here = _Here()


class RemoteKeySet(_jeton.RemoteKeys, _Closing):
    """A JWK Set that is fetched when needed: from `url`, or from the `jwks_uri` that `issuer` publishes.

    Pass it as the keys of a `Verifier`. Keys are fetched again when they are older than `fresh_for` (default: 5
    minutes), unless the server sends `Cache-Control: max-age`. A token with an unknown `kid` also causes a fetch, at
    most once per `cooldown` (default: 30 seconds). While fetches fail, keys stay usable for `usable_for` (default: 1
    day).

    `default_alg` is the algorithm of keys without `alg`. With `issuer`, the key set must be on the issuer's host or at
    a public address, unless `allow_private_addresses` is set. Addresses use https. `allow_plain_http` also allows http
    for other hosts than loopback hosts; then anyone on the network can replace the keys.

    The built-in HTTP client uses the proxy in `HTTPS_PROXY`, except for loopback hosts and the hosts in `NO_PROXY`.
    `fetch` replaces it. It takes a `FetchRequest` and returns a `FetchResponse`. A sync function
    runs in a separate thread. An async function runs in the event loop of the caller. For a thread without a loop, it
    runs in the last loop that used it, or in a new loop.

    After `close`, verifiers use the keys that they have, and fetch nothing.
    """

    __slots__ = ("_fetch", "_lock", "_pending", "_request", "_cause", "_loop", "_is_async", "__weakref__")

    _fetch: Fetch
    _lock: threading.Lock
    #: The running fetch.
    _pending: PendingFetch | None
    #: A request that nobody sends: its sender is gone or has not started.
    _request: FetchRequest | None
    #: The reason why the last request has no response.
    _cause: BaseException | None
    #: The last event loop that used an async client.
    _loop: asyncio.AbstractEventLoop | None
    _is_async: bool

    def __new__(
        cls,
        url: str | None = None,
        *,
        issuer: str | None = None,
        default_alg: str | None = None,
        allow_private_addresses: bool = False,
        allow_plain_http: bool = False,
        fresh_for: timedelta | int | None = None,
        cooldown: timedelta | int | None = None,
        usable_for: timedelta | int | None = None,
        fetch: Fetch = fetch,
    ) -> RemoteKeySet:
        if not callable(fetch):
            raise TypeError(f"fetch must be a function, not {type(fetch).__name__}")
        if (url is None) == (issuer is None):
            raise error_of("INVALID_OPTION", "option `url`: pass either `url` or `issuer`")
        settings = to_json(
            address=url,
            issuer=issuer,
            default_alg=default_alg,
            allow_private_addresses=allow_private_addresses,
            allow_plain_http=allow_plain_http,
            fresh_for=whole_seconds("fresh_for", fresh_for),
            cooldown=whole_seconds("cooldown", cooldown),
            usable_for=whole_seconds("usable_for", usable_for),
        )
        keys = super().__new__(cls, settings)
        keys._fetch = fetch
        keys._lock = threading.Lock()
        keys._pending = keys._request = keys._cause = keys._loop = None
        call = getattr(fetch, "__call__", None)
        keys._is_async = inspect.iscoroutinefunction(fetch) or inspect.iscoroutinefunction(call)
        tell_of_fork(keys)
        return keys

    def refresh(self) -> None:
        """Fetches the keys if they are missing or stale. Raises `KeySetError` if no keys are available afterwards.

        Call it when the program starts: the first token does not have to wait, and a wrong address is found early.
        """
        for _ in range(_WAITS):
            answered = self._fetch_keys()
            if self._is_ready():
                return
            if not answered:
                break
        raise self._unreachable()

    async def refresh_async(self) -> None:
        """Does the same as `refresh` without blocking the event loop."""
        for _ in range(_WAITS):
            answered = await self._fetch_keys_async()
            if self._is_ready():
                return
            if not answered:
                break
        raise self._unreachable()

    def _is_ready(self) -> bool:
        try:
            self._ready()
        except JetonError as error:
            if error.code != "KEY_SET_TO_FETCH":
                raise self._explained(error)
            return False
        return True

    def _with_keys(self, error: JetonError, verify: Callable[[], T]) -> T:
        """Fetches the keys if the error of a verification asks for it, and verifies again."""
        answered = True
        for _ in range(_WAITS):
            if not _here.must_not_wait and self._drops_unsent(error):
                time.sleep(_PAUSE)
            elif error.code != "KEY_SET_TO_FETCH":
                break
            # Without an answer, the fetch has failed. The next verification reports why, or that the key is unknown.
            elif not answered:
                break
            else:
                answered = self._fetch_keys()
            try:
                return verify()
            except JetonError as failed:
                error = failed
        if error.code != "KEY_SET_TO_FETCH":
            raise self._explained(error)
        raise self._in_vain()

    async def _with_keys_async(self, verify: Callable[[], T]) -> T:
        """Does the same as `_with_keys` without blocking the event loop. In `verify`, `_with_keys` does not wait."""
        answered = True
        for _ in range(_WAITS + 1):
            before, _here.must_not_wait = _here.must_not_wait, True
            try:
                return verify()
            except JetonError as error:
                is_unsent = self._drops_unsent(error)
                if error.code != "KEY_SET_TO_FETCH" and not is_unsent:
                    raise
            finally:
                _here.must_not_wait = before
            if is_unsent:
                await asyncio.sleep(_PAUSE)
                continue
            if not answered:
                break
            answered = await self._fetch_keys_async()
        raise self._in_vain()

    def _fetch_keys(self) -> bool:
        """Waits until the keys are fetched. Returns whether the server answered."""
        if _here.must_not_wait:
            raise error_of("KEY_SET_TO_FETCH", "")
        if self._is_async and _running_loop() is not None:
            with self._lock:
                if self._pending is None and self._request is None:
                    self._request = self._next_request()
            # Waiting would block the loop that fetches.
            raise error_of(
                "INVALID_OPTION",
                "option `fetch`: it is async. In an event loop, call `await verifier.verify_async(…)` "
                "or `await keys.refresh_async()`",
            )
        pending = self._current(None)
        if pending is None:
            return True
        return pending.answered if pending.wait() else self._give_up(pending)

    async def _fetch_keys_async(self) -> bool:
        pending = self._current(asyncio.get_running_loop())
        if pending is None:
            return True
        return pending.answered if await pending.wait_async() else self._give_up(pending)

    def _refresh_if_stale(self) -> None:
        """Fetches stale keys again while they are still used. The native module calls it, at most once a second."""
        try:
            if not self.closed:
                self._current(_running_loop())
        except JetonError:
            # The set was closed in between.
            pass

    def _current(self, loop: asyncio.AbstractEventLoop | None) -> PendingFetch | None:
        """Returns the running fetch, or starts a fetch if one is due."""
        if loop is not None:
            self._loop = loop
        with self._lock:
            if self._pending is not None and not self._pending.is_late:
                return self._pending
            self._pending = None
            request, self._request = self._request or self._next_request(), None
            if request is None:
                return None
            pending = self._pending = PendingFetch(request)
        if loop is not None and self._is_async:
            # A separate task, because a waiting task may be cancelled.
            pending.task = loop.create_task(self._send_async(pending, request))
            return pending
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._send, pending, request), daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more threads, or the interpreter is ending.
            self._send(pending, request)
        return pending

    def _give_up(self, pending: PendingFetch) -> bool:
        """Stops waiting for a client that exceeded its time limit. The native module counts it as a failure."""
        with self._lock:
            if self._pending is pending:
                self._pending = None
                self._cause = TimeoutError("the client took longer than the timeout of the request")
                self._request = self._next_request()
        return False

    def _send(self, pending: PendingFetch, request: FetchRequest) -> None:
        following: FetchRequest | None = request
        try:
            while following is not None:
                cause = response = None
                try:
                    response = self._fetch(following)
                    if inspect.isawaitable(response):
                        self._is_async = True
                        response = self._run(response, following.timeout)
                except _LoopEnded:
                    # The next caller sends the request, as in `_send_async`.
                    return
                except Exception as error:
                    # A client may raise any exception.
                    cause = error
                following = self._answer(pending, following, response, cause)
        finally:
            self._end(pending)

    def _run(self, response: Awaitable[FetchResponse], timeout: float) -> FetchResponse:
        """Awaits the response in the client's loop, or in a new loop."""
        loop = self._loop
        if loop is None or not loop.is_running():
            return asyncio.run(_awaited(response, timeout))
        running = asyncio.run_coroutine_threadsafe(_awaited(response, timeout), loop)
        ends = time.monotonic() + timeout + 1
        while True:
            concurrent.futures.wait([running], min(0.1, max(0.0, ends - time.monotonic())))
            if running.cancelled() or not (running.done() or loop.is_running()):
                running.cancel()
                raise _LoopEnded
            if running.done() or time.monotonic() >= ends:
                return running.result(0)

    async def _send_async(self, pending: PendingFetch, request: FetchRequest) -> None:
        following: FetchRequest | None = request
        try:
            while following is not None:
                cause = response = None
                try:
                    response = self._fetch(following)
                    if inspect.isawaitable(response):
                        response = await _awaited(response, following.timeout)
                except Exception as error:
                    cause = error
                following = self._answer(pending, following, response, cause)
        finally:
            # If the loop ends, the request has no answer. The server has not failed: the next caller sends the request.
            self._end(pending)

    def _answer(
        self, pending: PendingFetch, request: FetchRequest, response: Any, cause: BaseException | None
    ) -> FetchRequest | None:
        """Passes the response to the native module. Returns the next request."""
        pending.request = None
        if cause is None and not isinstance(response, FetchResponse):
            cause = TypeError(f"fetch returned a {type(response).__name__}, not a FetchResponse")
        if cause is None:
            try:
                self._pass(request, response)
            except Exception as error:
                cause = error
        if cause is not None:
            self._pass(request, FetchResponse(0))
        pending.answered = cause is None and response.status != 0
        with self._lock:
            if self._pending is not pending:
                return None
            self._cause = cause
            if not pending.may_continue:
                return None
            try:
                following = self._next_request()
            except JetonError:
                # The set was closed in between.
                return None
            if following is not None:
                pending.sends(following)
            return following

    def _pass(self, request: FetchRequest, response: FetchResponse) -> None:
        lines = [
            f"{name}: {value}"
            for name, value in response.headers.items()
            if not {"\r", "\n"} & set(f"{name}{value}")
        ]
        # Up to one byte more than allowed, so that a longer body is refused and not cut.
        body = response.body[: request.max_bytes + 1]
        try:
            self._respond(request.id, response.status, "\n".join(lines), body)
        except JetonError as error:
            # The request timed out, or the set was closed.
            if error.code not in ("INVALID_OPTION", "ARGUMENT_HANDLE"):
                raise

    def _end(self, pending: PendingFetch) -> None:
        with self._lock:
            if self._pending is pending:
                self._pending = None
                if pending.request is not None:
                    self._request, pending.answered = pending.request, True
        pending.end()

    def _next_request(self) -> FetchRequest | None:
        text = self._next()
        return None if text is None else FetchRequest._of(json.loads(text))

    def _explained(self, error: JetonError) -> JetonError:
        """Converts the error to a `KeySetError`, and adds the client's error as its cause."""
        if not isinstance(error, KeySetError) and error.code.startswith(("KEY_", "DISCOVERY_")):
            # The server published an invalid key set, or an address that is not allowed.
            error = KeySetError(str(error), error.code)
        error.__cause__ = self._cause if error.code == "KEY_SET_UNREACHABLE" else None
        return error

    def _drops_unsent(self, error: JetonError) -> bool:
        """Drops a request that timed out unsent, and returns whether there was one: the server has not failed."""
        if error.code != "KEY_SET_UNREACHABLE":
            return False
        with self._lock:
            is_unsent, self._request = self._request is not None, None
        return is_unsent

    def _in_vain(self) -> JetonError:
        """Returns the error of a verification that would fetch yet again: other calls fetched for the same token."""
        if self._is_ready():
            # The request that the last attempt has caused.
            self._refresh_if_stale()
            return error_of("TOKEN_UNKNOWN_KEY", "")
        return self._unreachable()

    def _unreachable(self) -> JetonError:
        return self._explained(error_of("KEY_SET_UNREACHABLE", "the key set could not be fetched"))

    def _forked(self) -> None:
        """Resets the state in a child, where no thread fetches and the lock may be held. The request is sent again."""
        self._lock = threading.Lock()
        pending, self._pending, self._loop = self._pending, None, None
        if pending is not None and pending.request is not None:
            self._request = pending.request

    def __repr__(self) -> str:
        return "<jeton.RemoteKeySet closed>" if self.closed else "<jeton.RemoteKeySet>"

    __reduce__ = _Closing.__reduce__


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _awaited(response: Awaitable[FetchResponse], timeout: float) -> FetchResponse:
    return await asyncio.wait_for(response, timeout)
