"""Typed claims: dataclasses, TypedDicts and pydantic models.

Nothing is coerced: a str is not a number, and `1` is not a `bool`. Only values of types that JSON lacks are converted:
`datetime`, `Decimal`, `UUID` and `Enum`. Pydantic models are validated in strict mode. Names must match exactly. Members
that the type does not name are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

from ._errors import error_of
from ._times import claim_time

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


def check_type(kind: Any) -> None:
    """Raises `TypeError` if claims cannot be converted to this type. The message has the path of the member."""
    if isinstance(kind, Checked):
        kind = kind.kind
    if kind is not None:
        _check(kind)


@lru_cache(maxsize=1024)
def _check(kind: Any) -> None:
    if not _is_object(kind):
        raise _no_type(kind)
    waiting: list[tuple[Any, str]] = [(kind, getattr(kind, "__name__", str(kind)))]
    known: set[Any] = set()
    while waiting:
        one, path = waiting.pop()
        if one in known:
            continue
        known.add(one)
        try:
            _converter(one)
            waiting += [(inner, f"{path}.{name}" if name else path) for name, inner in _inner(one)]
        except (TypeError, NameError) as error:
            raise TypeError(f"`{path}`: {error}") from None


def _is_object(kind: Any) -> bool:
    """Returns whether values of the type are objects in JSON, as claims are."""
    if get_origin(kind) in (Union, types.UnionType):
        return all(map(_is_object, get_args(kind)))
    if get_origin(kind) is typing.Annotated:
        return _is_object(get_args(kind)[0])
    is_class = _is_model(kind) or dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)
    return is_class or _is_dict(kind) or kind in (Any, object)


def _inner(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yields the types in a type, with the name of the member."""
    if typing.is_typeddict(kind):
        yield from _hints(kind).items()
    elif names := _fields(kind):
        yield from ((name, hint) for name, hint in _hints(kind).items() if name in names)
    elif get_origin(kind) is typing.Annotated:
        yield "", get_args(kind)[0]
    elif get_origin(kind) is not Literal:
        yield from (("", one) for one in get_args(kind) if one is not ...)


def from_dict(claims: dict[str, Any], text: str, kind: Any) -> Any:
    """Converts verified claims to a type. The native module calls it."""
    if isinstance(kind, Checked):
        kind.check(claims)
        kind = kind.kind
    if kind is dict or kind is None:
        return claims
    try:
        if _is_model(kind):
            names = _REGISTERED - _accepted(kind)
            if names and kind.model_config.get("extra") == "forbid":
                text = _to_json({name: value for name, value in claims.items() if name not in names})
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
    known = _names_in(kind)
    for name in reversed(errors[0]["loc"]):
        if isinstance(name, int) or name in known:
            mismatch.inside("*" if isinstance(name, int) else name)
    return mismatch


#: The registered claims (RFC 7519, section 4.1). They are no extra members of a model.
_REGISTERED = frozenset(["iss", "sub", "aud", "exp", "nbf", "iat", "jti"])


def _is_model(kind: Any) -> bool:
    return hasattr(kind, "model_validate_json")


@lru_cache(maxsize=1024)
def _accepted(kind: Any) -> frozenset[str]:
    """Returns the names of members that a model accepts."""
    by_name = kind.model_config.get("populate_by_name") or kind.model_config.get("validate_by_name")
    names = set()
    for name, field in kind.model_fields.items():
        alias = field.validation_alias
        for one in getattr(alias, "choices", [alias]):
            # An alias is a name, or a path that begins with one.
            names.add(getattr(one, "path", [one])[0])
        if alias is None or by_name:
            names.add(name)
    return frozenset(names)


@lru_cache(maxsize=1024)
def _names_in(kind: Any) -> frozenset[str]:
    """Returns the names of the members of a model and of the models in it."""
    names: set[str] = set()
    known: set[Any] = set()
    waiting = [kind]
    while waiting:
        one = waiting.pop()
        if one in known:
            continue
        known.add(one)
        if _is_model(one):
            names |= _accepted(one) | set(one.model_fields)
            waiting += [field.annotation for field in one.model_fields.values()]
        elif get_origin(one) is not Literal:
            waiting += get_args(one)
    return frozenset(names)


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

