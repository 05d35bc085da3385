"""Typed claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest
from typing_extensions import NotRequired

import jeton

KEY = jeton.Key.generate("HS256")
ISSUER = jeton.Issuer(KEY, issuer="i", audience="a", lifetime=60)
VERIFIER = jeton.Verifier(KEY, issuer="i", audience="a")


@dataclass
class Address:
    city: str
    zip: Optional[str] = None


@dataclass(frozen=True)
class User:
    sub: str
    admin: bool
    level: int
    score: float
    exp: datetime
    roles: list[str] = field(default_factory=list)
    address: Address | None = None
    kind: Literal["person", "robot"] = "person"
    extra: dict[str, Any] = field(default_factory=dict)
    either: Union[int, str] = 0


GOOD: dict[str, Any] = {"sub": "user-7", "admin": True, "level": 3, "score": 1.5}


def test_dataclass_is_made() -> None:
    claims = {**GOOD, "roles": ["a"], "address": {"city": "Ulm"}, "kind": "robot", "extra": {"x": [1]}, "either": "b"}
    token = ISSUER.issue(claims)
    user = VERIFIER.verify(token, type=User)
    assert user.address == Address("Ulm") and user.roles == ["a"] and user.exp.tzinfo is timezone.utc
    assert (user.kind, user.extra, user.either) == ("robot", {"x": [1]}, "b")
    verified = VERIFIER.verify_complete(token, type=User)
    assert isinstance(verified.claims, User) and verified.expires_at == user.exp


def test_whole_number_is_a_float_of_the_same_value() -> None:
    assert VERIFIER.verify(ISSUER.issue({**GOOD, "score": 2}), type=User).score == 2.0
    with pytest.raises(jeton.TokenClaimsShape):
        VERIFIER.verify(ISSUER.issue({**GOOD, "score": 2**53 + 1}), type=User)


@pytest.mark.parametrize(
    "changed",
    [
        {"admin": 1},
        {"admin": "true"},
        {"admin": None},
        {"level": "3"},
        {"level": 3.0},
        {"level": True},
        {"score": "1.5"},
        {"sub": 7},
        {"roles": "a"},
        {"roles": [1]},
        {"address": {"CITY": "Ulm"}},
        {"address": []},
        {"kind": "Person"},
        {"either": 1.5},
        {"either": None},
    ],
    ids=str,
)
def test_nothing_is_coerced(changed: dict[str, Any]) -> None:
    with pytest.raises(jeton.JetonError) as raised:
        VERIFIER.verify(ISSUER.issue({**GOOD, **changed}), type=User)
    assert raised.value.code in ("TOKEN_CLAIMS_SHAPE", "CLAIM_TYPE")
    assert "Ulm" not in str(raised.value)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sub": "Ulm", "level": "3"}, "`User`: `level` must be int, not str"),
        ({"admin": None}, "`User`: `admin` must be bool, not None"),
        ({"score": 2**53 + 1}, "`User`: `score` is an integer that float cannot represent"),
        ({"roles": ["a", 1]}, "`User`: `roles.*` must be str, not int"),
        ({"address": {"zip": "1"}}, "`User`: `address` must be "),
        ({"kind": "Ulm"}, "`User`: `kind` must be one of 'person', 'robot'"),
        ({"either": 1.5}, "`User`: `either` must be Union[int, str], not float"),
    ],
    ids=str,
)
def test_mismatch_names_the_member_and_both_types(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue({**GOOD, **changed}), type=User)
    assert why in str(raised.value) and "Ulm" not in str(raised.value)


def test_missing_member_is_named() -> None:
    with pytest.raises(jeton.TokenClaimsShape, match="`Visit`: `page` is missing"):
        VERIFIER.verify(ISSUER.issue({}), type=Visit)
    with pytest.raises(jeton.TokenClaimsShape, match="`Outer`: `address.city` is missing"):
        VERIFIER.verify(ISSUER.issue({"address": {}}), type=Outer)
    with pytest.raises(jeton.TokenClaimsShape, match="`Model`: `level` is not valid: missing"):
        VERIFIER.verify(ISSUER.issue({"sub": "user-7"}), type=Model)


@dataclass
class Outer:
    address: Address


@pytest.mark.parametrize("name", ["Admin", "ADMIN", "admin ", "adm\u0131n"])
def test_names_match_exactly(name: str) -> None:
    claims = {key: value for key, value in GOOD.items() if key != "admin"}
    with pytest.raises(jeton.TokenClaimsShape):
        VERIFIER.verify(ISSUER.issue({**claims, name: True}), type=User)


class Visit(TypedDict):
    page: str
    referrer: NotRequired[str]


def test_typed_dict_has_its_members_only() -> None:
    visit = VERIFIER.verify(ISSUER.issue({"page": "/", "other": 1}), type=Visit)
    assert visit == {"page": "/"}
    for bad in ({}, {"page": 1}, {"page": "/", "referrer": None}):
        with pytest.raises(jeton.TokenClaimsShape):
            VERIFIER.verify(ISSUER.issue(bad), type=Visit)


class Model(pydantic.BaseModel):
    sub: str
    level: int = pydantic.Field(ge=0)
    at: datetime | None = None


def test_model_of_pydantic() -> None:
    model = VERIFIER.verify(ISSUER.issue(Model(sub="user-7", level=2**70)), type=Model)
    assert (model.sub, model.level) == ("user-7", 2**70)
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue({"sub": "secret-claim", "level": -1}), type=Model)
    assert "secret-claim" not in str(raised.value) and raised.value.__cause__ is None


class Strict(pydantic.BaseModel):
    n: int = 0
    admin: bool = False
    score: float = 0.0
    name: str = ""
    at: datetime | None = None
    inner: "Strict | None" = None
    items: "list[Strict]" = []


@dataclass
class WithModel:
    m: Strict
    many: list[Strict] = field(default_factory=list)


NOT_STRICT: list[dict[str, Any]] = [
    {"n": "5"}, {"n": True}, {"n": 5.0}, {"n": None}, {"admin": "yes"}, {"admin": 1}, {"admin": "true"}, {"score": "1.5"},
    {"name": 5}, {"at": 5}, {"inner": {"n": "5"}}, {"items": [{"admin": "on"}]}, {"items": {}},
]  # fmt: skip


@pytest.mark.parametrize("claims", NOT_STRICT, ids=str)
def test_model_of_pydantic_coerces_nothing(claims: dict[str, Any]) -> None:
    for kind, text in (
        (Strict, claims),
        (WithModel, {"m": claims}),
        (WithModel, {"m": {}, "many": [claims]}),
    ):
        with pytest.raises(jeton.TokenClaimsShape):
            VERIFIER.verify(ISSUER.issue(text), type=kind)


def test_model_of_pydantic_keeps_values() -> None:
    claims = {"n": 2**70, "admin": True, "score": 2, "name": "é\u2028", "at": "2100-01-01T00:00:00Z", "items": [{"n": 1}]}
    for model in (
        VERIFIER.verify(ISSUER.issue(claims), type=Strict),
        VERIFIER.verify(ISSUER.issue({"m": claims}), type=WithModel).m,
    ):
        assert (model.n, model.admin, model.score, model.name) == (2**70, True, 2.0, "é\u2028")
        assert model.at == datetime(2100, 1, 1, tzinfo=timezone.utc) and model.items[0].n == 1


def test_dataclass_is_issued() -> None:
    user = User("user-7", False, 1, 0.5, datetime(2100, 1, 1, tzinfo=timezone.utc), address=Address("Ulm"))
    issuer = jeton.Issuer(KEY, issuer="i", audience="a")
    token = issuer.issue(user)
    assert VERIFIER.verify(token, type=User) == user
    assert "zip" not in VERIFIER.verify(token)["address"]


def test_dict_and_other_types() -> None:
    token = ISSUER.issue({"page": "/"})
    assert VERIFIER.verify(token, type=dict)["page"] == "/"
    assert VERIFIER.verify(token, type=dict[str, Any])["page"] == "/"
    for kind in (int, 5, set[int], print, dict[int, str], complex):
        with pytest.raises((TypeError, jeton.TokenClaimsShape)):
            VERIFIER.verify(token, type=kind)  # type: ignore[arg-type]


@dataclass
class Checked:
    page: str

    def __post_init__(self) -> None:
        if not self.page.startswith("/"):
            raise ValueError("the page of a secret")


def test_check_of_a_dataclass_rejects_the_token() -> None:
    assert VERIFIER.verify(ISSUER.issue({"page": "/"}), type=Checked).page == "/"
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue({"page": "x"}), type=Checked)
    assert "secret" not in str(raised.value)


def test_times_of_a_paseto() -> None:
    key = jeton.Key.generate("v4.local")
    moment = datetime(2100, 1, 1, tzinfo=timezone.utc)
    issuer = jeton.Issuer(key, issuer="i", audience="a")
    user = User("user-7", True, 1, 0.5, moment)
    token = issuer.issue(user)
    verifier = jeton.Verifier(key, issuer="i", audience="a")
    assert verifier.verify(token)["exp"].startswith("2100-01-01T00:00:00")
    assert verifier.verify(token, type=User).exp == moment
    assert verifier.verify_complete(token).expires_at == moment
