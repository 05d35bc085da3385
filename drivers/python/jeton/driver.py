"""The driver of jeton's library for Python. The library reads the claims of a JWE if a shared key encrypts it (`dir`): that key
authenticates it. Other JWEs have bytes, whose JSON and claims the driver checks by hand.
"""

import base64
import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

import jeton
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
    serve,
)

MACS = [
    # begin: MACs, written by `cargo xtask sdk algorithms`
    "HS256", "HS384", "HS512",
    # end: MACs
]
SIGNATURES = [
    # begin: signatures, written by `cargo xtask sdk algorithms`
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K",
    "EdDSA", "Ed25519", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87",
    # end: signatures
]
SECRETS = [
    # begin: secrets for JWE, written by `cargo xtask sdk algorithms`
    "dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW",
    # end: secrets for JWE
]
PASSWORDS = [
    # begin: passwords, written by `cargo xtask sdk algorithms`
    "PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW",
    # end: passwords
]
TRANSPORTS = [
    # begin: key pairs for JWE, written by `cargo xtask sdk algorithms`
    "RSA-OAEP", "RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512", "ECDH-ES", "ECDH-ES+A128KW",
    "ECDH-ES+A192KW", "ECDH-ES+A256KW",
    # end: key pairs for JWE
]
ENCS = ["A128GCM", "A192GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512"]


def sign(prepare: Prepare):
    claims = prepare.claims
    text = key_text(prepare, "private")
    # Claims without an expiry need an issuer that says so.
    has_expiry = all("exp" in value for value in claims)
    issuer = keyed(prepare, lambda: jeton.Issuer(load(text, prepare), without_expiry=not has_expiry))
    if prepare.key_handling == "prepared":
        issue = issuer().issue
        return lambda index: issue(claims[index])
    return lambda index: issuer().issue(claims[index])


def verify(prepare: Prepare):
    if prepare.options is not None:
        return verify_with_options(prepare)
    if prepare.issuers:
        issuers = [(one.issuer, load(key_text(one, "public"), one), {"audience": one.audience}) for one in prepare.issuers]
        return jeton.MultiIssuerVerifier(issuers).verify
    text = key_text(prepare, "public")
    policy = {
        "issuer": prepare.issuer,
        "any_issuer": prepare.issuer is None,
        "audience": prepare.audience,
        "any_audience": prepare.audience is None,
        "without_expiry": not expiry_required(prepare),
        "cache": 64 if prepare.caches else None,
    }
    verifier = keyed(prepare, lambda: jeton.Verifier(load(text, prepare), **policy))
    if prepare.key_handling == "prepared":
        return verifier().verify
    return lambda token: verifier().verify(token)


def verify_with_options(prepare: Prepare):
    """The library's layer with the interface of PyJWT."""
    from jeton.compat import pyjwt

    secret = secret_of(key_text(prepare, "public"))
    arguments = {"algorithms": [prepare.alg], **options_of(prepare.options)}
    return lambda token: pyjwt.decode(token, secret, **arguments)


def verify_signature(prepare: Prepare):
    text = key_text(prepare, "public")
    format = "jws" if prepare.format == "jwt" else "paseto-bytes"
    verifier = keyed(prepare, lambda: jeton.Verifier(load(text, prepare), format=format))
    return lambda token: verifier().verify_bytes(token)


def encrypt(prepare: Prepare):
    if prepare.format != "jwe" or prepare.alg == "dir":
        return sign(prepare)
    claims = prepare.claims
    text = key_text(prepare, "public")
    issuer = keyed(
        prepare, lambda: jeton.Issuer(encryption=load(text, prepare), format="jwe", enc=prepare.enc, typ="JWT")
    )
    return lambda index: issuer().issue_bytes(json.dumps(claims[index], separators=(",", ":")).encode())


def decrypt(prepare: Prepare):
    if prepare.format != "jwe" or prepare.alg == "dir":
        return verify(prepare)
    text = key_text(prepare, "private")
    verifier = keyed(prepare, lambda: jeton.Verifier(decryption=load(text, prepare), format="jwe", enc=prepare.enc))

    def one(token: str):
        claims = strict_json(verifier().verify_bytes(token))
        check(claims, prepare)
        return claims

    return one


