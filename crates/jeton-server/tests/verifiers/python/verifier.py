"""Verifies tokens as a service in Python does, with PyJWT's PyJWKClient.

Called with the key set's URL, the issuer, the audience, and how many seconds the key set is kept.
A token a line comes in; "ok SUBJECT" or "error WHY" goes out.
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
