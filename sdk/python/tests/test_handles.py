"""Closing, threads, processes and the end of the interpreter."""

import copy
import os
import pickle
import shutil
import subprocess
import sys
import threading
from typing import Any

import pytest

import jeton
from jeton import _jeton


def pair() -> tuple[jeton.Key, jeton.Issuer, jeton.Verifier, str]:
    key = jeton.Key.generate("ES256")
    issuer = jeton.Issuer(key, issuer="i", audience="a", lifetime=60)
    verifier = jeton.Verifier(key.public_key(), issuer="i", audience="a")
    return key, issuer, verifier, issuer.issue({})


def test_closed_object_is_an_error() -> None:
    key, issuer, verifier, token = pair()
    for thing in (key, issuer, verifier):
        thing.close()
        thing.close()
        assert thing.closed and "closed" in repr(thing)
    calls: list[Any] = [
        lambda: key.alg,
        lambda: key.public_key(),
        lambda: key.to_jwk(),
        lambda: key.warm_up(),
        lambda: jeton.Issuer(key),
        lambda: jeton.Verifier(key, issuer="i", audience="a"),
        lambda: jeton.KeySet([key]),
        lambda: issuer.issue({}),
        lambda: issuer.issue_json("{}"),
        lambda: issuer.issue_bytes(b""),
        lambda: issuer.prepare({}),
        lambda: verifier.verify(token),
        lambda: verifier.verify_json(token),
        lambda: verifier.verify_complete(token),
        lambda: verifier.verify_bytes(token),
    ]
    for call in calls:
        with pytest.raises(jeton.InvalidUse) as raised:
            call()
        assert raised.value.code == "ARGUMENT_HANDLE"


def test_with_closes_at_the_end() -> None:
    with jeton.Key.generate("HS256") as key:
        assert key.kind == "symmetric"
    assert key.closed
    with jeton.KeySet([jeton.Key.generate("ES256", kid="a")]) as keys:
        assert keys.ids == ["a"]
    assert keys.closed


def test_closed_key_stays_usable_for_its_issuers() -> None:
    key, issuer, verifier, _ = pair()
    key.close()
    verifier.verify(issuer.issue({}))


def test_object_cannot_be_pickled_or_copied() -> None:
    for thing in pair()[:3]:
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                call(thing)


def test_key_is_not_in_its_repr() -> None:
    key = jeton.Key.from_secret("a secret of the tests, for HS256 only", "HS256", kid="the-id")
    for text in (repr(key), str(key), f"{key!s}"):
        assert text == "<jeton.Key HS256 symmetric>"


def test_error_can_be_pickled() -> None:
    _, _, verifier, _ = pair()
    with pytest.raises(jeton.TokenRejected) as raised:
        verifier.verify("a.b.c")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), again.code, str(again)) == (type(raised.value), raised.value.code, str(raised.value))


@pytest.mark.skipif(not hasattr(_jeton, "panic_next"), reason="the module has no test hooks")
def test_panic_becomes_an_exception() -> None:
    key, issuer, verifier, token = pair()
    calls: list[Any] = [
        lambda: jeton.Key.generate("HS256"),
        lambda: key.alg,
        lambda: key.public_key(),
        lambda: issuer.issue({}),
        lambda: issuer.issue_json("{}"),
        lambda: issuer.prepare({}),
        lambda: verifier.verify(token),
        lambda: verifier.verify(token, type=dict),
        lambda: verifier.verify_complete(token),
        lambda: verifier.verify_bytes(token),
        lambda: jeton.KeySet([key]),
        lambda: jeton.RemoteKeySet("https://id.example/keys"),
        lambda: jeton.FixedClock(0),
        lambda: key.close(),
    ]
    for call in calls:
        _jeton.panic_next()  # type: ignore[attr-defined]
        with pytest.raises(jeton.InternalError) as raised:
            call()
        assert raised.value.code == "INTERNAL" and isinstance(raised.value, Exception)
    assert verifier.verify(issuer.issue({"a": 1}))["a"] == 1


