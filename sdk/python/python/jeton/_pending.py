"""A running fetch and its waiters."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time

from ._fetch import FetchRequest

#: How much longer than the client the waiters wait, in seconds: the client's own error says more than a timeout.
_GRACE = 0.5

#: Three addresses of the discovery document, the key set, and a call that finds no more.
_MOST_REQUESTS = 5


class PendingFetch:
    """Requests that are sent one after the other. Threads and tasks wait for the end of the last one."""

    __slots__ = ("request", "answered", "task", "_ended", "_late_at", "_sent")

    def __init__(self, request: FetchRequest) -> None:
        #: The request that has no response yet.
        self.request: FetchRequest | None = None
        #: Whether the last request has a response.
        self.answered = False
        #: Keeps a reference to the task that sends.
        self.task: asyncio.Task[None] | None = None
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        # A waiting task may be cancelled. That must not cancel the fetch.
        self._ended.set_running_or_notify_cancel()
        self._sent = 0
        self.sends(request)

    def sends(self, request: FetchRequest) -> None:
        """Starts the time limit of a request."""
        self.request = request
        self._late_at = time.monotonic() + request.timeout + _GRACE
        self._sent += 1

    @property
    def may_continue(self) -> bool:
        """Whether another request may follow."""
        return self.answered and self._sent < _MOST_REQUESTS

    @property
    def is_late(self) -> bool:
        """Whether the client has exceeded its time limit."""
        return time.monotonic() >= self._late_at

    def end(self) -> None:
        """Wakes the waiters."""
        self._ended.set_result(None)

    def wait(self) -> bool:
        """Waits for the end of the fetch. Returns whether it ended in time."""
        while not self._ended.done() and not self.is_late:
            concurrent.futures.wait([self._ended], self._left())
        return self._ended.done()

    async def wait_async(self) -> bool:
        """Does the same as `wait` without blocking the event loop."""
        while not self._ended.done() and not self.is_late:
            await asyncio.wait([asyncio.wrap_future(self._ended)], timeout=self._left())
        return self._ended.done()

    def _left(self) -> float:
        return max(0.0, self._late_at - time.monotonic())
