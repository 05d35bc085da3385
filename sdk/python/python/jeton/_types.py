"""Typed claims: dataclasses, TypedDicts and pydantic models.

Nothing is coerced: a str is not a number, and `1` is not a `bool`. Pydantic models are validated in strict mode. Names
must match exactly. Members that the type does not name are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from ._errors import error_of
from ._times import claim_time, from_seconds

#: Converts a value to a type, or raises `_Mismatch`.
_Convert = Callable[[Any], Any]


class _Mismatch(Exception):
    """The value does not match the type. The exception contains names of the type, and no data."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        #: The members from the claims to the value, with `*` for an item or for a member of a dict.
        self.path: list[str] = []

    def inside(self, member: str) -> _Mismatch:
        """Adds the member that contains the value."""
        self.path.insert(0, member)
        return self

    def __str__(self) -> str:
        return f"`{'.'.join(self.path)}` {self.why}" if self.path else f"a value {self.why}"


def _not(expected: str, value: Any) -> _Mismatch:
    found = "None" if value is None else type(value).__name__
    return _Mismatch(f"must be {expected}, not {found}")


@dataclasses.dataclass(frozen=True)
class Checked:
    """A type with a check that runs on the claims first: the middleware checks scopes."""

    kind: Any
    check: Callable[[dict[str, Any]], None]


def from_dict(claims: dict[str, Any], text: str, kind: Any) -> Any:
    """Converts verified claims to a type. The native module calls it."""
    if isinstance(kind, Checked):
        kind.check(claims)
        kind = kind.kind
    if kind is dict or kind is None:
        return claims
    try:
        if hasattr(kind, "model_validate_json"):
            return _by_model(kind, text)
        return _converter(kind)(claims)
    except _Mismatch as mismatch:
        why = str(mismatch)
    except RecursionError:
        why = "a value is nested too deep"
    name = getattr(kind, "__name__", None) or str(kind)
    raise error_of("TOKEN_CLAIMS_SHAPE", f"the claims do not match `{name}`: {why}")


def _by_model(kind: Any, text: str) -> Any:
    """Validates JSON text: only there, pydantic's strict mode accepts a str as a `datetime`."""
    try:
        return kind.model_validate_json(text, strict=True)
    except ValueError as error:
        raise _of_model(kind, error) from None


def _of_model(kind: Any, error: ValueError) -> _Mismatch:
    """Converts pydantic's error, which contains values and names of the token: only names of the model are taken."""
    errors: list[Any] = getattr(error, "errors", list)()
    if not errors:
        return _Mismatch("is not valid")
    mismatch = _Mismatch(f"is not valid: {errors[0]['type']}")
    fields = getattr(kind, "model_fields", {})
    known = {*fields, *(field.alias for field in fields.values())}
    for name in errors[0]["loc"][:1]:
        if name in known:
            mismatch.inside(name)
    return mismatch


def to_dict(claims: Any) -> dict[str, Any]:
    """Converts claims of another type to a dict. The native module calls it."""
    if dataclasses.is_dataclass(claims) and not isinstance(claims, type):
        found: dict[str, Any] = _plain(claims, 0)
        return found
    dump = getattr(claims, "model_dump", None)
    if dump is not None and not isinstance(claims, type):
        found = dump(mode="json", by_alias=True, exclude_none=True)
        return found
    if isinstance(claims, Mapping):
        return dict(claims)
    raise error_of("CLAIMS_NOT_AN_OBJECT", "the claims are not a dict, a dataclass or a model")


_DEEPEST = 256


def _plain(value: Any, depth: int) -> Any:
    """Converts dataclasses to dicts. Members that are `None` are omitted, as in most tokens."""
    if depth > _DEEPEST:
        raise error_of("CLAIMS_TOO_DEEP", "the claims are nested too deep")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: _plain(member, depth + 1) for name, member in members if member is not None}
    if isinstance(value, Mapping):
        return {name: _plain(member, depth + 1) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, datetime) and depth > 1:
        return claim_time(value, False)
    return value


@lru_cache(maxsize=1024)
def _converter(kind: Any) -> _Convert:
    if kind is Any or kind is object:
        return lambda value: value
    if kind is None or kind is type(None):
        return _none
    if kind in (str, bool, int):
        return _instance(kind)
    if kind is float:
        return _number
    if kind is datetime:
        return _time
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind)
    if typing.is_typeddict(kind):
        return _typed_dict(kind)
    if hasattr(kind, "model_validate_json"):
        return _model(kind)
    return _generic(kind)


