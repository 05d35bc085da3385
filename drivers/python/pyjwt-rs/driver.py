"""The driver of pyjwt-rs. Its documentation says to import it in place of PyJWT. It accepts an empty
secret. Its only wheel for Linux is for CPython 3.10, so it is built from its source.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "pyjwt"))

import jwt_rs
from pyjwt_interface import driver_of  # before the harness, whose folder it adds to the path
from jeton_harness import serve

# It generates no keys.
OPERATIONS = ["sign", "verify", "verify-signature", "round-trip", "load-key"]

if __name__ == "__main__":
    serve(driver_of(jwt_rs, "pyjwt-rs", OPERATIONS, pem=True))
