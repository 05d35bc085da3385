"""Checks the arguments of `decode`. PyJWT ignores names that it does not know, and values of a wrong type."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from datetime import timedelta
from typing import Any, cast

from .exceptions import UnsafeUse

#: The options of `decode` and their defaults.
OPTIONS: dict[str, Any] = {
    "verify_signature": True,
    "verify_exp": True,
    "verify_nbf": True,
    "verify_iat": True,
    "verify_aud": True,
    "verify_iss": True,
    "verify_sub": True,
    "verify_jti": True,
    "require": [],
    "strict_aud": False,
    "enforce_minimum_key_length": True,
}


def wrong_option(message: str) -> UnsafeUse:
    """Returns the exception for an option that PyJWT would ignore or misread."""
    return UnsafeUse("option", message)


def merged(options: dict[str, Any], more: Any) -> dict[str, Any]:
    """Returns the options with others, which are checked."""
    if more is None:
        return dict(options)
    if not isinstance(more, Mapping):
        raise wrong_option("options: not a dict")
    for name, value in more.items():
        if name not in OPTIONS:
            raise wrong_option(f"options: an unknown name; the names are {', '.join(OPTIONS)}")
        if name == "require":
            _check_texts("require", value, may_be_empty=True)
        elif not isinstance(value, bool):
            raise wrong_option(f"{name}: not a bool")
    if more.get("verify_signature", True) is not True:
        raise UnsafeUse(
            "unverified",
            "verify_signature=False is not supported: anyone can forge such a token. To read a token without "
            "verifying it, for logs, use jeton.read_unverified. To choose a key, use get_unverified_header",
        )
    if more.get("enforce_minimum_key_length", True) is not True:
        raise UnsafeUse(
            "weak-secret",
            "enforce_minimum_key_length=False is not supported: use a secret of at least 32 bytes for HS256, "
            "or an RSA key of at least 2,048 bits",
        )
    return {**options, **more}


def check_no_more(names: Iterable[str]) -> None:
    """Raises an exception for arguments that `decode` does not have. PyJWT only warns of them."""
    if found := tuple(names):
        raise wrong_option(f"unknown argument: {', '.join(found)}")


def check_algorithms(algorithms: Any) -> None:
    """Raises an exception unless the argument is a collection of names."""
    if algorithms is not None:
        _check_texts("algorithms", algorithms, may_be_empty=True)


def checked_audience(audience: Any) -> str | list[str] | None:
    """Returns the expected audiences."""
    if audience is None:
        return None
    if not isinstance(audience, (str, Iterable)):
        raise TypeError("audience must be a string, iterable or None")
    if isinstance(audience, (bytes, bytearray, Mapping)):
        raise wrong_option("audience: neither a str nor a collection of str")
    found: str | list[str] = audience if isinstance(audience, str) else list(audience)
    _check_expected("audience", found)
    return found


def check_issuer_argument(issuer: Any) -> None:
    """Raises an exception unless the argument is a text or a container of texts."""
    if issuer is None:
        return
    # A text that is not a str, such as `UserString`, contains parts of its name.
    if not isinstance(issuer, Container) or (hasattr(issuer, "startswith") and not isinstance(issuer, str)):
        raise wrong_option("issuer: neither a str nor a container of str")
    if isinstance(issuer, (str, list, tuple, set, frozenset)):
        _check_expected("issuer", issuer)


def check_subject_argument(subject: Any) -> None:
    """Raises an exception unless the argument is a text."""
    if subject is not None and (not isinstance(subject, str) or not subject):
        raise wrong_option("subject: not a str with characters")


def seconds_of(leeway: Any) -> float:
    """Returns the leeway in seconds. A leeway that is not finite would accept every token."""
    if isinstance(leeway, timedelta):
        return leeway.total_seconds()
    if not is_number(leeway) or not math.isfinite(leeway):
        raise wrong_option("leeway: neither a finite number of seconds nor a timedelta")
    return cast("float", leeway)


def is_number(value: Any) -> bool:
    """Returns whether a value is an int or a float, neither a bool nor NaN, nor an int beyond the range of a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def check_content_argument(content: Any) -> None:
    """Raises an exception unless the detached payload is bytes."""
    if content is not None and not isinstance(content, (bytes, bytearray, memoryview)):
        raise wrong_option("detached_payload: not bytes")


def _check_expected(name: str, value: Any) -> None:
    if not value:
        raise wrong_option(f"{name}: empty; no token would be accepted")
    if not isinstance(value, str):
        _check_texts(name, value, may_be_empty=False)


def _check_texts(name: str, value: Any, *, may_be_empty: bool) -> None:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise wrong_option(f"{name}: not a list of str")
    if not all(isinstance(one, str) and one for one in value):
        raise wrong_option(f"{name}: has a member that is not a str with characters")
    if not value and not may_be_empty:
        raise wrong_option(f"{name}: empty; no token would be accepted")
