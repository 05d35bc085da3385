"""Slow calls release the interpreter to other threads, and the event loop to other tasks."""

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


#: A call that keeps the interpreter lets other threads run only twice: before it starts and after it ends.
SEVERAL = 5


def turns(call: Callable[[], Any]) -> int:
    """Counts how often another thread runs during the call."""
    count = 0
    begun, ends = threading.Event(), threading.Event()

    def tick() -> None:
        nonlocal count
        while not ends.is_set():
            count += 1
            begun.set()
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun.wait()
    before = count
    call()
    after = count
    ends.set()
    thread.join()
    return after - before


def sometimes(count: Callable[[], int]) -> bool:
    """Whether others run during one of 50 calls. On a busy machine they may miss some, without a release all."""
    return any(count() >= SEVERAL for _ in range(50))


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
    assert sometimes(lambda: turns(CALLS[name]))


def test_password_leaves_the_event_loop_to_other_tasks() -> None:
    async def main() -> int:
        count, ends = 0, False

        async def tick() -> None:
            nonlocal count
            while not ends:
                count += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(tick())
        await asyncio.sleep(0.01)
        before = count
        claims = await VERIFIER.verify_async(TOKEN)
        after = count
        assert claims["sub"] == "s"
        ends = True
        await task
        return after - before

    assert sometimes(lambda: asyncio.run(main()))


def test_slow_and_fast_verifiers_return_the_same_claims() -> None:
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