@pytest.mark.parametrize("alg", ["HS256", "ES256", "RS256", "EdDSA", "v4.local", "v4.public"])
def test_many_threads_use_one_object(alg: str) -> None:
    key = jeton.Key.generate(alg)
    issuer = jeton.Issuer(key, issuer="i", audience="a", lifetime=60)
    verifier = jeton.Verifier(key, issuer="i", audience="a")
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for count in range(50):
                claims = verifier.verify(issuer.issue({"number": number, "count": count}))
                assert (claims["number"], claims["count"]) == (number, count)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_close_while_others_use_it_is_safe() -> None:
    for _ in range(20):
        key = jeton.Key.generate("RS256") if _ == 0 else jeton.Key.generate("ES256")
        issuer = jeton.Issuer(key, lifetime=60)
        codes: list[str] = []

        def work(issuer: jeton.Issuer = issuer, codes: list[str] = codes) -> None:
            try:
                for _ in range(10_000):
                    issuer.issue({})
            except jeton.JetonError as error:
                codes.append(error.code)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        issuer.close()
        for thread in threads:
            thread.join()
        assert codes == ["ARGUMENT_HANDLE"] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_thousand_forked_children_have_different_nonces() -> None:
    local = jeton.Key.generate("v4.local")
    es256 = jeton.Key.generate("ES256")
    content = jeton.Key.generate("dir", enc="A256GCM")
    clock = jeton.FixedClock(1_800_000_000)
    issuers = [jeton.Issuer(key, lifetime=60, clock=clock) for key in (local, es256, content)]
    for issuer in issuers:
        issuer.issue({})
    tokens: list[list[str]] = [[] for _ in issuers]
    for first in range(0, 1_000, 50):
        running = []
        for _ in range(first, first + 50):
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                # Nothing of pytest runs in the child.
                try:
                    os.close(read)
                    os.write(write, "\n".join(issuer.issue({}) for issuer in issuers).encode())
                finally:
                    os._exit(0)
            os.close(write)
            running.append((child, read))
        for child, read in running:
            with os.fdopen(read, "rb") as pipe:
                for found, token in zip(tokens, pipe.read().decode().split("\n"), strict=True):
                    found.append(token)
            assert os.waitpid(child, 0)[1] == 0
    for found in tokens:
        assert len(set(found)) == len(found) == 1_000
    # If ECDSA repeats a nonce, the first half of the signature repeats. With AES-GCM, the nonce is a part of the token.
    firsts = [[token.split(".")[-1][:40] for token in tokens[1]], [token.split(".")[2] for token in tokens[2]]]
    for parts in firsts:
        assert len(set(parts)) == 1_000


def run(script: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-c", script], capture_output=True, text=True, timeout=120)


def test_interpreter_ends_with_live_objects() -> None:
    done = run(
        """
import atexit, jeton, sys, threading
key = jeton.Key.generate("RS256")
issuer = jeton.Issuer(key, lifetime=60)
verifier = jeton.Verifier(key.public_key(), any_issuer=True, any_audience=True)
token = issuer.issue({})
remote = jeton.RemoteKeySet("https://id.example/keys")
prepared = jeton.Issuer(key.public_key(), lifetime=60).prepare({})
sys.kept = [key, issuer, verifier, remote, prepared]

class AtTheEnd:
    def __del__(self, issuer=issuer, verifier=verifier):
        try:
            verifier.verify(issuer.issue({"last": 1}))
            verifier.verify("a.b.c")
        except Exception:
            pass

sys.last = AtTheEnd()
sys.circle = [AtTheEnd()]
sys.circle.append(sys.circle)
atexit.register(lambda: verifier.verify(token))
def forever():
    while True:
        verifier.verify(issuer.issue({}))
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
print("end")
"""
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


#: Creates an interpreter like `Py_NewInterpreter`, which mod_wsgi calls for a second site, and one with its own lock.
SECOND_INTERPRETERS = """
try:
    import _interpreters as interpreters
    create = [lambda: interpreters.create("legacy"), lambda: interpreters.create("isolated")]
except ImportError:
    import _xxsubinterpreters as interpreters
    create = [lambda: interpreters.create(isolated=False), lambda: interpreters.create(isolated=True)]
import jeton
key = jeton.Key.generate("HS256")
for one in [make() for make in create for _ in range(2)]:
    interpreters.run_string(one, '''
for _ in range(2):
    try:
        import jeton
        print("imported")
    except ImportError as error:
        print("ImportError")
''')
    interpreters.destroy(one)
print(jeton.Issuer(key, lifetime=60).issue({}).count("."))
"""


@pytest.mark.parametrize("python", ["", "python3.10", "python3.12", "python3.13"])
def test_second_interpreter_cannot_import_the_package(python: str) -> None:
    if python and shutil.which(python) is None:
        pytest.skip(f"{python} is not installed")
    if python and subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip(f"{python} is not selected")
    done = run(SECOND_INTERPRETERS, python or sys.executable)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["ImportError"] * 8 + ["2"], done.stdout


def test_thread_with_a_small_stack_is_enough() -> None:
    key, issuer, verifier, _ = pair()
    deep: Any = 1
    for _ in range(40):
        deep = {"a": [deep]}
    outcome: list[str] = []

    def work() -> None:
        try:
            token = issuer.issue({"deep": deep})
            verifier.verify(token)
            outcome.append("ok")
        except jeton.JetonError as error:
            outcome.append(error.code)

    before = threading.stack_size(128 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcome and outcome[0] in ("ok", "CLAIMS_TOO_DEEP")
