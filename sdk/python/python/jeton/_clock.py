"""A clock for tests."""

from __future__ import annotations

from datetime import datetime, timedelta

from . import _jeton
from ._times import from_microseconds, unix_microseconds, whole_seconds


class FixedClock(_jeton.FixedClock):
    """A clock for tests. Its time changes only when you set it. Pass it as `clock` to issuers and verifiers.

    >>> from datetime import timezone
    >>> clock = FixedClock(datetime(2026, 1, 1, tzinfo=timezone.utc))
    >>> clock.advance(timedelta(minutes=5))
    >>> clock.now().isoformat()
    '2026-01-01T00:05:00+00:00'
    """

    __slots__ = ("_now",)

    _now: int

    def __new__(cls, now: datetime | int) -> FixedClock:
        microseconds = now * 1_000_000 if isinstance(now, int) else unix_microseconds(now)
        clock = super().__new__(cls, microseconds)
        clock._now = microseconds
        return clock

    def set(self, now: datetime | int) -> None:
        """Sets the clock for all issuers and verifiers that use it."""
        microseconds = now * 1_000_000 if isinstance(now, int) else unix_microseconds(now)
        self.set_microseconds(microseconds)
        self._now = microseconds

    def advance(self, duration: timedelta | int) -> None:
        """Advances the clock by a duration."""
        self.set(self.now() + timedelta(seconds=whole_seconds("duration", duration) or 0))

    def now(self) -> datetime:
        """Returns the time of the clock."""
        return from_microseconds(self._now)
