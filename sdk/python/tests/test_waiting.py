"""Threads and tasks that wait for the same keys."""

import asyncio
import contextlib
import gc
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import jeton
from jeton import FetchRequest, FetchResponse
from jeton.testing import TestIssuer


def slow(test: TestIssuer, seconds: float) -> Callable[[FetchRequest], FetchResponse]:
    def fetch(request: FetchRequest) -> FetchResponse:
        time.sleep(seconds)
        return test.fetch(request)

    return fetch


def slow_async(test: TestIssuer, seconds: float) -> Callable[[FetchRequest], Any]:
    async def fetch(request: FetchRequest) -> FetchResponse:
        await asyncio.sleep(seconds)
        return test.fetch(request)

    return fetch


@pytest.mark.parametrize("client", [slow, slow_async])
def test_cancelled_task_does_not_fail_the_fetch(client: Any) -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})

    async def main() -> None:
        verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=client(test, 0.15)))
        first = asyncio.create_task(verifier.verify_async(token))
        await asyncio.sleep(0.01)
        others = [asyncio.create_task(verifier.verify_async(token)) for _ in range(3)]
        await asyncio.sleep(0.01)
        first.cancel()
        for claims in await asyncio.gather(*others):
            assert claims["sub"] == "a"
        assert (await verifier.verify_async(token))["sub"] == "a"

    asyncio.run(main())
    assert test.requests == 2


@pytest.mark.parametrize("client", [slow, slow_async])
def test_short_timeouts_of_requests_do_not_make_the_keys_unreachable(client: Any) -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})

    async def main() -> None:
        verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=client(test, 0.2)))
        for _ in range(1_200):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(verifier.verify_async(token), 0.05)
                break
        else:
            pytest.fail("the keys were not fetched")

    asyncio.run(main())
    assert test.requests == 2


def test_loop_that_ends_during_a_fetch_does_not_fail_it() -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=slow_async(test, 0.2)))
    waiting: list[Any] = []

    def wait() -> None:
        try:
            waiting.append(verifier.verify(token)["sub"])
        except jeton.JetonError as error:
            waiting.append(error)

    thread = threading.Thread(target=wait)

    async def main() -> None:
        task = asyncio.create_task(verifier.verify_async(token))
        await asyncio.sleep(0.05)
        thread.start()
        await asyncio.sleep(0.05)
        task.cancel()

    asyncio.run(main())
    assert asyncio.run(verifier.verify_async(token))["sub"] == "a"
    thread.join()
    assert waiting == ["a"]


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_loop_that_ends_before_it_sends_does_not_fail_the_fetch() -> None:
    class EndingLoop:
        runs = True

        def is_running(self) -> bool:
            return self.runs

        def call_soon_threadsafe(self, *_: Any, **__: Any) -> None:
            self.runs = False

    test = TestIssuer()
    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=slow_async(test, 0)))
    remote = verifier._remote
    assert remote is not None
    remote._loop = EndingLoop()  # type: ignore[assignment]
    assert verifier.verify(test.issue({"sub": "a"}))["sub"] == "a"
    assert test.requests == 2


def test_sync_verification_waits_for_the_request_of_a_task() -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})

    async def main(client: Any) -> None:
        verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=client(test, 0.2)))
        task = asyncio.create_task(verifier.verify_async(token))
        await asyncio.sleep(0.05)
        assert (await asyncio.to_thread(verifier.verify, token))["sub"] == "a"
        assert (await task)["sub"] == "a"

    asyncio.run(main(slow))
    asyncio.run(main(slow_async))
    assert test.requests == 4


def test_sync_verification_waits_for_a_background_refresh() -> None:
    test = TestIssuer()
    waits = False
    rotated = threading.Event()

    def fetch(request: FetchRequest) -> FetchResponse:
        if waits:
            rotated.wait()
            time.sleep(0.2)
        return test.fetch(request)

    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch, fresh_for=1, cooldown=1)
    verifier = test.verifier(keys)
    keys.refresh()
    old = test.issue()
    time.sleep(1.2)
    waits = True
    verifier.verify(old)
    test.rotate()
    rotated.set()
    assert verifier.verify(test.issue({"sub": "new"}))["sub"] == "new"


class CountingSelector(selectors.SelectSelector):
    """Counts how often an event loop becomes idle."""

    waits = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.waits += 1
        return super().select(timeout)


