"""Members of the protected header."""

from typing import Any

import pytest

import jeton

NAMES: dict[str, Any] = {"issuer": "i", "audience": "a"}
KEY = jeton.Key.generate("ES256", kid="k1")
VERIFIER = jeton.Verifier(KEY.public_key(), **NAMES)
OWN: dict[str, Any] = {"x5t": "dGh1bWI", "x5c": ["MIIB"], "nonce": "n", "own": {"a": [1, 1.5, True, None]}}


def test_own_members_are_issued_and_verified() -> None:
    token = jeton.Issuer(KEY, headers=OWN, lifetime=60, **NAMES).issue({})
    for one in (token, token.encode(), bytearray(token.encode())):
        verified = VERIFIER.verify_complete(one)
        assert verified.header == {"alg": "ES256", "kid": "k1", "typ": "JWT", **OWN}
    assert (verified.alg, verified.kid, verified.typ) == ("ES256", "k1", "JWT")


def test_docstring_says_that_headers_belong_to_the_issuer() -> None:
    issuer = jeton.Issuer(KEY, lifetime=60, **NAMES)
    with pytest.raises(TypeError, match="headers"):
        issuer.issue({}, headers=OWN)  # type: ignore[call-arg]
    assert "`headers`, create another issuer" in (jeton.Issuer.__doc__ or "")


def test_nested_jwt_has_the_header_of_the_signed_jwt() -> None:
    encryption = jeton.Key.generate("RSA-OAEP-256")
    token = jeton.Issuer(KEY, encryption=encryption, headers={"nonce": "n"}, lifetime=60, **NAMES).issue({})
    header = jeton.Verifier(KEY.public_key(), decryption=encryption, **NAMES).verify_complete(token).header
    assert header is not None and (header["alg"], header["nonce"]) == ("ES256", "n")


def test_paseto_has_no_header() -> None:
    key = jeton.Key.generate("v4.public")
    token = jeton.Issuer(key, lifetime=60, **NAMES).issue({})
    assert jeton.Verifier(key.public_key(), **NAMES).verify_complete(token).header is None
    with pytest.raises(jeton.InvalidUse, match="headers"):
        jeton.Issuer(key, headers={"nonce": "n"}, lifetime=60, **NAMES)


def test_header_with_a_remote_key_set() -> None:
    from jeton.testing import TestIssuer

    test = TestIssuer()
    header = test.verifier(test.remote_key_set()).verify_complete(test.issue({})).header
    assert header == {"alg": "ES256", "kid": "test-1", "typ": "JWT"}


@pytest.mark.parametrize(
    "headers",
    [{"alg": "none"}, {"kid": "x"}, {"typ": "x"}, {"crit": ["own"]}, {"own": {1}}, {"own": float("nan")}],
    ids=str,
)
def test_other_members_are_refused(headers: dict[str, Any]) -> None:
    with pytest.raises(jeton.InvalidUse, match="headers"):
        jeton.Issuer(KEY, headers=headers, lifetime=60, **NAMES)
    with pytest.raises(jeton.JetonError):
        jeton.Issuer(KEY, headers=[("own", 1)], lifetime=60, **NAMES)  # type: ignore[arg-type]