_REGISTERED_TIMES = ("exp", "nbf", "iat")


def _plain(value: Any, depth: int) -> Any:
    """Converts dataclasses to dicts. Members that are `None` are omitted, as in most tokens."""
    if depth > _DEEPEST:
        raise error_of("CLAIMS_TOO_DEEP", "the claims are nested too deep")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        # The native module writes registered times, as the format requires.
        return {
            name: member if depth == 0 and name in _REGISTERED_TIMES else _plain(member, depth + 1)
            for name, member in members
            if member is not None
        }
    if isinstance(value, Mapping):
        return {name: _plain(member, depth + 1) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, datetime):
        return claim_time(value, False)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (UUID, Decimal)):
        return str(value)
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
    if kind in _FROM_TEXT:
        return _FROM_TEXT[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind)
    if typing.is_typeddict(kind):
        return _typed_dict(kind)
    if _is_model(kind):
        if not getattr(kind, "__pydantic_complete__", True):
            kind.model_rebuild()
        return _model(kind)
    return _generic(kind)


def _generic(kind: Any) -> _Convert:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        others = [one for one in arguments if one is not type(None)]
        if len(others) == 1:
            return _optional(_converter(others[0]))
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
    if _is_dict(kind):
        if arguments and arguments[0] is not str:
            raise TypeError("the names of a JSON object are str")
        return _dict(_converter(arguments[1] if arguments else Any))
    raise _no_type(kind)


def _no_type(kind: Any) -> TypeError:
    return TypeError(f"{kind!r} is not a type for claims: use a dataclass, a TypedDict or a pydantic model")


def _is_dict(kind: Any) -> bool:
    return kind is dict or get_origin(kind) in (dict, Mapping)


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
        if type(value) in (int, float):
            return datetime.fromtimestamp(value, timezone.utc)
    except (ValueError, OverflowError, OSError):
        pass
    if type(value) in (str, int, float):
        raise _Mismatch("is not a time: seconds since 1970 or RFC 3339 text with a time zone expected")
    raise _not("a time", value)


def _decimal(value: Any) -> Any:
    """Converts text or an integer. A number with a fraction is already rounded to a float."""
    if type(value) is int:
        return Decimal(value)
    if type(value) is not str:
        raise _not("a decimal number in text, or int", value)
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value, re.ASCII):
        raise _Mismatch("is not a decimal number: digits are expected")
    return Decimal(value)


def _uuid(value: Any) -> Any:
    """Converts the text form of RFC 9562. `UUID` itself also accepts other forms."""
    if type(value) is not str:
        raise _not("the text of a UUID", value)
    if not re.fullmatch("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value):
        raise _Mismatch("is not a UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 are expected")
    return UUID(value)


#: The types whose values are text in JSON.
_FROM_TEXT: dict[Any, _Convert] = {datetime: _time, Decimal: _decimal, UUID: _uuid}


def _enum(kind: type[Enum]) -> _Convert:
    members = list(kind.__members__.values())
    for member in members:
        if type(member.value) not in (str, int, float, bool):
            found = type(member.value).__name__
            raise TypeError(f"the value of {member} is a {found}: str, int, float or bool expected")
    convert_value = _literal(tuple(member.value for member in members))
    return lambda value: kind(convert_value(value))


def _optional(some: _Convert) -> _Convert:
    return lambda value: None if value is None else some(value)


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


@lru_cache(maxsize=1024)
def _hints(kind: Any) -> dict[str, Any]:
    # A type defined in a function may refer to names that only its module resolves.
    names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
    return typing.get_type_hints(kind, globalns=dict(names), include_extras=True)


def _fields(kind: Any) -> dict[str, bool]:
    """Returns the members of a dataclass, and whether each has a default. For other types, it is empty."""
    return {
        field.name: field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        for field in (dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ())
        if field.init
    }


def _dataclass(kind: Any) -> _Convert:
    # Converters are looked up when needed, because a type may contain itself.
    hints, has_default = _hints(kind), _fields(kind)

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
        except (TypeError, ValueError, AssertionError):
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

    return lambda value: _by_model(kind, _to_json(value))


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value)
    # An integer may have more digits than the program allows.
    except ValueError:
        raise _Mismatch("has an integer with too many digits") from None
