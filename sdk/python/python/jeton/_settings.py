"""Settings for the native module, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import error_of

#: One text or several.
Texts = str | Sequence[str]

# `json.dumps` would create an encoder for each call. Lone surrogates stay escaped, and the native module refuses them.
_ENCODE = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

_NOT_JSON = (TypeError, ValueError, RecursionError)


def to_json(**settings: Any) -> str:
    """Returns the settings as JSON text, without members that are `None` or `False`."""
    chosen = {name: value for name, value in settings.items() if value is not None and value is not False}
    try:
        return _ENCODE(chosen)
    except _NOT_JSON:
        wrong = next((name for name, value in chosen.items() if not _is_json(value)), "")
        raise error_of("INVALID_OPTION", f"option `{wrong}`: has the wrong type") from None


def _is_json(value: object) -> bool:
    try:
        _ENCODE(value)
    except _NOT_JSON:
        return False
    return True


def texts(name: str, value: Texts | None) -> str | list[str] | None:
    """Returns one text or a list."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        found = list(value)
        if all(isinstance(one, str) for one in found):
            return found
    raise TypeError(f"{name} must be a str or a sequence of str")


def listed(name: str, value: Sequence[str]) -> list[str] | None:
    """Returns a list, also of one text. An empty list is unset."""
    found = texts(name, value)
    return ([found] if isinstance(found, str) else found) or None
