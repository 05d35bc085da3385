"""Verifies tokens of `jeton serve` with its published keys. `cargo xtask sdk python` passes the path of the program."""

import contextlib
import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton

PROGRAM = os.environ.get("JETON_PROGRAM", "")


def free_port() -> int:
    import random
    import socket

    # Below the ephemeral port range, so that no client connection takes the port in between.
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not PROGRAM:
        # Without `cargo xtask sdk python`, there is no server.
        pytest.skip("JETON_PROGRAM does not name the program `jeton`: cargo xtask sdk python builds it")
    folder: Path = tmp_path_factory.mktemp("serve")
    address, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
    command = [PROGRAM, "serve", "--data", str(folder / "data"), "--listen", address, "--admin-listen", admin]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            until_it_answers(f"http://{address}/token", process)
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(60)


def until_it_answers(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended"
        try:
            ask(url)
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def ask(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, data=b"grant_type=client_credentials", timeout=60) as response:
        answer: dict[str, Any] = json.loads(response.read())
        return answer


def test_token_of_the_service_is_verified_with_its_keys(server: str) -> None:
    token = ask(f"{server}/token")["access_token"]
    claims = json.loads(_payload(token))
    keys = jeton.RemoteKeySet(f"{server}/.well-known/jwks.json")
    verifier = jeton.Verifier(keys, issuer=claims["iss"], audience=claims["aud"])
    assert verifier.verify(token) == claims
    verified = verifier.verify_complete(token)
    assert verified.kid is not None and verified.expires_at is not None
    with pytest.raises(jeton.TokenAudienceMismatch):
        jeton.Verifier(keys, issuer=claims["iss"], audience="other").verify(token)
    with pytest.raises(jeton.TokenRejected):
        verifier.verify(token[:-10] + "AAAAAAAAAA")


def _payload(token: str) -> bytes:
    import base64

    part = token.split(".")[1]
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
