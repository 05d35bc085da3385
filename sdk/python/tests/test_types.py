"""Typed claims."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal, Optional, TypedDict, Union
from uuid import UUID

import pydantic
import pytest
from starlette.applications import Starlette
from typing_extensions import NotRequired

import jeton
from jeton.fastapi import Bearer
from jeton.starlette import BearerMiddleware

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
        ({"address": {"zip": "1"}}, "`User`: `address.city` is missing"),
        ({"address": {"city": "Ulm", "zip": 1}}, "`User`: `address.zip` must be str, not int"),
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
    either: Any = Union[Address, Checked]
    assert VERIFIER.verify(token, type=either) == Checked("/")
    for kind in (5, set[int], print, complex, Union[Address, int]):
        with pytest.raises(TypeError):
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


class Plan(Enum):
    FREE = "free"
    PAID = "paid"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Order:
    id: UUID
    price: Decimal
    plan: Plan
    at: datetime
    level: Level = Level.LOW
    lines: list[Order] = field(default_factory=list)


ORDER = Order(
    UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    Decimal("12345678901234567890.10"),
    Plan.PAID,
    datetime(2100, 1, 1, tzinfo=timezone.utc),
    Level.HIGH,
)
ORDER_CLAIMS: dict[str, Any] = {
    "id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "price": "12345678901234567890.10",
    "plan": "paid",
    "at": 4102444800,
    "level": 2,
    "lines": [],
}


def test_types_that_json_lacks_are_issued_and_verified() -> None:
    order = replace(ORDER, lines=[ORDER])
    token = ISSUER.issue(order)
    claims = VERIFIER.verify(token)
    assert {name: claims[name] for name in ORDER_CLAIMS} == {**ORDER_CLAIMS, "lines": [ORDER_CLAIMS]}
    assert VERIFIER.verify(token, type=Order) == order


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ({"price": 3}, Decimal(3)),
        ({"price": "-0.50"}, Decimal("-0.50")),
        ({"id": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}, ORDER.id),
        ({"at": "2100-01-01T01:00:00+01:00"}, ORDER.at),
        ({"at": 4102444800.5}, ORDER.at + timedelta(milliseconds=500)),
    ],
    ids=str,
)
def test_other_forms_of_a_value_are_accepted(changed: dict[str, Any], value: Any) -> None:
    order = VERIFIER.verify(ISSUER.issue({**ORDER_CLAIMS, **changed}), type=Order)
    assert [getattr(order, name) for name in changed] == [value]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"}, "`id` is not a UUID"),
        ({"id": "6ba7b8109dad11d180b400c04fd430c8"}, "`id` is not a UUID"),
        ({"id": 7}, "`id` must be the text of a UUID, not int"),
        ({"price": 0.1}, "`price` must be a decimal number in text, or int, not float"),
        ({"price": "NaN"}, "`price` is not a decimal number"),
        ({"price": "1e400"}, "`price` is not a decimal number"),
        ({"price": "\u0661"}, "`price` is not a decimal number"),
        ({"price": "1\n"}, "`price` is not a decimal number"),
        ({"price": True}, "`price` must be a decimal number in text, or int, not bool"),
        ({"plan": "PAID"}, "`plan` must be one of 'free', 'paid'"),
        ({"level": True}, "`level` must be one of 1, 2"),
        ({"level": "2"}, "`level` must be one of 1, 2"),
        ({"at": "2100-01-01T00:00:00"}, "`at` is not a time"),
        ({"at": 1e300}, "`at` is not a time"),
        ({"lines": [{**ORDER_CLAIMS, "plan": 1}]}, "`lines.*.plan` must be one of 'free', 'paid'"),
    ],
    ids=str,
)
def test_other_values_are_rejected(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue({**ORDER_CLAIMS, **changed}), type=Order)
    assert f"`Order`: {why}" in str(raised.value)


class Forbids(pydantic.BaseModel, extra="forbid"):
    page: str
    iat: int
    address: Inside | None = None


class Inside(pydantic.BaseModel, extra="forbid"):
    city: str
    labels: dict[str, int] = {}


class Renames(pydantic.BaseModel, extra="forbid"):
    subject: str = pydantic.Field(alias="sub")
    role: str = pydantic.Field("", validation_alias=pydantic.AliasChoices("role", pydantic.AliasPath("roles", 0)))


def test_registered_claims_are_no_extra_members() -> None:
    claims = {"sub": "user-7", "jti": "t"}
    token = ISSUER.issue({**claims, "page": "/", "address": {"city": "Ulm"}})
    model = VERIFIER.verify(token, type=Forbids)
    assert model.page == "/" and model.iat > 0 and model.address == Inside(city="Ulm")
    renamed = VERIFIER.verify(ISSUER.issue({**claims, "roles": ["admin"]}), type=Renames)
    assert (renamed.subject, renamed.role) == ("user-7", "admin")
    for kind, wrong in (
        (Forbids, {"page": "/", "scope": "all"}),
        (Forbids, {"page": "/", "address": {"city": "Ulm", "sub": "x"}}),
        (Renames, {"sub": "user-7", "subject": "user-8"}),
    ):
        with pytest.raises(jeton.TokenClaimsShape, match="extra_forbidden"):
            VERIFIER.verify(ISSUER.issue(wrong), type=kind)


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"m": {"items": [{"n": 1}, {"n": "secret"}]}}, "`WithModel`: `m.items.*.n` is not valid: int_type"),
        ({"m": {}, "many": [{"inner": {"admin": 1}}]}, "`WithModel`: `many.*.inner.admin` is not valid: bool_type"),
    ],
    ids=str,
)
def test_path_leads_into_a_model(claims: dict[str, Any], why: str) -> None:
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue(claims), type=WithModel)
    assert why in str(raised.value)


def test_path_has_no_name_of_the_token() -> None:
    claims = {"page": "/", "address": {"city": "Ulm", "labels": {"secret-name": "x"}}}
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue(claims), type=Forbids)
    assert str(raised.value).endswith("`Forbids`: `address.labels` is not valid: int_type")


@dataclass
class Period:
    first: int
    last: int

    def __post_init__(self) -> None:
        assert self.first <= self.last, "secret"


@dataclass
class Booking:
    periods: list[Period]


def test_check_of_a_member_has_its_path() -> None:
    assert VERIFIER.verify(ISSUER.issue({"periods": [{"first": 1, "last": 2}]}), type=Booking).periods == [Period(1, 2)]
    with pytest.raises(jeton.TokenClaimsShape) as raised:
        VERIFIER.verify(ISSUER.issue({"periods": [{"first": 2, "last": 1}]}), type=Booking)
    assert str(raised.value).endswith("`Booking`: `periods.*` is rejected by `Period`")


@dataclass
class Inner:
    tags: list[complex]


@dataclass
class HasNoType:
    inner: dict[str, Inner | None] | None = None


@dataclass
class HasUnknownName:
    inner: Missing  # type: ignore[name-defined] # noqa: F821


class Pair(Enum):
    ONE = (1, 2)


class HasPair(TypedDict):
    pair: Pair


NO_TYPES: list[tuple[Any, str]] = [
    (HasNoType, "`HasNoType.inner.tags`: <class 'complex'> is not a type for claims"),
    (HasUnknownName, "`HasUnknownName`: name 'Missing' is not defined"),
    (HasPair, "`HasPair.pair`: the value of Pair.ONE is a tuple"),
    (dict[int, str], "the names of a JSON object are str"),
    (int, "<class 'int'> is not a type for claims"),
    (list[str], "list\\[str\\] is not a type for claims"),
]


@pytest.mark.parametrize(("kind", "why"), NO_TYPES, ids=str)
def test_type_without_conversion_is_an_error_for_every_token(kind: Any, why: str) -> None:
    for token in (ISSUER.issue({}), "not a token"):
        for verify in (VERIFIER.verify, VERIFIER.verify_complete, lambda *both: asyncio.run(VERIFIER.verify_async(*both))):
            with pytest.raises(TypeError, match=why):
                verify(token, kind)
    with pytest.raises(TypeError, match=why):
        Bearer(VERIFIER, type=kind, scopes=["read"])
    with pytest.raises(TypeError, match=why):
        BearerMiddleware(Starlette(), verifier=VERIFIER, type=kind)
