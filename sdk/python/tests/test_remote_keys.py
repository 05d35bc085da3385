"""Remote key sets."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest

import jeton
from jeton import FetchRequest, FetchResponse
from jeton.testing import TestIssuer


def test_first_token_of_an_issuer_needs_discovery_and_the_set() -> None:
    test = TestIssuer("https://id.example", audience="api")
    verifier = test.verifier(test.remote_key_set())
    assert test.requests == 0
    for _ in range(3):
        assert verifier.verify(test.issue({"sub": "a"}))["sub"] == "a"
    assert test.requests == 2


def test_unknown_key_fetches_the_set_again() -> None:
    test = TestIssuer()
    verifier = test.verifier(test.remote_key_set(cooldown=1))
    verifier.verify(test.issue())
    test.rotate()
    time.sleep(1.1)
    assert verifier.verify(test.issue())
    assert test.requests == 3
    # During the cooldown, the set is not fetched again, and the key stays unknown.
    stranger = TestIssuer()
    stranger.rotate()
    stranger.rotate()
    with pytest.raises(jeton.TokenUnknownKey):
        verifier.verify(test.issue(key=stranger.key))


def test_one_verification_needs_three_rounds() -> None:
    """Discovery, the set, and the set again, because the first set is older than the key."""
    test = TestIssuer()
    old = test.keys.to_jwks()
    answers = 0

    def fetch(request: FetchRequest) -> FetchResponse:
        nonlocal answers
        answers += 1
        if request.url == test.jwks_url and answers == 2:
            return FetchResponse(200, {}, json.dumps(old).encode())
        return test.fetch(request)

    test.rotate()
    keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch, cooldown=0)
    assert test.verifier(keys).verify(test.issue())
    assert answers == 3


def test_set_that_cannot_be_fetched_is_not_a_rejected_token() -> None:
    test = TestIssuer()
    test.is_down = True
    verifier = test.verifier(test.remote_key_set(cooldown=0))
    with pytest.raises(jeton.KeySetError) as raised:
        verifier.verify(test.issue())
    assert raised.value.code == "KEY_SET_UNREACHABLE"
    assert not isinstance(raised.value, jeton.TokenRejected)


@pytest.mark.parametrize(
    "response",
    [
        FetchResponse(500),
        FetchResponse(404),
        FetchResponse(302, {"Location": "https://other.example"}),
        FetchResponse(200),
        FetchResponse(200, {}, b"{"),
        FetchResponse(200, {}, b"\xff" * 10),
        FetchResponse(200, {}, b"x" * (1 << 22)),
        FetchResponse(200, {"Cache-Control": "\r\nX: y", "X\n": "é\ud800"}, b"{}"),
        FetchResponse(99_999),
        "no response",
        None,
        RuntimeError("a client may raise any exception"),
    ],
    ids=str,
)
def test_bad_response_is_an_error(response: Any) -> None:
    def fetch(_: FetchRequest) -> FetchResponse:
        if isinstance(response, Exception):
            raise response
        return response  # type: ignore[no-any-return]

    test = TestIssuer()
    keys = jeton.RemoteKeySet("https://id.example/keys", fetch=fetch)
    with pytest.raises(jeton.JetonError) as raised:
        test.verifier(keys).verify(test.issue())
    assert raised.value.code != "INTERNAL" and not isinstance(raised.value, jeton.TokenRejected)


def test_stale_keys_are_fetched_in_the_background() -> None:
    test = TestIssuer()
    keys = test.remote_key_set(fresh_for=1, cooldown=0)
    verifier = test.verifier(keys)
    verifier.verify(test.issue())
    before = test.requests
    end = time.monotonic() + 60
    while test.requests == before and time.monotonic() < end:
        time.sleep(0.3)
        verifier.verify(test.issue())
    assert test.requests > before


def test_async_client_and_sync_client_in_an_event_loop() -> None:
    async def main(fetch: Any, test: TestIssuer) -> None:
        keys = jeton.RemoteKeySet(issuer=test.issuer, fetch=fetch)
        verifier = test.verifier(keys)
        tokens = [test.issue({"n": number}) for number in range(20)]
        found = await asyncio.gather(*(verifier.verify_async(token) for token in tokens))
        assert [claims["n"] for claims in found] == list(range(20))
        assert test.requests == 2

    slow, quick = TestIssuer(), TestIssuer()

    async def fetch_async(request: FetchRequest) -> FetchResponse:
        await asyncio.sleep(0.05)
        return slow.fetch(request)

    def fetch_sync(request: FetchRequest) -> FetchResponse:
        time.sleep(0.05)
        return quick.fetch(request)

    asyncio.run(main(fetch_async, slow))
    asyncio.run(main(fetch_sync, quick))


def test_many_threads_wait_for_one_request() -> None:
    test = TestIssuer()

    def slow(request: FetchRequest) -> FetchResponse:
        time.sleep(0.1)
        return test.fetch(request)

    verifier = test.verifier(jeton.RemoteKeySet(issuer=test.issuer, fetch=slow))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            verifier.verify(test.issue())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and test.requests == 2


def test_closed_key_set_stays_usable_for_its_verifiers() -> None:
    test = TestIssuer()
    keys = test.remote_key_set()
    verifier = test.verifier(keys)
    verifier.verify(test.issue())
    keys.close()
    with pytest.raises(jeton.InvalidUse):
        keys.refresh()


def test_url_or_issuer_is_required() -> None:
    with pytest.raises(jeton.InvalidUse, match="pass either `url` or `issuer`"):
        jeton.RemoteKeySet()
    with pytest.raises(jeton.InvalidUse, match="pass either `url` or `issuer`"):
        jeton.RemoteKeySet("https://id.example/keys", issuer="https://id.example")


@pytest.mark.parametrize("url", ["http://id.example/keys", "file:///etc/passwd", "", "not an address", "https://"])
def test_address_that_is_not_allowed(url: str) -> None:
    with pytest.raises(jeton.JetonError):
        jeton.RemoteKeySet(url)
    with pytest.raises(jeton.JetonError):
        jeton.RemoteKeySet()
