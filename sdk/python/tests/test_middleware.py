"""The dependency for FastAPI and the middleware for ASGI."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import jeton
from jeton.fastapi import Bearer
from jeton.starlette import BearerMiddleware
from jeton.testing import TestIssuer


@dataclass
class User:
    sub: str


def fastapi_app(test: TestIssuer) -> FastAPI:
    app = FastAPI()
    keys = test.remote_key_set()
    bearer = Bearer(test.verifier(keys), type=User)
    writer = Bearer(test.verifier(keys), scopes=["write"])

    @app.get("/me")
    def me(user: Annotated[User, Depends(bearer)]) -> str:
        return user.sub

    @app.get("/write")
    async def write(claims: Annotated[dict[str, Any], Depends(writer)]) -> str:
        return str(claims["sub"])

    return app


async def state(request: Request) -> JSONResponse:
    claims = request.state.claims
    return JSONResponse(claims["sub"] if isinstance(claims, dict) else claims)


async def state_of_a_user(request: Request) -> JSONResponse:
    return JSONResponse(request.state.claims.sub)


async def health(request: Request) -> JSONResponse:
    return JSONResponse("ok")


def starlette_app(test: TestIssuer) -> Starlette:
    app = Starlette(routes=[Route("/me", state), Route("/health", health), Route("/write", state)])
    app.add_middleware(BearerMiddleware, verifier=test.verifier(test.remote_key_set()), except_paths=["/health"])
    return app


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
def test_request_with_a_token_passes(make: Any) -> None:
    test = TestIssuer()
    client = TestClient(make(test))
    token = test.issue({"sub": "user-7", "scope": "read write"})
    for scheme in ("Bearer", "bearer", "BEARER"):
        answer = client.get("/me", headers={"Authorization": f"{scheme} {token}"})
        assert (answer.status_code, answer.json()) == (200, "user-7")
    assert client.get("/write", headers={"Authorization": f"Bearer {token}"}).json() == "user-7"


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
def test_request_without_a_valid_token_is_refused(make: Any) -> None:
    test, other = TestIssuer(), TestIssuer()
    client = TestClient(make(test))
    bare: list[Any] = [{}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer  "}]
    for headers in bare:
        answer = client.get("/me", headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    bad = [test.issue(expires_in=-60), test.issue(key=other.key), test.issue(aud="b"), "a.b.c"]
    for token in bad:
        answer = client.get("/me", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401 and 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert token not in answer.text
    answer = client.get("/me", headers=[(b"Authorization", b"Bearer \xff\xfe")])
    assert answer.status_code == 401
    good = test.issue({"sub": "a"}).encode()
    twice = [(b"Authorization", b"Bearer " + good), (b"Authorization", b"Bearer " + good)]
    assert client.get("/me", headers=twice).status_code == 401


def test_missing_scope_is_forbidden() -> None:
    test = TestIssuer()
    client = TestClient(fastapi_app(test))
    for scope in ("read", "", "writer", None, ["write"]):
        token = test.issue({"sub": "a", "scope": scope})
        answer = client.get("/write", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (403, 'Bearer error="insufficient_scope"')


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
def test_keys_that_cannot_be_fetched_are_503(make: Any) -> None:
    test = TestIssuer()
    test.is_down = True
    answer = TestClient(make(test)).get("/me", headers={"Authorization": f"Bearer {test.issue({'sub': 'a'})}"})
    assert answer.status_code == 503


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
def test_old_and_new_tokens_are_accepted_after_a_rotation(make: Any) -> None:
    test, other = TestIssuer(), TestIssuer()
    client = TestClient(make(test))

    def status(token: str) -> int:
        answer = client.get("/me", headers={"Authorization": f"Bearer {token}"})
        return int(answer.status_code)

    old = test.issue({"sub": "user-7"})
    assert status(old) == 200
    test.rotate()
    assert status(test.issue({"sub": "user-7"})) == status(old) == 200
    assert status(test.issue(expires_in=-60)) == status(test.issue(key=other.key)) == 401
    # The keys that are known stay usable.
    test.is_down = True
    assert status(test.issue({"sub": "user-7"})) == 200


UNUSABLE: list[Any] = [
    b"<!DOCTYPE html><html><body>Sign in</body></html>", b"{}", b'{"keys":[]}', b'{"keys":[{}]}', b"", b"[]", b"\xff",
    b'{"keys":[{"kty":"oct","k":"YQ"}]}', b'{"keys":"' + b"x" * (1 << 20) + b'"}', 404, 500, 302, 304, OSError("no route"),
    RuntimeError("a client may raise any exception"),
]  # fmt: skip


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
@pytest.mark.parametrize("place", ["set", "document"])
@pytest.mark.parametrize("response", UNUSABLE, ids=lambda response: str(response)[:20])
def test_unusable_key_set_is_503(make: Any, place: str, response: Any) -> None:
    """The token may be valid, and the service itself has not failed."""

    class Broken(TestIssuer):
        def fetch(self, request: jeton.FetchRequest) -> jeton.FetchResponse:
            if (request.url == self.jwks_url) is not (place == "set"):
                return super().fetch(request)
            if isinstance(response, Exception):
                raise response
            if isinstance(response, int):
                return jeton.FetchResponse(response)
            return jeton.FetchResponse(200, {}, response)

    test = Broken()
    answer = TestClient(make(test)).get("/me", headers={"Authorization": f"Bearer {test.issue({'sub': 'a'})}"})
    assert (answer.status_code, "www-authenticate" in answer.headers) == (503, False)


@pytest.mark.parametrize("make", [fastapi_app, starlette_app])
@pytest.mark.parametrize("address", ["https://169.254.169.254/", "http://keys.example/", "file:///etc/passwd", 5, None])
def test_published_address_that_is_not_allowed_is_503(make: Any, address: Any) -> None:
    class Broken(TestIssuer):
        def fetch(self, _: jeton.FetchRequest) -> jeton.FetchResponse:
            document = {"issuer": self.issuer, "jwks_uri": address}
            return jeton.FetchResponse(200, {}, json.dumps(document).encode())

    test = Broken()
    answer = TestClient(make(test)).get("/me", headers={"Authorization": f"Bearer {test.issue({'sub': 'a'})}"})
    assert answer.status_code == 503


class Counting(jeton.Verifier):
    __slots__ = ("calls",)
    calls: int

    def verify(self, token: Any, /, type: Any = None) -> Any:
        self.calls += 1
        return super().verify(token, type)


def test_token_is_verified_once() -> None:
    test = TestIssuer()
    verifier = Counting(test.keys, issuer=test.issuer, audience="test", clock=test.clock)
    app = FastAPI()
    bearer = Bearer(verifier, type=User, scopes=["read"])

    @app.get("/me")
    def me(user: Annotated[User, Depends(bearer)]) -> str:
        return user.sub

    other = Starlette(routes=[Route("/me", state_of_a_user)])
    other.add_middleware(BearerMiddleware, verifier=verifier, type=User, scopes=["read"])
    for client in (TestClient(app), TestClient(other)):
        verifier.calls = 0
        good = test.issue({"sub": "user-7", "scope": "read"})
        assert client.get("/me", headers={"Authorization": f"Bearer {good}"}).json() == "user-7"
        assert verifier.calls == 1
        for scope in ("write", None):
            token = test.issue({"sub": "user-7", "scope": scope})
            assert client.get("/me", headers={"Authorization": f"Bearer {token}"}).status_code == 403
        token = test.issue({"scope": "read"})
        assert client.get("/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_path_without_a_token_and_optional_token() -> None:
    test = TestIssuer()
    assert TestClient(starlette_app(test)).get("/health").json() == "ok"
    app = Starlette(routes=[Route("/me", state)])
    app.add_middleware(BearerMiddleware, verifier=test.verifier(), optional=True)
    assert TestClient(app).get("/me").json() is None
    assert TestClient(app).get("/me", headers={"Authorization": "Bearer x"}).status_code == 401


@pytest.mark.parametrize(
    "values",
    [["Bearer"], ["Bearer  "], ["Bearer a b"], ["Basic YTpi"], [""], ["{token}", "{token}"], ["{token}", "Basic YTpi"]],
    ids=str,
)  # fmt: skip
def test_malformed_header_is_refused_where_a_token_is_optional(values: list[str]) -> None:
    test = TestIssuer()
    app = Starlette(routes=[Route("/me", state)])
    app.add_middleware(BearerMiddleware, verifier=test.verifier(), optional=True)
    token = f"Bearer {test.issue({'sub': 'user-7'})}"
    headers = [(b"Authorization", value.replace("{token}", token).encode()) for value in values]
    answer = TestClient(app).get("/me", headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


def test_str_is_not_a_collection_of_letters() -> None:
    test = TestIssuer()
    app = Starlette(routes=[Route("/", health), Route("/health", health)])
    app.add_middleware(BearerMiddleware, verifier=test.verifier(), except_paths="/health", scopes="read write")
    client = TestClient(app)
    assert (client.get("/health").status_code, client.get("/").status_code) == (200, 401)
    writer = FastAPI()
    bearer = Bearer(test.verifier(), scopes="read write")

    @writer.get("/")
    def root(_: Annotated[dict[str, Any], Depends(bearer)]) -> str:
        return "ok"

    for one in (client, TestClient(writer)):
        for scope, status in (("read write", 200), ("read", 403), ("r e a d", 403)):
            token = test.issue({"scope": scope})
            assert one.get("/", headers={"Authorization": f"Bearer {token}"}).status_code == status


def test_bearer_is_in_the_openapi_document() -> None:
    document = TestClient(fastapi_app(TestIssuer())).get("/openapi.json").json()
    schemes = document["components"]["securitySchemes"]
    assert schemes["jeton"] == {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


def test_claims_have_the_requested_type() -> None:
    test = TestIssuer()
    client = TestClient(fastapi_app(test))
    answer = client.get("/me", headers={"Authorization": f"Bearer {test.issue({'sub': 'a', 'x': 1})}"})
    assert answer.json() == "a"
    answer = client.get("/me", headers={"Authorization": f"Bearer {test.issue({})}"})
    assert answer.status_code == 401


def test_verifier_of_the_test_issuer() -> None:
    test = TestIssuer(alg="EdDSA")
    assert test.verifier().verify(test.issue({"a": 1}))["a"] == 1
    with pytest.raises(jeton.TokenIssuerMismatch):
        test.verifier().verify(test.issue(iss="https://other.test"))
    assert test.verifier(without_expiry=True).verify(test.issue(exp=None))
