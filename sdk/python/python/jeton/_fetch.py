"""The HTTP client of remote key sets, with the standard library only."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class FetchRequest:
    """A request that a key set asks for. Follow no redirect."""

    #: Names the request inside of the library.
    id: int
    url: str
    #: Send it as `If-None-Match`.
    etag: str | None
    #: Send `Cache-Control: no-cache`.
    no_cache: bool
    #: Read no more of the body.
    max_bytes: int
    #: Connect to public addresses only: the address was published by another party.
    public_only: bool
    #: Seconds.
    timeout: float

    @classmethod
    def _of(cls, members: dict[str, Any]) -> FetchRequest:
        timeout = members.pop("timeout_milliseconds") / 1000
        return cls(timeout=timeout, **members)

    @property
    def headers(self) -> dict[str, str]:
        """The headers to send."""
        headers = {"Accept": "application/json"}
        if self.etag is not None:
            headers["If-None-Match"] = self.etag
        if self.no_cache:
            headers["Cache-Control"] = "no-cache"
        return headers


@dataclass(frozen=True)
class FetchResponse:
    """The response to it. A status of 0 says that there is none."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def fetch(request: FetchRequest) -> FetchResponse:
    """Sends the request. It uses no proxy and follows no redirect."""
    end = time.monotonic() + request.timeout
    url = urlsplit(request.url)
    host = url.hostname or ""
    port = url.port or (443 if url.scheme == "https" else 80)
    sock = _connected(host, port, request.public_only, end)
    try:
        if url.scheme == "https":
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
        connection = http.client.HTTPConnection(host, port)
        connection.sock = sock
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("GET", target, headers={**request.headers, "Connection": "close"})
        response = connection.getresponse()
        body = _body(response, sock, request.max_bytes, end)
        return FetchResponse(response.status, dict(response.headers.items()), body)
    except http.client.HTTPException as error:
        raise OSError("the response is not HTTP") from error
    finally:
        sock.close()


def _connected(host: str, port: int, public_only: bool, end: float) -> socket.socket:
    """Connects to the first address that answers. What is checked is what is connected to."""
    error: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if public_only and not _is_public(str(address[0])):
            error = OSError("the address is not public")
            continue
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(end))
            sock.connect(address)
            return sock
        except OSError as failed:
            sock.close()
            error = failed
    raise error or OSError("the name has no address")


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return found.is_global and not found.is_multicast


def _body(response: http.client.HTTPResponse, sock: socket.socket, max_bytes: int, end: float) -> bytes:
    """Reads one byte more than is allowed, so that a longer body is refused and not cut."""
    body = bytearray()
    while len(body) <= max_bytes:
        sock.settimeout(_left(end))
        part = response.read1(max_bytes + 1 - len(body))
        if not part:
            break
        body += part
    return bytes(body)


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the server took too long")
    return left