def strict_json(data: bytes):
    claims = json.loads(
        data.decode("utf-8"),
        object_pairs_hook=strict_object,
        parse_constant=not_json,
        parse_float=finite,
    )
    # A lone surrogate has no UTF-8.
    json.dumps(claims, ensure_ascii=False).encode()
    return claims


def not_json(name: str):
    raise ValueError(f"{name} is not JSON")


def finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def strict_object(members):
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("the claims have a duplicate member")
    return found


#: Of the year 9999.
LAST_SECOND = 253402300799


def check(claims, prepare: Prepare) -> None:
    """Checks the claims of a JWE."""
    if not isinstance(claims, dict):
        raise ValueError("the claims are not an object")
    now = time.time()
    for name in ("exp", "nbf", "iat"):
        if name in claims and (not isinstance(claims[name], (int, float)) or isinstance(claims[name], bool)):
            raise ValueError(f"the claim {name} is not a number")
        if not 0 <= claims.get(name, 0) <= LAST_SECOND:
            raise ValueError(f"the claim {name} is out of range")
    if "exp" not in claims and expiry_required(prepare):
        raise ValueError("the claim exp is missing")
    if "exp" in claims and claims["exp"] <= now:
        raise ValueError("the token has expired")
    if max(claims.get("nbf", 0), claims.get("iat", 0)) > now:
        raise ValueError("the token is not valid yet")
    if prepare.issuer is not None and claims.get("iss") != prepare.issuer:
        raise ValueError("the claim iss is not the expected issuer")
    audiences = claims.get("aud")
    audiences = audiences if isinstance(audiences, list) else [audiences]
    if prepare.audience is not None and prepare.audience not in audiences:
        raise ValueError("the claim aud is not the expected audience")


def generate(prepare: Prepare):
    alg = prepare.alg or prepare.format
    enc = prepare.enc if alg == "dir" else None
    return lambda: jeton.Key.generate(alg, enc=enc)


def load_key(prepare: Prepare):
    texts = key_texts(prepare)
    return lambda: [load(text, prepare) for text in texts]


def load(key: KeyText, prepare: Prepare) -> jeton.Key:
    if prepare.alg in PASSWORDS:
        return password(key, prepare.alg)
    enc = prepare.enc if prepare.alg == "dir" else None
    return jeton.Key.load(key.text, alg=prepare.alg, enc=enc)


def password(key: KeyText, alg: str) -> jeton.Key:
    """A password comes as the JWK of a secret."""
    return jeton.Key.insecure_password(secret_of(key), alg)


def secret_of(key: KeyText) -> bytes:
    """Returns the bytes of a JWK of a secret."""
    jwk = json.loads(key.text)
    if jwk.get("kty") != "oct":
        raise Invalid("the key is not a secret")
    k = jwk["k"].encode()
    return base64.b64decode(k + b"=" * (-len(k) % 4), altchars=b"-_", validate=True)


SIGNING = ["sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key"]
ENCRYPTING = ["encrypt", "decrypt", "round-trip", "generate-key", "load-key"]
WITH_PASSWORD = ["encrypt", "decrypt", "round-trip", "load-key"]
LOCAL = ["sign", "verify", "round-trip", "encrypt", "decrypt", "generate-key", "load-key"]

if __name__ == "__main__":
    serve(
        Driver(
            library="jeton",
            distribution="pyjeton",
            extras=("cached", "issuers", "options"),
            by_driver=("jwe:iss", "jwe:aud", "jwe:exp", "jwe:nbf", "jwe:iat"),
            offers=[
                *offer("jwt", SIGNING, MACS, key_text=["jwk"]),
                *offer("jwt", SIGNING, SIGNATURES, key_text=["jwk", "pem"]),
                *offer("jwe", ENCRYPTING, SECRETS, ENCS, ["jwk"]),
                *offer("jwe", WITH_PASSWORD, PASSWORDS, ENCS, ["jwk"]),
                *offer("jwe", ENCRYPTING, TRANSPORTS, ENCS, ["jwk", "pem"]),
                *offer("v3.public", SIGNING, key_text=["paserk"]),
                *offer("v3.local", LOCAL, key_text=["paserk"]),
                *offer("v4.public", SIGNING, key_text=["paserk"]),
                *offer("v4.local", LOCAL, key_text=["paserk"]),
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
