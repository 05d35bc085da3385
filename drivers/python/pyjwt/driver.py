"""The driver of PyJWT with cryptography."""

import jwt
from pyjwt_interface import driver_of  # before the harness, whose folder it adds to the path
from jeton_harness import serve

# It generates no keys.
OPERATIONS = ["sign", "verify", "verify-signature", "round-trip", "load-key"]

if __name__ == "__main__":
    serve(driver_of(jwt, "pyjwt", OPERATIONS, pem=True, extras=("options",)))
