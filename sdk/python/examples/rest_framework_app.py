"""Authentication and scopes for Django REST framework. A subclass of `Bearer` sets the verifier of your issuer."""

from typing import Any

from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request

import jeton
from jeton.starlette import has_scopes


class Refused(exceptions.APIException):
    def __init__(self, status: int, code: str, auth_header: str | None = None) -> None:
        super().__init__(code)
        self.status_code, self.auth_header = status, auth_header


class Bearer(authentication.BaseAuthentication):
    verifier: jeton.Verifier

    def authenticate(self, request: Request) -> tuple[Any, dict[str, Any]] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            claims = self.verifier.verify(token) if scheme.lower() == "bearer" else None
        except jeton.TokenRejected as error:
            raise exceptions.AuthenticationFailed(error.code) from error
        except jeton.KeySetError as error:
            raise Refused(503, error.code) from error
        return None if claims is None else (claims["sub"], claims)

    def authenticate_header(self, request: Request) -> str:
        has_token = request.headers.get("Authorization", "").lower().startswith("bearer ")
        return 'Bearer error="invalid_token"' if has_token else "Bearer"


class HasScopes(permissions.BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is not None and not has_scopes(request.auth, view.scopes):
            raise Refused(403, "insufficient_scope", 'Bearer error="insufficient_scope"')
        return request.auth is not None
