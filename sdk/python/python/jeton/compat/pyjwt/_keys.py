"""Conversion of PyJWT's keys to keys of jeton."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Any

from ..._algorithms import CURVES, MACS, SIGNATURES
from ..._errors import JetonError
from ..._fork import tell_of_fork
from ..._keys import Key
from ..._verifier import Verifier
from .algorithms import Algorithm, algorithm_of
from .exceptions import (
    InvalidAlgorithmError,
    InvalidKeyError,
    PyJWKError,
    PyJWKSetError,
    UnsafeUse,
    raise_as_pyjwt,
)

ALGORITHMS = (*MACS, *SIGNATURES)

#: PyJWT's other names for algorithms.
_ALIASES = {"ES521": "ES512"}


class _Lately:
    """A cache of recent keys and verifiers. A secret is found by its hash and not stored."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._made: OrderedDict[tuple[str, str, bytes], Any] = OrderedDict()
        self._lock = Lock()
        tell_of_fork(self)

    def _forked(self) -> None:
        self._lock = Lock()
        # Another thread may have been changing it during the fork.
        self._made = OrderedDict()

    def get(self, use: str, alg: str, data: bytes, make: Any) -> Any:
        place = (use, alg, hashlib.sha256(data).digest())
        with self._lock:
            if place in self._made:
                self._made.move_to_end(place)
                return self._made[place]
        made = make()
        with self._lock:
            self._made[place] = made
            if len(self._made) > self._size:
                self._made.popitem(last=False)
        return made


_LATELY = _Lately(128)


class PyJWK:
    """One key of a JWK Set."""

    def __init__(self, jwk_data: dict[str, Any], algorithm: str | None = None) -> None:
        self._jwk_data = jwk_data
        if not isinstance(jwk_data, dict):
            raise PyJWKError("the key is not a dict")
        self.algorithm_name = _ALIASES.get(algorithm or "", algorithm) or _algorithm_of(jwk_data)
        if self.algorithm_name == "none":
            raise UnsafeUse("none", "the algorithm `none` is not supported: pass another `algorithm`")
        if self.algorithm_name not in ALGORITHMS:
            raise PyJWKError(f"Unable to find an algorithm for key: {self.algorithm_name}")
        try:
            self.key = Key.from_jwk(jwk_data, alg=self.algorithm_name)
        except JetonError as error:
            raise InvalidKeyError(str(error)) from error

    @property
    def Algorithm(self) -> Algorithm:
        return algorithm_of(self.algorithm_name)

    @staticmethod
    def from_dict(obj: dict[str, Any], algorithm: str | None = None) -> PyJWK:
        return PyJWK(obj, algorithm)

    @staticmethod
    def from_json(data: str, algorithm: str | None = None) -> PyJWK:
        return PyJWK(json.loads(data), algorithm)

    @property
    def key_type(self) -> str | None:
        return self._jwk_data.get("kty")

    @property
    def key_id(self) -> str | None:
        return self._jwk_data.get("kid")

    @property
    def public_key_use(self) -> str | None:
        return self._jwk_data.get("use")


def _algorithm_of(jwk: dict[str, Any]) -> str:
    if isinstance(alg := jwk.get("alg"), str):
        return _ALIASES.get(alg, alg)
    kty, crv = jwk.get("kty"), jwk.get("crv")
    if kty == "RSA":
        return "RS256"
    if kty == "oct":
        return "HS256"
    if kty == "EC" and crv is None:
        return "ES256"
    if kty in ("EC", "OKP"):
        if isinstance(crv, str) and crv in CURVES:
            return CURVES[crv]
        raise InvalidKeyError(f"Unsupported crv: {crv}")
    raise InvalidKeyError(f"Unsupported kty: {kty}")


