"""The PyJWT interface: the same tokens and exceptions as PyJWT itself, and no unsafe use."""

import base64
import json
import os
import pickle
import re
import signal
import ssl
import threading
import time
from collections import UserString
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt as theirs
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import jeton
from jeton.compat import pyjwt as ours
from jeton.testing import TestIssuer

SECRET = "a secret of the tests, which has more than enough bytes for HS512 too"


def pem(key: Any) -> tuple[bytes, bytes]:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


RSA = pem(rsa.generate_private_key(65537, 2048))
P256, P384, P521 = (pem(ec.generate_private_key(curve)) for curve in (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()))
K256 = pem(ec.generate_private_key(ec.SECP256K1()))
ED = pem(ed25519.Ed25519PrivateKey.generate())
KEYS: dict[str, tuple[Any, Any]] = {
    **{alg: (SECRET, SECRET.encode()) for alg in ("HS256", "HS384", "HS512")},
    **{alg: RSA for alg in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")},
    **{"ES256": P256, "ES384": P384, "ES512": P521, "ES256K": K256, "EdDSA": ED},
}
CLAIMS: dict[str, Any] = {"sub": "user-7", "n": [1, 2.5, None, "é"], "aud": ["a", "b"], "iss": "i"}


@pytest.mark.parametrize("alg", KEYS)
def test_both_libraries_decode_tokens_of_each_other(alg: str) -> None:
    private, public = KEYS[alg]
    claims = {**CLAIMS, "exp": int(time.time()) + 60}
    options: dict[str, Any] = {"algorithms": [alg], "audience": "a", "issuer": "i"}
    for maker, reader in ((ours, theirs), (theirs, ours), (ours, ours)):
        token = maker.encode(claims, private, algorithm=alg, headers={"kid": "k"})
        assert reader.decode(token, public, **options) == claims
        assert reader.decode(token.encode(), public, **options) == claims
        assert reader.get_unverified_header(token) == {"alg": alg, "typ": "JWT", "kid": "k"}
    if alg.startswith(("HS", "RS", "Ed")):
        assert ours.encode(claims, private, algorithm=alg) == theirs.encode(claims, private, algorithm=alg)


def outcome(library: Any, token: Any, key: Any, options: dict[str, Any]) -> Any:
    try:
        return library.decode(token, key, **options)
    except Exception as error:
        name = type(error).__name__
        return name, str(error) if name == "MissingRequiredClaimError" else None


NOW = int(time.time())
CHECKED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"exp": NOW - 10}, {}),
    ({"exp": NOW - 10}, {"leeway": 60}),
    ({"exp": NOW - 10}, {"leeway": timedelta(seconds=60)}),
    ({"exp": NOW - 10}, {"options": {"verify_exp": False}}),
    ({"exp": "soon"}, {}),
    ({"nbf": NOW + 1000}, {}),
    ({"nbf": NOW + 1000}, {"leeway": 2000}),
    ({"nbf": "x"}, {}),
    ({"iat": NOW + 1000}, {}),
    ({"iat": "x"}, {}),
    ({"aud": "a"}, {}),
    ({"aud": "a"}, {"audience": "a"}),
    ({"aud": "a"}, {"audience": ["b", "a"]}),
    ({"aud": "a"}, {"audience": "b"}),
    ({"aud": ["a", "b"]}, {"audience": "b"}),
    ({"aud": [1]}, {"audience": "b"}),
    ({"aud": {}}, {"audience": "b"}),
    ({"aud": ["a"]}, {"audience": "a", "options": {"strict_aud": True}}),
    ({"aud": "a"}, {"audience": "a", "options": {"strict_aud": True}}),
    ({"aud": "a"}, {"options": {"verify_aud": False}}),
    ({}, {"audience": "a"}),
    ({}, {"issuer": "i"}),
    ({"iss": "i"}, {"issuer": "i"}),
    ({"iss": "i"}, {"issuer": "j"}),
    ({"iss": "i"}, {"issuer": ["h", "i"]}),
    ({"sub": 5}, {}),
    ({"sub": "s"}, {"subject": "t"}),
    ({"sub": "s"}, {"subject": "s"}),
    ({"jti": 5}, {}),
    ({}, {"options": {"require": ["exp"]}}),
    ({"exp": NOW + 60}, {"options": {"require": ["exp", "sub"]}}),
    ({"exp": NOW + 60}, {"audience": 5}),
]