def test_many_waiting_tasks_use_no_cpu() -> None:
    selector = CountingSelector()

    async def main() -> int:
        test = TestIssuer()
        token = test.issue({"sub": "a"})
        responds = threading.Event()

        def fetch(request: FetchRequest) -> FetchResponse:
            responds.wait(60)
            return test.fetch(request)

        verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
        tasks = [asyncio.create_task(verifier.verify_async(token)) for _ in range(1_000)]
        # The loop starts all of them before it wakes this task. In the next second, nothing happens.
        await asyncio.sleep(0.2)
        before = selector.waits
        await asyncio.sleep(1.0)
        waits = selector.waits - before
        responds.set()
        await asyncio.gather(*tasks)
        assert test.requests == 2
        return waits

    loop = asyncio.SelectorEventLoop(selector)
    try:
        waits = loop.run_until_complete(main())
    finally:
        loop.close()
    assert waits < 10


def test_hanging_client_delays_callers_only_until_its_timeout() -> None:
    """Later callers can also try again."""
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    hangs = threading.Event()
    requests = 0

    def fetch(request: FetchRequest) -> FetchResponse:
        nonlocal requests
        requests += 1
        if requests == 1:
            hangs.wait(600)
            raise OSError("too late")
        return test.fetch(request)

    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
    start = time.monotonic()
    with pytest.raises(jeton.KeySetError) as raised:
        verifier.verify(token)
    assert 4.5 < time.monotonic() - start < 60
    assert raised.value.code == "KEY_SET_UNREACHABLE" and requests == 1
    assert isinstance(raised.value.__cause__, TimeoutError)
    time.sleep(1.1)
    assert verifier.verify(token)["sub"] == "a"
    hangs.set()


class BoundClient:
    """Like clients of HTTP libraries, fails outside the event loop of its first request."""

    def __init__(self, test: TestIssuer) -> None:
        self.test = test
        self.loop: asyncio.AbstractEventLoop | None = None
        self.failed = 0

    async def __call__(self, request: FetchRequest) -> FetchResponse:
        loop = asyncio.get_running_loop()
        self.loop = self.loop or loop
        if loop is not self.loop:
            self.failed += 1
            raise RuntimeError("attached to a different loop")
        await asyncio.sleep(0)
        return self.test.fetch(request)


@pytest.mark.parametrize("sync", [False, True], ids=["async", "sync"])
def test_background_refresh_uses_the_loop_of_an_async_client(sync: bool) -> None:
    test = TestIssuer()
    client = BoundClient(test)
    token = test.issue()

    async def main() -> None:
        verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=client, fresh_for=1, cooldown=1))
        await verifier.verify_async(token)
        before = test.requests
        end = time.monotonic() + 60
        while test.requests == before and time.monotonic() < end:
            await asyncio.sleep(0.3)
            if sync:
                await asyncio.to_thread(verifier.verify, token)
            else:
                await verifier.verify_async(token)
        assert test.requests > before

    asyncio.run(main())
    assert client.failed == 0


def test_sync_verification_in_the_loop_of_an_async_client_is_an_error() -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})

    async def main() -> None:
        keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=slow_async(test, 0))
        verifier = test.verifier(keys)
        with pytest.raises(jeton.InvalidUse, match="verify_async"):
            verifier.verify(token)
        with pytest.raises(jeton.InvalidUse, match="refresh_async"):
            keys.refresh()
        # This is an error of the program, not a failed fetch.
        assert (await verifier.verify_async(token))["sub"] == "a"
        assert verifier.verify(token)["sub"] == "a"

    asyncio.run(main())


def test_async_client_without_a_loop() -> None:
    test = TestIssuer()
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=slow_async(test, 0))
    assert test.verifier(keys).verify(test.issue({"sub": "a"}))["sub"] == "a"
    # Only a call shows that this client is async.
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=lambda request: slow_async(test, 0)(request))
    assert test.verifier(keys).verify(test.issue({"sub": "a"}))["sub"] == "a"
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=lambda request: slow_async(test, 0)(request))
    assert asyncio.run(test.verifier(keys).verify_async(test.issue({"sub": "a"})))["sub"] == "a"


