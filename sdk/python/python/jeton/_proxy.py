"""The proxy of the environment, for the HTTP client of remote key sets: `HTTPS_PROXY` and `NO_PROXY`."""

from __future__ import annotations

import base64
import ipaddress
import os
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

#: The maximum size of a proxy's response to CONNECT, in bytes.
_HEAD_BYTES = 16 * 1024


class Stream(Protocol):
    """The connection to the proxy."""

    def sendall(self, data: bytes, /) -> None: ...
    def recv(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Proxy:
    """An HTTP proxy."""

    host: str
    port: int
    #: The header `Proxy-Authorization`, or "".
    authorization: str

    def tunnel(self, stream: Stream, host: str, port: int, agent: str) -> None:
        """Opens a tunnel with CONNECT (RFC 9110, section 9.3.6). Raises `OSError` if the proxy refuses."""
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", f"User-Agent: {agent}"]
        if self.authorization:
            lines.append(f"Proxy-Authorization: {self.authorization}")
        stream.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
        head = bytearray()
        # Byte by byte: what follows the head belongs to TLS.
        while not head.endswith(b"\r\n\r\n"):
            part = stream.recv(1)
            if not part or len(head) == _HEAD_BYTES:
                raise OSError("the proxy did not answer CONNECT")
            head += part
        status = bytes(head).split(b"\r\n")[0].split(b" ")
        code = status[1].decode("ascii", "replace") if len(status) > 1 else ""
        if not status[0].startswith(b"HTTP/1.") or len(code) != 3 or not code.startswith("2"):
            found = code if code.isdigit() else "without a status"
            raise OSError(f"the proxy refused the connection: {found}")


def proxy_for(host: str) -> Proxy | None:
    """Returns the proxy for an https address, or `None`. Loopback hosts and the hosts of `NO_PROXY` need none."""
    text = _first("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if not text or _is_loopback(host) or _is_excepted(host, _first("NO_PROXY", "no_proxy")):
        return None
    url = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = url.port or 80
    except ValueError:
        port = 0
    if url.scheme != "http" or not url.hostname or not port:
        raise OSError("HTTPS_PROXY is not an http URL")
    authorization = ""
    if url.username is not None:
        user = f"{unquote(url.username)}:{unquote(url.password or '')}"
        authorization = "Basic " + base64.b64encode(user.encode()).decode()
    return Proxy(url.hostname, port, authorization)


def _first(*names: str) -> str:
    return next((found for name in names if (found := os.environ.get(name, "").strip())), "")


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def _is_excepted(host: str, exceptions: str) -> bool:
    """Returns whether `NO_PROXY` has the host: `*`, a domain with its subdomains, an address, or a network."""
    name, address = host.lower().rstrip("."), _address(host)
    for entry in exceptions.split(","):
        wanted = entry.strip().lower().removeprefix(".")
        if wanted == "*":
            return True
        if address is None:
            if wanted and (name == wanted or name.endswith(f".{wanted}")):
                return True
            continue
        try:
            if address in ipaddress.ip_network(wanted, strict=False):
                return True
        except ValueError:
            # A domain.
            continue
    return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
