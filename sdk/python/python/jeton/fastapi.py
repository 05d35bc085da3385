"""A dependency for FastAPI.

    bearer = Bearer(verifier, type=User)

    @app.get("/me")
    def me(user: Annotated[User, Depends(bearer)]) -> str: ...

It appears in the OpenAPI document as a bearer token. The responses follow RFC 6750: 401 without a valid token, 403
without the required scopes, and 503 if the keys cannot be fetched.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Generic, TypeVar, cast, overload

from fastapi import HTTPException, Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from ._errors import KeySetError, TokenRejected
from ._multi_issuer import MultiIssuerVerifier
from ._types import check_type
from ._verifier import Verifier
from .starlette import InsufficientScope, InvalidAuthorization, bearer_token, challenge, names_of, with_scopes

__all__ = ["Bearer"]

T = TypeVar("T")


class Bearer(SecurityBase, Generic[T]):
    """Verifies the token of a request and returns its claims, as a dict or as `type`.

    The claim `scope` must contain all `scopes`, a collection or a space-separated str. `scheme_name` is the name in the
    OpenAPI document.
    """

    @overload
    def __init__(
        self: Bearer[dict[str, Any]],
        verifier: Verifier | MultiIssuerVerifier,
        *,
        scopes: Collection[str] = (),
        scheme_name: str = "jeton",
    ) -> None: ...
    @overload
    def __init__(
        self,
        verifier: Verifier | MultiIssuerVerifier,
        *,
        type: type[T],
        scopes: Collection[str] = (),
        scheme_name: str = "jeton",
    ) -> None: ...
    def __init__(
        self,
        verifier: Verifier | MultiIssuerVerifier,
        *,
        type: Any = None,
        scopes: Collection[str] = (),
        scheme_name: str = "jeton",
    ) -> None:
        check_type(type)
        self.model = HTTPBearer(bearerFormat="JWT")
        self.scheme_name = scheme_name
        self._verifier = verifier
        self._type = type
        self._scopes = names_of(scopes)

    async def __call__(self, request: Request) -> T:
        try:
            token = bearer_token(request.headers.raw)
        except InvalidAuthorization as error:
            raise _refused(401, None, str(error)) from error
        if token is None:
            raise _refused(401, None, "a token is required")
        try:
            return cast("T", await self._verifier.verify_async(token, with_scopes(self._type, self._scopes)))
        except InsufficientScope as error:
            raise _refused(403, "insufficient_scope", "the token does not have every required scope") from error
        except TokenRejected as error:
            raise _refused(401, "invalid_token", error.code) from error
        except KeySetError as error:
            raise HTTPException(503, error.code) from error


def _refused(status: int, error: str | None, reason: str) -> HTTPException:
    return HTTPException(status, reason, headers={"WWW-Authenticate": challenge(error)})
