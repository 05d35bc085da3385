"""The keys of a `prepare` request, as the text that a library reads."""

import json
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from .prepare import Invalid, Prepare

Key = TypeVar("Key")


class KeyText(NamedTuple):
    """The text of one half of a key, `private` or `public`; a symmetric key serves as both."""

    form: str  # `jwk`, `pem` or `paserk`
    text: str
    half: str


def key_text(prepare: Prepare, half: str) -> KeyText:
    """Returns the text of one half of the key.

    Raises `Invalid` if it is missing.
    """
    if prepare.key_text:
        form = prepare.key_text.get("form", "")
        text = prepare.key_text.get(half)
        if text is None and half == "public" and form != "pem":
            text = prepare.key_text.get("private")  # a symmetric key comes as `private` alone
    elif paserk := prepare.keys.get("paserk"):
        form = "paserk"
        text = paserk.get("secret" if half == "private" else "public") or paserk.get("local")
    else:
        form = "jwk"
        jwk = prepare.keys.get(half)
        secret = prepare.keys.get("private")
        if jwk is None and secret is not None and secret.get("kty") == "oct":
            jwk = secret
        text = None if jwk is None else json.dumps(jwk)
    if not isinstance(text, str):
        raise Invalid(f"the {half} key is missing")
    return KeyText(form, text, half)


def key_texts(prepare: Prepare) -> list[KeyText]:
    """Returns every text that `load-key` must load: both halves of a pair, or one symmetric key."""
    texts = prepare.key_text or {}
    found = [
        KeyText(texts.get("form", ""), text, half)
        for half in ("private", "public")
        if isinstance(text := texts.get(half), str)
    ]
    if not found:
        raise Invalid("the key text is empty")
    return found


def keyed(prepare: Prepare, load: Callable[[], Key]) -> Callable[[], Key]:
    """Returns the function that an operation calls for the key that `load` makes. It calls `load`
    once for `prepared`, and in every call for `parsed-per-call`.
    """
    made = load()
    if prepare.key_handling == "parsed-per-call":
        return load
    return lambda: made
