"""Invalid input causes an exception, never a crash."""

import asyncio
import gc
import math
import sys
import threading
from collections import OrderedDict
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest

import jeton

SECRET = "a secret of the tests, for HS256 only"


@pytest.fixture
def key() -> jeton.Key:
    return jeton.Key.from_secret(SECRET, "HS256")


@pytest.fixture
def issuer(key: jeton.Key) -> jeton.Issuer:
    return jeton.Issuer(key, issuer="https://id.example", audience="api", lifetime=60)


@pytest.fixture
def verifier(key: jeton.Key) -> jeton.Verifier:
    return jeton.Verifier(key, issuer="https://id.example", audience="api")


def test_token_as_bytes_str_bytearray_and_memoryview_is_the_same(
    issuer: jeton.Issuer, verifier: jeton.Verifier
) -> None:
    token = issuer.issue({"page": "/"})
    raw = token.encode()
    for form in (token, raw, bytearray(raw), memoryview(raw), memoryview(bytearray(raw))[:]):
        assert verifier.verify(form)["page"] == "/"


@pytest.mark.parametrize("token", [None, 1, 1.5, [], {}, object(), ["a"], ("a", "b")])
def test_token_of_another_type_is_a_type_error(verifier: jeton.Verifier, token: Any) -> None:
    for call in (verifier.verify, verifier.verify_json, verifier.verify_complete, verifier.verify_bytes):
        with pytest.raises(TypeError):
            call(token)


@pytest.mark.parametrize("letter", ["\u0165", "\u0100", "\u0265", "\uff45", "\U00010065", "\x00", "\u200b"])
def test_letter_beyond_ascii_in_a_token_is_rejected(
    issuer: jeton.Issuer, verifier: jeton.Verifier, letter: str
) -> None:
    token = issuer.issue({"page": "/"})
    for at in (0, 1, token.index(".") + 3, len(token) - 1):
        with pytest.raises(jeton.TokenRejected):
            verifier.verify(token[:at] + letter + token[at + 1 :])
    # `e` and U+0165 have the same low byte.
    assert "e" in token
    with pytest.raises(jeton.TokenRejected):
        verifier.verify(token.replace("e", "\u0165"))
    with pytest.raises(jeton.TokenRejected):
        verifier.verify(token.replace("e", "\u0165").encode())


def test_lone_surrogates_are_an_error(issuer: jeton.Issuer) -> None:
    for bad in ("\ud800", "a\udfff", "\ude00\ud83d"):
        with pytest.raises(jeton.InvalidUse, match="UTF-8"):
            issuer.issue({"page": bad})
        with pytest.raises(jeton.InvalidUse, match="UTF-8"):
            issuer.issue({bad: "/"})
        with pytest.raises(jeton.JetonError):
            issuer.issue_json('{"page": "' + bad + '"}')
        with pytest.raises(jeton.JetonError):
            jeton.Key.from_secret(bad * 20, "HS256")
        with pytest.raises(jeton.JetonError):
            jeton.Verifier(jeton.Key.from_secret(SECRET, "HS256"), issuer=bad, audience="api")
        with pytest.raises(jeton.JetonError):
            jeton.Key.generate(bad)


def test_bytes_that_are_not_utf8_are_an_error(issuer: jeton.Issuer) -> None:
    for bad in (b"\xff", b"\xc3", bytes(range(256)), b"\xed\xa0\x80"):
        with pytest.raises(jeton.InvalidUse):
            issuer.issue_json(bad)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_number_that_is_not_finite_is_an_error(issuer: jeton.Issuer, number: float) -> None:
    for claims in ({"n": number}, {"n": [number]}, {"n": {"m": (number,)}}):
        with pytest.raises(jeton.InvalidClaims) as raised:
            issuer.issue(claims)
        assert raised.value.code == "CLAIMS_NOT_SERIALIZABLE"


@pytest.mark.parametrize(
    "number",
    [0, -1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 2**64 + 1, 10**40, -(10**200), 7**1000],
)
def test_integer_of_any_size_keeps_its_value(
    issuer: jeton.Issuer, verifier: jeton.Verifier, number: int
) -> None:
    claims = verifier.verify(issuer.issue({"n": number, "list": [number]}))
    assert claims["n"] == number and claims["list"] == [number]
    assert type(claims["n"]) is int


