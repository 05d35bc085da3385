#!/usr/bin/env python3
"""Makes rsa-1024.json: two RSA keys of 1,024 bits and what report 4's benchmarks need signed by them.

The lab's own library signs with no such key, so the tokens are made once, by openssl. Run it in this
folder; nothing needs it again unless report 4's claims change (`suite/claims`).
"""
import base64, json, os, subprocess, tempfile

ISSUED, LATER = 1_600_000_000, 4_102_444_800
POOL = [{"iat": ISSUED + i, "iss": "benchmark"} for i in range(8)]
REFUSABLE = [
    {"iat": ISSUED, "iss": "benchmark", "nbf": LATER},
    {"iat": ISSUED, "iss": "https://impostor.example"},
]


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def openssl(*arguments, stdin=None):
    return subprocess.run(["openssl", *arguments], input=stdin, check=True, capture_output=True).stdout


def numbers(pem):
    """The numbers of a PKCS#1 key: a DER sequence of integers."""
    der = openssl("rsa", "-in", pem, "-traditional", "-outform", "DER")
    found, at = [], 4 if der[1] == 0x82 else 3
    while at < len(der):
        length, at = der[at + 1], at + 2
        if length == 0x81:
            length, at = der[at], at + 1
        found.append(der[at : at + length].lstrip(b"\0"))
        at += length
    return found


def key(claims):
    with tempfile.TemporaryDirectory() as folder:
        pem = os.path.join(folder, "key.pem")
        openssl("genrsa", "-out", pem, "1024")
        names = ["n", "e", "d", "p", "q", "dp", "dq", "qi"]
        private = {"kty": "RSA", "alg": "RS384"}
        private |= {name: b64(n) for name, n in zip(names, numbers(pem)[1:])}
        header = b64(compact({"alg": "RS384", "typ": "JWT"}))
        tokens = []
        for one in claims:
            signed = f"{header}.{b64(compact(one))}"
            signature = openssl("dgst", "-sha384", "-sign", pem, stdin=signed.encode())
            tokens.append(f"{signed}.{b64(signature)}")
        return {"private": private, "tokens": tokens}


with open("rsa-1024.json", "w") as out:
    json.dump({"lab": key(POOL + REFUSABLE), "stranger": key(POOL[:1])}, out, indent=1)
    out.write("\n")
