"""The driver of joserfc, JWS and JWE. The library allows a few recommended algorithms by default
and others by name. This driver names the one algorithm in every call. `JWTClaimsRegistry` checks
the claims.
"""

import json
import sys
from pathlib import Path

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
    serve,
)
from joserfc import jws, jwt
from joserfc.jwe import JWERegistry
from joserfc.jwk import KeySet, generate_key, import_key

MACS = ["HS256", "HS384", "HS512"]
SIGNATURES = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519"),
]
SECRETS = ["dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW"]
PASSWORDS = ["PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW"]
TRANSPORTS = [
    *("RSA1_5", "RSA-OAEP", "RSA-OAEP-256"),
    *("ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"),
]
ENC_BITS = {
    "A128GCM": 128,
    "A192GCM": 192,
    "A256GCM": 256,
    "A128CBC-HS256": 256,
    "A192CBC-HS384": 384,
    "A256CBC-HS512": 512,
}
CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "ES256K": "secp256k1"}


def sign(prepare: Prepare):
    algorithms, claims = [prepare.alg], prepare.claims
    key = key_for(prepare, "private")
    header = {"alg": prepare.alg}
    return lambda index: jwt.encode(header, claims[index], key(), algorithms=algorithms)


def verify(prepare: Prepare):
    if prepare.issuers:
        return verify_issuers(prepare)
    algorithms, claim_checks = [prepare.alg], claim_checks_of(prepare)
    key = key_for(prepare, "public")

    if prepare.defaults:
        return lambda token: jwt.decode(token, key()).claims

    def one(token: str):
        claims = jwt.decode(token, key(), algorithms=algorithms).claims
        claim_checks.validate(claims)
        return claims

    return one


def verify_issuers(prepare: Prepare):
    """One key set and a list of issuers, which the library has; it does not bind a key to an issuer."""
    keys = KeySet([load(key_text(one, "public"), prepare.alg) for one in prepare.issuers])
    claim_checks = jwt.JWTClaimsRegistry(
        iss={"essential": True, "values": [one.issuer for one in prepare.issuers]},
        aud={"essential": True, "values": [one.audience for one in prepare.issuers]},
        exp={"essential": True},
    )

    def one(token: str):
        claims = jwt.decode(token, keys, algorithms=[prepare.alg]).claims
        claim_checks.validate(claims)
        return claims

    return one


def verify_signature(prepare: Prepare):
    algorithms = [prepare.alg]
    key = key_for(prepare, "public")
    return lambda token: jws.deserialize_compact(token, key(), algorithms=algorithms)


def encrypt(prepare: Prepare):
    registry, claims = JWERegistry(algorithms=[prepare.alg, prepare.enc]), prepare.claims
    key = key_for(prepare, "public")
    header = {"alg": prepare.alg, "enc": prepare.enc}
    return lambda index: jwt.encode(header, claims[index], key(), registry=registry)


def decrypt(prepare: Prepare):
    registry = JWERegistry(algorithms=[prepare.alg, prepare.enc])
    claim_checks = claim_checks_of(prepare)
    key = key_for(prepare, "private")
    if prepare.defaults:
        return lambda token: jwt.decode(token, key(), registry=registry).claims

    def one(token: str):
        claims = jwt.decode(token, key(), registry=registry).claims
        claim_checks.validate(claims)
        return claims

    return one


def claim_checks_of(prepare: Prepare) -> jwt.JWTClaimsRegistry:
    claim_checks = {}
    if prepare.issuer is not None:
        claim_checks["iss"] = {"essential": True, "value": prepare.issuer}
    if prepare.audience is not None:
        claim_checks["aud"] = {"essential": True, "value": prepare.audience}
    if expiry_required(prepare):
        claim_checks["exp"] = {"essential": True}
    return jwt.JWTClaimsRegistry(**claim_checks)


def generate(prepare: Prepare):
    kind, size = kind_of(prepare.alg), None
    if prepare.alg in MACS:
        size = int(prepare.alg[2:])
    elif prepare.alg == "dir":
        size = ENC_BITS[prepare.enc]
    elif kind == "oct":
        size = int(prepare.alg[1:4])
    elif kind == "RSA":
        size = 2048
    elif kind == "EC":
        size = CURVES.get(prepare.alg, "P-256")
    elif kind == "OKP":
        size = "Ed25519"
    return lambda: generate_key(kind, size)


def load_key(prepare: Prepare):
    texts = key_texts(prepare)
    return lambda: [load(text, prepare.alg) for text in texts]


def key_for(prepare: Prepare, half: str):
    text = key_text(prepare, half)
    return keyed(prepare, lambda: load(text, prepare.alg))


def load(key: KeyText, alg: str):
    if key.form == "jwk":
        return import_key(json.loads(key.text))
    if key.form != "pem":
        raise Invalid(f"a {key.form} key is not supported")
    return import_key(key.text, kind_of(alg))


def kind_of(alg: str) -> str:
    if alg in MACS or alg in SECRETS or alg in PASSWORDS:
        return "oct"
    if alg.startswith(("RS", "PS")):
        return "RSA"
    return "OKP" if alg.startswith("Ed") else "EC"


SIGNING = ["sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key"]
ENCRYPTING = ["encrypt", "decrypt", "round-trip", "generate-key", "load-key"]
WITH_PASSWORD = ["encrypt", "decrypt", "round-trip", "load-key"]  # it generates no passwords
ENCS = list(ENC_BITS)

if __name__ == "__main__":
    serve(
        Driver(
            library="joserfc",
            extras=("issuers",),
            by_driver=("jwt:issuers-other-audience",),
            distribution="joserfc",
            knows_defaults=True,
            offers=[
                *offer("jwt", SIGNING, MACS, key_text=["jwk"]),
                *offer("jwt", SIGNING, SIGNATURES, key_text=["jwk", "pem"]),
                *offer("jwe", ENCRYPTING, SECRETS, ENCS, ["jwk"]),
                *offer("jwe", WITH_PASSWORD, PASSWORDS, ENCS, ["jwk"]),
                *offer("jwe", ENCRYPTING, TRANSPORTS, ENCS, ["jwk", "pem"]),
            ],
            sign=sign,
            verify=verify,
            verify_signature=verify_signature,
            encrypt=encrypt,
            decrypt=decrypt,
            generate_key=generate,
            load_key=load_key,
        )
    )