def test_integer_with_too_many_digits_is_an_error(issuer: jeton.Issuer, verifier: jeton.Verifier, key: jeton.Key) -> None:
    with pytest.raises(jeton.InvalidClaims):
        issuer.issue({"n": 1 << 40_000})
    token = issuer.issue_json('{"n": ' + "7" * 6_000 + "}")
    with pytest.raises(jeton.TokenClaimsShape, match="too many digits for Python: use `verify_json`"):
        verifier.verify(token)
    assert "7" * 6_000 in verifier.verify_json(token)


def test_value_that_json_does_not_have_is_named(issuer: jeton.Issuer) -> None:
    with pytest.raises(jeton.InvalidClaims, match="a value is a set"):
        issuer.issue({"roles": {"a"}})
    with pytest.raises(jeton.InvalidClaims, match="not Decimal"):
        issuer.issue({"exp": Decimal(1)})


@pytest.mark.parametrize("number", [0.1, 1.0, -0.0, 1e22, 5e-324, 1.7976931348623157e308, 1 / 3, 123456789.123456789])
def test_float_keeps_its_value(issuer: jeton.Issuer, verifier: jeton.Verifier, number: float) -> None:
    found = verifier.verify(issuer.issue({"n": number}))["n"]
    assert type(found) is float and found == number and math.copysign(1, found) == math.copysign(1, number)


def test_text_keeps_its_characters(issuer: jeton.Issuer, verifier: jeton.Verifier) -> None:
    texts = ["", '"', "\\", "\n\t\r\b\f\x00\x1f\x7f", "é", "\u2028", "😀", "\ufeff", "a" * 5_000, "\\u0041", "/", "</script>"]
    claims = {"texts": texts, **{f"name {text[:30]}": text for text in texts}}
    found = verifier.verify(issuer.issue(claims))
    assert found["texts"] == texts
    assert all(found[name] == value for name, value in claims.items())


class Level(IntEnum):
    HIGH = 3


class Text(str):
    def __str__(self) -> str:
        raise RuntimeError("not called")

    def __hash__(self) -> int:
        return 1


class Whole(int):
    def __repr__(self) -> str:
        return '0,"admin":true'

    __str__ = __repr__


def test_subclasses_are_treated_as_their_base(issuer: jeton.Issuer, verifier: jeton.Verifier) -> None:
    claims = OrderedDict(level=Level.HIGH, text=Text("a"), big=Whole(10**30), small=Whole(7), pair=(1, 2), none=None)
    found = verifier.verify(issuer.issue(claims))
    assert [found[name] for name in claims] == [3, "a", 10**30, 7, [1, 2], None]
    assert "admin" not in found


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), Decimal("1.5"), 1j, print, datetime(2026, 1, 1)])
def test_value_that_json_does_not_have_is_an_error(issuer: jeton.Issuer, value: Any) -> None:
    for claims in ({"a": value}, {"a": [value]}):
        with pytest.raises(jeton.InvalidClaims) as raised:
            issuer.issue(claims)
        assert raised.value.code == "CLAIMS_NOT_SERIALIZABLE"


@pytest.mark.parametrize("name", [1, None, b"a", 1.5, ("a",)])
def test_name_that_is_not_a_str_is_an_error(issuer: jeton.Issuer, name: Any) -> None:
    for claims in ({name: 1}, {"a": {name: 1}}):
        with pytest.raises(jeton.InvalidClaims):
            issuer.issue(claims)


@pytest.mark.parametrize("claims", [None, 1, "{}", b"{}", [], [("a", 1)], dict, object()])
def test_claims_of_another_type_are_an_error(issuer: jeton.Issuer, claims: Any) -> None:
    with pytest.raises(jeton.InvalidClaims) as raised:
        issuer.issue(claims)
    assert raised.value.code == "CLAIMS_NOT_AN_OBJECT"


