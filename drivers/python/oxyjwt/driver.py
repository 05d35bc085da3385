"""The driver of OxyJWT. Its keys are parsed from PEM or from the bytes of a secret; it reads a JWK only
of a public key. It accepts an empty secret.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

import oxyjwt
from jeton_harness import (
    Driver,
    Prepare,
    expiry_required,
    key_pem,
    key_text,
    key_texts,
    keyed,
    offer,
    secret_bytes,
    serve,
)

KINDS = {"private": oxyjwt.EncodingKey, "public": oxyjwt.DecodingKey}


def sign(prepare: Prepare):
    alg, claims = prepare.alg, prepare.claims
    key = key_for(prepare, "private")
    return lambda index: oxyjwt.encode(claims[index], key(), algorithm=alg)


def verify(prepare: Prepare):
    key = key_for(prepare, "public")
    algorithms, audience, issuer = [prepare.alg], prepare.audience, prepare.issuer
    require = ["exp"] if expiry_required(prepare) else []
    options = {"require": require, "verify_aud": audience is not None}

    if prepare.defaults:
        # The library requires the first always, and the second where a token has an audience.
        return lambda token: oxyjwt.decode(token, key(), algorithms=algorithms, audience=audience)

    def one(token: str):
        return oxyjwt.decode(
            token, key(), algorithms=algorithms, audience=audience, issuer=issuer, options=options
        )

    return one


def load_key(prepare: Prepare):
    texts = key_texts(prepare)
    return lambda: [load(prepare.alg, text.half, text.text) for text in texts]


def key_for(prepare: Prepare, half: str):
    if prepare.alg.startswith("HS"):
        text = key_text(prepare, half).text
        return keyed(prepare, lambda: KINDS[half].from_secret(secret_bytes(text)))
    pem = key_pem(prepare, half)
    return keyed(prepare, lambda: load(prepare.alg, half, pem))


def load(alg: str, half: str, pem: str):
    kind = KINDS[half]
    if alg == "EdDSA":
        return kind.from_ed_pem(pem)
    return kind.from_ec_pem(pem) if alg.startswith("ES") else kind.from_rsa_pem(pem)


MACS = ["HS256", "HS384", "HS512"]
SIGNATURES = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "EdDSA"),
]
OPERATIONS = ["sign", "verify", "round-trip"]  # it generates no keys

if __name__ == "__main__":
    serve(
        Driver(
            library="oxyjwt",
            distribution="oxyjwt",
            knows_defaults=True,
            offers=[
                *offer("jwt", OPERATIONS, MACS),
                *offer("jwt", [*OPERATIONS, "load-key"], SIGNATURES, key_text=["pem"]),
            ],
            sign=sign,
            verify=verify,
            load_key=load_key,
        )
    )
