"""Views of a Django service that accepts tokens from one issuer."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path

import jeton
from jeton.starlette import has_scopes

View = Callable[[HttpRequest, dict[str, Any]], HttpResponse]


def make_urls(verifier: jeton.Verifier) -> tuple[URLPattern, ...]:
    """Returns `urlpatterns`. In production, the verifier has a `RemoteKeySet` of the issuer."""
    return path("me", with_token(me, verifier)), path("write", with_token(me, verifier, "write"))


def me(_: HttpRequest, claims: dict[str, Any]) -> HttpResponse:
    return JsonResponse(claims["sub"], safe=False)


def with_token(view: View, verifier: jeton.Verifier, *scopes: str) -> Callable[[HttpRequest], HttpResponse]:
    def checked(request: HttpRequest) -> HttpResponse:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
        try:
            claims = verifier.verify(token)
        except jeton.TokenRejected:
            return HttpResponse(status=401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
        except jeton.KeySetError:
            return HttpResponse(status=503)
        if not has_scopes(claims, scopes):
            return HttpResponse(status=403, headers={"WWW-Authenticate": 'Bearer error="insufficient_scope"'})
        return view(request, claims)

    return checked
