"""The HTTP client for remote key sets, with the standard library only."""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ._jeton import VERSION
from ._proxy import proxy_for

_AGENT = f"jeton-python/{VERSION}"


@dataclass(frozen=True)
class FetchRequest:
    """A GET request for a key set or a discovery document. A custom client (`fetch`) receives it.

    The client sends `headers`, does not follow redirects, and observes `timeout`, `max_bytes` and `public_only`.
    """

    #: Identifies the request in the library.
    id: int
    url: str
    #: Send it as `If-None-Match`.
    etag: str | None
    #: Send `Cache-Control: no-cache`.
    no_cache: bool
    #: The maximum size of the body.
    max_bytes: int
    #: Connect to public addresses only, because another party published the address.
    public_only: bool
    #: The time limit in seconds.
    timeout: float

    @classmethod
    def _of(cls, members: dict[str, Any]) -> FetchRequest:
        timeout = members.pop("timeout_milliseconds") / 1000
        # The version of the core, which is that of the package.
        members.pop("version")
        return cls(timeout=timeout, **members)

    @property
    def headers(self) -> dict[str, str]:
        """The headers to send."""
        headers = {
            "Accept": "application/jwk-set+json, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": _AGENT,
        }
        if self.etag is not None:
            headers["If-None-Match"] = self.etag
        if self.no_cache:
            headers["Cache-Control"] = "no-cache"
        return headers


@dataclass(frozen=True)
class FetchResponse:
    """The response to a request. If there is no response, raise an exception, or return the status 0."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def fetch(request: FetchRequest) -> FetchResponse:
    """Sends a request without redirects, through the environment's proxy. The timeout covers all steps together."""
    end = time.monotonic() + request.timeout
    url = urlsplit(request.url)
    host = url.hostname or ""
    is_encrypted = url.scheme == "https"
    connection: http.client.HTTPConnection
    if is_encrypted:
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, url.port, context=context)
    else:
        connection = http.client.HTTPConnection(host, url.port)
    proxy = proxy_for(host) if is_encrypted else None
    if proxy is None:
        sock = _connected(host, connection.port, request.public_only, end)
    else:
        if request.public_only and _is_private_literal(host):
            raise OSError("the address is not public")
        sock = _connected(proxy.host, proxy.port, False, end)
    try:
        if proxy is not None:
            proxy.tunnel(_Timed(sock, end), host, connection.port, _AGENT)
        if is_encrypted:
            sock.settimeout(_left(end))
            sock = context.wrap_socket(sock, server_hostname=host)
        connection.sock = _Timed(sock, end)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("GET", target, headers={**request.headers, "Connection": "close"})
        response = connection.getresponse()
        body = _body(response, request.max_bytes)
        return FetchResponse(response.status, dict(response.headers.items()), body)
    except http.client.HTTPException as error:
        raise OSError("the response is not HTTP") from error
    finally:
        sock.close()


def _connected(host: str, port: int, public_only: bool, end: float) -> socket.socket:
    """Connects to the first address that answers. The checked address is the connected address."""
    error: OSError | None = None
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for number, (family, kind, protocol, _, address) in enumerate(found):
        if public_only and not is_public(str(address[0])):
            error = OSError("the address is not public")
            continue
        sock = socket.socket(family, kind, protocol)
        try:
            # An address that does not answer must leave time for the next one.
            sock.settimeout(_left(end) / (len(found) - number))
            sock.connect(address)
            return sock
        except OSError as failed:
            sock.close()
            error = failed
    raise error or OSError("the name has no address")


#: Special IPv4 addresses (RFC 6890): this network, private networks, loopback, shared addresses, link-local, protocol
#: assignments, documentation, relays of 6to4, benchmarks, multicast and reserved addresses.
_SPECIAL_IPV4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
    )
)

#: IPv6 prefixes with the position of their embedded IPv4 address: IPv4-mapped, NAT64 (RFC 6052) and 6to4 (RFC 3056).
_EMBEDDED = tuple(
    (ipaddress.IPv6Network(network), shift)
    for network, shift in (("::ffff:0:0/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80))
)

#: Protocol assignments, among them Teredo, and documentation.
_SPECIAL_IPV6 = tuple(ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))

#: The only prefix assigned for global unicast.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")


def is_public(address: str) -> bool:
    """Returns whether an address is globally reachable. The rules match jeton-jwks (`network.rs`)."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        shift = next((shift for network, shift in _EMBEDDED if found in network), None)
        if shift is None:
            return found in _GLOBAL_UNICAST and not any(found in network for network in _SPECIAL_IPV6)
        found = ipaddress.IPv4Address(int(found) >> shift & 0xFFFF_FFFF)
    return not any(found in network for network in _SPECIAL_IPV4)


def _is_private_literal(host: str) -> bool:
    """Returns whether the host is an address that is not public. A proxy resolves names, and must check them itself."""
    try:
        return not is_public(host)
    except ValueError:
        return False


def _body(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    """Reads up to one byte more than allowed, so that a longer body is refused and not cut."""
    body = bytearray()
    while len(body) <= max_bytes:
        part = response.read1(max_bytes + 1 - len(body))
        if not part:
            if response.length:
                raise OSError("the response ends too early")
            break
        body += part
    return bytes(body)


class _Timed:
    """A connection with one deadline for all reads and writes. A socket's own timeout restarts with each byte."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock = sock
        self._end = end

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self._end))
        self._sock.sendall(data)

    def recv(self, size: int) -> bytes:
        self._sock.settimeout(_left(self._end))
        return self._sock.recv(size)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._end))

    def close(self) -> None:
        """Does nothing: the caller closes the socket."""


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock = sock
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._end))
        return self._sock.recv_into(buffer)


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the server took too long")
    return left
