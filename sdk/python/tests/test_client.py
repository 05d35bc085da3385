"""The built-in HTTP client, which uses the standard library."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import jeton
from jeton import FetchRequest
from jeton._fetch import fetch, is_public
from jeton.testing import TestIssuer


class Handler(http.server.BaseHTTPRequestHandler):
    jwks = b""
    asked: list[dict[str, str]] = []

    def do_GET(self) -> None:
        self.asked.append({name.lower(): value for name, value in self.headers.items()})
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/keys")
            self.end_headers()
            return
        if self.headers.get("If-None-Match") == '"v1"':
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", '"v1"')
        self.send_header("Cache-Control", "max-age=1")
        self.send_header("Content-Length", str(len(self.jwks)))
        self.end_headers()
        self.wfile.write(self.jwks)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


def test_client_of_the_standard_library(server: str) -> None:
    test = TestIssuer()
    Handler.jwks = json.dumps(test.keys.to_jwks()).encode()
    verifier = test.verifier(jeton.RemoteKeySet(f"{server}/keys"))
    assert verifier.verify(test.issue())
    assert asyncio.run(verifier.verify_async(test.issue()))
    assert verifier.verify_complete(test.issue()).kid == "test-1"
    assert json.loads(verifier.verify_json(test.issue()))
    with pytest.raises(jeton.KeySetError):
        test.verifier(jeton.RemoteKeySet(f"{server}/moved")).verify(test.issue())


def test_client_reads_no_more_than_it_may(server: str) -> None:
    Handler.jwks = b"x" * 100_000
    request = FetchRequest(1, f"{server}/keys", None, True, 1_000, False, 60.0)
    response = fetch(request)
    assert len(response.body) == 1_001
    assert Handler.asked[-1]["cache-control"] == "no-cache"
    public = FetchRequest(1, f"{server}/keys", None, False, 1_000, True, 60.0)
    with pytest.raises(OSError, match="not public"):
        fetch(public)
    not_modified = fetch(FetchRequest(1, f"{server}/keys", '"v1"', False, 1_000, False, 60.0))
    assert (not_modified.status, not_modified.body) == (304, b"")


ADDRESSES = [
    line.split()
    for line in (Path(__file__).parents[2] / "testdata/addresses.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("kind", "address"), ADDRESSES)
def test_special_address_is_not_public(kind: str, address: str) -> None:
    assert is_public(address) is (kind == "public")
    assert not is_public("fe80::1%eth0")


class Socket:
    """A server that writes the bytes of a test to its only client."""

    def __init__(self, write: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.received = b""
        self._write, self._tls = write, tls
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self.listener.accept()
        with contextlib.suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self.received = connection.recv(4096)
            self._write(connection)
        connection.close()

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self.listener.close()


def drip(before: bytes) -> Callable[[socket.socket], None]:
    def write(connection: socket.socket) -> None:
        connection.sendall(before)
        for _ in range(1_200):
            time.sleep(0.1)
            connection.sendall(b"a")

    return write


@pytest.mark.parametrize(
    "before",
    [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["status", "header", "body", "body without a length"],
)
def test_client_stops_a_server_that_sends_one_byte_after_the_other(before: bytes) -> None:
    with Socket(drip(before)) as server:
        start = time.monotonic()
        with pytest.raises(OSError):
            fetch(FetchRequest(1, f"http://127.0.0.1:{server.port}/keys", None, False, 10_000, False, 0.5))
        assert time.monotonic() - start < 60


def test_body_that_ends_too_early_is_an_error() -> None:
    def write(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}")

    with Socket(write) as server, pytest.raises(OSError, match="too early"):
        fetch(FetchRequest(1, f"http://127.0.0.1:{server.port}/keys", None, False, 10_000, False, 60))


def test_server_that_accepts_and_never_answers_is_asked_once() -> None:
    test = TestIssuer()
    connections = 0

    def serve() -> None:
        nonlocal connections
        with contextlib.suppress(OSError):
            while True:
                open_connections.append(listener.accept()[0])
                connections += 1

    open_connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        for remote in ({"url": f"http://127.0.0.1:{port}/keys"}, {"issuer": f"http://127.0.0.1:{port}"}):
            connections = 0
            verifier = test.verifier(jeton.RemoteKeySet(**remote))  # type: ignore[arg-type]
            start = time.monotonic()
            with pytest.raises(jeton.KeySetError) as raised:
                verifier.verify(test.issue())
            assert time.monotonic() - start < 60 and connections == 1
            assert raised.value.code == "KEY_SET_UNREACHABLE"
            assert isinstance(raised.value.__cause__, TimeoutError)
        for connection in open_connections:
            connection.close()
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, private


def test_host_header_has_no_default_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, private = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(public))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(public, private)

    def write(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    resolve = socket.getaddrinfo
    for scheme, port, expected in (
        ("https", None, b"localhost"),
        ("https", 443, b"localhost"),
        ("https", 8443, b"localhost:8443"),
        ("http", 80, b"localhost"),
        ("http", 443, b"localhost:443"),
    ):
        with Socket(write, tls if scheme == "https" else None) as server:

            def to_the_server(*_: Any, port: int = server.port, **__: Any) -> Any:
                return resolve("127.0.0.1", port, type=socket.SOCK_STREAM)

            monkeypatch.setattr(socket, "getaddrinfo", to_the_server)
            url = f"{scheme}://localhost{f':{port}' if port else ''}/keys"
            assert fetch(FetchRequest(1, url, None, False, 1_000, False, 60)).status == 404
        headers = server.received.split(b"\r\n")
        assert [line for line in headers if line.lower().startswith(b"host:")] == [b"Host: " + expected], url


def test_certificate_of_another_name_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, private = certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(public, private)
    for trusted, host in ((True, "127.0.0.1"), (False, "localhost")):
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(public))
        else:
            monkeypatch.delenv("SSL_CERT_FILE")
        with Socket(drip(b""), tls) as server, pytest.raises(OSError):
            fetch(FetchRequest(1, f"https://{host}:{server.port}/keys", None, False, 1_000, False, 60))