class PyJWKSet:
    """The usable keys of a JWK Set."""

    def __init__(self, keys: list[dict[str, Any]]) -> None:
        self.keys: list[PyJWK] = []
        if not keys:
            raise PyJWKSetError("The JWK Set did not contain any keys")
        if not isinstance(keys, list):
            raise PyJWKSetError("Invalid JWK Set value")
        for key in keys:
            try:
                self.keys.append(PyJWK(key))
            except (PyJWKError, InvalidKeyError, UnsafeUse):
                continue
        if not self.keys:
            raise PyJWKSetError("The JWK Set did not contain any usable keys")

    @staticmethod
    def from_dict(obj: dict[str, Any]) -> PyJWKSet:
        return PyJWKSet(obj.get("keys", []))

    @staticmethod
    def from_json(data: str) -> PyJWKSet:
        return PyJWKSet.from_dict(json.loads(data))

    def __getitem__(self, kid: str) -> PyJWK:
        for key in self.keys:
            if key.key_id == kid:
                return key
        raise KeyError(f"keyset has no key for kid: {kid}")

    def __iter__(self) -> Iterator[PyJWK]:
        return iter(self.keys)


def known_algorithm(alg: Any) -> str:
    """Returns the algorithm if jeton supports it."""
    if alg is None or (isinstance(alg, str) and alg.lower() == "none"):
        message = "the algorithm `none` is not supported, because anyone can forge such a token: pass another algorithm"
        raise UnsafeUse("none", message)
    alg = _ALIASES.get(alg, alg) if isinstance(alg, str) else alg
    if alg not in ALGORITHMS:
        raise InvalidAlgorithmError("Algorithm not supported")
    return str(alg)


def key_of(key: Any, alg: str) -> Key:
    """Returns the key for an algorithm. A str or bytes is a secret or a PEM."""
    if isinstance(key, PyJWK):
        key = key.key
    if isinstance(key, Key):
        if key.alg != alg:
            raise InvalidKeyError("the key does not match the algorithm")
        return key
    data = _bytes_of(key)
    found: Key = _LATELY.get("key", alg, data, lambda: _load(data, alg))
    return found


def public_jwk(key: Any) -> dict[str, Any]:
    """Returns the public key as a JWK without an algorithm."""
    try:
        loaded = key if isinstance(key, Key) else _loaded(_bytes_of(key))
        jwk = loaded.to_jwk()
    except JetonError as error:
        raise_as_pyjwt(error)
    return {name: value for name, value in jwk.items() if name not in ("alg", "use")}


def _loaded(data: bytes) -> Key:
    try:
        return Key.load(data)
    except JetonError as error:
        if error.code != "KEY_ALGORITHM_NEEDED":
            raise
    # RSA keys fit several algorithms.
    return Key.load(data, alg="RS256")


def verifier_of(key: Any, alg: str) -> Verifier:
    """Returns a verifier for the key."""
    if isinstance(key, (PyJWK, Key)):
        return _verifier(key_of(key, alg))
    data = _bytes_of(key)
    found: Verifier = _LATELY.get("verifier", alg, data, lambda: _verifier(_load(data, alg)))
    return found


def _verifier(key: Key) -> Verifier:
    try:
        return Verifier(key, format="jws")
    except JetonError as error:
        raise_as_pyjwt(error)


def _bytes_of(key: Any) -> bytes:
    if isinstance(key, str):
        try:
            return key.encode()
        except UnicodeEncodeError:
            raise InvalidKeyError("the key is not valid UTF-8") from None
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    if hasattr(key, "private_bytes") or hasattr(key, "public_bytes"):
        return _pem_of(key)
    raise TypeError("Expected a string value")


def _pem_of(key: Any) -> bytes:
    """Returns the PEM of a key of the package cryptography."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    if hasattr(key, "private_bytes"):
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    else:
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return bytes(pem)


def _load(data: bytes, alg: str) -> Key:
    try:
        if alg in MACS:
            return Key.from_secret(data, alg)
        if b"-----BEGIN CERTIFICATE-----" in data:
            return Key.from_certificate(data, alg=alg)
        return Key.load(data.strip() if b"-----BEGIN" in data else data, alg=alg)
    except JetonError as error:
        raise_as_pyjwt(error)
