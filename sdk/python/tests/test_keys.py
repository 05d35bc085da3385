"""Import and export of keys and key sets in every encoding."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import jeton

PAIRS = ["RS256", "PS384", "ES256", "ES384", "ES512", "ES256K", "EdDSA", "RSA-OAEP-256", "ECDH-ES"]
SECRETS = ["HS256", "A256KW", "v4.local", "v3.local"]


@pytest.mark.parametrize("alg", PAIRS)
def test_pair_is_exported_and_imported(alg: str) -> None:
    key = jeton.Key.generate(alg, kid="k")
    public = key.public_key()
    assert (key.kind, public.kind, public.alg, public.kid) == ("private", "public", alg, "k")
    again = [
        jeton.Key.from_jwk(key.insecure_private_jwk()),
        jeton.Key.from_jwk(json.dumps(key.insecure_private_jwk())),
        jeton.Key.from_pem(key.insecure_private_pem(), alg=alg, kid="k"),
        jeton.Key.from_der(key.insecure_private_der(), alg=alg, kid="k"),
        jeton.Key.from_jwk(public.to_jwk(), alg=alg),
        jeton.Key.from_pem(public.to_pem().encode(), alg=alg, kid="k"),
        jeton.Key.from_der(memoryview(public.to_der()), alg=alg, kid="k"),
    ]
    for one in again:
        assert (one.alg, one.kid, one.thumbprint()) == (alg, "k", key.thumbprint())
    assert key.thumbprint_uri().endswith(key.thumbprint())
    # Exports of a private key are public, unless the method name begins with `insecure_`.
    for name in ("d", "p", "q", "dp", "dq", "qi", "k"):
        assert name not in key.to_jwk()
    assert "PRIVATE" not in key.to_pem()
    assert key.to_pem() == public.to_pem() and key.to_der() == public.to_der()


def test_secret_is_imported_from_text_bytes_and_base64() -> None:
    text = "a secret of the tests, for HS256 only"
    keys = [
        jeton.Key.from_secret(text, "HS256"),
        jeton.Key.from_secret(text.encode(), "HS256"),
        jeton.Key.from_secret(bytearray(text.encode()), "HS256"),
        jeton.Key.from_secret_base64("YSBzZWNyZXQgb2YgdGhlIHRlc3RzLCBmb3IgSFMyNTYgb25seQ==", "HS256"),
        jeton.Key.from_secret_base64(b"YSBzZWNyZXQgb2YgdGhlIHRlc3RzLCBmb3IgSFMyNTYgb25seQ", "HS256"),
    ]
    assert len({key.thumbprint() for key in keys}) == 1
    assert keys[0].insecure_private_jwk()["kty"] == "oct"


@pytest.mark.parametrize("alg", ["v3.local", "v3.public", "v4.local", "v4.public"])
def test_paserk_is_exported_and_imported(alg: str) -> None:
    key = jeton.Key.generate(alg)
    again = jeton.Key.from_paserk(key.insecure_private_paserk())
    assert (again.alg, again.kid, again.is_paseto) == (alg, key.kid, True)
    if key.kind == "private":
        public = jeton.Key.from_paserk(key.to_paserk())
        assert (public.kind, public.kid) == ("public", key.kid)


def test_password_of_pkcs8() -> None:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

    own = ec.generate_private_key(ec.SECP256R1())
    pem = own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"pass"))
    assert jeton.Key.from_pem(pem, password="pass").kind == "private"
    for password in ("wrong", None):
        with pytest.raises(jeton.InvalidKey) as raised:
            jeton.Key.from_pem(pem, password=password)
        assert "pass" not in str(raised.value).replace("password", "")


def test_key_set_is_written_and_read() -> None:
    keys = [jeton.Key.generate(alg, kid=alg) for alg in ("ES256", "EdDSA", "RS256")]
    key_set = jeton.KeySet(key.public_key() for key in keys)
    jwks = key_set.to_jwks()
    assert key_set.ids == ["ES256", "EdDSA", "RS256"]
    again = [
        jeton.KeySet.from_jwks(jwks),
        jeton.KeySet.from_jwks(json.dumps(jwks)),
        jeton.KeySet.from_jwks(key_set.to_jwks_json().encode(), published=True),
    ]
    for one in again:
        assert one.ids == key_set.ids and one.skipped == []
        for key in keys:
            token = jeton.Issuer(key, lifetime=60).issue({})
            assert jeton.Verifier(one, any_issuer=True, any_audience=True).verify(token)


def test_unusable_key_is_skipped() -> None:
    good = jeton.Key.generate("ES256", kid="good")
    jwks: dict[str, Any] = {"keys": [{"kty": "unknown"}, good.to_jwk(), good.insecure_private_jwk() | {"kid": "x"}]}
    key_set = jeton.KeySet.from_jwks(jwks, published=True)
    assert key_set.ids == ["good"] and len(key_set.skipped) == 2
    without: list[dict[str, Any]] = [{"keys": []}, {"keys": [{"kty": "unknown"}]}]
    for empty in without:
        with pytest.raises(jeton.KeySetError):
            jeton.KeySet.from_jwks(empty)
    wrong: list[Any] = ["", "{", "[]", {"keys": 1}, b"\xff"]
    for bad in wrong:
        with pytest.raises(jeton.JetonError):
            jeton.KeySet.from_jwks(bad)


def test_duplicate_member_of_a_jwk_is_an_error() -> None:
    text = '{"kty":"oct","kty":"oct","k":"' + "A" * 43 + '","alg":"HS256"}'
    with pytest.raises(jeton.InvalidKey) as raised:
        jeton.Key.from_jwk(text)
    assert raised.value.code == "KEY_DUPLICATE_MEMBER"


def test_paserks_as_a_key_set() -> None:
    keys = [jeton.Key.generate("v4.public") for _ in range(3)]
    key_set = jeton.KeySet.from_paserks([key.to_paserk() for key in keys])
    assert key_set.ids == [key.kid for key in keys]
    token = jeton.Issuer(keys[1], lifetime=60, issuer="i", audience="a").issue({})
    with pytest.raises(jeton.JetonError):
        jeton.Verifier(key_set, issuer="i", audience="b").verify(token)


def test_message_of_an_error_has_no_key() -> None:
    secret = "zQ7-never-in-a-message"
    calls: list[Callable[[], object]] = [
        lambda: jeton.Key.from_secret(secret, "HS256"),
        lambda: jeton.Key.from_jwk({"kty": "oct", "k": secret, "alg": "HS256"}),
        lambda: jeton.Key.from_pem(f"-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----"),
        lambda: jeton.Key.load(secret),
        lambda: jeton.Key.from_paserk(f"k4.local.{secret}"),
        lambda: jeton.Key.load("{}", password=secret),
    ]
    for call in calls:
        with pytest.raises(jeton.JetonError) as raised:
            call()
        assert secret not in str(raised.value) and secret not in repr(raised.value)


def test_every_code_has_its_class() -> None:
    from jeton._errors import class_of

    for code in jeton.CODES:
        error = class_of(code)("", code)
        assert error.code == code and type(error) is not jeton.JetonError
        if code.startswith("TOKEN_"):
            name = "".join(word.capitalize() for word in code.split("_"))
            assert type(error).__name__ == name and type(error) is getattr(jeton, name)
    assert class_of("KEY_SET_EMPTY") is jeton.KeySetError and class_of("KEY_TOO_WEAK") is jeton.InvalidKey