def _generic(kind: Any) -> _Convert:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of([_converter(one) for one in arguments], str(kind).replace("typing.", ""))
    if origin is Literal:
        return _literal(arguments)
    if origin is typing.Annotated or _is_wrapper(origin):
        return _converter(arguments[0])
    if kind is list or origin is list:
        return _list(_converter(arguments[0] if arguments else Any), list)
    if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
        return _list(_converter(arguments[0]), tuple)
    if origin in (frozenset, set):
        return _list(_converter(arguments[0]), origin)
    if kind is dict or origin in (dict, Mapping):
        if arguments and arguments[0] is not str:
            raise TypeError("the names of a JSON object are str")
        return _dict(_converter(arguments[1] if arguments else Any))
    raise TypeError(f"{kind!r} is not a type for claims: use a dataclass, a TypedDict or a pydantic model")


def _is_wrapper(origin: Any) -> bool:
    """Returns whether this is a qualifier of a TypedDict member."""
    return getattr(origin, "_name", None) in ("Required", "NotRequired", "ReadOnly")


def _name(hint: Any) -> str | None:
    """Returns the name of the qualifier."""
    return getattr(get_origin(hint), "_name", None)


def _none(value: Any) -> Any:
    if value is not None:
        raise _not("None", value)
    return value


def _instance(kind: type) -> _Convert:
    def convert(value: Any) -> Any:
        if type(value) is not kind:
            raise _not(kind.__name__, value)
        return value

    return convert


def _number(value: Any) -> Any:
    """Converts to a float. An integer is accepted if a float can represent it exactly."""
    if type(value) is float:
        return value
    if type(value) is not int:
        raise _not("float", value)
    try:
        number = float(value)
    except OverflowError:
        raise _Mismatch("is an integer that float cannot represent") from None
    if int(number) != value:
        raise _Mismatch("is an integer that float cannot represent")
    return number


def _time(value: Any) -> Any:
    """Converts to a datetime: from seconds since 1970, or from the RFC 3339 text of a PASETO."""
    try:
        if type(value) is str:
            moment = datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
            if moment.tzinfo is not None:
                return moment
        if type(value) is int:
            return from_seconds(value)
    except (ValueError, OverflowError):
        pass
    if type(value) in (str, int):
        raise _Mismatch("is not a time: seconds since 1970 or RFC 3339 text with a time zone expected")
    raise _not("a time", value)


def _one_of(options: list[_Convert], expected: str) -> _Convert:
    def convert(value: Any) -> Any:
        for option in options:
            try:
                return option(value)
            except _Mismatch:
                continue
        raise _not(expected, value)

    return convert


def _literal(values: tuple[Any, ...]) -> _Convert:
    def convert(value: Any) -> Any:
        for known in values:
            if type(known) is type(value) and known == value:
                return known
        raise _Mismatch(f"must be one of {', '.join(map(repr, values))}")

    return convert


def _list(item: _Convert, make: Any) -> _Convert:
    def convert(value: Any) -> Any:
        if type(value) is not list:
            raise _not("list", value)
        try:
            return make([item(one) for one in value])
        except _Mismatch as mismatch:
            raise mismatch.inside("*") from None

    return convert


def _dict(member: _Convert) -> _Convert:
    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise _not("dict", value)
        try:
            return {name: member(one) for name, one in value.items()}
        except _Mismatch as mismatch:
            raise mismatch.inside("*") from None

    return convert


def _hints(kind: Any) -> dict[str, Any]:
    # A type defined in a function may refer to names that only its module resolves.
    names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
    return typing.get_type_hints(kind, globalns=dict(names), include_extras=True)


def _dataclass(kind: Any) -> _Convert:
    hints = _hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    # Converters are looked up when needed, because a type may contain itself.
    has_default = {
        field.name: field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        for field in fields
    }

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise _not("dict", value)
        members = {}
        try:
            for name, optional in has_default.items():
                if name in value:
                    members[name] = _converter(hints[name])(value[name])
                elif not optional:
                    raise _Mismatch("is missing")
        except _Mismatch as mismatch:
            raise mismatch.inside(name) from None
        try:
            return kind(**members)
        # The type's own checks failed.
        except (TypeError, ValueError):
            raise _Mismatch(f"is rejected by `{kind.__name__}`") from None

    return convert


def _typed_dict(kind: Any) -> _Convert:
    hints = _hints(kind)
    # With `from __future__ import annotations`, `__required_keys__` ignores `NotRequired`.
    required = {name for name in kind.__required_keys__ if _name(hints[name]) != "NotRequired"}
    required |= {name for name in hints if _name(hints[name]) == "Required"}

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise _not("dict", value)
        members = {}
        try:
            for name, hint in hints.items():
                if name in value:
                    members[name] = _converter(hint)(value[name])
                elif name in required:
                    raise _Mismatch("is missing")
        except _Mismatch as mismatch:
            raise mismatch.inside(name) from None
        return members

    return convert


def _model(kind: Any) -> _Convert:
    """Converts a model inside another type. The value is written as JSON again."""

    def convert(value: Any) -> Any:
        try:
            text = json.dumps(value)
        # An integer may have more digits than the program allows.
        except ValueError:
            raise _Mismatch("has an integer with too many digits") from None
        return _by_model(kind, text)

    return convert
