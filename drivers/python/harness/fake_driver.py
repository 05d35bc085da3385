"""A driver without a library, for the tests of the harness: its tokens are the claims in JSON, as
bytes for the format `jwe`.
"""

import json
from itertools import count

from jeton_harness import Driver, Unsupported, key_text, key_texts, keyed, offer, serve


def sign(prepare):
    loads = count(1)

    def load():
        if key_text(prepare, "private").text == "{}":
            raise Unsupported("an empty key")
        return next(loads)

    key = keyed(prepare, load)

    def one(index):
        # A prepared key stays the first one. A parsed key is different in every call.
        claims = prepare.claims[index]
        if "count" in claims:
            claims = {"loads": key()}
        return json.dumps(claims, ensure_ascii=False)

    return one


def encrypt(prepare):
    make = sign(prepare)
    return lambda index: make(index).encode()


def opened(token):
    if token == "bad":
        raise ValueError("bad\ntoken")
    if token == "panic":
        raise BaseException("panic")
    return json.loads(token)


SIGNING = ["sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key"]

serve(
    Driver(
        library="fake",
        distribution="pip",
        offers=[
            *offer("jwt", SIGNING, ["HS256"], key_text=["jwk"]),
            *offer("jwe", ["encrypt", "decrypt", "round-trip"], ["dir"], ["A128GCM"]),
        ],
        sign=sign,
        verify=lambda prepare: opened,
        verify_signature=lambda prepare: opened,
        encrypt=encrypt,
        decrypt=lambda prepare: opened,
        generate_key=lambda prepare: object,
        load_key=lambda prepare: lambda: [json.loads(key.text) for key in key_texts(prepare)],
    )
)
