"""Locks after `os.fork`: in the child, the thread that held a lock is gone."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class _Forked(Protocol):
    def _forked(self) -> None: ...


#: All objects with a lock.
_KNOWN: weakref.WeakSet[_Forked] = weakref.WeakSet()


def tell_of_fork(known: _Forked) -> None:
    """Calls `known._forked()` in each child before anything else runs there."""
    _KNOWN.add(known)


def _after_fork_in_child() -> None:
    for known in list(_KNOWN):
        known._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
