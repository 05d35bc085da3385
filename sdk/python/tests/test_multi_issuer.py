"""A verifier for several issuers, and tokens that are read without being verified."""

import asyncio
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


class Two:
    """Two issuers with remote keys, and a verifier for both."""

    def __init__(self, **settings: Any) -> None:
        self.a = TestIssuer("https://a.example", audience="api")
        self.b = TestIssuer("https://b.example", audience="api", alg="EdDSA")
        # The clocks of both are equal.
        self.b.clock.set(self.a.clock.now())
        self.verifier = jeton.MultiIssuerVerifier(
            [
                ("https://a.example", self.a.remote_key_set(), {"audience": "api"}),
                ("https://b.example", self.b.remote_key_set(), {"audience": "api", "required": ["sub"], **settings}),
            ],
            clock=self.a.clock,
        )


def test_issuer_selects_keys_and_policy() -> None:
    two = Two()
    assert two.verifier.verify(two.a.issue({"page": "/"}))["page"] == "/"
    assert two.verifier.verify(two.b.issue({"sub": "user-7"}), type=User) == User("user-7")
    assert '"user-7"' in two.verifier.verify_json(two.b.issue({"sub": "user-7"}).encode())
    assert two.verifier.verify_complete(two.b.issue({"sub": "user-7"})).issuer == "https://b.example"
    verified = asyncio.run(two.verifier.verify_async(two.b.issue({"sub": "user-7"}), type=User))
    assert verified.sub == "user-7"
    # Each policy is for its issuer only.
    with pytest.raises(jeton.TokenInvalidClaims):
        two.verifier.verify(two.b.issue({}))


def test_keys_are_fetched_for_the_selected_issuer_only() -> None:
    two = Two()
    two.verifier.verify(two.a.issue({}))
    assert (two.a.requests > 0, two.b.requests) == (True, 0)
    two.b.is_down = True
    for _ in range(3):
        with pytest.raises(jeton.KeySetError):
            two.verifier.verify(two.b.issue({"sub": "user-7"}))
        two.verifier.verify(two.a.issue({}))


def test_issuer_cannot_sign_for_another() -> None:
    two = Two()
    for token in (two.a.issue({"sub": "a"}, iss="https://b.example"), two.b.issue({}, iss="https://a.example")):
        with pytest.raises(jeton.TokenRejected):
            two.verifier.verify(token)
    # Also if both have the same algorithm and key id.
    other = TestIssuer("https://c.example", audience="api")
    with pytest.raises(jeton.TokenInvalidSignature):
        two.verifier.verify(other.issue({}, iss="https://a.example"))


REJECTED: list[tuple[dict[str, Any], type[jeton.TokenRejected]]] = [
    ({"iss": "https://c.example"}, jeton.TokenIssuerMismatch),
    ({"iss": "https://a.example/"}, jeton.TokenIssuerMismatch),
    ({"iss": "https://A.example"}, jeton.TokenIssuerMismatch),
    ({"iss": ""}, jeton.TokenIssuerMismatch),
    ({"iss": None}, jeton.TokenInvalidClaims),
]


@pytest.mark.parametrize(("changed", "kind"), REJECTED, ids=str)
def test_unknown_issuer_causes_no_request(changed: dict[str, Any], kind: type[jeton.TokenRejected]) -> None:
    two = Two()
    token = two.a.issue({"sub": "user-7"}, **changed)
    for verify in (
        two.verifier.verify,
        two.verifier.verify_json,
        two.verifier.verify_complete,
        lambda token: asyncio.run(two.verifier.verify_async(token)),
    ):
        with pytest.raises(kind) as raised:
            verify(token)
        assert "example" not in str(raised.value)
    assert (two.a.requests, two.b.requests) == (0, 0)


def test_other_tokens_are_rejected() -> None:
    two = Two()
    local, public = jeton.Key.generate("v4.local"), jeton.Key.generate("v4.public")
    content = jeton.Key.generate("dir", enc="A256GCM")
    settings: dict[str, Any] = {"issuer": "https://a.example", "audience": "api", "lifetime": 60}
    for key in (local, public, content):
        with pytest.raises(jeton.TokenMalformed):
            two.verifier.verify(jeton.Issuer(key, **settings).issue({}))
    for token in ("", "a.b.c", "e30.e30.", "." * 1000, b"\xff"):
        with pytest.raises(jeton.TokenRejected):
            two.verifier.verify(token)
    assert (two.a.requests, two.b.requests) == (0, 0)


def test_claims_without_a_form_in_python_are_read_as_text() -> None:
    two = Two()
    digits = "1" * 5000
    token = jeton.Issuer(two.a.key, clock=two.a.clock, issuer="https://a.example", audience="api", lifetime=60)
    text = two.verifier.verify_json(token.issue_json(f'{{"n":{digits}}}'))
    assert digits in text


def test_rotation_of_one_issuer() -> None:
    two = Two()
    two.verifier.verify(two.a.issue({}))
    two.a.rotate()
    two.a.clock.advance(60)
    assert two.verifier.verify(two.a.issue({}))


