"""What takes long leaves the interpreter to other threads, and the event loop to other tasks."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import jeton

PASSWORD = jeton.Key.insecure_password("correct horse battery", "PBES2-HS256+A128KW", rounds=300_000)
SIGNING = jeton.Key.generate("HS256")
NESTED = jeton.Issuer(SIGNING, encryption=PASSWORD, issuer="i", audience="a", lifetime=900)
VERIFIER = jeton.Verifier(SIGNING, decryption=PASSWORD, issuer="i", audience="a")
BYTES = jeton.Issuer(encryption=PASSWORD, format="jwe")
BYTES_VERIFIER = jeton.Verifier(decryption=PASSWORD, format="jwe")
TOKEN = NESTED.issue({"n": [1, {"é": None}], "sub": "s"})
TOKEN_OF_BYTES = BYTES.issue_bytes(b"x")


def longest_pause(call: Callable[[], Any]) -> tuple[float, float]:
    """The time of the call, and how long another thread did not run meanwhile."""
    ticks: list[float] = []
    ends = threading.Event()

    def tick() -> None:
        while not ends.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.02)
    start = time.perf_counter()
    call()
    end = time.perf_counter()
    ends.set()
    thread.join()
    inside = [start, *(at for at in ticks if start < at < end), end]
    return end - start, max(after - before for before, after in zip(inside, inside[1:], strict=False))


def sometimes(measure: Callable[[], tuple[float, float]]) -> bool:
    """Whether others ran in the middle of a call. On a busy machine they may not; without a release, they never do."""
    for _ in range(50):
        spent, pause = measure()
        if pause < spent / 2:
            return True
    return False


CALLS: dict[str, Callable[[], Any]] = {
    "verify": lambda: VERIFIER.verify(TOKEN),
    "verify a type": lambda: VERIFIER.verify(TOKEN, type=dict),
    "verify_json": lambda: VERIFIER.verify_json(TOKEN),
    "verify_complete": lambda: VERIFIER.verify_complete(TOKEN),
    "verify_bytes": lambda: BYTES_VERIFIER.verify_bytes(TOKEN_OF_BYTES),
    "issue": lambda: NESTED.issue({"n": 1}),
    "issue_json": lambda: NESTED.issue_json("{}"),
    "issue_bytes": lambda: BYTES.issue_bytes(b"x"),
}


@pytest.mark.parametrize("name", CALLS)
def test_password_leaves_the_interpreter_to_other_threads(name: str) -> None:
    assert sometimes(lambda: longest_pause(CALLS[name]))


def test_password_leaves_the_event_loop_to_other_tasks() -> None:
    async def main() -> tuple[float, float]:
        longest, ends = 0.0, False

        async def tick() -> None:
            nonlocal longest
            while not ends:
                before = time.perf_counter()
                await asyncio.sleep(0.001)
                longest = max(longest, time.perf_counter() - before)

        task = asyncio.create_task(tick())
        await asyncio.sleep(0.01)
        start = time.perf_counter()
        claims = await VERIFIER.verify_async(TOKEN)
        spent = time.perf_counter() - start
        assert claims["sub"] == "s"
        ends = True
        await task
        return spent, longest

    assert sometimes(lambda: asyncio.run(main()))


def test_claims_of_a_slow_verifier_are_those_of_another() -> None:
    content = jeton.Key.generate("dir", enc="A256GCM")
    clock = jeton.FixedClock(1_800_000_000)
    settings: dict[str, Any] = {"issuer": "i", "audience": "a", "clock": clock}
    issuer = jeton.Issuer(SIGNING, encryption=content, lifetime=900, **settings)
    slow_issuer = jeton.Issuer(SIGNING, encryption=PASSWORD, lifetime=900, **settings)
    quick = jeton.Verifier(SIGNING, decryption=content, **settings)
    slow = jeton.Verifier(SIGNING, decryption=[PASSWORD, content], **settings)
    claims = {"n": 2**70, "é": [1.5, None], "sub": "s", "jti": "j"}
    found = quick.verify_complete(issuer.issue(claims))
    assert slow.verify_complete(issuer.issue(claims)) == found
    assert slow.verify_complete(slow_issuer.issue(claims)) == found
    assert slow.verify(slow_issuer.issue(claims)) == quick.verify(issuer.issue(claims)) == found.claims
    with pytest.raises(jeton.TokenRejected):
        slow.verify(TOKEN[:-2] + ("AA" if TOKEN[-2:] != "AA" else "BB"))
