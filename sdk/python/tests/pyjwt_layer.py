"""A plugin of pytest that runs PyJWT's own tests with `jeton.compat.pyjwt`. `docs/pyjwt-tests.md` has the command.

PyJWT's tests use secrets below jeton's minimum. They are made longer here, and tokens that were signed with them are
signed again. Nothing else of the tests changes.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import jwt.algorithms
import jwt.api_jwk
import jwt.api_jwt
import jwt.exceptions

from jeton.compat import pyjwt as layer

_HASHES = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}


def _longer(key: Any) -> Any:
    """Returns a secret of at least 64 bytes for a shorter one."""
    if not isinstance(key, (str, bytes)) or not 0 < len(key) < 64:
        return key
    return key + ("-" * 64 if isinstance(key, str) else b"-" * 64)  # type: ignore[operator]


def _signed(text: bytes, key: str | bytes, alg: str) -> bytes:
    secret = key.encode() if isinstance(key, str) else key
    return base64.urlsafe_b64encode(hmac.digest(secret, text, _HASHES[alg])).rstrip(b"=")


def _signed_again(token: Any, key: Any) -> Any:
    """Signs a token of the short secret with the longer one. Another token stays as it is."""
    longer = _longer(key)
    if longer is key or not isinstance(token, (str, bytes)):
        return token
    text, _, signature = (token.encode() if isinstance(token, str) else token).rpartition(b".")
    try:
        alg = json.loads(base64.urlsafe_b64decode(text.partition(b".")[0] + b"==")).get("alg")
    except ValueError:
        return token
    if alg not in _HASHES or _signed(text, key, alg) != signature:
        return token
    return text + b"." + _signed(text, longer, alg)


class PyJWT(layer.PyJWT):
    """The layer with longer secrets."""

    def encode(self, payload: Any, key: Any, *others: Any, **named: Any) -> str:
        return super().encode(payload, _longer(key), *others, **named)

    def decode_complete(self, jwt: Any, key: Any = "", *others: Any, **named: Any) -> dict[str, Any]:
        token = _signed_again(jwt, key)
        complete = super().decode_complete(token, _longer(key), *others, **named)
        if token is not jwt:
            signature = (jwt.encode() if isinstance(jwt, str) else jwt).rpartition(b".")[2]
            complete["signature"] = base64.urlsafe_b64decode(signature + b"==")
        return complete


def _replace() -> None:
    known = dict.fromkeys(jwt.algorithms.get_default_algorithms())
    setattr(jwt.algorithms, "get_default_algorithms", lambda: known)
    for module, names in (
        (jwt.exceptions, layer.exceptions),
        (jwt.algorithms, layer.algorithms),
        (jwt.api_jwk, layer),
        (jwt, layer),
    ):
        for name in vars(names):
            if hasattr(module, name) and name[0].isupper():
                setattr(module, name, getattr(names, name))
    own = PyJWT()
    for place in (jwt, jwt.api_jwt):
        setattr(place, "PyJWT", PyJWT)
        for name in ("encode", "decode", "decode_complete"):
            setattr(place, name, getattr(own, name))
    setattr(jwt, "get_unverified_header", own.get_unverified_header)


_replace()
