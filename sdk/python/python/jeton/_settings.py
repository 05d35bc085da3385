"""Settings for the native module, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import error_of

#: One text or several.
Texts = str | Sequence[str]

# `json.dumps` would create an encoder for each call. Lone surrogates stay escaped, and the native module refuses them.
_ENCODE = json.JSONEncoder(allow_nan=False).encode


def to_json(**settings: Any) -> str:
    """Returns the settings as JSON text, without members that are `None` or `False`."""
    chosen = {name: value for name, value in settings.items() if value is not None and value is not False}
    try:
        return _ENCODE(chosen)
    except (TypeError, ValueError, RecursionError):
        raise error_of("INVALID_OPTION", "an option has the wrong type") from None


def texts(name: str, value: Texts | None) -> str | list[str] | None:
    """Returns one text or a list."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        found = list(value)
        if all(isinstance(one, str) for one in found):
            return found
    raise TypeError(f"{name} must be a str or a sequence of str")
