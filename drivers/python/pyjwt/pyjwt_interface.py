"""The driver of a library with PyJWT's interface. Keys are JWKs, loaded into a `PyJWK` that is bound to
its algorithm, or PEM, which the library parses.
"""

import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from jeton_harness import (
    Driver,
    Invalid,
    KeyText,
    Prepare,
    expiry_required,
    key_text,
    key_texts,
    keyed,
    offer,
    options_of,
)

MACS = ["HS256", "HS384", "HS512"]
SIGNATURES = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "ES256K", "EdDSA"),
]


def driver_of(
    jwt: ModuleType, library: str, operations: list[str], pem: bool, extras: tuple[str, ...] = ()
) -> Driver:
    """Returns the driver of the library whose module is `jwt`. With `pem` it also loads keys from PEM."""

    def sign(prepare: Prepare):
        alg, claims = prepare.alg, prepare.claims
        key = key_for(prepare, "private")
        return lambda index: jwt.encode(claims[index], key(), algorithm=alg)

    def verify(prepare: Prepare):
        key = key_for(prepare, "public")
        if prepare.options is not None:
            arguments = {"algorithms": [prepare.alg], **options_of(prepare.options)}
            return lambda token: jwt.decode(token, key(), **arguments)
        algorithms, audience, issuer = [prepare.alg], prepare.audience, prepare.issuer
        require = ["exp"] if expiry_required(prepare) else []
        options = {"require": require, "verify_aud": audience is not None}

        if prepare.defaults:
            # The library requires the first always, and the second where a token has an audience.
            return lambda token: jwt.decode(token, key(), algorithms=algorithms, audience=audience)

        def one(token: str):
            return jwt.decode(
                token,
                key(),
                algorithms=algorithms,
                audience=audience,
                issuer=issuer,
                options=options,
            )

        return one

    def verify_signature(prepare: Prepare):
        key = key_for(prepare, "public")
        algorithms, jws = [prepare.alg], jwt.PyJWS()
        return lambda token: jws.decode(token, key(), algorithms=algorithms)

    def load_key(prepare: Prepare):
        texts = key_texts(prepare)
        return lambda: [load(text, prepare.alg) for text in texts]

    def key_for(prepare: Prepare, half: str):
        text = key_text(prepare, half)
        return keyed(prepare, lambda: load(text, prepare.alg))

    def load(key: KeyText, alg: str):
        if key.form == "jwk":
            return jwt.PyJWK.from_json(key.text, alg)
        if key.form != "pem":
            raise Invalid(f"a {key.form} key is not supported")
        return jwt.get_algorithm_by_name(alg).prepare_key(key.text)

    return Driver(
        library=library,
        distribution=library,
        knows_defaults=True,
        extras=extras,
        offers=[
            *offer("jwt", operations, MACS, key_text=["jwk"]),
            *offer("jwt", operations, SIGNATURES, key_text=["jwk", "pem"] if pem else ["jwk"]),
        ],
        sign=sign,
        verify=verify,
        verify_signature=verify_signature,
        load_key=load_key,
    )
