"""Verifies tokens like a service in Python, with PyJWT's PyJWKClient.

Arguments: key set URL, issuer, audience, cache time of the key set in seconds.
Reads one token per line. Prints "ok SUBJECT" or "error REASON" for each.
"""

import sys

import jwt

url, issuer, audience, seconds = sys.argv[1:]
keys = jwt.PyJWKClient(url, lifespan=int(seconds))

for line in sys.stdin:
    token = line.strip()
    try:
        key = keys.get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=["ES256"],
            issuer=issuer,
            audience=audience,
            options={"require": ["exp"]},
        )
        print("ok", claims["sub"], flush=True)
    except jwt.PyJWTError as error:
        print("error", type(error).__name__, error, flush=True)
