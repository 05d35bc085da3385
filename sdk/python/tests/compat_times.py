"""Measures the layer `jeton.compat.pyjwt` against PyJWT in one process: `python tests/compat_times.py`.

Rounds of both in turn. Prints PyJWT's time divided by that of the layer: the median of the rounds, the lowest and the
highest.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import jwt as pyjwt
from cryptography.hazmat.primitives.asymmetric import ec

from jeton.compat import pyjwt as layer

ROUNDS = 15
SECONDS = 0.1
CLAIMS = {"iss": "https://id.example", "aud": "api", "sub": "user-7", "iat": 1767225600, "exp": 4102444800}


def per_call(call: Callable[[], object]) -> float:
    """Returns the CPU time of a call."""
    count = 0
    began = now = time.process_time()
    while now - began < SECONDS:
        for _ in range(50):
            call()
        count += 50
        now = time.process_time()
    return (now - began) / count


def calls(module: Any, name: str, key: Any, public: Any) -> dict[str, Callable[[], object]]:
    """Returns the two calls of a program that holds its key."""
    token = pyjwt.encode(CLAIMS, key, name)
    return {
        f"encode {name}": lambda: module.encode(CLAIMS, key, name),
        f"decode {name}": lambda: module.decode(token, public, [name], audience="api"),
    }


def main() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    secret = "s" * 43
    pairs: list[tuple[str, Any, Any]] = [("HS256", secret, secret), ("ES256", private, private.public_key())]
    for name, key, public in pairs:
        theirs = calls(pyjwt, name, key, public)
        ours = calls(layer, name, key, public)
        for what in theirs:
            ratios = [per_call(theirs[what]) / per_call(ours[what]) for _ in range(ROUNDS)]
            middle = statistics.median(ratios)
            print(f"{what}: {middle:.2f} times ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    print(f"CPython {sys.version.split()[0]}, PyJWT {pyjwt.__version__}")
    main()
