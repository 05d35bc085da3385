"""Conversion of Python times and durations."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ._errors import error_of

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)
_MICROSECOND = timedelta(microseconds=1)


def unix_seconds(moment: object) -> int:
    """Returns whole seconds since 1970, rounded down."""
    return unix_microseconds(moment) // 1_000_000


def unix_microseconds(moment: object) -> int:
    """Returns microseconds since 1970."""
    if not isinstance(moment, datetime):
        found = type(moment).__name__
        raise error_of("CLAIM_TYPE", f"a time must be a datetime or a number of seconds, not {found}")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise error_of("CLAIM_TYPE", "the datetime has no time zone: use datetime.now(timezone.utc)")
    return (moment - _EPOCH) // _MICROSECOND


def claim_time(moment: object, is_paseto: bool) -> int | str:
    """Converts a `datetime` to a claim: seconds in a JWT, RFC 3339 in a PASETO."""
    seconds = unix_seconds(moment)
    if not is_paseto:
        return seconds
    try:
        return from_seconds(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError):
        raise error_of("CLAIM_RANGE", "a time is outside the years 1970 to 9999") from None


def from_seconds(seconds: int) -> datetime:
    """Returns the time in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


def from_microseconds(microseconds: int) -> datetime:
    """Returns the time in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def whole_seconds(name: str, duration: timedelta | int | None) -> int | None:
    """Returns a duration in seconds. A fraction of a second is an error, so it is not lost silently."""
    if duration is None:
        return None
    if isinstance(duration, timedelta):
        seconds, rest = divmod(duration, _SECOND)
        if rest:
            raise error_of("INVALID_OPTION", f"option `{name}`: must be a whole number of seconds")
    elif isinstance(duration, int) and not isinstance(duration, bool):
        seconds = duration
    else:
        raise TypeError(f"{name} must be a timedelta or an int of seconds, not {type(duration).__name__}")
    if not 0 <= seconds < 1 << 63:
        raise error_of("INVALID_OPTION", f"option `{name}`: must be 0 or more, and less than 2^63 seconds")
    return seconds