def test_wrong_entries_are_errors() -> None:
    key = jeton.Key.generate("ES256").public_key()
    policy = {"audience": "api"}
    good: Any = ("https://a.example", key, policy)
    wrong: list[tuple[Any, str, str]] = [
        ([], "INVALID_OPTION", "at least one"),
        ([good, good], "ISSUER_TWICE", r"issuers\[1\]"),
        ([("https://a.example", key, {})], "INVALID_OPTION", r"issuers\[0\]: option `audience`"),
        ([good, ("b", jeton.Key.generate("v4.public"), policy)], "INVALID_OPTION", r"issuers\[1\]: a PASETO key"),
        *(
            ([("https://a.example", key, {**policy, name: True})], "INVALID_OPTION", f"option `{name}`")
            for name in ("issuer", "any_issuer", "shared_keys", "decryption", "format", "clock")
        ),
    ]
    for entries, code, why in wrong:
        with pytest.raises(jeton.InvalidUse, match=why) as raised:
            jeton.MultiIssuerVerifier(entries)
        assert raised.value.code == code
    types: list[Any] = [None, [None], [key], [("a", key)], [(["a", "b"], key, policy)], [("a", "key", policy)]]
    types += [[("a", key, {**policy, "audiance": "x"})]]
    for entries in types:
        with pytest.raises(TypeError):
            jeton.MultiIssuerVerifier(entries)


def test_closed_verifier_is_an_error() -> None:
    two = Two()
    with two.verifier as verifier:
        assert not verifier.closed
    assert verifier.closed and repr(verifier) == "<jeton.MultiIssuerVerifier closed>"
    with pytest.raises(jeton.InvalidUse):
        verifier.verify(two.a.issue({}))


async def state(request: Request) -> JSONResponse:
    return JSONResponse(request.state.claims["sub"])


def test_middleware_with_several_issuers() -> None:
    two = Two()
    app = FastAPI()
    bearer = Bearer(two.verifier, type=User)

    @app.get("/me")
    def me(user: Annotated[User, Depends(bearer)]) -> str:
        return user.sub

    other = Starlette(routes=[Route("/me", state)])
    other.add_middleware(BearerMiddleware, verifier=two.verifier)
    for client in (TestClient(app), TestClient(other)):
        for token, status in (
            (two.a.issue({"sub": "user-7"}), 200),
            (two.b.issue({"sub": "user-7"}), 200),
            (two.a.issue({"sub": "user-7"}, iss="https://c.example"), 401),
        ):
            assert client.get("/me", headers={"Authorization": f"Bearer {token}"}).status_code == status


def test_several_issuers_share_keys_only_by_name() -> None:
    key = jeton.Key.generate("ES256")
    names: dict[str, Any] = {"issuer": ["https://a.example", "https://b.example"], "audience": "api"}
    with pytest.raises(jeton.InvalidUse, match="MultiIssuerVerifier"):
        jeton.Verifier(key.public_key(), **names)
    verifier = jeton.Verifier(key.public_key(), shared_keys=True, **names)
    for name in names["issuer"]:
        assert verifier.verify(jeton.Issuer(key, issuer=name, audience="api", lifetime=60).issue({}))


def test_token_is_read_without_being_verified() -> None:
    key = jeton.Key.generate("ES256", kid="k1")
    token = jeton.Issuer(key, issuer="i", lifetime=60).issue({"sub": "user-7"})
    forged = token[:-8] + "AAAAAAAA"
    for one in (forged, forged.encode()):
        read = jeton.read_unverified(one)
        assert read.header == {"alg": "ES256", "kid": "k1", "typ": "JWT"} and read.footer is None
        assert read.claims is not None and read.claims["sub"] == "user-7"
    assert not isinstance(read, jeton.Verified) and "user-7" not in repr(read)


def test_encrypted_claims_and_footers_are_read() -> None:
    encrypted = jeton.Issuer(jeton.Key.generate("dir", enc="A256GCM"), lifetime=60).issue({})
    read = jeton.read_unverified(encrypted)
    assert read.claims is None and read.header is not None and read.header["enc"] == "A256GCM"
    for alg in ("v4.public", "v4.local", "v3.public"):
        read = jeton.read_unverified(jeton.Issuer(jeton.Key.generate(alg), lifetime=60, footer="f").issue({"n": 1}))
        assert (read.header, read.footer) == (None, b"f")
        assert (read.claims is None) is (alg == "v4.local")
    assert jeton.read_unverified(jeton.Issuer(jeton.Key.generate("v4.public"), lifetime=60).issue({})).footer is None


def test_malformed_token_is_not_read() -> None:
    many = jeton.Issuer(jeton.Key.generate("ES256"), lifetime=60).issue_json('{"n":' + "1" * 5000 + "}")
    for token in ("", "a.b.c", "e30.e30", "." * 100, b"\xff", many):
        with pytest.raises(jeton.TokenRejected):
            jeton.read_unverified(token)
    for wrong in (None, 5):
        with pytest.raises(TypeError):
            jeton.read_unverified(wrong)  # type: ignore[arg-type]
