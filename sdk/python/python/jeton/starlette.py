"""Middleware for Starlette and every other ASGI framework. It needs no other package.

    app.add_middleware(BearerMiddleware, verifier=verifier)

A request with a valid token reaches the application with its claims in `request.state.claims`. For other requests, the
response is 401, 403 without the required scopes (RFC 6750), or 503 if the keys cannot be fetched. A WebSocket is closed
with the code 1008.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any

from ._errors import JetonError, KeySetError, TokenRejected
from ._multi_issuer import MultiIssuerVerifier
from ._types import Checked, check_type
from ._verifier import Verifier

__all__ = ["BearerMiddleware", "InvalidAuthorization", "bearer_token", "has_scopes"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class BearerMiddleware:
    """Accepts only requests with a valid token in the header `Authorization`.

    `type` is the type of the claims, as in `Verifier.verify`. The claim `scope` must contain all `scopes`, a collection
    or a space-separated str. `except_paths` are paths that need no token; they must match exactly. With `optional`, a
    request without the header is accepted, and its claims are `None`. A request with an invalid token, with another
    scheme or with two headers is still rejected.
    """

    def __init__(
        self,
        app: App,
        *,
        verifier: Verifier | MultiIssuerVerifier,
        type: Any = None,
        scopes: Collection[str] = (),
        except_paths: Collection[str] = (),
        optional: bool = False,
    ) -> None:
        check_type(type)
        self._app = app
        self._verifier = verifier
        self._type = type
        self._scopes = names_of(scopes)
        self._except_paths = frozenset([except_paths] if isinstance(except_paths, str) else except_paths)
        self._optional = optional

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope.get("path") in self._except_paths:
            await self._app(scope, receive, send)
            return
        claims = None
        try:
            token = bearer_token(scope.get("headers", ()))
            if token is not None:
                claims = await self._verifier.verify_async(token, with_scopes(self._type, self._scopes))
            elif not self._optional:
                await _refuse(scope, send, 401, None, None)
                return
        except InvalidAuthorization:
            await _refuse(scope, send, 401, None, None)
            return
        except InsufficientScope:
            await _refuse(scope, send, 403, "insufficient_scope", "the token does not have every required scope")
            return
        except TokenRejected as error:
            await _refuse(scope, send, 401, "invalid_token", error.code)
            return
        except KeySetError as error:
            await _refuse(scope, send, 503, "temporarily_unavailable", error.code)
            return
        except JetonError as error:
            await _refuse(scope, send, 500, "server_error", error.code)
            return
        scope.setdefault("state", {})["claims"] = claims
        await self._app(scope, receive, send)


def bearer_token(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Returns the token in `Authorization`, or `None` without the header.

    Raises `InvalidAuthorization` if there are several headers, or if the header is not `Bearer` and a token.
    """
    found = [value for name, value in headers if name.lower() == b"authorization"]
    if not found:
        return None
    scheme, _, token = found[0].partition(b" ")
    token = token.strip(b" ")
    if len(found) != 1 or scheme.lower() != b"bearer" or not token or b" " in token:
        raise InvalidAuthorization("exactly one bearer token is required")
    return token


def names_of(scopes: Collection[str]) -> tuple[str, ...]:
    """Returns the names of scopes. A str has them separated by spaces, like the claim."""
    return tuple(scopes.split() if isinstance(scopes, str) else scopes)


def has_scopes(claims: Any, scopes: Collection[str]) -> bool:
    """Returns whether the claim `scope` (RFC 8693), a space-separated str, contains all `scopes`."""
    if not scopes:
        return True
    scope = claims.get("scope") if isinstance(claims, dict) else None
    return isinstance(scope, str) and set(names_of(scopes)) <= set(scope.split(" "))


class InvalidAuthorization(ValueError):
    """The header `Authorization` is not one bearer token."""


class InsufficientScope(Exception):
    """The token is valid but does not have every required scope."""


def with_scopes(kind: Any, scopes: Collection[str]) -> Any:
    """Returns a type for `verify` that also checks the scopes, so that a token is verified once."""
    if not scopes:
        return kind

    def check(claims: dict[str, Any]) -> None:
        if not has_scopes(claims, scopes):
            raise InsufficientScope

    return Checked(kind, check)


def challenge(error: str | None) -> str:
    """Returns the header `WWW-Authenticate` (RFC 6750)."""
    return "Bearer" if error is None else f'Bearer error="{error}"'


async def _refuse(scope: Scope, send: Send, status: int, error: str | None, reason: str | None) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    body = json.dumps({"error": error or "unauthorized", "code": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in (401, 403):
        headers.append((b"www-authenticate", challenge(error).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
