"""The commonly used part of `jwt.algorithms`: the class names, `from_jwk` and `to_jwk`."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, ClassVar


class Algorithm:
    """The name of an algorithm. jeton itself signs and verifies."""

    SHA256: ClassVar[str] = "sha256"
    SHA384: ClassVar[str] = "sha384"
    SHA512: ClassVar[str] = "sha512"

    def __init__(self, hash_alg: str | None = None) -> None:
        self.hash_alg = hash_alg

    @staticmethod
    def from_jwk(jwk: str | Mapping[str, Any]) -> Any:
        """Returns a key for `encode` and `decode`."""
        text = jwk if isinstance(jwk, str) else json.dumps(dict(jwk))
        return text.encode()

    @staticmethod
    def to_jwk(key_obj: Any, as_dict: bool = False) -> Any:
        """Returns the public key of a `Key`, a PEM, or a key of the package cryptography."""
        from ._keys import public_jwk

        jwk = public_jwk(key_obj)
        return jwk if as_dict else json.dumps(jwk)


class HMACAlgorithm(Algorithm):
    """A MAC."""

    @staticmethod
    def from_jwk(jwk: str | Mapping[str, Any]) -> Any:
        """Returns the secret."""
        members = json.loads(jwk) if isinstance(jwk, str) else jwk
        text = str(members["k"]).encode()
        return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


class RSAAlgorithm(Algorithm):
    """RSASSA-PKCS1-v1_5."""


class RSAPSSAlgorithm(RSAAlgorithm):
    """RSASSA-PSS."""


class ECAlgorithm(Algorithm):
    """ECDSA."""


class OKPAlgorithm(Algorithm):
    """EdDSA."""


#: The algorithms whose name ends with the length of the hash, by their first letters.
_WITH_HASH = {"HS": HMACAlgorithm, "RS": RSAAlgorithm, "PS": RSAPSSAlgorithm, "ES": ECAlgorithm}


def algorithm_of(name: str) -> Algorithm:
    """Returns the algorithm with this name."""
    if kind := _WITH_HASH.get(name[:2]):
        return kind(f"sha{name[2:5]}")
    return OKPAlgorithm() if name.startswith("Ed") else Algorithm()