@pytest.mark.parametrize(("claims", "options"), CHECKED, ids=str)
def test_claims_are_checked_as_pyjwt_does(claims: dict[str, Any], options: dict[str, Any]) -> None:
    token = theirs.encode(claims, SECRET, algorithm="HS256")
    options = {"algorithms": ["HS256"], **options}
    assert outcome(ours, token, SECRET, options) == outcome(theirs, token, SECRET, options)


def parts(header: Any, payload: bytes = b"{}", signature: bytes = b"") -> str:
    def encoded(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return ".".join(map(encoded, (head, payload, signature)))


@pytest.mark.parametrize(
    "token",
    ["", "a", "a.b", "..", "a.b.c", "a.b.c.d", b"\xff.b.c", 5, None, parts([]), parts(b"{"), parts({}),
     parts({"alg": "HS256", "kid": 5}), parts({"alg": "HS256", "crit": []}), parts({"alg": "HS256", "crit": ["x"]}),
     parts({"alg": "HS512"}), parts({"alg": "HS256"}), parts({"alg": "none"}), parts({"alg": 5}), parts({"alg": None})],
    ids=str,
)  # fmt: skip
def test_malformed_token_has_the_exception_of_pyjwt(token: Any) -> None:
    options = {"algorithms": ["HS256"]}
    found, expected = outcome(ours, token, SECRET, options), outcome(theirs, token, SECRET, options)
    assert found[0] == expected[0]


def test_changed_token_has_the_exception_of_pyjwt() -> None:
    token = ours.encode({"a": 1}, SECRET)
    head, payload, signature = token.split(".")
    other = ours.encode({"a": 2}, SECRET).split(".")[1]
    with pytest.raises(ours.InvalidSignatureError):
        ours.decode(f"{head}.{other}.{signature}", SECRET, algorithms=["HS256"])
    with pytest.raises(ours.InvalidSignatureError):
        ours.decode(token, SECRET + "x", algorithms=["HS256"])
    with pytest.raises(ours.DecodeError):
        ours.decode(token, SECRET)
    with pytest.raises(ours.InvalidAlgorithmError):
        ours.decode(token, SECRET, algorithms=["HS512"])


def test_datetimes_are_converted() -> None:
    moment = datetime(2100, 1, 1, tzinfo=timezone.utc)
    for value in (moment, moment.replace(tzinfo=None), moment.astimezone(timezone(timedelta(hours=5)))):
        claims = ours.decode(ours.encode({"exp": value}, SECRET), SECRET, algorithms=["HS256"])
        assert claims == {"exp": 4102444800}


UNSAFE: list[Any] = [
    lambda token: ours.encode({}, SECRET, algorithm="none"),
    lambda token: ours.encode({}, SECRET, algorithm=None),
    lambda token: ours.encode({}, SECRET, algorithm="HS256", headers={"alg": "none"}),
    lambda token: ours.decode(token, SECRET, algorithms=["HS256"], options={"verify_signature": False}),
    lambda token: ours.decode(token, options={"verify_signature": False}),
    lambda token: ours.PyJWT({"verify_signature": False}),
    lambda token: ours.decode(token, SECRET, algorithms=["HS256"], options={"enforce_minimum_key_length": False}),
    lambda token: ours.PyJWT({"enforce_minimum_key_length": False}),
    lambda token: ours.decode(token, SECRET, algorithms=["HS256", "RS256"]),
    lambda token: ours.decode(parts({"alg": "none"}), "", algorithms=["none"]),
    lambda token: ours.encode({}, SECRET, headers={"jwk": {"kty": "oct", "k": "AA"}}),
    lambda token: ours.encode({}, SECRET, headers={"crit": ["x"], "x": 1}),
]


@pytest.mark.parametrize("number", range(len(UNSAFE)))
def test_unsafe_use_is_refused(number: int) -> None:
    token = ours.encode({}, SECRET)
    with pytest.raises(ours.UnsafeUse):
        UNSAFE[number](token)


def test_refused_option_says_what_to_do() -> None:
    with pytest.raises(ours.UnsafeUse, match="use jeton.read_unverified.* use get_unverified_header"):
        ours.PyJWT({"verify_signature": False})
    with pytest.raises(ours.UnsafeUse, match="at least 32 bytes for HS256"):
        ours.PyJWT({"enforce_minimum_key_length": False})
    with pytest.raises(ours.UnsafeUse, match="pass another algorithm"):
        ours.encode({}, SECRET, algorithm="none")
    with pytest.raises(ours.UnsafeUse, match="`jwk` of the header is not a public key"):
        ours.encode({}, SECRET, headers={"jwk": {"kty": "oct", "k": "AA"}})
    with pytest.raises(ours.UnsafeUse, match="short `lifespan`"):
        ours.PyJWKClient("https://id.example/keys", cache_jwk_set=False)


def test_unsafe_use_is_not_mistaken_for_a_bad_token() -> None:
    token = ours.encode({"sub": "admin"}, SECRET)
    for use in UNSAFE:
        with pytest.raises(ours.UnsafeUse) as raised:
            try:
                use(token)
            # As in programs for PyJWT.
            except (ours.PyJWTError, ValueError, TypeError, KeyError):
                pytest.fail("the program continues as if the token were bad")
        assert not isinstance(raised.value, (jeton.JetonError, theirs.PyJWTError))


def test_headers_are_those_of_pyjwt() -> None:
    public = {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}
    others: dict[str, Any] = {
        "x5t": "a", "x5t#S256": "a", "x5c": ["MIIB"], "nonce": "n", "jwk": public, "jku": "https://id.example/keys",
        "foo": {"a": [1, 1.5, None, "é"]},
    }  # fmt: skip
    for headers in (*({name: value} for name, value in others.items()), {**others, "kid": "k", "typ": "dpop+jwt"}):
        token = ours.encode({"a": 1}, SECRET, headers=headers)
        assert token == theirs.encode({"a": 1}, SECRET, headers=headers), headers
        assert ours.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT", **headers}
        assert ours.decode(token, SECRET, algorithms=["HS256"]) == {"a": 1}


@pytest.mark.parametrize("name", ["crit", "enc", "zip", "epk", "apu", "apv", "iv", "tag", "p2s", "p2c", "typ", "cty"])
def test_refused_header_is_named(name: str) -> None:
    with pytest.raises(ours.UnsafeUse, match=f"^`headers`: .*`{name}` (cannot be added|is not a str)") as caught:
        ours.encode({}, SECRET, headers={name: ["x"]})
    assert caught.value.rule == "header-member"


def test_headers_of_a_detached_token() -> None:
    headers = {"b64": False, "crit": ["b64"], "x5t": "a", "foo": [1], "typ": "a", "cty": "b"}
    token = ours.encode({"a": 1}, SECRET, headers=headers)
    assert ours.get_unverified_header(token) == {"alg": "HS256", **headers}
    assert theirs.decode(token, SECRET, algorithms=["HS256"], detached_payload=b'{"a":1}') == {"a": 1}
    key = jeton.Key.from_secret(SECRET, "HS256", kid="k")
    token = ours.encode({"a": 1}, key, headers={"b64": False, "kid": "k"})
    assert ours.get_unverified_header(token)["kid"] == "k"
    wrong: list[tuple[str, Any]] = [("kid", "k"), ("crit", ["b64", "x"]), ("zip", "DEF"), ("cty", 5)]
    for name, value in wrong:
        with pytest.raises(ours.UnsafeUse, match=name):
            ours.encode({}, SECRET, headers={"b64": False, name: value})


def test_later_algorithms_are_supported() -> None:
    key = jeton.Key.generate("ML-DSA-44")
    token = ours.encode({"a": 1}, key, algorithm="ML-DSA-44")
    assert ours.decode(token, key, algorithms=["ML-DSA-44"]) == {"a": 1}
    jwk = ours.PyJWK(key.public_key().to_jwk())
    assert (jwk.algorithm_name, jwk.Algorithm.hash_alg) == ("ML-DSA-44", None)


def test_weak_and_confused_keys_are_refused() -> None:
    for secret in ("", "secret", "x" * 31, RSA[1], P256[1].decode()):
        with pytest.raises(ours.InvalidKeyError):
            ours.encode({}, secret, algorithm="HS256")
    with pytest.raises(ours.InvalidKeyError):
        ours.encode({}, P256[0], algorithm="RS256")
    with pytest.raises(ours.InvalidKeyError):
        ours.encode({}, P256[1], algorithm="ES256")
    with pytest.raises(ours.InvalidKeyError):
        ours.encode({}, SECRET, algorithm="RS256")


def test_duplicate_member_is_an_error() -> None:
    key = jeton.Key.from_secret(SECRET, "HS256")
    token = jeton.Issuer(key, format="jws").issue_bytes(b'{"sub":"a","sub":"b"}')
    with pytest.raises(ours.DecodeError):
        ours.decode(token, SECRET, algorithms=["HS256"])
    for payload in (b"[]", b"\xff", b"1", b"{", b"[" * 100_000):
        with pytest.raises(ours.DecodeError):
            ours.decode(jeton.Issuer(key, format="jws").issue_bytes(payload), SECRET, algorithms=["HS256"])


def test_keys_as_objects() -> None:
    own = jeton.Key.generate("ES256", kid="k")
    token = ours.encode({"a": 1}, own, algorithm="ES256")
    assert ours.decode(token, own.public_key(), algorithms=["ES256"]) == {"a": 1}
    key = ec.generate_private_key(ec.SECP256R1())
    token = ours.encode({"a": 1}, key, algorithm="ES256")
    assert ours.decode(token, key.public_key(), algorithms=["ES256"]) == {"a": 1}
    jwk = ours.PyJWK.from_dict(own.to_jwk())
    token = ours.encode({"a": 1}, own, algorithm="ES256")
    assert ours.decode(token, jwk) == {"a": 1}
    unusable = [{"kty": "unknown"}, {"kty": ["EC"]}, {"kty": "EC", "crv": ["P-256"]}, {"kty": "OKP", "crv": {}}]
    keys = ours.PyJWKSet.from_dict({"keys": [*unusable, own.to_jwk()]})
    assert keys["k"].key_id == "k" and len(keys.keys) == 1
    with pytest.raises(TypeError):
        ours.encode({}, 5)
    with pytest.raises(TypeError):
        ours.encode([], SECRET)  # type: ignore[arg-type]


def test_detached_payload() -> None:
    key = jeton.Key.from_secret(SECRET, "HS256")
    token = ours.encode({"a": 1}, SECRET, headers={"b64": False})
    assert token.split(".")[1] == ""
    payload = b'{"a":1}'
    assert ours.decode(token, SECRET, algorithms=["HS256"], detached_payload=payload) == {"a": 1}
    assert theirs.decode(token, SECRET, algorithms=["HS256"], detached_payload=payload) == {"a": 1}
    with pytest.raises(ours.InvalidSignatureError):
        ours.decode(token, key, algorithms=["HS256"], detached_payload=b'{"a":2}')
    with pytest.raises(ours.DecodeError):
        ours.decode(token, key, algorithms=["HS256"])


def test_client_of_a_key_set(monkeypatch: pytest.MonkeyPatch) -> None:
    from jeton.compat.pyjwt import _client

    test = TestIssuer("https://id.example")
    requests = 0

    def fetch(_: Any) -> jeton.FetchResponse:
        nonlocal requests
        requests += 1
        return jeton.FetchResponse(200, {}, json.dumps(test.keys.to_jwks()).encode())

    monkeypatch.setattr(_client, "fetch", fetch)
    client = ours.PyJWKClient("https://id.example/keys")
    for _ in range(3):
        token = test.issue({"sub": "a"})
        key = client.get_signing_key_from_jwt(token)
        assert ours.decode(token, key, algorithms=["ES256"], audience="test")["sub"] == "a"
    assert requests == 1
    test.rotate()
    with pytest.raises(ours.PyJWKClientError):
        client.get_signing_key_from_jwt(test.issue())
    with pytest.raises(ours.PyJWKClientError):
        client.get_signing_key_from_jwt(parts({"alg": "ES256"}))


def test_client_finds_the_keys_of_a_rotation() -> None:
    """The same program with PyJWT and with jeton, while the provider rotates its keys."""
    test = TestIssuer("https://id.example", audience="api")
    published: dict[str, Any] = {}

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(published).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Does nothing."""

    def subject(library: Any, client: Any, token: str) -> str:
        key = client.get_signing_key_from_jwt(token)
        claims = library.decode(token, key, algorithms=["ES256"], audience="api", issuer="https://id.example")
        return str(claims["sub"])

    old = test.issue({"sub": "user-7"})
    first = test.keys.to_jwks()
    test.rotate()
    new = test.issue({"sub": "user-8"})
    both = test.keys.to_jwks()
    with ThreadingHTTPServer(("127.0.0.1", 0), Keys) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for library in (theirs, ours):
            published = first
            client = library.PyJWKClient(f"http://127.0.0.1:{server.server_port}/keys", cooldown_duration=0)
            assert subject(library, client, old) == "user-7"
            with pytest.raises(library.PyJWKClientError):
                subject(library, client, new)
            published = both
            assert subject(library, client, new) == "user-8"
            assert subject(library, client, old) == "user-7"
            # The old key is withdrawn.
            published = {"keys": both["keys"][1:]}
            client.get_signing_keys(refresh=True)
            assert subject(library, client, new) == "user-8"
            with pytest.raises(library.PyJWKClientError):
                subject(library, client, old)
        server.shutdown()


@pytest.mark.parametrize(
    "token",
    ["a.b.c", "garbage", "", b"\xff", b"a.b", 5, None, parts({"kid": 5}), parts(b"["), parts([]), parts({"kid": "k"}, b"["),
     parts({"kid": "k"}, b"[]"), parts({"kid": "k", "b64": False}, b"x"), "e30.e30"],
    ids=str,
)  # fmt: skip
def test_malformed_token_has_the_exception_of_pyjwt_in_a_client(token: Any) -> None:
    """A service answers 401, and not 503."""
    names = []
    for library in (ours, theirs):
        # Nothing is fetched.
        client = library.PyJWKClient("http://127.0.0.1:1/keys")
        with pytest.raises(theirs.InvalidTokenError if library is theirs else ours.InvalidTokenError) as raised:
            client.get_signing_key_from_jwt(token)
        names.append(raised.type.__name__)
    assert names[0] == names[1]


SPECIAL: dict[str, Any] = {
    "$regexp": re.compile,
    "$sticky": re.compile,
    "$set": set,
    "$number": float,
    "$bytes": str.encode,
}


def value_of(value: Any) -> Any:
    """Returns a value of sdk/testdata/traps.json, also one that JSON cannot hold."""
    if not isinstance(value, dict):
        return value
    name = next(iter(value), "")
    return SPECIAL[name](value[name]) if name in SPECIAL else {key: value_of(one) for key, one in value.items()}


TRAPS = json.loads((Path(__file__).parents[2] / "testdata/traps.json").read_text())


@pytest.mark.parametrize("trap", [trap for trap in TRAPS["refused"] if "python" in trap], ids=str)
def test_argument_that_pyjwt_misreads_is_refused(trap: dict[str, Any]) -> None:
    token = theirs.encode(trap["claims"], SECRET, algorithm="HS256")
    arguments = {"algorithms": ["HS256"], **value_of(trap["python"])}
    for decode in (ours.decode, ours.decode_complete):
        with pytest.raises(ours.UnsafeUse) as raised:
            decode(token, SECRET, **arguments)
        assert raised.value.rule == trap["rule"]
    assert pickle.loads(pickle.dumps(raised.value)).rule == trap["rule"]


@pytest.mark.parametrize("trap", [trap for trap in TRAPS["fine"] if "python" in trap], ids=str)
def test_right_argument_is_accepted(trap: dict[str, Any]) -> None:
    token = theirs.encode(trap["claims"], SECRET, algorithm="HS256")
    arguments = {"algorithms": ["HS256"], **value_of(trap["python"])}
    assert ours.decode(token, SECRET, **arguments) == trap["claims"]


def test_issuer_is_no_text_of_another_type() -> None:
    token = theirs.encode({"iss": "https"}, SECRET, algorithm="HS256")
    for issuer in (UserString("https://id.example"), bytearray(b"https")):
        with pytest.raises(ours.UnsafeUse) as raised:
            ours.decode(token, SECRET, algorithms=["HS256"], issuer=issuer)  # type: ignore[arg-type]
        assert raised.value.rule == "option"
    assert ours.decode(token, SECRET, algorithms=["HS256"], issuer={"https": 1}) == {"iss": "https"}


def test_payload_is_utf_8() -> None:
    key = jeton.Key.from_secret(SECRET, "HS256")
    token = jeton.Issuer(key, format="jws").issue_bytes('{"sub":"a"}'.encode("utf-16"))
    with pytest.raises(ours.DecodeError):
        ours.decode(token, SECRET, algorithms=["HS256"])


def test_client_waits_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    server, now = Server(monkeypatch), Time(monkeypatch)
    server.status, server.headers = 429, {"retry-after": "120"}
    client = ours.PyJWKClient("https://id.example/keys")
    for wait in (0, 119, 2):
        now.seconds += wait
        with pytest.raises(ours.PyJWKClientConnectionError):
            client.get_signing_key("k1")
    assert server.requests == 2


@pytest.mark.parametrize(
    "uri",
    ["http://id.example/keys", "http://localhost.evil.example/keys", "http://127.0.0.1.evil.example/keys",
     "http://localhost@evil.example/keys", "http://localhost:80@evil.example/", "file:///etc/passwd", "", "https://", "keys"],
)  # fmt: skip
def test_client_refuses_an_address(uri: str) -> None:
    with pytest.raises(ours.UnsafeUse):
        ours.PyJWKClient(uri)


@pytest.mark.parametrize("uri", ["https://id.example/keys", "http://localhost/keys", "http://127.0.0.1:8080/keys"])
def test_client_takes_an_address(uri: str) -> None:
    assert ours.PyJWKClient(uri).uri == uri


class Server:
    """Answers a client without a network."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from jeton.compat.pyjwt import _client

        self.key = jeton.Key.generate("ES256", kid="k1")
        self.body = json.dumps(jeton.KeySet([self.key]).to_jwks()).encode()
        self.requests, self.wait, self.status = 0, 0.0, 200
        self.headers: dict[str, str] = {}
        self.asked, self.hold = threading.Event(), threading.Event()
        self.hold.set()
        monkeypatch.setattr(_client, "fetch", self.fetch)

    def fetch(self, _: Any) -> jeton.FetchResponse:
        self.requests += 1
        self.asked.set()
        time.sleep(self.wait)
        self.hold.wait(60)
        return jeton.FetchResponse(self.status, self.headers, self.body)


class Time:
    """The clock of a client, which only the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from jeton.compat.pyjwt import _client

        self.seconds = 1_000.0
        monkeypatch.setattr(_client, "time", self)

    def monotonic(self) -> float:
        return self.seconds


def in_threads(count: int, call: Any) -> list[tuple[str, float]]:
    """Returns the result and the time of each thread."""
    found: list[tuple[str, float]] = []
    start = time.monotonic()

    def work(number: int) -> None:
        try:
            call(number)
            name = "ok"
        except Exception as error:
            name = type(error).__name__
        found.append((name, time.monotonic() - start))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_unknown_keys_fetch_once_when_the_server_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    server, now = Server(monkeypatch), Time(monkeypatch)
    client = ours.PyJWKClient("https://id.example/keys")
    client.get_signing_key("k1")
    now.seconds += client.cooldown_duration
    server.wait, server.status, server.requests = 0.3, 503, 0
    found = in_threads(6, lambda number: client.get_signing_key(f"unknown {number}"))
    assert server.requests == 1
    assert all(name.startswith("PyJWKClient") and at < 60 for name, at in found), found
    with pytest.raises(ours.PyJWKClientError):
        client.get_signing_key("unknown")
    assert server.requests == 1


def test_known_key_does_not_wait_for_the_fetch_of_an_unknown_one(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    client = ours.PyJWKClient("https://id.example/keys", cooldown_duration=0)
    client.get_signing_key("k1")
    server.hold.clear()
    server.asked.clear()
    thread = threading.Thread(target=lambda: in_threads(1, lambda _: client.get_signing_key("unknown")))
    thread.start()
    server.asked.wait()
    start = time.monotonic()
    assert client.get_signing_key("k1").key_id == "k1"
    assert time.monotonic() - start < 50
    server.hold.set()
    thread.join()


def test_failed_fetch_of_a_client_is_not_repeated_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    server, now = Server(monkeypatch), Time(monkeypatch)
    server.status, server.wait = 503, 0.2
    client = ours.PyJWKClient("https://id.example/keys")
    found = in_threads(5, lambda _: client.get_signing_key("k1"))
    assert server.requests == 1 and {name for name, _ in found} == {"PyJWKClientConnectionError"}
    server.status, server.wait = 200, 0
    with pytest.raises(ours.PyJWKClientConnectionError):
        client.get_signing_key("k1")
    now.seconds += 1.1
    assert client.get_signing_key("k1").key_id == "k1" and server.requests == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_while_a_client_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.wait = 0.5
    client = ours.PyJWKClient("https://id.example/keys")
    thread = threading.Thread(target=client.get_signing_key, args=("k1",))
    thread.start()
    server.asked.wait()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(60)
            server.wait = 0
            status = 0 if client.get_signing_key("k1").key_id == "k1" else 1
        finally:
            os._exit(status)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "options",
    [{"cache_jwk_set": False}, {"headers": {"a": "b"}}, {"timeout": 0}, {"ssl_context": ssl.create_default_context()}],
    ids=str,
)
def test_option_that_the_client_does_not_have_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ours.UnsafeUse):
        ours.PyJWKClient("https://id.example/keys", **options)


@pytest.mark.parametrize(
    "options", [{"lifespan": 0}, {"cooldown_duration": -1}, {"cooldown_duration": float("inf")}], ids=str
)
def test_option_that_pyjwt_refuses_has_its_exception(options: dict[str, Any]) -> None:
    for library in (ours, theirs):
        with pytest.raises(library.PyJWKClientError):
            library.PyJWKClient("https://id.example/keys", **options)


@pytest.mark.parametrize(
    ("name", "values"),
    [("timeout", [float("nan"), float("inf"), -1, 0, True, "5", None, 10**400]),
     ("lifespan", [float("nan"), -1, -(10**5000), True, "300", None, timedelta(seconds=5)]),
     ("cooldown_duration", [float("nan"), True, "30", None]),
     ("cache_keys", ["no", None, 1]), ("cache_jwk_set", ["no", None, 1]),
     ("max_cached_keys", ["x", None, True, 1.5, -1]), ("headers", ["x", [("a", "b")]])],
)  # fmt: skip
def test_wrong_value_for_the_client_names_its_option(name: str, values: list[Any]) -> None:
    for value in values:
        options: dict[str, Any] = {name: value}
        wrong = (ours.UnsafeUse, ours.PyJWKClientError)
        with pytest.raises(wrong, match=re.compile(name.split("_")[0], re.IGNORECASE)):
            ours.PyJWKClient("https://id.example/keys", **options)


def test_options_for_the_client_of_pyjwt_are_accepted() -> None:
    ours.PyJWKClient(
        "https://id.example/keys", True, 32, True, 0.5, {}, timeout=2.5, ssl_context=None, cooldown_duration=0
    )
    ours.PyJWKClient("https://id.example/keys", lifespan=float("inf"), headers=None, max_cached_keys=0)


def test_leeway_that_is_not_finite_is_named() -> None:
    token = ours.encode({"exp": 1}, SECRET)
    wrong: list[Any] = [10**400, -(10**400), float("nan"), float("inf"), True, "5"]
    for leeway in wrong:
        with pytest.raises(ours.UnsafeUse, match="^leeway: "):
            ours.decode(token, SECRET, algorithms=["HS256"], leeway=leeway)


def test_modules_have_the_names_of_pyjwt() -> None:
    import jwt.exceptions

    from jeton.compat.pyjwt.algorithms import ECAlgorithm, RSAAlgorithm
    from jeton.compat.pyjwt.exceptions import ExpiredSignatureError

    assert ours.exceptions.ExpiredSignatureError is ExpiredSignatureError is ours.ExpiredSignatureError
    for name, kind in vars(jwt.exceptions).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            bases = [base.__name__ for base in kind.__mro__]
            assert [base.__name__ for base in getattr(ours.exceptions, name).__mro__] == bases
    jwk = ours.algorithms.RSAAlgorithm.to_jwk(RSA[1], as_dict=True)
    key = RSAAlgorithm.from_jwk(json.dumps(jwk))
    token = ours.encode({"a": 1}, RSA[0], algorithm="RS256")
    assert ours.decode(token, key, algorithms=["RS256"]) == {"a": 1}
    assert issubclass(ECAlgorithm, ours.algorithms.Algorithm)
