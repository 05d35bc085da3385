"""The examples for Flask, Django and Django REST framework, in the framework."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings
from django.urls import path
from werkzeug.test import Client

from jeton.testing import TestIssuer

EXAMPLES = Path(__file__).parents[1] / "examples"

# Django has one configuration in a process.
settings.configure(ALLOWED_HOSTS=["localhost"], REST_FRAMEWORK={"UNAUTHENTICATED_USER": None})
django.setup()


def flask(verifier: Any) -> Any:
    return runpy.run_path(str(EXAMPLES / "flask_app.py"))["make_app"](verifier)


def django_urls(urls: Any) -> Any:
    handler = WSGIHandler()

    def app(environ: Any, start_response: Any) -> Any:
        with override_settings(ROOT_URLCONF=urls):
            return handler(environ, start_response)

    return app


def django_views(verifier: Any) -> Any:
    return django_urls(runpy.run_path(str(EXAMPLES / "django_app.py"))["make_urls"](verifier))


def rest_framework(verifier: Any) -> Any:
    from rest_framework.renderers import JSONRenderer
    from rest_framework.response import Response
    from rest_framework.views import APIView

    names = runpy.run_path(str(EXAMPLES / "rest_framework_app.py"))

    class Me(APIView):
        authentication_classes = [type("Bearer", (names["Bearer"],), {"verifier": verifier})]
        permission_classes = [names["HasScopes"]]
        renderer_classes = [JSONRenderer]
        scopes: list[str] = []

        def get(self, request: Any) -> Response:
            return Response(request.user)

    return django_urls((path("me", Me.as_view()), path("write", Me.as_view(scopes=["write"]))))


@pytest.mark.parametrize("make", [flask, django_views, rest_framework])
def test_service_accepts_and_refuses_requests(make: Callable[[Any], Any]) -> None:
    test, other = TestIssuer(), TestIssuer()
    client = Client(make(test.verifier(test.remote_key_set(), required=["sub"])))

    def get(path: str, authorization: str | None) -> tuple[int, str | None]:
        headers = {} if authorization is None else {"Authorization": authorization}
        answer = client.get(path, headers=headers)
        if answer.status_code == 200:
            assert json.loads(answer.text) == "user-7"
        return answer.status_code, answer.headers.get("WWW-Authenticate")

    def bearer(token: str) -> str:
        return f"Bearer {token}"

    token = test.issue({"sub": "user-7", "scope": "read write"})
    assert get("/me", bearer(token)) == get("/write", f"bearer {token}") == (200, None)
    assert get("/me", None) == get("/me", "Basic YTpi") == (401, "Bearer")
    for bad in ("", "a.b.c", test.issue({"sub": "a"}, key=other.key), test.issue({}), f"{token} {token}", "\xff"):
        assert get("/me", bearer(bad)) == (401, 'Bearer error="invalid_token"')
    assert get("/write", bearer(test.issue({"sub": "a"}))) == (403, 'Bearer error="insufficient_scope"')
    # A key that the service does not know yet is fetched; the old key stays valid.
    requests = test.requests
    test.rotate()
    test.clock.advance(60)
    assert get("/me", bearer(test.issue({"sub": "user-7"}))) == get("/me", bearer(token)) == (200, None)
    assert test.requests > requests


@pytest.mark.parametrize("make", [flask, django_views, rest_framework])
def test_keys_that_cannot_be_fetched_are_503(make: Callable[[Any], Any]) -> None:
    test = TestIssuer()
    test.is_down = True
    client = Client(make(test.verifier(test.remote_key_set())))
    answer = client.get("/me", headers={"Authorization": f"Bearer {test.issue({'sub': 'a'})}"})
    assert (answer.status_code, "WWW-Authenticate" in answer.headers) == (503, False)


@pytest.mark.parametrize("name", ["flask_app.py", "django_app.py", "rest_framework_app.py"])
def test_example_has_at_most_40_lines(name: str) -> None:
    assert len((EXAMPLES / name).read_text().splitlines()) <= 40
