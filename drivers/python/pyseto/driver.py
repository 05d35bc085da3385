"""The driver of PySETO: all four versions of PASETO, local and public. With `deserializer=json` the
library checks `exp`, `nbf` and the audience. The driver checks by hand that the token has an
expiry, and its issuer. Its tokens are bytes. Its JSON has a space after each comma and colon.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

import pyseto
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
    serve,
)


def sign(prepare: Prepare):
    key = key_for(prepare, "private")
    claims = prepare.claims
    return lambda index: pyseto.encode(key(), claims[index])


def verify(prepare: Prepare):
    key = key_for(prepare, "public")
    issuer, audience = prepare.issuer, prepare.audience or ""
    if prepare.defaults:
        audience = ""
    must_expire = expiry_required(prepare)

    def one(token: str):
        claims = pyseto.decode(key(), token, deserializer=json, aud=audience).payload
        if must_expire and "exp" not in claims:
            raise ValueError("the claim exp is missing")
        if issuer is not None and claims.get("iss") != issuer:
            raise ValueError("the claim iss is not the expected issuer")
        return claims

    return one


def verify_signature(prepare: Prepare):
    key = key_for(prepare, "public")
    return lambda token: pyseto.decode(key(), token)


def load_key(prepare: Prepare):
    texts = key_texts(prepare)
    return lambda: [load(text, prepare.format) for text in texts]


def key_for(prepare: Prepare, half: str):
    text = key_text(prepare, half)
    return keyed(prepare, lambda: load(text, prepare.format))


def load(key: KeyText, format: str):
    if key.form == "pem":
        version, purpose = format.split(".")
        return pyseto.Key.new(int(version[1:]), purpose, key.text)
    if key.form != "paserk":
        raise Invalid("the key is not a PASERK")
    return pyseto.Key.from_paserk(key.text)


PUBLIC = ["sign", "verify", "verify-signature", "round-trip", "load-key"]  # it generates no keys
LOCAL = ["sign", "verify", "round-trip", "encrypt", "decrypt", "load-key"]

if __name__ == "__main__":
    serve(
        Driver(
            library="pyseto",
            distribution="pyseto",
            knows_defaults=True,
            by_driver=tuple(
                f"v{version}.{purpose}:{claim}"
                for version in "1234"
                for purpose in ("local", "public")
                for claim in ("iss", "exp")
            ),
            offers=[
                line
                for version in ("v1", "v2", "v3", "v4")
                for line in (
                    *offer(f"{version}.public", PUBLIC, key_text=["paserk", "pem"]),
                    *offer(f"{version}.local", LOCAL, key_text=["paserk"]),
                )
            ],
            sign=sign,
            verify=verify,
            verify_signature=verify_signature,
            encrypt=sign,
            decrypt=verify,
            load_key=load_key,
        )
    )