def in_child(work: Callable[[], str]) -> tuple[int, int]:
    """Forks. The child writes the result of `work`, and is killed after two minutes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            import signal

            signal.alarm(120)
            os.write(write, work().encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__} {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    return child, read


def result_of(child: int, read: int) -> str:
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    return text if os.waitpid(child, 0)[1] == 0 else "the child hangs"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("request_of", ["discovery", "set"])
def test_fork_while_another_thread_fetches(request_of: str) -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    parent, started = os.getpid(), threading.Event()
    waits_at = 1 if request_of == "discovery" else 2
    requests = 0

    def fetch(request: FetchRequest) -> FetchResponse:
        nonlocal requests
        requests += 1
        if os.getpid() == parent and requests == waits_at:
            started.set()
            time.sleep(1)
        return test.fetch(request)

    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
    thread = threading.Thread(target=verifier.verify, args=(token,))
    thread.start()
    started.wait()
    running = in_child(lambda: str(verifier.verify(token)["sub"]))
    assert result_of(*running) == "a"
    thread.join()
    assert verifier.verify(token)["sub"] == "a"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("is_async", [False, True])
def test_child_that_waits_longer_than_a_timeout_does_not_fail(is_async: bool) -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    parent, started = os.getpid(), threading.Event()

    def fetch(request: FetchRequest) -> FetchResponse:
        if os.getpid() == parent:
            started.set()
            time.sleep(1)
        return test.fetch(request)

    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
    thread = threading.Thread(target=verifier.verify, args=(token,))
    thread.start()
    started.wait()

    def child() -> str:
        time.sleep(5.5)
        claims = asyncio.run(verifier.verify_async(token)) if is_async else verifier.verify(token)
        return str(claims["sub"])

    assert result_of(*in_child(child)) == "a"
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_child_of_a_fork_repeats_a_background_refresh() -> None:
    test = TestIssuer()
    token = test.issue()
    parent, started = os.getpid(), threading.Event()

    def fetch(request: FetchRequest) -> FetchResponse:
        if os.getpid() == parent and test.requests >= 2:
            started.set()
            time.sleep(1)
        return test.fetch(request)

    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch, fresh_for=1, cooldown=1)
    verifier = test.verifier(keys)
    keys.refresh()
    time.sleep(1.2)
    verifier.verify(token)
    assert started.wait(60)

    def child() -> str:
        before, end = test.requests, time.monotonic() + 60
        while time.monotonic() < end and test.requests < before + 2:
            verifier.verify(token)
            time.sleep(0.1)
        return str(test.requests - before)

    assert result_of(*in_child(child)) == "2"


def test_closed_set_leaves_its_verifiers_the_keys_they_have() -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    with test.remote_key_set(fresh_for=1, cooldown=1) as keys:
        verifier = test.verifier(keys)
        verifier.verify(token)
    for _ in range(3):
        assert verifier.verify(token)["sub"] == "a"
        time.sleep(1.1)
    assert asyncio.run(verifier.verify_async(token))["sub"] == "a"
    empty = test.verifier(test.remote_key_set())
    empty._remote.close()  # type: ignore[union-attr]
    with pytest.raises(jeton.InvalidUse) as raised:
        empty.verify(token)
    assert raised.value.code == "ARGUMENT_HANDLE"


class CountingVerifier(jeton.Verifier):
    """A subclass with its own check."""

    __slots__ = ("calls",)
    calls: list[str]

    def verify(self, token: Any, /, type: Any = None) -> Any:
        claims = super().verify(token, type)
        self.calls.append("verify")
        return claims


def test_subclass_of_a_verifier_fetches() -> None:
    test = TestIssuer()
    token = test.issue({"sub": "a"})
    for call in (
        lambda verifier: verifier.verify(token)["sub"],
        lambda verifier: verifier.verify_complete(token).subject,
        lambda verifier: asyncio.run(verifier.verify_async(token))["sub"],
        lambda verifier: "a" if '"sub":"a"' in verifier.verify_json(token) else "",
    ):
        keys = test.remote_key_set()
        verifier = CountingVerifier(keys, issuer=test.issuer, audience="test", clock=test.clock)
        verifier.calls = []
        assert call(verifier) == "a"
        assert type(verifier) is CountingVerifier
    # The async method runs the check too.
    assert asyncio.run(verifier.verify_async(token)) and verifier.calls == ["verify"]


@pytest.mark.parametrize("is_down", [False, True])
def test_unknown_key_without_a_cooldown_is_unknown(is_down: bool) -> None:
    test, other = TestIssuer(), TestIssuer()
    other.rotate()
    token = test.issue(key=other.key)
    keys = test.remote_key_set(cooldown=0)
    verifier = test.verifier(keys)
    keys.refresh()
    test.is_down = is_down
    for call in (verifier.verify, verifier.verify_complete, lambda token: asyncio.run(verifier.verify_async(token))):
        before = test.requests
        with pytest.raises(jeton.TokenUnknownKey):
            call(token)
        assert test.requests == before + 1


def test_failed_fetch_without_a_cooldown_is_reported_after_one_request() -> None:
    test = TestIssuer()
    token, status = test.issue(), 0

    def fetch(request: FetchRequest) -> FetchResponse:
        test.requests += 1
        return FetchResponse(status)

    keys = jeton.RemoteKeySet("https://id.example/keys", fetch=fetch, cooldown=0)
    verifier = test.verifier(keys)
    for status in (0, 500, 0, 500):
        for call in (
            lambda: verifier.verify(token),
            lambda: asyncio.run(verifier.verify_async(token)),
            keys.refresh,
        ):
            before = test.requests
            with pytest.raises(jeton.KeySetError) as raised:
                call()
            assert raised.value.code == "KEY_SET_UNREACHABLE"
            assert test.requests == before + 1


def test_threads_with_one_unknown_key_share_their_fetches() -> None:
    test, other = TestIssuer(), TestIssuer()
    other.rotate()
    token = test.issue(key=other.key)
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=slow(test, 0.05), cooldown=0)
    verifier = test.verifier(keys)
    keys.refresh()
    before = test.requests
    found: list[str] = []

    def verify() -> None:
        try:
            verifier.verify(token)
        except jeton.JetonError as error:
            found.append(error.code)

    threads = [threading.Thread(target=verify) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["TOKEN_UNKNOWN_KEY"] * 20
    assert test.requests - before <= 40


AT_THE_END = """
import sys, threading, time, jeton
from jeton.testing import TestIssuer

