"""The options of an attack, as the user of a library writes them."""

import re
from collections.abc import Callable
from typing import Any

#: The values that JSON does not have.
SPECIAL: dict[str, Callable[[Any], Any]] = {
    "$regexp": re.compile,
    "$set": set,
    "$number": float,
    "$bytes": str.encode,
}


def options_of(value: Any) -> Any:
    """Returns the options, with each value that JSON does not have: a dict with one member, such as `$set`."""
    if not isinstance(value, dict):
        return value
    name = next(iter(value), "")
    return SPECIAL[name](value[name]) if name in SPECIAL else {key: options_of(one) for key, one in value.items()}
