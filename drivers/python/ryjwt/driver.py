"""The driver of ryjwt. A key has its algorithm, issuer and audience, so it is made once with every
check that the library has. The driver checks by hand that `exp` is present: the library requires a
claim only where it decodes into a class.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

import ryjwt
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

KINDS = {"private": ryjwt.PrivateKey, "public": ryjwt.PublicKey}


def sign(prepare: Prepare):
    claims, key = prepare.claims, key_for(prepare, "private")
    return lambda index: key().encode(claims[index])


def verify(prepare: Prepare):
    key = key_for(prepare, "public", audience=prepare.audience, issuer=prepare.issuer)
    if not expiry_required(prepare):
        return lambda token: key().decode(token)

    def one(token: str):
        claims = key().decode(token)
        if "exp" not in claims:
            raise ValueError("the claim exp is missing")
        return claims

    return one


def load_key(prepare: Prepare):
    texts, algorithms = key_texts(prepare), [prepare.alg]
    return lambda: [KINDS[text.half](text.text, algorithms=algorithms) for text in texts]


def key_for(prepare: Prepare, half: str, **checks):
    algorithms = [prepare.alg]
    if prepare.alg.startswith("HS"):
        text = key_text(prepare, half).text
        return keyed(
            prepare, lambda: ryjwt.SecretKey(secret_bytes(text), algorithms=algorithms, **checks)
        )
    pem = key_pem(prepare, half)
    return keyed(prepare, lambda: KINDS[half](pem, algorithms=algorithms, **checks))


MACS = ["HS256", "HS384", "HS512"]
SIGNATURES = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "ES256K", "EdDSA"),
]
OPERATIONS = ["sign", "verify", "round-trip"]  # it generates no keys

if __name__ == "__main__":
    serve(
        Driver(
            library="ryjwt",
            distribution="ryjwt",
            by_driver=("jwt:exp",),
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