def test_circular_claims_are_an_error(issuer: jeton.Issuer) -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    items: list[Any] = []
    items.append(items)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for claims in (circle, {"a": items}, {"a": deep}):
        with pytest.raises(jeton.InvalidClaims) as raised:
            issuer.issue(claims)
        assert raised.value.code == "CLAIMS_TOO_DEEP"
    # CPython would free a list this deep recursively.
    while isinstance(deep, list):
        deep = deep.pop()


def test_datetime_without_time_zone_is_an_error(key: jeton.Key) -> None:
    issuer = jeton.Issuer(key)
    for name in ("exp", "nbf", "iat"):
        with pytest.raises(jeton.InvalidClaims, match="time zone") as raised:
            issuer.issue({"exp": 4_000_000_000, name: datetime(2030, 1, 1)})
        assert raised.value.code == "CLAIM_TYPE"
    with pytest.raises(jeton.InvalidClaims):
        jeton.FixedClock(datetime(2030, 1, 1))


def test_datetime_as_a_registered_claim_is_seconds(key: jeton.Key, verifier: jeton.Verifier) -> None:
    issuer = jeton.Issuer(key, issuer="https://id.example", audience="api")
    moment = datetime(2100, 1, 1, 12, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=2)))
    verified = verifier.verify_complete(issuer.issue({"exp": moment}))
    assert verified.expires_at == datetime(2100, 1, 1, 10, tzinfo=timezone.utc)
    for bad in (datetime.min.replace(tzinfo=timezone.utc), datetime(1960, 1, 1, tzinfo=timezone.utc)):
        with pytest.raises(jeton.InvalidClaims):
            issuer.issue({"exp": bad})


@pytest.mark.parametrize("seconds", [10**30, 2**63, -(2**63) - 1, 253402300800, -1, "1800000000", True])
def test_expiry_out_of_range_is_an_error(key: jeton.Key, seconds: Any) -> None:
    with pytest.raises(jeton.JetonError):
        jeton.Issuer(key).issue({"exp": seconds})


@pytest.mark.parametrize("duration", [-1, timedelta(seconds=-1), 2**63, timedelta.max, timedelta(milliseconds=1500)])
def test_duration_out_of_range_is_an_error(key: jeton.Key, duration: Any) -> None:
    with pytest.raises(jeton.JetonError):
        jeton.Issuer(key, lifetime=duration).issue({})
    with pytest.raises(jeton.JetonError):
        jeton.Verifier(key, issuer="i", audience="a", max_age=duration).verify("")


@pytest.mark.parametrize("value", ["15m", 1.5, True, b"1", object()])
def test_duration_of_another_type_is_an_error(key: jeton.Key, value: Any) -> None:
    with pytest.raises(TypeError):
        jeton.Issuer(key, lifetime=value)


def test_key_of_the_wrong_kind_is_an_error(key: jeton.Key) -> None:
    es256, local = jeton.Key.generate("ES256"), jeton.Key.generate("v4.local")
    wrap = jeton.Key.generate("A256KW")
    wrong: list[Any] = [
        lambda: jeton.Issuer(wrap, lifetime=60),
        lambda: jeton.Issuer(es256.public_key(), lifetime=60).issue({}),
        lambda: jeton.Issuer(key, encryption=local),
        lambda: jeton.Issuer(local, format="jws"),
        lambda: jeton.Issuer(es256, format="paseto"),
        lambda: jeton.Issuer(None),
        lambda: jeton.Verifier(wrap, issuer="i", audience="a"),
        lambda: jeton.Verifier([key, wrap], issuer="i", audience="a"),
        lambda: jeton.Verifier([], issuer="i", audience="a"),
        lambda: jeton.Verifier(key, decryption=key, issuer="i", audience="a"),
        lambda: jeton.Verifier(None, issuer="i", audience="a"),
        lambda: jeton.KeySet([key, local]),
        lambda: key.public_key(),
        lambda: key.to_pem(),
        lambda: es256.to_paserk(),
        lambda: es256.public_key().insecure_private_jwk(),
        lambda: jeton.Key.from_secret(es256.to_pem(), "HS256"),
        lambda: jeton.Key.from_secret("short", "HS256"),
        lambda: jeton.Key.from_jwk({"kty": "oct", "k": "YQ"}, alg="HS256"),
        lambda: jeton.Key.from_jwk({"kty": "oct", "k": math.nan}),
        lambda: jeton.Key.generate("none"),
        lambda: jeton.Key.generate("ES256", rsa_bits=2048),
    ]
    for call in wrong:
        with pytest.raises(jeton.JetonError) as raised:
            call()
        assert raised.value.code != "INTERNAL"
    others: list[Any] = ["key", 1, {}, b"", [key, "a"], es256.to_jwk()]
    for other in others:
        with pytest.raises(TypeError):
            jeton.Verifier(other, issuer="i", audience="a")
        with pytest.raises(TypeError):
            jeton.Issuer(other)


