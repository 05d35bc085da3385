"""The keys of a `prepare` request in the forms of libraries that read no JWK: PEM, and the bytes of a
secret. A driver that asks for PEM installs `cryptography`, which converts a JWK outside the timed loop.
"""

import json
from base64 import urlsafe_b64decode
from typing import Any

from .keys import key_text
from .prepare import Invalid, Prepare


def key_pem(prepare: Prepare, half: str) -> str:
    """Returns one half of a pair as PEM: PKCS#8 or SPKI."""
    key = key_text(prepare, half)
    if key.form == "pem":
        return key.text
    return _pem(json.loads(key.text), half)


def secret_bytes(text: str) -> bytes:
    """Returns the bytes of a symmetric JWK."""
    return _bytes(json.loads(text), "k")


def _pem(jwk: dict[str, Any], half: str) -> str:
    from cryptography.hazmat.primitives import serialization

    encoding = serialization.Encoding.PEM
    if half == "private":
        key, plain = _private(jwk), serialization.NoEncryption()
        return key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain).decode()
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    return _public(jwk).public_bytes(encoding, spki).decode()


def _private(jwk: dict[str, Any]):
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    match jwk["kty"]:
        case "RSA":
            primes = [_number(jwk, name) for name in ("p", "q", "d", "dp", "dq", "qi")]
            return rsa.RSAPrivateNumbers(*primes, _public(jwk).public_numbers()).private_key()
        case "EC":
            public = _public(jwk).public_numbers()
            return ec.EllipticCurvePrivateNumbers(_number(jwk, "d"), public).private_key()
        case _:
            return ed25519.Ed25519PrivateKey.from_private_bytes(_bytes(jwk, "d"))


def _public(jwk: dict[str, Any]):
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    match jwk["kty"]:
        case "RSA":
            return rsa.RSAPublicNumbers(_number(jwk, "e"), _number(jwk, "n")).public_key()
        case "EC":
            curves = {
                "P-256": ec.SECP256R1,
                "P-384": ec.SECP384R1,
                "P-521": ec.SECP521R1,
                "secp256k1": ec.SECP256K1,
            }
            point = _number(jwk, "x"), _number(jwk, "y")
            return ec.EllipticCurvePublicNumbers(*point, curves[jwk["crv"]]()).public_key()
        case _:
            return ed25519.Ed25519PublicKey.from_public_bytes(_bytes(jwk, "x"))


def _number(jwk: dict[str, Any], name: str) -> int:
    return int.from_bytes(_bytes(jwk, name), "big")


def _bytes(jwk: dict[str, Any], name: str) -> bytes:
    text = jwk.get(name)
    if not isinstance(text, str):
        raise Invalid(f"the key has no {name!r}")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
