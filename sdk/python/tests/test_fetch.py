"""The habits of real key servers, from sdk/testdata/fetch.json, and a proxy."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import jeton
from jeton._proxy import proxy_for
from jeton.compat import pyjwt

PROGRAM = os.environ.get("JETON_KEY_SERVER", "")
DATA = Path(__file__).parents[2] / "testdata/fetch.json"
TABLE = json.loads(DATA.read_text())
NAMES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


@dataclass
class KeyServer:
    http: str
    https: str
    proxy: str
    #: The file with the certificate authority.
    authority: str

    def read(self, path: str) -> str:
        with urlopen(f"{self.http}{path}") as response:
            return str(response.read().decode())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyServer]:
    if not PROGRAM:
        pytest.skip("JETON_KEY_SERVER does not name the key server: cargo xtask sdk python builds it")
    authority = tmp_path_factory.mktemp("fetch") / "authority.pem"
    command = [PROGRAM, str(DATA), str(authority)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield KeyServer(**json.loads(process.stdout.readline()))
        process.stdin.close()


@pytest.fixture(autouse=True)
def no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def verifier(keys: jeton.RemoteKeySet) -> jeton.Verifier:
    return jeton.Verifier(keys, issuer="https://id.example", audience="api")


def result(keys: jeton.RemoteKeySet) -> str:
    try:
        verifier(keys).verify(TABLE["token"])
    except jeton.KeySetError as error:
        return error.code
    return "ok"


@pytest.mark.parametrize("habit", TABLE["habits"], ids=lambda habit: habit["name"])
def test_habit_of_a_key_server_has_its_result(server: KeyServer, habit: dict[str, Any]) -> None:
    base = f"{server.http}/{habit['name']}"
    keys = jeton.RemoteKeySet(issuer=base) if habit.get("via") == "issuer" else jeton.RemoteKeySet(f"{base}/keys")
    assert result(keys) == habit["expect"]
    if (requests := habit.get("requests_after_a_second")) is not None:
        time.sleep(1.2)
        assert result(keys) == habit["expect"]
        assert server.read(f"/{habit['name']}/count") == str(requests)


def test_requests_name_the_package(server: KeyServer) -> None:
    assert result(jeton.RemoteKeySet(f"{server.http}/plain/keys")) == "ok"
    head = server.read("/plain/head").lower()
    assert f"\r\nuser-agent: jeton-python/{jeton.__version__}\r\n" in head


@pytest.mark.parametrize("habit", TABLE["habits"], ids=lambda habit: habit["name"])
def test_habit_of_a_key_server_has_its_result_in_the_client_of_pyjwt(server: KeyServer, habit: dict[str, Any]) -> None:
    if habit.get("via") == "issuer":
        return
    client = pyjwt.PyJWKClient(f"{server.http}/{habit['name']}/keys", timeout=5)
    if habit["expect"] == "ok":
        key = client.get_signing_key_from_jwt(TABLE["token"])
        assert pyjwt.decode(TABLE["token"], key, audience="api")["sub"] == "user-7"
        return
    before = int(server.read(f"/{habit['name']}/count"))
    for wait in (0.0, 1.2):
        time.sleep(wait if "requests_after_a_second" in habit else 0)
        with pytest.raises(pyjwt.PyJWKClientError):
            client.get_signing_key_from_jwt(TABLE["token"])
    if (requests := habit.get("requests_after_a_second")) is not None:
        assert int(server.read(f"/{habit['name']}/count")) - before == requests


def test_proxy_of_the_environment_is_used(server: KeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", server.authority)
    proxied = "https://keys.example/plain/keys"
    assert result(jeton.RemoteKeySet(proxied)) == "KEY_SET_UNREACHABLE"
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, server.proxy.replace("http://", "http://user:p%40ss@"))
        assert result(jeton.RemoteKeySet(proxied)) == "ok"
        monkeypatch.delenv(name)
    head = server.read("/proxy/head")
    assert head.startswith("CONNECT keys.example:443 ")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in head and "User-Agent: jeton-python/" in head
    monkeypatch.setenv("HTTPS_PROXY", server.proxy)
    refused = jeton.RemoteKeySet("https://refused.example/plain/keys")
    with pytest.raises(jeton.KeySetError) as raised:
        verifier(refused).verify(TABLE["token"])
    assert raised.value.code == "KEY_SET_UNREACHABLE" and "403" in str(raised.value.__cause__)
    count = server.read("/proxy/count")
    monkeypatch.setenv("NO_PROXY", ".example")
    assert result(jeton.RemoteKeySet(proxied)) == "KEY_SET_UNREACHABLE"
    assert server.read("/proxy/count") == count
    # Loopback hosts need no proxy. Nothing listens on this port.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert result(jeton.RemoteKeySet(f"{server.https}/plain/keys")) == "ok"


@pytest.mark.parametrize(
    ("exceptions", "host", "is_excepted"),
    [("", "id.example", False), ("*", "id.example", True), ("example", "id.example", True),
     (".example", "id.example", True), ("id.example", "ID.example", True),
     ("d.example", "id.example", False), ("other, id.example", "id.example", True), ("10.0.0.0/8", "10.1.2.3", True),
     ("10.0.0.0/8", "11.1.2.3", False), ("10.1.2.3", "10.1.2.3", True),
     ("2001:db8::/32", "2001:db8::1", True), ("10.0.0.0/8", "id.example", False), ("", "localhost", True),
     ("", "127.0.0.1", True), ("", "::1", True)],
)  # fmt: skip
def test_host_of_no_proxy_is_excepted(
    exceptions: str, host: str, is_excepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", exceptions)
    proxy = proxy_for(host)
    assert (proxy is None) is is_excepted
    assert proxy is None or (proxy.host, proxy.port, proxy.authorization) == ("proxy.example", 3128, "")


@pytest.mark.parametrize("proxy", ["https://p.example", "socks5://p.example", "http://", "http://p.example:x"])
def test_proxy_that_is_no_http_url_is_an_error(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(OSError, match="HTTPS_PROXY"):
        proxy_for("id.example")


def test_http_to_another_host_needs_an_option() -> None:
    with pytest.raises(jeton.JetonError) as raised:
        jeton.RemoteKeySet("http://keys.invalid/keys")
    assert raised.value.code == "KEY_SET_ADDRESS"
    # The address is allowed, and the name does not exist.
    assert result(jeton.RemoteKeySet("http://keys.invalid/keys", allow_plain_http=True)) == "KEY_SET_UNREACHABLE"