test = TestIssuer()
token = test.issue()

def fetch(request):
    time.sleep(float(sys.argv[1]))
    return test.fetch(request)

verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
for _ in range(4):
    threading.Thread(target=verifier.verify, args=(token,), daemon=True).start()
time.sleep(0.05)
"""


@pytest.mark.parametrize("seconds", ["0.01", "0.02", "0.03", "0.05", "1"])
def test_interpreter_ends_while_threads_wait(seconds: str) -> None:
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", AT_THE_END, seconds], capture_output=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")


SILENT = """
import asyncio, sys, time, jeton
from jeton.compat import pyjwt
from jeton.testing import TestIssuer

way, address = sys.argv[1:]
test = TestIssuer()
token = test.issue()

def hang(request):
    time.sleep(3600)

async def hang_async(request):
    await asyncio.sleep(3600)

client = {"fetch": {"hang": hang}.get(way, hang_async)} if "hang" in way else {}
verifier = test.verifier(jeton.RemoteKeySet(address, **client))
try:
    if way == "pyjwt":
        pyjwt.PyJWKClient(address, timeout=0.5).get_signing_key_from_jwt(token)
    elif way == "async":
        asyncio.run(verifier.verify_async(token))
    elif way.startswith("cancelled"):
        asyncio.run(asyncio.wait_for(verifier.verify_async(token), 0.1))
    else:
        verifier.verify(token)
except (jeton.KeySetError, pyjwt.PyJWKClientError, asyncio.TimeoutError):
    print("no keys")
"""


@pytest.mark.parametrize("way", ["sync", "async", "cancelled", "hang", "hang_async", "cancelled_hang_async", "pyjwt"])
def test_program_ends_while_a_server_is_silent(way: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        command = [sys.executable, "-c", SILENT, way, f"http://127.0.0.1:{silent.getsockname()[1]}/keys"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "no keys\n", "")


def test_verifier_and_client_in_a_reference_cycle_are_freed() -> None:
    test = TestIssuer()

    class Client:
        verifier: jeton.Verifier

        def __call__(self, request: FetchRequest) -> FetchResponse:
            return test.fetch(request)

    client = Client()
    client.verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=client))
    client.verifier.verify(test.issue())
    is_there = weakref.ref(client)
    del client
    gc.collect()
    assert is_there() is None


def test_error_of_the_client_is_the_cause() -> None:
    test = TestIssuer()
    failed = OSError("no route")

    def fetch(_: FetchRequest) -> FetchResponse:
        raise failed

    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch)
    verifier = test.verifier(keys)
    for call in (
        lambda: verifier.verify(test.issue()),
        lambda: verifier.verify_complete(test.issue()),
        lambda: asyncio.run(verifier.verify_async(test.issue())),
        keys.refresh,
        lambda: asyncio.run(keys.refresh_async()),
    ):
        with pytest.raises(jeton.KeySetError) as raised:
            call()
        assert raised.value.code == "KEY_SET_UNREACHABLE" and raised.value.__cause__ is failed
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=lambda _: "text")  # type: ignore[arg-type, return-value]
    with pytest.raises(jeton.KeySetError) as raised:
        keys.refresh()
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize("is_async", [False, True])
def test_discovery_at_the_last_address_needs_one_verification(is_async: bool) -> None:
    """Three documents, the set, and the set again for a key that is not in it."""
    test = TestIssuer("https://id.example/realms/one")
    place = "https://id.example/.well-known/openid-configuration/realms/one"
    new = jeton.Key.generate("ES256", kid="new")
    token = test.issue({"sub": "a"}, key=new)
    urls: list[str] = []

    def fetch(request: FetchRequest) -> FetchResponse:
        urls.append(request.url)
        if request.url == place:
            text = f'{{"issuer": "{test.issuer}", "jwks_uri": "{test.jwks_url}"}}'
            return FetchResponse(200, {}, text.encode())
        if "/.well-known/" in request.url:
            return FetchResponse(404)
        answer = test.fetch(request)
        # The key is published after the first fetch of the set.
        test._keys.append(new)
        return answer

    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch))
    claims = asyncio.run(verifier.verify_async(token)) if is_async else verifier.verify(token)
    assert claims["sub"] == "a" and len(urls) == 5