def test_unknown_option_is_an_error(key: jeton.Key) -> None:
    with pytest.raises(TypeError):
        jeton.Issuer(key, lifetimes=60)  # type: ignore[call-arg]
    wrong: list[Any] = [{"limits": {"tokens": 1}}, {"limits": {"token_bytes": "1"}}, {"cache": -1}, {"cache": 1.5}]
    for options in wrong:
        with pytest.raises(jeton.InvalidUse):
            jeton.Verifier(key, issuer="i", audience="a", **options)
    with pytest.raises(jeton.InvalidUse, match="issuer"):
        jeton.Verifier(key, audience="a")
    with pytest.raises(jeton.InvalidUse, match="audience"):
        jeton.Verifier(key, issuer="i")


def test_message_names_the_parameter(key: jeton.Key) -> None:
    local = jeton.Key.generate("v4.local")
    remote = jeton.RemoteKeySet("https://id.example/jwks.json")
    wrong: list[tuple[Any, str]] = [
        (lambda: jeton.RemoteKeySet(), "option `url`: pass either `url` or `issuer`"),
        (lambda: jeton.Issuer(key, format="jws", lifetime=60), "option `lifetime`: does not apply to a JWS"),
        (lambda: jeton.Issuer(key, lifetime=0), "option `lifetime`: must be 1 second or more, not 0"),
        (lambda: jeton.Issuer(local, format="jws"), "a PASETO key cannot sign a JWS"),
        (lambda: jeton.Issuer(key, issuer=b"i"), "option `issuer`: has the wrong type"),  # type: ignore[arg-type]
        (
            lambda: jeton.Verifier(remote, decryption=jeton.Key.generate("A256KW"), issuer="i", audience="a"),
            "option `decryption`: not used with a remote key set",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(jeton.InvalidUse) as raised:
            call()
        assert str(raised.value) == message


def test_bytearray_that_another_thread_changes_is_safe(issuer: jeton.Issuer, verifier: jeton.Verifier) -> None:
    token = bytearray(issuer.issue({"page": "/"}).encode())
    secret = bytearray(SECRET.encode())
    end = threading.Event()

    def change() -> None:
        while not end.is_set():
            token.extend(b"x" * 100)
            del token[-100:]
            token[5] ^= 1
            token[5] ^= 1
            secret.extend(b"y" * 1000)
            del secret[-1000:]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        accepted = 0
        for _ in range(5_000):
            try:
                verifier.verify(token)
                accepted += 1
            except jeton.TokenRejected:
                pass
            jeton.Key.from_secret(secret, "HS256")
        assert accepted > 0
    finally:
        end.set()
        thread.join()


def test_dict_that_another_thread_changes_is_safe(issuer: jeton.Issuer, verifier: jeton.Verifier) -> None:
    claims: dict[str, Any] = {f"n{number}": [number] for number in range(50)}
    end = threading.Event()

    def change() -> None:
        number = 0
        while not end.is_set():
            number += 1
            claims[f"m{number % 100}"] = number
            claims.pop(f"m{(number + 50) % 100}", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(2_000):
            verifier.verify(issuer.issue(claims))
    finally:
        end.set()
        thread.join()




def test_dict_that_a_claim_changes_is_an_exception(key: jeton.Key) -> None:
    claims: dict[str, Any] = {}

    class Zone(datetime.now(timezone.utc).tzinfo.__class__.__mro__[1]):  # type: ignore[misc]
        def utcoffset(self, moment: Any) -> timedelta:
            for number in range(100):
                claims[f"x{number}"] = number
            return timedelta(0)

        def tzname(self, moment: Any) -> str:
            return "X"

        def dst(self, moment: Any) -> timedelta:
            return timedelta(0)

    claims["exp"] = datetime(2100, 1, 1, tzinfo=Zone())
    try:
        jeton.Issuer(key).issue(claims)
    except jeton.JetonError:
        pass


def test_garbage_collection_during_a_call_may_call_again(
    issuer: jeton.Issuer, verifier: jeton.Verifier
) -> None:
    token = issuer.issue({"a": [{} for _ in range(200)]})
    calls = 0

    class Again:
        def __init__(self) -> None:
            self.circle = self

        def __del__(self) -> None:
            nonlocal calls
            calls += 1
            verifier.verify(token)
            issuer.issue({"b": {}})

    threshold = gc.get_threshold()
    gc.set_threshold(5)
    try:
        for _ in range(200):
            Again()
            assert len(verifier.verify(token)["a"]) == 200
    finally:
        gc.set_threshold(*threshold)
    assert calls > 0


@pytest.mark.parametrize("size", [0, 1, 1_000, 1_000_000])
def test_garbage_as_a_token_is_rejected(verifier: jeton.Verifier, size: int) -> None:
    for letter in ("a", ".", "{", "\x00", "é"):
        with pytest.raises(jeton.TokenRejected):
            verifier.verify(letter * size)


NOT_UTF8: list[Any] = [b"\xff", bytearray(b"a.\xff.c"), memoryview(b"\xc3"), "\ud800", "a.b.\udfff"]


@pytest.mark.parametrize("token", NOT_UTF8, ids=repr)
def test_token_that_is_not_utf8_is_rejected(key: jeton.Key, verifier: jeton.Verifier, token: Any) -> None:
    """The token comes from a client, so this is not a bug in the program."""
    signed, content = jeton.Verifier(key, format="jws"), jeton.Key.generate("dir", enc="A256GCM")
    decrypts = jeton.Verifier(decryption=content, format="jwe")
    calls: list[Any] = [
        verifier.verify, verifier.verify_json, verifier.verify_complete, signed.verify_bytes, decrypts.verify_bytes,
        lambda token: verifier.verify(token, type=dict), lambda token: asyncio.run(verifier.verify_async(token)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(jeton.TokenMalformed):
            call(token)
    for other in (None, 5, ["a"]):
        with pytest.raises(TypeError):
            verifier.verify(other)  # type: ignore[call-overload]


def test_integer_with_more_digits_than_the_program_allows_is_rejected(
    issuer: jeton.Issuer, verifier: jeton.Verifier
) -> None:
    token = issuer.issue_json('{"n":' + "1" * 3_000 + "}")
    deep = issuer.issue_json('{"a":{"n":[' + "1" * 3_000 + "]}}")
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for one in (token, deep):
            with pytest.raises(jeton.TokenClaimsShape):
                verifier.verify(one)
            with pytest.raises(jeton.TokenClaimsShape):
                verifier.verify_complete(one)
        assert len(verifier.verify_json(token)) > 3_000
    finally:
        sys.set_int_max_str_digits(before)
    assert verifier.verify(token)["n"] == int("1" * 3_000)


WRONG_SETTINGS: list[tuple[dict[str, Any], str]] = [
    *(({name: wrong}, f"option `{name}`: must be one text") for name in ("alg", "kid", "enc", "password") for wrong in (7, b"a", False)),
    *(({"rounds": wrong}, "option `rounds`: must be a whole number, 0 or more") for wrong in (-1, 1.0, "1000", True, 1 << 32)),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS, ids=str)
def test_setting_of_a_key_with_a_wrong_type_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(jeton.InvalidUse, match=f"^{message}$"):
        if "rounds" in settings:
            jeton.Key.insecure_password("password", "PBES2-HS256+A128KW", **settings)
        else:
            jeton.Key.load(jeton.Key.generate("ES256").to_pem(), **settings)
    with pytest.raises(TypeError):
        jeton.Key("no key")
