"""The driver of webtoken. Its documentation says to import it in place of PyJWT. It accepts an empty
secret.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "pyjwt"))

import webtoken
from pyjwt_interface import driver_of  # before the harness, whose folder it adds to the path
from jeton_harness import serve

# Its functions take PEM as text, and have no documented way to parse it once.
OPERATIONS = ["sign", "verify", "round-trip", "load-key"]

if __name__ == "__main__":
    serve(driver_of(webtoken, "webtoken", OPERATIONS, pem=False))
